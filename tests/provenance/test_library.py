"""The whole library, spelled otherwise, comes to the same; and a sample of `mutate`: each changed text is seen."""

import ast
import re

import pytest
from tests.provenance import mutate

# A helper of each study, which a copy of the library has in a file of its own, with what it names.
MOVED = [
    ("machine/launches.py", "_gone", ""),
    ("sssp/strategies/shared.py", "road_delta", ""),
    ("coloring/strategies/switching.py", "steepest_falls", "import numpy as np"),
    ("sgd/strategies/resident.py", "sort_keys", "import numpy as np"),
    ("swarm/result.py", "_host", "import numpy as np"),
]
SAMPLE = ("SMALL = 150_000", "#define CHUNK 32", "WORSE = 1.001")  # all: python tests/provenance/mutate.py


class Renamed(ast.NodeTransformer):
    """Other names for local variables and for private functions, no docstrings but one of ours."""

    def __init__(self, private):
        self.private, self.local = private, [{}]

    def visit_FunctionDef(self, node):
        names = [part for part in ast.walk(node) if isinstance(part, ast.Name)]
        bound = {part.id for part in names if not isinstance(part.ctx, ast.Load)}
        taken = {part.arg for part in ast.walk(node) if isinstance(part, ast.arg)}
        for part in ast.walk(node):
            if isinstance(part, ast.Global | ast.Nonlocal):
                taken |= set(part.names)
            elif isinstance(part, ast.Import | ast.ImportFrom):
                taken |= {(alias.asname or alias.name).split(".")[0] for alias in part.names}
            elif isinstance(part, ast.ClassDef):  # its body's names are members
                taken |= {name.id for name in ast.walk(part) if isinstance(name, ast.Name)}
        around = self.local[-1] if len(self.local) > 1 else {name: f"other_{name}" for name in bound - taken}
        self.local.append({name: new for name, new in around.items() if name not in taken})
        if ast.get_docstring(node) is not None:
            node.body[0] = ast.Expr(ast.Constant("Said in other words."))
        self.generic_visit(node)
        self.local.pop()
        node.name = self.private.get(node.name, node.name)
        return node

    def visit_Name(self, node):
        node.id = self.local[-1].get(node.id) or self.private.get(node.id, node.id)
        return node

    def visit_Attribute(self, node):
        self.generic_visit(node)
        node.attr = self.private.get(node.attr, node.attr)
        return node

    def visit_ImportFrom(self, node):
        for alias in node.names:
            alias.name = self.private.get(alias.name, alias.name)
        return node


def private_functions(trees):
    """{private name of a function: another}, of those that are nothing else anywhere."""
    found, other = set(), set()
    for tree in trees:
        for part in ast.walk(tree):
            if isinstance(part, ast.FunctionDef) and part.name.startswith("_") and not part.name.startswith("__"):
                found.add(part.name)
            elif isinstance(part, ast.arg | ast.keyword):
                other.add(part.arg)
            elif isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load):
                other.add(part.id)
            elif isinstance(part, ast.Attribute) and not isinstance(part.ctx, ast.Load):
                other.add(part.attr)
            elif isinstance(part, ast.Constant) and isinstance(part.value, str):
                other.add(part.value)
    # an intrinsic of Numba is known by its name, and so is what a library calls
    return {name: f"_renamed{name}" for name in found - other if not re.match(r"_(replace|asdict|make|repr_)", name)}


@pytest.fixture(scope="module")
def lib(tmp_path_factory):
    return mutate.copy(tmp_path_factory.mktemp("copy") / "lib")


@pytest.fixture(scope="module")
def before(lib):
    return mutate.probe(lib)


def test_a_library_of_other_names_words_and_places_comes_to_the_same(lib, before, tmp_path):
    other = mutate.copy(tmp_path / "lib")
    files = [*other.rglob("*.py")]
    trees = {file: ast.parse(file.read_text(encoding="utf-8")) for file in files}
    private = private_functions([*trees.values()])
    assert len(private) > 300
    for file, tree in trees.items():
        tree = Renamed(private).visit(tree)
        if ast.get_docstring(tree) is not None:
            tree.body[0] = ast.Expr(ast.Constant("Said in other words."))
        file.write_text(ast.unparse(ast.fix_missing_locations(tree)) + "\n", encoding="utf-8")
    for file, name, head in MOVED:
        path = other / "lockstep" / file
        name, tree = private.get(name, name), ast.parse(path.read_text(encoding="utf-8"))
        (moved,) = [part for part in tree.body if isinstance(part, ast.FunctionDef) and part.name == name]
        at = tree.body.index(moved)
        tree.body[at] = ast.parse(f"from .moved import {name}").body[0]
        path.write_text(ast.unparse(tree) + "\n", encoding="utf-8")
        path.with_name("moved.py").write_text(f"{head}\n\n\n{ast.unparse(moved)}\n", encoding="utf-8")
    for file in (*other.rglob("*.cu"), *other.rglob("*.cuh")):
        text = file.read_text(encoding="utf-8")
        file.write_text(re.sub(r"(?m)//(?! *compile:)[^\n\"]*$", "// other words", text), encoding="utf-8")
    after = mutate.probe(other)
    assert {name for name in before if before[name] != after[name]} == set()


def test_changed_texts_make_stale_what_they_decide_and_nothing_else(lib, before):
    """Three at once, of three studies; one at a time by `mutate`."""
    sample = [one for one in mutate.MUTATIONS if one[1].startswith(SAMPLE)]
    assert len(sample) == len(SAMPLE) and len(before) > 150
    expected = set().union(*(mutate.meant(one[3], before) for one in sample))
    assert mutate.changed(lib, before, *(one[:3] for one in sample)) == expected


def test_there_are_at_least_sixty_mutations_and_their_texts_are_there():
    assert len(mutate.MUTATIONS) >= 60 and len({tuple(one[:3]) for one in mutate.MUTATIONS}) == len(mutate.MUTATIONS)
    for file, old, _, _ in mutate.MUTATIONS:
        assert (mutate.ROOT / "lib" / "lockstep" / file).read_text(encoding="utf-8").count(old) == 1, f"{file}: {old}"
