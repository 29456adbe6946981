"""The registry: canonical forms, checks by degrees, a mirror, downloads; what is missing is said plainly."""

import functools
import gzip
import http.server
import importlib
import io
import socket
import tarfile
import threading
import time
import zipfile
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from lockstep import paths
from lockstep.graphs import (
    DatasetMissing,
    Graph,
    GraphError,
    datasets,
    fetching,
    load,
    load_batch,
    load_coordinates,
    load_ratings,
    probe_hosts,
)
from lockstep.graphs.canonical import canonical, degree_digest, edge_count

registry = importlib.import_module("lockstep.graphs.registry")

COLUMNS = [
    "name",
    "kind",
    "study",
    "url",
    "member",
    "format",
    "directed",
    "loops",
    "parallel",
    "isolated",
    "weights",
    "n",
    "m",
    "digest",
    "mirror",
    "licence",
    "source",
    "how",
]
TRIANGLE = Graph.from_edges([0, 1, 2], [1, 2, 0], directed=False)
ARCS = Graph.from_edges([0, 1, 2], [1, 2, 0])


@pytest.fixture
def tables(tmp_path, monkeypatch):
    """A function that registers data sets for one test, with an empty cache and no mirror."""
    monkeypatch.setattr(paths, "CACHE", tmp_path / "cache")
    monkeypatch.setattr(fetching, "_answers", {})
    for name in ("LOCKSTEP_MIRROR", "LOCKSTEP_OFFLINE"):
        monkeypatch.delenv(name, raising=False)

    def register(*entries):
        plain = dict.fromkeys(COLUMNS, "") | {
            "kind": "graph",
            "directed": "yes",
            "loops": "keep",
            "parallel": "keep",
            "isolated": "drop",
            "weights": "no",
            "how": "ask the author",
        }
        table = pd.DataFrame([plain | entry for entry in entries], columns=COLUMNS)
        table.to_csv(tmp_path / "registry.csv", index=False)
        monkeypatch.setenv("LOCKSTEP_DATASETS", str(tmp_path / "registry.csv"))
        return tmp_path

    return register


def expect(graph):
    return {"n": str(graph.n), "m": str(edge_count(graph)), "digest": degree_digest(graph)}


# ------------------------------------------------------------------------------------------------ canonical
# form
def test_canonical_form():
    graph = Graph.from_edges([0, 0, 2, 2, 5], [2, 2, 0, 2, 5], weights=[1, 2, 3, 4, 5], n=7)
    same = canonical(graph)
    assert (same.n, same.m) == (7, 5)
    assert canonical(graph, loops="drop").m == 3
    merged = canonical(graph, parallel="merge")
    assert merged.m == 4 and merged.weights.tolist() == [1, 3, 4, 5]
    small = canonical(graph, loops="drop", parallel="merge", isolated="drop")
    assert small.n == 2 and small.labels.tolist() == [0, 2] and small.targets.tolist() == [1, 0]


def test_the_digest_forgets_names_and_sees_edges():
    graph = Graph.from_edges([0, 0, 1, 3], [1, 2, 2, 0])
    name = np.array([2, 3, 0, 1])
    renamed = Graph.from_edges(*(name[side] for side in graph.edges()))
    assert degree_digest(renamed) == degree_digest(graph)
    assert degree_digest(Graph.from_edges([0, 0, 1, 3], [1, 2, 2, 1])) != degree_digest(graph)
    assert degree_digest(graph.reverse()) != degree_digest(graph)
    assert edge_count(Graph.from_edges([0, 1], [0, 2], directed=False)) == 2


# --------------------------------------------------------------------------------------------------------
# mirror
def test_a_relabelled_mirror_copy_and_the_official_file_both_check_out(tables):
    folder = tables(
        {
            "name": "Tri",
            "directed": "no",
            "parallel": "merge",
            "loops": "drop",
            "mirror": "tri.txt.xz",
            "url": "https://example.org/official.txt.gz",
            **expect(TRIANGLE),
        }
    )
    (folder / "official.txt.gz").write_bytes(gzip.compress(b"10 30\n30 10\n30 77\n77 10\n10 10\n"))
    official = load("tri", mirror=folder)
    assert (official.n, official.m, official.name) == (3, 6, "Tri")
    (folder / "tri.txt").write_bytes(b"# Nodes: 3 Edges: 3\n0 1\n0 2\n1 2\n")
    assert load("tri", mirror=folder).labels is None  # the mirror's own name comes first


def test_another_graph_is_never_handed_out(tables, monkeypatch):
    folder = tables({"name": "tri", "mirror": "tri.txt", **expect(ARCS)})
    monkeypatch.setenv("LOCKSTEP_MIRROR", str(folder))
    for text, message in (
        (b"0 1\n1 2\n2 3\n", "found vertices 4; expected 3"),
        (b"0 1\n1 2\n", "found edges 2; expected 3"),
        (b"0 1\n1 2\n0 2\n", "found degree digest .*; expected [0-9a-f]{64}"),
    ):
        (folder / "tri.txt").write_bytes(text)
        with pytest.raises(GraphError, match=rf"tri.txt is not tri: {message}"):
            load("tri")


def test_what_is_missing_says_how_to_get_it(tables):
    folder = tables(
        {"name": "far", "url": "https://example.org/far.txt.gz", "licence": "free"},
        {"name": "made", "mirror": "made.txt"},
    )
    with pytest.raises(
        DatasetMissing,
        match=r"far is not here: no mirror is set, the network is not used\. To get it: "
        r"fetch https://example.org/far.txt.gz and put it.*LOCKSTEP_MIRROR",
    ):
        load("far", offline=True)
    with pytest.raises(DatasetMissing, match="the mirror .* does not hold it, it has no official file.*ask the author"):
        load("made", mirror=folder)
    table = datasets().set_index("name")
    assert table.loc["far", ["status", "licence", "checked"]].tolist() == ["missing", "free", "not checked"]
    assert "fetch https://example.org/far.txt.gz" in table.loc["far", "how"]
    (folder / "made.txt").write_bytes(b"0 1\n")
    assert datasets(mirror=folder).set_index("name").loc["made", "status"] == "mirror"


def test_names_are_checked_with_a_hint(tables):
    tables({"name": "amazon0302"}, {"name": "stars", "kind": "ratings"})
    with pytest.raises(GraphError, match="no data set 'amazon302' is registered; did you mean amazon0302"):
        load("amazon302")
    with pytest.raises(GraphError, match=r"stars is ratings; expected graph here \(use lockstep.graphs.load_ratings\)"):
        load("stars")


def test_other_kinds(tables):
    folder = tables(
        {
            "name": "stars",
            "kind": "ratings",
            "url": "https://example.org/ml.zip",
            "member": "ratings.csv",
            "n": "2+2",
            "m": "3",
        },
        {"name": "toys", "kind": "batch", "mirror": "TOY.zip", "n": "5", "m": "3"},
        {"name": "places", "kind": "coordinates", "mirror": "a.co", "n": "1"},
    )
    with zipfile.ZipFile(folder / "ml.zip", "w") as archive:
        archive.writestr("ml/ratings.csv", "user,item,rating\n1,1,5\n1,2,4\n2,1,3\n")
        archive.writestr("ml/tags.csv", "user,item,tag\n")
    with zipfile.ZipFile(folder / "TOY.zip", "w") as archive:
        archive.writestr("TOY/TOY_A.txt", "1, 2\n2, 1\n3, 4\n4, 3\n4, 5\n5, 4\n")
        archive.writestr("TOY/TOY_graph_indicator.txt", "1\n1\n2\n2\n2\n")
    (folder / "a.co").write_text("p aux sp co 1\nv 1 3 4\n")
    assert load_ratings("stars", mirror=folder).toarray().tolist() == [[5, 4], [3, 0]]
    graph, starts = load_batch("toys", mirror=folder)
    assert graph.n == 5 and starts.tolist() == [0, 2, 5]
    assert load_coordinates("places", mirror=folder).tolist() == [[3, 4]]


# -----------------------------------------------------------------------------------------------------
# downloads
class Official(http.server.BaseHTTPRequestHandler):
    """Official homes in small: whole files, and parts of them for who asks to go on."""

    def do_HEAD(self):
        self.send_response(404)
        self.end_headers()

    def do_GET(self):
        self.server.asked.append((self.path, self.headers.get("Range")))
        if self.path not in self.server.files:
            self.send_response(404)
            self.end_headers()
            return
        body = self.server.files[self.path]
        start = int((self.headers.get("Range") or "bytes=0-")[6:-1])
        stale = self.headers.get("If-Range") not in (None, '"v1"')
        self.send_response(206 if start and not stale else 200)
        body = body[start:] if start and not stale else body
        self.send_header("ETag", '"v1"')
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.server.cut:
            body = body[: self.server.cut]
            self.server.cut = 0
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Official)
    server.files, server.asked, server.cut = {}, [], 0
    server.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()


def matrix_archive():
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for name, body in (
            ("tri/tri.mtx", b"%%MatrixMarket matrix coordinate pattern symmetric\n3 3 3\n2 1\n3 1\n3 2\n"),
            ("tri/tri_coord.mtx", b"%%MatrixMarket matrix array real general\n1 1\n1\n"),
        ):
            info = tarfile.TarInfo(name)
            info.size = len(body)
            archive.addfile(info, io.BytesIO(body))
    return out.getvalue()


def nde_archive():
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("tri.nde", "3\n0 2\n1 2\n2 2\n0 1\n1 2\n0 2\n")
    return out.getvalue()


def test_official_containers_from_a_server(tables, server, monkeypatch):
    server.files = {
        "/tri.txt.gz": gzip.compress(b"0 1\n1 2\n2 0\n"),
        "/tri.tar.gz": matrix_archive(),
        "/tri.zip": nde_archive(),
    }
    entry = {"directed": "no", **expect(TRIANGLE)}
    tables(
        {"name": "gz", "url": f"{server.url}/tri.txt.gz", **entry},
        {
            "name": "tar",
            "url": f"{server.url}/tri.tar.gz",
            "format": "tar.gz archive",
            "member": "tri.mtx",
            **entry,
        },
        {"name": "zip", "url": f"{server.url}/tri.zip", "format": "zip archive", **entry},
    )
    for name in ("gz", "tar", "zip"):
        graph = load(name)
        assert (graph.n, graph.m) == (3, 6)
    assert sorted(path.name for path in paths.CACHE.iterdir()) == [
        "gz--tri.txt.gz",
        "tar--tri.tar.gz",
        "zip--tri.zip",
    ]
    assert set(datasets()["status"]) == {"present"}
    asked = len(server.asked)
    monkeypatch.setenv("LOCKSTEP_OFFLINE", "1")
    assert load("gz").m == 6 and len(server.asked) == asked  # from the cache


def test_a_wrong_file_from_the_server_does_not_stay(tables, server):
    server.files = {"/tri.txt": b"0 1\n1 2\n2 3\n", "/page.txt": b"<html>log in first</html>\n"}
    tables(
        {"name": "tri", "url": f"{server.url}/tri.txt", **expect(ARCS)},
        {"name": "page", "url": f"{server.url}/page.txt"},
    )
    with pytest.raises(GraphError, match="found vertices 4; expected 3 .*has been deleted again"):
        load("tri")
    with pytest.raises(GraphError, match="line 1: found '<html>log'.*has been deleted again"):
        load("page")
    assert list(paths.CACHE.iterdir()) == []
    with pytest.raises(DatasetMissing, match="404"):
        tables({"name": "none", "url": f"{server.url}/none.txt"})
        load("none")


@pytest.mark.parametrize("renewed", [False, True])
def test_a_download_goes_on_where_it_stopped(tables, server, renewed):
    text = b"".join(b"%d %d\n" % (v, (v + 1) % 5_000) for v in range(5_000))
    server.files, server.cut = {"/ring.txt": text}, 20_000
    tables({"name": "ring", "url": f"{server.url}/ring.txt", "n": "5000", "m": "5000"})
    with pytest.raises(DatasetMissing, match="ring is not here"):
        load("ring")
    part = paths.CACHE / "ring--ring.txt.part"
    assert 0 < part.stat().st_size <= 20_000 and not (paths.CACHE / "ring--ring.txt").exists()
    if renewed:  # what lies there is of another version, so the server sends everything
        part.with_name(part.name + ".mark").write_text('"v0"')
    done = part.stat().st_size
    assert load("ring").m == 5_000
    assert server.asked[-1] == ("/ring.txt", f"bytes={done}-")
    assert [path.name for path in paths.CACHE.iterdir()] == ["ring--ring.txt"]


@pytest.fixture
def silent():
    """A server that accepts and never answers: what a firewall in the way looks like."""
    with socket.create_server(("127.0.0.1", 0), backlog=50) as listening:
        yield SimpleNamespace(url=f"http://127.0.0.1:{listening.getsockname()[1]}", socket=listening)


def test_a_host_that_never_answers_is_asked_once(tables, silent):
    tables({"name": "far", "url": f"{silent.url}/far.txt"}, {"name": "wide", "url": f"{silent.url}/wide.txt"})
    for name in ("far", "wide"):
        with pytest.raises(DatasetMissing, match="connected, but no answer within 3 s. To get it: fetch"):
            load(name)
    silent.socket.setblocking(False)
    silent.socket.accept()
    with pytest.raises(BlockingIOError):
        silent.socket.accept()


def test_hosts_are_asked_in_parallel_and_within_the_budget(tables, silent, server):
    closed = "http://127.0.0.1:1"
    start = time.monotonic()
    found = probe_hosts([f"{silent.url}/a", f"{silent.url}/b", f"{server.url}/c", f"{closed}/d"])
    assert time.monotonic() - start < 15
    assert found == {
        silent.url: "connected, but no answer within 3 s",
        server.url: None,
        closed: "no connection (ConnectionError)",
    }


def test_a_name_look_up_that_hangs_ends_with_the_budget(tables, monkeypatch):
    stop = threading.Event()
    monkeypatch.setattr(fetching, "_ask", lambda host: stop.wait(30))
    start = time.monotonic()
    assert probe_hosts(["http://a.invalid/x", "http://b.invalid/y"], budget=0.3) == {
        "http://a.invalid": "no answer within 0.3 s",
        "http://b.invalid": "no answer within 0.3 s",
    }
    assert time.monotonic() - start < 15
    stop.set()


def test_offline_opens_no_connection(tables, monkeypatch):
    monkeypatch.setattr(fetching, "_ask", functools.partial(pytest.fail, "asked"))
    monkeypatch.setenv("LOCKSTEP_OFFLINE", "1")
    assert list(probe_hosts(["http://a.invalid/x"]).values()) == ["the network is not used (LOCKSTEP_OFFLINE is set)"]
    tables({"name": "far", "url": "http://a.invalid/far.txt"})
    with pytest.raises(DatasetMissing, match="the network is not used"):
        load("far")
