"""Many files of edges at once: what `read` gives one by one, or left to it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lockstep.batch import sources
from lockstep.batch.batch import GraphBatch
from lockstep.batch.edge_files import plain_pack
from lockstep.graphs import GraphError, read

ODD = {
    "a blank line": b"0 1\n\n1 2\n",
    "two blanks": b"0  1\n1 2\n",
    "a leading blank": b" 0 1\n1 2\n",
    "a weight": b"0 1 5\n1 2 6\n",
    "a comma": b"0,1\n1,2\n",
    "a carriage return": b"0 1\r\n1 2\r\n",
    "a sign": b"-1 1\n1 2\n",
    "hexadecimal": b"0x1 1\n1 2\n",
    "a name": b"a b\nb c\n",
    "a comment inside": b"0 1\n# more\n1 2\n",
    "three numbers in a line": b"0 1\n1 2 3\n",
    "one number in a line": b"0 1\n1\n",
    "an id of ten digits": b"0 1\n1 4294967296\n",
    "fewer lines than the header says": b"# Nodes: 3 Edges: 5\n0 1\n1 2\n",
    "an id beyond the header's": b"# Nodes: 3 Edges: 2\n0 1\n1 7\n",
    "nothing but comments": b"# Nodes: 3 Edges: 0\n",
    "nothing": b"",
    "METIS": b"10 10\n" + b"".join(b"%d %d\n" % ((i - 1) % 10 + 1, (i + 1) % 10 + 1) for i in range(10)),
}
PLAIN = {
    "tabs": b"0\t1\n1\t2\n",
    "no last line feed": b"0 1\n1 2",
    "a header": b"# Undirected graph\n# Nodes: 9 Edges: 2\n0 1\n1 2\n",
    "parallel edges and a loop": b"3 3\n1 0\n1 0\n0 1\n",
    "leading zeros": b"00 01\n007 2\n",
}


def written(folder, texts):
    for i, text in enumerate(texts):
        (folder / f"g{i:04d}.txt").write_bytes(text)
    return sorted(folder.iterdir())


def one_by_one(paths, directed):
    return sources._each(paths, sources._reader(directed, True), 0, [p.name for p in paths], paths, None)[0]


def assert_alike(pack, other):
    for name in ("n", "m", "offsets", "targets"):
        assert np.array_equal(getattr(pack, name), getattr(other, name)), name
    assert pack.directed == other.directed and list(pack.names) == list(other.names)


@st.composite
def texts(draw):
    """Edge lists of one way to write them, with or without a header, with or without isolated vertices at the end."""
    found, word = [], draw(st.sampled_from(["", "directed", "undirected"]))
    for _ in range(draw(st.integers(2, 6))):
        n = draw(st.integers(1, 40))
        edges = draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), min_size=1, max_size=60))
        head = f"# {word} graph\n" if word else ""
        if draw(st.booleans()):
            head += f"# Nodes: {n + draw(st.integers(0, 2))} Edges: {len(edges)}\n"
        found.append((head + "".join(f"{s} {t}\n" for s, t in edges)).encode())
    return found


@settings(max_examples=150, deadline=None)
@given(texts(), st.sampled_from([None, True, False]))
def test_as_read_one_by_one(tmp_path_factory, texts, directed):
    paths = written(tmp_path_factory.mktemp("files"), texts)
    pack = plain_pack(paths, directed)
    if pack is None:  # a list that may be METIS
        assert any(path.read_bytes()[:1] != b"#" for path in paths)
        return
    assert_alike(pack, one_by_one(paths, directed))


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.parametrize("directed", [None, False, True])
def test_plain_files(tmp_path, name, directed):
    paths = written(tmp_path, [PLAIN[name], PLAIN[name]])
    assert_alike(plain_pack(paths, directed), one_by_one(paths, directed))


@pytest.mark.parametrize("name", ODD)
def test_the_rest_is_left_to_read(tmp_path, name):
    """One odd file among plain ones: the batch is as `read` says, with its problems."""
    paths = written(tmp_path, [b"0 1\n1 2\n", ODD[name], b"2 3\n"])
    assert plain_pack(paths) is None
    batch = GraphBatch(tmp_path)
    try:
        expected = read(paths[1])
        if not expected.directed:  # METIS: another kind than the others
            with pytest.raises(GraphError):
                batch.load_piece(batch.pieces[0])
            return
    except GraphError as error:
        assert len(batch.load_piece(batch.pieces[0]).pack) == 2
        assert [problem.reason for problem in batch.problems] == [str(error)]
    else:
        if expected.weights is None:
            assert batch[1].targets.tolist() == expected.targets.tolist()


def test_other_formats_by_name_and_missing_files(tmp_path):
    paths = written(tmp_path, [b"0 1\n1 2\n"] * 2)
    assert plain_pack(paths) is not None
    paths[0].rename(other := tmp_path / "g.graph.txt")
    assert plain_pack([other, paths[1]]) is None
    assert plain_pack([tmp_path / "none.txt", paths[1]]) is None


def test_a_piece_of_plain_files_is_not_read_one_by_one(tmp_path, monkeypatch):
    written(tmp_path, [b"0 1\n1 2\n"] * 5)
    batch = GraphBatch(tmp_path)
    monkeypatch.setattr(sources, "_each", lambda *args: pytest.fail("read one by one"))
    assert len(batch.load_piece(batch.pieces[0]).pack) == 5
