"""Readers: every format in every container gives the same graph, found by content and not by name."""

import bz2
import csv
import gzip
import io
import lzma
import tarfile
import time
import warnings
import zipfile

import numpy as np
import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import csv as arrow

from lockstep.graphs import Graph, GraphError, GraphWarning, read, read_batch, read_coordinates, read_ratings
from lockstep.graphs.numbers import Table

# One graph in every format: 0-1 (5), 0-2 (7), 1-2 (9) and an isolated vertex 3.
TEXTS = {
    "edges": b"# Undirected graph\n# Nodes: 4 Edges: 3\n# FromNodeId\tToNodeId\n0\t1\t5\n0\t2\t7\n1\t2\t9\n",
    "commas": b"% undirected\n0,1,5\r\n0, 2 ,7\r\n\r\n1,2,9\r\n",
    "dimacs": b"c a comment\np sp 4 3\na 1 2 5\nc between\na 1 3 7\na 2 3 9\n",
    "mtx": b"%%MatrixMarket matrix coordinate integer symmetric\n% a comment\n4 4 3\n2 1 5\n3 1 7\n3 2 9\n",
    "metis": b"% a comment\n4 3 001\n2 5 3 7\n1 5 3 9\n1 7 2 9\n\n",
    "nde": b"4\n0 2\n1 2\n2 2\n3 0\n0 1\n0 2\n1 2\n",
}
EDGES = [(0, 1, 5), (0, 2, 7), (1, 2, 9)]


def zipped(text, *others):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, body in (("graph/graph.txt", text), *others):
            archive.writestr(name, body)
    return out.getvalue()


def tarred(text, *others, mode="w:gz", name="graph/graph.txt"):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as archive:
        for path, body in ((name, text), *others):
            info = tarfile.TarInfo(path)
            info.size = len(body)
            archive.addfile(info, io.BytesIO(body))
    return out.getvalue()


CONTAINERS = {
    "plain": bytes,
    "gz": gzip.compress,
    "xz": lzma.compress,
    "bz2": bz2.compress,
    "zst": lambda text: pyarrow.compress(text, "zstd", asbytes=True),
    "zip": zipped,
    "tar.gz": tarred,
    "tar": lambda text: tarred(text, mode="w"),
    "tar.xz": lambda text: tarred(text, mode="w:xz"),
    "gz in zip": lambda text: zipped(gzip.compress(text)),
}


def put(folder, data, name="some.bin"):
    path = folder / name
    path.write_bytes(data)
    return path


def edge_set(graph):
    sources, targets = graph.edges(once=not graph.directed)
    weights = graph.edge_weights(once=not graph.directed)
    if weights is None:
        return sorted(zip(sources.tolist(), targets.tolist(), strict=True))
    return sorted(zip(sources.tolist(), targets.tolist(), weights.tolist(), strict=True))


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("format", TEXTS)
def test_every_format_in_every_container(tmp_path, format, container):
    path = put(tmp_path, CONTAINERS[container](TEXTS[format]))
    graph = read(path, directed=False)
    assert graph.n == (3 if format == "commas" else 4)  # no header there, so no isolated vertex
    assert edge_set(graph) == (EDGES if format != "nde" else [edge[:2] for edge in EDGES])
    assert not graph.directed and graph.name == "some.bin"
    if format != "nde":
        assert graph.weights.dtype == np.int64
    assert [p.name for p in tmp_path.iterdir()] == ["some.bin"]  # nothing was unpacked


@pytest.mark.parametrize(
    ("text", "directed"),
    [
        (b"# Directed graph (each unordered pair of nodes is saved once): x\n0 1\n", True),
        (b"# x (undirected), ids from 0\n0 1\n", False),
        (b"0 1\n", True),
        (b"%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n", True),
        (b"%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n2 1\n", False),
        (b"2 1\n2\n1\n", False),
        (b"p sp 2 1\na 1 2 3\n", True),
    ],
)
def test_direction_is_what_the_header_says_or_an_argument(tmp_path, text, directed):
    path = put(tmp_path, text)
    assert read(path).directed is directed
    assert read(path, directed=not directed).directed is not directed
    assert read(path).m == (1 if directed else 2)
    assert read(path, directed=not directed).m == 2


def test_ids_are_kept_unless_compact(tmp_path):
    path = put(tmp_path, b"# Nodes: 3 Edges: 2\n10 5\n5 7\n")
    assert read(path).n == 11 and read(path).labels is None
    graph = read(path, compact=True)
    assert graph.n == 3 and graph.labels.tolist() == [5, 7, 10] and edge_set(graph) == [(0, 1), (2, 0)]
    large = put(tmp_path, b"4000000000000 1\n1 9\n", "large")
    assert read(large, compact=True).labels.tolist() == [1, 9, 4000000000000]


def test_parallel_arcs_and_loops_are_kept(tmp_path):
    path = put(tmp_path, b"p sp 2 4\na 1 2 3\na 1 2 3\na 1 2 1\na 2 2 8\n")
    assert edge_set(read(path)) == [(0, 1, 1), (0, 1, 3), (0, 1, 3), (1, 1, 8)]


def test_weights_by_argument(tmp_path):
    path = put(tmp_path, b"0 1 0.5\n1 2 2e3\n")
    assert read(path).weights.tolist() == [0.5, 2000.0]
    assert read(path, weights=False).weights is None
    real = put(tmp_path, b"%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 3\n", "real")
    assert read(real).weights.dtype == np.float64


def test_metis_with_vertex_weights_and_sizes(tmp_path):
    text = b"3 2 111 2\n9 1 1 2 5\n9 1 1 1 5 3 6\n9 1 1 2 6\n"
    assert edge_set(read(put(tmp_path, text))) == [(0, 1, 5), (1, 2, 6)]


def test_an_edge_list_is_not_taken_for_metis(tmp_path):
    """Two lines follow a first line (2, 2): the numbers would do, but no edge is there both ways."""
    assert read(put(tmp_path, b"2 2\n0 1\n1 0\n")).m == 3
    assert read(put(tmp_path, b"2 2\n0 1\n1 0\n"), format="edges").directed


@given(
    st.lists(
        st.tuples(st.integers(0, 12), st.integers(0, 12), st.floats(allow_nan=False, allow_infinity=False)),
        min_size=1,
        max_size=20,
    ),
    st.sampled_from([" ", "\t", ",", " , "]),
)
@settings(max_examples=50)
def test_edge_list_round_trip_to_the_last_bit(tmp_path_factory, arcs, separator):
    text = "".join(f"{u}{separator}{v}{separator}{w!r}\n" for u, v, w in arcs)
    graph = read(put(tmp_path_factory.mktemp("r"), text.encode()), directed=True)
    expected = Graph.from_edges(
        *(np.array(side) for side in list(zip(*arcs, strict=True))[:2]),
        weights=np.array([w for *_, w in arcs]),
    )
    assert np.array_equal(graph.targets, expected.targets) and np.array_equal(graph.offsets, expected.offsets)
    assert np.array_equal(graph.weights, expected.weights)


@given(
    st.lists(
        st.one_of(
            st.floats(allow_nan=False, allow_infinity=False).map(repr),
            st.integers(-(10**25), 10**25).map(str),
            st.from_regex(r"\A[+-]?[0-9]{1,40}\.[0-9]{0,30}([eE][+-]?[0-9]{1,2})?\Z").map(lambda t: t.strip()),
            st.just("0." + "0" * 80 + "1"),
        ),
        min_size=1,
        max_size=8,
    )
)
def test_numbers_are_what_python_makes_of_them(words):
    table = Table(" ".join(words).encode(), "t", "numbers")
    assert table.values.tolist() == [float(word) for word in words]


def test_ratings(tmp_path):
    stars = b"userId,movieId,rating,timestamp\n7,100,4.5,1\n7,3,0.5,2\n9,3,-2,3\n"
    for container in ("plain", "gz"):
        matrix = read_ratings(put(tmp_path, CONTAINERS[container](stars)))
        assert matrix.shape == (2, 2)
        assert list(zip(*matrix.coords, matrix.data, strict=True)) == [(0, 1, 4.5), (0, 0, 0.5), (1, 0, -2.0)]
    archive = zipped(b"a,b\n", ("ml/ratings.csv", stars), ("ml/README.txt", b"read me"))
    assert read_ratings(put(tmp_path, archive), "ratings.csv").nnz == 3
    assert read_ratings(put(tmp_path, stars.split(b"\n", 1)[1])).nnz == 3  # without the header line
    seen = read_ratings(put(tmp_path, b"# user item item, ...\n0 5 6\n2 5\n2 6 7\n3\n"))
    assert seen.shape == (2, 3) and seen.toarray().tolist() == [[1, 1, 0], [1, 1, 1]]


def test_a_batch_of_small_graphs(tmp_path):
    arcs = b"1, 2\n2, 1\n3, 4\n4, 3\n4, 5\n5, 4\n"
    owner = b"1\n1\n2\n2\n2\n"
    path = put(tmp_path, zipped(b"-", ("TOY/TOY_A.txt", arcs), ("TOY/TOY_graph_indicator.txt", owner)))
    graph, starts = read_batch(path)
    assert starts.tolist() == [0, 2, 5]
    assert edge_set(graph) == [(0, 1), (2, 3), (3, 4)]


def test_coordinates(tmp_path):
    text = b"c x\np aux sp co 2\nv 2 -73 40\nv 1 -74 41\n"
    assert read_coordinates(put(tmp_path, gzip.compress(text))).tolist() == [[-74, 41], [-73, 40]]


def test_an_archive_with_several_files(tmp_path):
    text = TEXTS["mtx"]
    path = tarred(b"x y", ("toy/toy.mtx", text), ("toy/toy_coord.mtx", b"?"), name="toy/README")
    path = put(tmp_path, path, "toy.tar.gz")
    assert read(path).m == 6  # called like its folder
    assert read(path, member="toy.mtx").m == read(path, member="*toy.mtx").m == 6


def test_a_path_inside_an_archive_cannot_lead_out_of_it(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    assert read(put(folder, tarred(b"", ("../../out.txt", b"0 1\n"))), member="out.txt").m == 1
    assert [p.name for p in tmp_path.iterdir()] == ["in"]


def test_five_million_edges_in_under_three_seconds(tmp_path):
    path = tmp_path / "large.txt"
    ids = np.random.default_rng(1).integers(0, 1_000_000, (2, 5_000_000))
    options = arrow.WriteOptions(include_header=False, delimiter="\t")
    arrow.write_csv(pyarrow.table({"u": ids[0], "v": ids[1]}), path, options)
    read(put(tmp_path, b"0 1\n"))  # compilation
    seconds = []
    for _ in range(2):  # processor time, since other work on the machine is not the reader's
        start = time.process_time()
        graph = read(path)
        seconds.append(time.process_time() - start)
    assert graph.m == 5_000_000
    assert min(seconds) < 3


NAMED = {
    "blanks": (b"u v\nv w\nu w\n", "uvw", None),  # words that can head columns, but occur again
    "header": (b"source,target,weight\nu,v,2\nv,w,0.5\n", "uvw", [2, 0.5]),
    "quotes": (b'src,dst\nu,"v, the second"\n"v, the second",1\n', ["u", "v, the second", "1"], None),
    "tabs": (b"# a comment\nJohann Sebastian\tv\n\nv\tw w\n", ["Johann Sebastian", "v", "w w"], None),
    "numbers among names": (b"g1 7 3\n7 g2 4\n", ["g1", "7", "g2"], [3, 4]),
    "windows": (b"\xef\xbb\xbfu;1,v\r\nv,w\r\n", ["u;1", "v", "w"], None),
    "unicode": ("Zoë Łukasz\nŁukasz 李\n".encode(), ["Zoë", "Łukasz", "李"], None),
}


@pytest.mark.parametrize("kind", NAMED)
def test_names_of_vertices_are_numbered_as_they_occur(tmp_path, kind):
    text, labels, weights = NAMED[kind]
    path = tmp_path / "named.csv"
    path.write_bytes(text)
    graph = read(path)
    assert graph.labels.tolist() == list(labels) and graph.directed
    assert weights == (None if graph.weights is None else graph.edge_weights().tolist())
    sources, targets = graph.edges()
    pairs = {(graph.labels[u], graph.labels[v]) for u, v in zip(sources, targets, strict=True)}
    assert (labels[0], labels[1]) in pairs and (labels[1], labels[2]) in pairs


@pytest.mark.parametrize("text, warned", [
    (b"player_a,player_b\nalice,bob\nbob,carol\n", True),
    (b"# of 2024\n\nplayer_a\tplayer_b\nalice\tbob\n", True),
    (b"alice,bob\nbob,carol\n", False),  # bob occurs again
    (b"source,target\nalice,bob\ncarol,dave\n", False),  # the header is known
    (b"alice,bob\n", False),
    (b"alice bob\ncarol dave\n", False),  # no CSV
    (b"alice,alice\nbob,carol\n", False),
])  # fmt: skip
def test_a_first_row_that_may_name_columns_is_warned_of(tmp_path, text, warned):
    path = tmp_path / "games.csv"
    path.write_bytes(text)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        read(path)
    assert len(found) == warned
    if warned:
        line = text.split(b"player")[0].count(b"\n") + 1
        assert f"games.csv, line {line}: 'player_a' and 'player_b' occur in no other line" in str(found[0].message)


def test_numbers_are_names_where_that_is_asked_for(tmp_path):
    path = tmp_path / "edges.csv"
    path.write_text("source,target\n10,7\n7,10\n7,3\n")
    assert read(path).n == 11 and read(path).labels is None
    graph = read(path, names=True)
    assert graph.labels.tolist() == ["10", "7", "3"] and graph.m == 3
    path.write_text("a b\nb c\n")
    with pytest.raises(GraphError, match="line 1: found 'a'"):
        read(path, names=False)
    path.write_text("p sp 2 1\na 1 2 3\n")
    with pytest.raises(GraphError, match="is no edge list .dimacs."):
        read(path, names=True)


def test_an_open_file_is_read(tmp_path):
    path = tmp_path / "a.txt.gz"
    path.write_bytes(gzip.compress(b"0 1\n1 2\n"))
    with path.open("rb") as file:
        graph = read(file)
    assert graph.m == 2 and graph.name == "a"
    assert read(io.BytesIO(b"0 1\n")).m == 1
    with pytest.raises(GraphError, match="opened as text"):
        read(io.StringIO("0 1\n"))


@settings(max_examples=60)
@given(st.lists(st.tuples(*[st.text(st.characters(codec="utf-8", exclude_characters="\0\n\r"))] * 2), min_size=2))
def test_any_names_come_back_from_csv(tmp_path_factory, pairs):
    pairs = [tuple("x" + name.strip() for name in two) for two in pairs]  # no numbers, no blanks at the ends
    path = tmp_path_factory.mktemp("csv") / "a.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(pairs)
    graph = read(path)
    sources, targets = graph.edges()
    found = sorted((graph.labels[u], graph.labels[v]) for u, v in zip(sources, targets, strict=True))
    assert found == sorted(pairs)


@pytest.mark.parametrize("text", [b"user,item,rating\nu2,film 1,4\nu1,film 2,0.5\n",
                                  b"u2::film 1::4::99\nu1::film 2::0.5::98\n",
                                  b'"u2","film 1",4\n# no rating\n"u1","film 2",0.5\n'])  # fmt: skip
def test_ratings_of_users_and_items_with_names(tmp_path, text):
    path = tmp_path / "ratings"
    path.write_bytes(text)
    matrix, users, items = read_ratings(path, ids=True)
    assert users.tolist() == ["u1", "u2"] and items.tolist() == ["film 1", "film 2"]
    assert matrix.toarray().tolist() == [[0, 0.5], [4, 0]]


@pytest.mark.parametrize("text", [b"7,0195,4\n7,195,2\n", b"user,item,rating\n7,195,2,9\n7, 0195,4,05\n"])
def test_ids_that_begin_with_a_zero_are_names(tmp_path, text):
    path = tmp_path / "ratings.csv"
    path.write_bytes(text)
    matrix, users, items = read_ratings(path, ids=True)
    assert users.tolist() == ["7"] and items.tolist() == ["0195", "195"] and matrix.toarray().tolist() == [[4, 2]]
    path.write_bytes(b"0,7,0.5\n10,7,02\n")  # a zero alone, in a number, and in a rating
    assert read_ratings(path, ids=True)[1].tolist() == [0, 10]


def test_ratings_of_movielens_of_old(tmp_path):
    path = tmp_path / "ratings.dat"
    path.write_bytes(b"1::1193::5::978300760\n1::661::3::978302109\n")
    matrix, users, items = read_ratings(path, ids=True)
    assert users.tolist() == [1] and items.tolist() == [661, 1193] and matrix.toarray().tolist() == [[3, 5]]


@pytest.mark.parametrize(("text", "arcs"), [
    ("0 0\n", [(0, 0)]),
    ("1 0\n\n", [(1, 0)]),
    ("3 3\n2 3\n1 3\n1 2\n", [(1, 2), (1, 3), (2, 3), (3, 3)]),
    ("2 2\n2 2\n1 1\n", [(1, 1), (2, 2), (2, 2)]),
])  # fmt: skip
def test_a_small_text_that_holds_as_metis_too_is_an_edge_list(text, arcs):
    graph = read(io.BytesIO(text.encode()))
    assert sorted(zip(*(ends.tolist() for ends in graph.edges()), strict=True)) == arcs and graph.directed
    if text.startswith("3 3"):
        assert read(io.BytesIO(text.encode()), format="metis").n == 3


def test_a_cycle_in_metis_is_known_by_its_size():
    rows = [f"{(v - 1) % 12 + 1} {(v + 1) % 12 + 1}" for v in range(12)]
    assert not read(io.BytesIO("\n".join(["12 12", *rows, ""]).encode())).directed


@pytest.mark.parametrize("text", ["c d\nd e\n", "p q\nq r\n", "a x\nb y\n", "a 1\nb 2\n"])
def test_names_that_dimacs_uses_are_names_all_the_same(text):
    assert read(io.BytesIO(text.encode())).labels.tolist() == list(dict.fromkeys(text.split()))


def test_numbers_of_what_looks_like_metis_are_names_if_asked():
    graph = read(io.BytesIO(b"3 2\n2\n1 3\n2\n".replace(b"\n2\n", b"\n2 1\n")), names=True)
    assert graph.n == 3 and graph.labels.tolist() == ["3", "2", "1"]


CYCLE = "12 12\n" + "".join(f"{(v - 2) % 12 + 1} {v % 12 + 1}\n" for v in range(1, 13))


def test_a_hash_within_a_comment_leaves_a_metis_file_one(tmp_path):
    for name, first in (("a.graph", ""), ("b.graph", "% made by tool #1\n"), ("c.txt", "% made by tool #1\n")):
        (tmp_path / name).write_text(first + CYCLE)
        graph = read(tmp_path / name)
        assert (graph.n, graph.m, graph.directed) == (12, 24, False), name


def test_the_name_of_a_folder_says_nothing_of_a_file(tmp_path):
    text = "3 3\n2 3\n1 3\n1 2\n"
    sizes = set()
    for folder in ("plain", "my.graphs"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "e.txt").write_text(text)
        graph = read(tmp_path / folder / "e.txt")
        sizes.add((graph.n, graph.m, graph.directed))
    assert sizes == {(4, 4, True)}


@pytest.mark.parametrize(
    ("words", "directed"),
    [("undirected", False), ("un-directed", False), ("non-directed", False), ("not a directed graph", False),
     ("Directed graph", True), ("a mis-directed letter", True), ("directed: no", False), ("Directed = False", False),
     ("undirected: no", True), ("directed: nodes first", True)],
)  # fmt: skip
def test_a_comment_says_the_direction(tmp_path, words, directed):
    (tmp_path / "e.txt").write_text(f"# {words}\n0 1\n")
    assert read(tmp_path / "e.txt").directed == directed


def test_a_header_whose_word_is_also_a_vertex(tmp_path):
    file = tmp_path / "h.csv"
    file.write_text("source,target,weight\nsource,b,1\nb,c,2\n")  # no edge has a third word
    graph = read(file)
    assert graph.labels.tolist() == ["source", "b", "c"] and graph.weights.tolist() == [1, 2]
    file.write_text("from,to\nhow,to\nto,be\n")
    with pytest.warns(GraphWarning, match="line 1: 'from' and 'to' occur in other lines too, and are read as an edge"):
        assert read(file).m == 3


def test_names_are_parted_by_blanks_and_tabs_alone(tmp_path):
    (tmp_path / "e.txt").write_text("A\u00a0B C\nC \t A\u00a0B\n", encoding="utf-8")
    assert read(tmp_path / "e.txt").labels.tolist() == ["A\u00a0B", "C"]
