"""The public functions say what they take and give; what that says is held against a user's program by `make types`."""

import importlib
import inspect
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

import pytest

from lockstep import paths

PUBLIC = [file.stem for file in (paths.ROOT / "docs" / "api").glob("*.md") if file.stem != "index"]


def functions(module):
    for name in module.__all__:
        one = getattr(module, name)
        if inspect.isfunction(one) and one.__module__.startswith("lockstep"):
            yield one


@pytest.mark.parametrize("name", [name for name in PUBLIC if name not in ("networkx_backend", "plan")])
def test_every_public_function_is_annotated(name):
    found = list(functions(importlib.import_module(f"lockstep.{name}")))
    for one in found:
        signature = inspect.signature(one)
        bare = [each.name for each in signature.parameters.values() if each.annotation is each.empty]
        assert not bare and signature.return_annotation is not signature.empty, f"{one.__name__}: {bare}"
    assert found or name == "batch"


def members(module):
    """Methods and properties of the public classes, and what their operators call."""
    for name in getattr(module, "__all__", vars(module)):
        one = getattr(module, name)
        ours = inspect.isclass(one) and one.__module__.startswith("lockstep")
        for called, member in vars(one).items() if ours else ():
            if called.startswith("_") and called not in ("__init__", "__call__", "__getitem__", "__len__", "__iter__"):
                continue
            made = getattr(member, "fget", None) or getattr(member, "__func__", None) or getattr(member, "func", member)
            if inspect.isfunction(made) and "lockstep" in made.__code__.co_filename and made.__name__ != "<lambda>":
                yield f"{one.__name__}.{called}", made, isinstance(member, staticmethod)


@pytest.mark.parametrize("name", [name for name in PUBLIC if name != "networkx_backend"])
def test_every_member_of_a_public_class_is_annotated(name):
    found = list(members(importlib.import_module(f"lockstep.{name}")))
    for called, made, static in found:
        signature = inspect.signature(made)
        own = list(signature.parameters.values())[0 if static else 1 :]
        bare = [each.name for each in own if each.annotation is each.empty]
        assert not bare, f"{called}: {bare}"
        assert called.endswith("__init__") or signature.return_annotation is not signature.empty, called
    assert found or name in ("compare", "explore")


def test_the_package_says_that_it_has_types():
    assert Path(find_spec("lockstep").origin).with_name("py.typed").is_file()


def test_a_users_program_is_held_against_them():
    """What `make types` does, where pyright is at hand without the network."""
    if not shutil.which("pyright"):
        pytest.skip("pyright is not installed (make types fetches it by npx)")
    done = subprocess.run(["pyright"], cwd=paths.ROOT, text=True, capture_output=True)
    assert done.returncode == 0, done.stdout
