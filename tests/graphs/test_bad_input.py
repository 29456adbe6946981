"""Bad input: each kind, in each format, is refused with the file, the line, and what was expected."""

import gzip
import io
import lzma
import re
import tarfile
import tracemalloc
import zipfile

import pyarrow
import pytest

from lockstep.graphs import GraphError, GraphWarning, memory, read, read_batch, read_coordinates, read_ratings

MM = b"%%MatrixMarket matrix coordinate "


def refused(path, text, reader=read, **options):
    with pytest.raises(GraphError) as caught:
        reader(path, **options)
    message = str(caught.value)
    assert str(path) in message
    assert re.search(text, message), message
    return message


BODIES = {
    # a line that is not an edge
    "edges, a name before numbers": (b"a b\n1 2\n", r"line 1: found 'a'; expected two node ids \(whole numbers, or"),
    "edges, names and a line of three": (b"a b\n\nb c 2\n", r"line 3: found 3 fields where the rows before have 2;"),
    "edges, names and one alone": (b"a b\n# c\nb\n", r"line 3: found 1 field where the rows before have 2;"),
    "edges, names and a word as weight": (b"a b 2\nb c x\n", r"line 2: found 'x'; expected two names and at most one"),
    "edges, names and NaN": (b"a b 2\nb c nan\n", r"line 2: found 'nan'"),
    "edges, names and a quote": (b'a,b\n"b,c\n', r"line 2: found a row that is no CSV"),
    "edges, names and a quoted line break": (b'a,"b\nc",d\n', r"line 1: found a quoted field that goes on"),
    "edges, names and Latin-1": (b"a b\nb c\nd \xe9\n", r"line 3: found a byte that is not UTF-8"),
    "edges, names and another count": (b"# Nodes: 3 Edges: 3\na b\nb c\n", r"line 1: .*3 edges; found 3 names and 2"),
    "edges, an id spelled twice": (b"007 1\n7 2\n", r"ids 007 and 7 are one number; .* names=True \(--names\)"),
    "edges, a target spelled twice": (b"source,target\n1,0307\n2,307\n", r"ids 0307 and 307 are one number"),
    "edges, names and a # before one": (b"a,b\nc,#d\n #7,a\n", r"line 3: found ' #7,a', an edge .* put an id"),
    "edges, names and a % before one": (b"a\tb\t1\n%c\tb\t2\n", r"line 2: found '%c.*b.*2', an edge in a line"),
    "edges, JSON": (b'{"a": 1}\n{"b": 2}\n', r"line 1: found"),
    "edges, words": (b"# c\n0 1\n1 two\n", r"line 3: found 'two'; expected two node ids"),
    "edges, one number": (b"0 1\n2\n", r"line 2: found 1 number where the rows before have 2;"),
    "edges, an empty name": (b"a,b\nb,\nc,a\n", r"line 2: found an empty field; expected two names"),
    "edges, a weight beyond float64": (b"0 1 1\n1 2 1e400\n", r"line 2: found '1e400'; expected two node ids"),
    "edges, names and underscores": (b"a b 1_000\nb c 3\n", r"line 1: found '1_000'"),
    "edges, n before them": (b"4\n0 1\n1 2\n2 3\n3 0\n0 2\n", r"line 1: found 1 number; expected two node ids"),
    "edges, lines of an old Mac": (b"0 1\n0 1\r2 3\n", r"line 2: a carriage return without a line feed"),
    "edges, sizes without digits": (b"# Nodes: , Edges: ,\n0 x\n0 1\n", r"line 2: found 'x'"),
    "dimacs, a weight beyond float64": (b"p sp 2 1\na 1 2 1e400\n", r"line 2: found '1e400'"),
    "edges, four numbers": (b"0 1 2 3\n", r"line 1: found 4 numbers; expected two node ids"),
    "edges, a column more": (
        b"0 1\n\n# c\n1 2 3\n",
        r"line 4: found 3 numbers where the rows before have 2;",
    ),
    "edges, comma at the end": (b"0,1\n1,2,\n", r"line 2: found ','"),
    "edges, binary digits": (b"0 1\n1 0x10\n", r"line 2: found '0x10'"),
    "edges, page of a web server": (b"<!DOCTYPE html>\n<html>\n", r"line 1: found '<!DOCTYPE'"),
    "dimacs, other letter": (b"p sp 2 1\ne 1 2 3\n", r"line 2: found 'e'; expected 'a <from> <to>"),
    "dimacs, word": (b"c\np sp 2 1\na 1 x 3\n", r"line 3: found 'x'; expected 'a <from> <to>"),
    "dimacs, edges that are missing": (b"p edge 3 5\ne 1 2\n", r"line 1: the header says 5 edges; .* found 1"),
    "dimacs, more edges than its header says": (b"p edge 4 2\ne 1 2\ne 2 3\ne 3 4\ne 1 4\n",
                                                r"the header says 2 edges; .* found 4 with 4 edges"),
    "dimacs, an edge to nowhere": (b"p edge 3 1\ne 1 4\n", r"line 2: found id 4 \(ids here run from 1 to 3\)"),
    "mtx, a large integer": (
        MM + b"integer general\n2 2 1\n1 2 99999999999999999999\n",
        r"line 3: found 1e\+20, beyond 2\^53, as an integer",
    ),
    "dimacs, short": (b"p sp 2 1\na 1\n", r"line 2: found 1 number"),
    "mtx, value missing": (
        MM + b"real general\n2 2 1\n1 2\n",
        r"line 3: found 2 numbers; expected 'i j value'",
    ),
    "mtx, word": (MM + b"pattern general\n2 2 1\n1 b\n", r"line 3: found 'b'; expected 'i j', i from 1 to 2"),
    "metis, word": (b"2 1\n2\nx\n", r"line 3: found 'x'; expected the neighbors"),
    "metis, odd": (b"2 1 001\n2 1\n1\n", r"line 3: found 1 numbers?, which fmt 001 does not allow"),
    "nde, word": (b"1\n0 0\nx 0\n", r"line 3: found 'x'; expected 'n', then n lines"),
    # an id out of range
    "edges, negative": (
        b"0 1\n-1 0\n",
        r"line 2: found id -1 \(ids here run from 0\); expected two node ids",
    ),
    "edges, fraction": (b"0 1.5\n", r"line 1: found id 1.5"),
    "edges, beyond 2^53": (b"0 1\n3 123456789012345678901\n", r"line 2: found id 1.23456789012346e\+20"),
    "edges, gap too large": (b"0 1\n5 900000000\n", r"largest id is 900000000 .*compact=True"),
    "dimacs, id 0": (b"p sp 2 1\na 0 2 3\n", r"line 2: found id 0 \(ids here run from 1 to 2\)"),
    "dimacs, id 3 of 2": (b"p sp 2 1\nc\na 1 3 3\n", r"line 3: found id 3 \(ids here run from 1 to 2\)"),
    "mtx, row 3 of 2": (
        MM + b"pattern general\n%\n2 2 1\n3 1\n",
        r"line 4: found id 3 \(ids here run from 1 to 2\)",
    ),
    "metis, neighbor 3 of 2": (b"%\n2 1\n2\n3\n", r"line 4: found neighbor 3 \(ids run from 1 to 2\)"),
    "nde, vertex 2 of 2": (
        b"2\n0 1\n1 1\n0 2\n",
        r"line 4: found a number out of range \(ids run from 0 to 1\)",
    ),
    # a header that disagrees with the body
    "edges, fewer": (b"#\n# Nodes: 3 Edges: 3\n0 1\n1 2\n", r"line 2: the header says 3 edges; .* found 2"),
    "edges, other ids": (b"# Nodes: 2 Edges: 2\n0 1\n1 2\n", r"line 1: the header says 2 nodes; .* found 3"),
    "dimacs, fewer": (b"p sp 2 2\na 1 2 3\n", r"line 1: the header says 2 arcs; .* found 1"),
    "dimacs, two headers": (b"p sp 2 1\np sp 2 1\na 1 2 3\n", r"line 2: found 'p'; expected 'a"),
    "dimacs, arc first": (b"a 1 2 3\n", r"line 1: found 'a 1 2 3'; expected the problem line"),
    "dimacs, no header": (b"c\nc\n", r"no problem line found; expected 'p sp"),
    "dimacs, coordinates": (b"p aux sp co 1\nv 1 2 3\n", r"line 1: these are node coordinates"),
    "mtx, fewer": (MM + b"pattern general\n2 2 2\n1 2\n", r"line 2: the header says 2 entries; .* found 1"),
    "mtx, banner": (
        MM + b"complex general\n2 2 1\n1 2 0 0\n",
        r"line 1: found '%%matrixmarket matrix coordinate complex",
    ),
    "mtx, dense": (
        b"%%MatrixMarket matrix array real general\n1 1\n1\n",
        r"line 1: .*expected '%%MatrixMarket",
    ),
    "mtx, sizes": (MM + b"pattern general\n2 2\n1 2\n", r"line 2: found '2 2'; expected the sizes"),
    "mtx, not square": (
        MM + b"pattern general\n2 3 1\n1 3\n",
        r"line 2: the matrix is 2 x 3; expected a square one",
    ),
    "mtx, upper": (MM + b"pattern symmetric\n2 2 1\n1 2\n", r"line 3: found an entry above the diagonal"),
    "metis, fewer edges": (b"2 2\n2\n1\n", r"header says 2 edges; expected 4 neighbors, .* found 2"),
    "metis, fewer lines": (
        b"3 1\n2\n1\n",
        r"header says 3 vertices; expected as many lines after it, found 2",
    ),
    "metis, fmt": (b"2 1 7\n2\n1\n", r"line 1: found fmt 007"),
    "metis, one direction": (b"3 1\n2 3\n\n\n", r"some edge is not in the lines of both its ends"),
    "nde, fewer lines": (b"3\n0 0\n1 0\n", r"the first line says 3 vertices; .*found 2 lines"),
    # NaN weights
    "edges, NaN": (b"0 1 1\n1 2 nan\n", r"line 2: found 'nan'"),
    "edges, infinite": (b"0 1 1\n1 2 inf\n", r"line 2: found 'inf'"),
    "dimacs, NaN": (b"p sp 2 1\na 1 2 NaN\n", r"line 2: found 'NaN'"),
    "mtx, NaN": (MM + b"real general\n2 2 1\n1 2 nan\n", r"line 3: found 'nan'"),
    "metis, NaN": (b"2 1 1\n2 nan\n1 nan\n", r"line 2: found 'nan'"),
    # nothing there
    "empty": (b"", r"is empty; expected a line for each edge or rating"),
    "blank": (b"\n \n", r"is empty"),
    "comments only": (b"# nothing\n", r"holds no edge; expected lines with two node ids"),
    "zero bytes": (b"0 1\n\0\0\0", r"is not text \(line 2 holds a zero byte\)"),
}


@pytest.mark.parametrize("packed", [bytes, gzip.compress])
@pytest.mark.parametrize("case", BODIES)
def test_body(tmp_path, case, packed):
    text, message = BODIES[case]
    kind = case.split(",")[0]
    path = tmp_path / "bad.txt"
    path.write_bytes(packed(text))
    refused(path, message, format=kind if kind in ("dimacs", "mtx", "metis", "nde") else None)


def test_the_line_counts_in_a_long_file(tmp_path):
    path = tmp_path / "long.txt"
    path.write_bytes(b"# c\n" + b"0 1\n" * 5_000 + b"0 1 2 3 4\n" + b"0 1\n" * 5_000)
    refused(path, "line 5002: found 5 numbers")


def test_the_wrong_header_can_be_overruled(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"# Nodes: 9 Edges: 9\n0 1\n")
    assert "check_header=False" in refused(path, "header says 9 edges")
    assert read(path, check_header=False).m == 1


def test_no_file_a_directory_no_weights_no_such_format(tmp_path):
    refused(tmp_path, "is a directory; expected a file")
    refused(tmp_path / "none.txt", "no such file")
    path = tmp_path / "a.txt"
    path.write_bytes(b"0 1\n")
    refused(path, "has no weights; expected a third number", weights=True)
    refused(path, "is not an archive, so it has no member 'b'", member="b")
    with pytest.raises(GraphError, match="format is 'gml'; expected one of edges, dimacs"):
        read(path, format="gml")


def archives(packed=zipfile.ZIP_STORED):
    text = b"0 1\n" * 50_000
    zipped, tarred = io.BytesIO(), io.BytesIO()
    with zipfile.ZipFile(zipped, "w", packed) as archive:
        archive.writestr("a.txt", text)
    with tarfile.open(fileobj=tarred, mode="w") as archive:
        info = tarfile.TarInfo("a.txt")
        info.size = len(text)
        archive.addfile(info, io.BytesIO(text))
    import bz2

    return {
        "gzip": gzip.compress(text),
        "xz": lzma.compress(text),
        "bzip2": bz2.compress(text),
        "zstandard": pyarrow.compress(text, "zstd", asbytes=True),
        "zip": zipped.getvalue(),
        "tar": tarred.getvalue(),
        "tar.gz": gzip.compress(tarred.getvalue()),
    }


@pytest.mark.parametrize("kind", ["gzip", "xz", "bzip2", "zstandard", "zip", "tar", "tar.gz"])
def test_truncated_archive(tmp_path, kind):
    whole = archives()[kind]
    path = tmp_path / "cut"
    path.write_bytes(whole[: len(whole) * 2 // 3])
    refused(path, "truncated or damaged .*expected a complete file")


def test_damaged_archive(tmp_path):
    whole = bytearray(archives()["zip"])
    whole[5_000] ^= 255
    path = tmp_path / "damaged.zip"
    path.write_bytes(whole)
    refused(path, "damaged .*CRC")


def test_an_archive_that_leaves_a_choice(tmp_path):
    path = tmp_path / "two.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name in ("a.txt", "b.txt"):
            archive.writestr(name, "0 1\n")
    refused(path, r"more than one file; say which \(member=, --member; of a batch: .*\), of: a.txt, b.txt")
    refused(path, "no single file that matches 'c.txt'", member="c.txt")
    with zipfile.ZipFile(path, "w"):
        pass
    refused(path, "holds no files")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"user,item,rating\n1,2,3\n1,x,3\n", r"line 3: found 'x'; expected 'user,item,rating'"),
        (b"user,item,rating\n1,2,nan\n", r"line 2: found 'nan'"),
        (b"user,item,rating\n1,2,3\n1,4,1e999\n", r"line 3: found '1e999'; expected .* a finite rating"),
        (b"user,item,rating\n1,2\n", r"line 2: found 2 numbers"),
        (b"user,item,rating\n-1,2,3\n", r"line 2: found id -1"),
        (b"-1,2,3\n2,2,3\n", r"line 1: found id -1"),
        (b"x1,2,3\nx2,y,three\n", r"line 2: found 'three'; expected 'user,item,rating' with a finite rating"),
        (b"user,item,rating\nx1,2,3\n\nx2,2\n", r"line 4: found 2 fields"),
        (b"user,item,rating\n", r"holds no rating"),
        (b"0 1 2\n1 -5\n", r"line 2: found id -5"),
        (b"0\n1\n", r"holds no rating"),
        (b"user\titem\trating\n1\t10\t4,5\n2\t10\t2,5\n", r"separated by '\\t', and a line of it holds a comma"),
        (b"%%MatrixMarket matrix coordinate pattern general\n2 3 1\n1 1\n", r"is a Matrix Market file"),
        (b"item,user,rating\n10,1,5\n", r"names its columns item,user,rating; expected user, item, rating"),
        (b"rating,user,item\n3,1,2\n", r"is 'rating,user,item'; .* or a header whose third column is called rat"),
        (b"a,b,c\n1,2,3\n", r"its first line is 'a,b,c'; expected .* with a finite rating, or a header"),
        (b"user,item,rating\n1,2,3\n #7,2,3\n", r"line 3: found ' #7,2,3', a rating in a line .* a comment"),
        (b"a,b,3\n# by hand, as seen, 2020\n%c,b,2.5,99\n", r"line 3: .* put an id that begins with it into quotes"),
        (b"user;item;rating\n1;10;5\n", r"expected commas, tabs or '::' between user, item and rating"),
    ],
)
def test_ratings(tmp_path, text, message):
    path = tmp_path / "ratings"
    path.write_bytes(text)
    refused(path, message, read_ratings)


@pytest.mark.parametrize("text", [b"007 1\n008 2\n", b"1 2 0.5\n2 3 007\n", b"# 7, 2 and 3\na,b\n"])
def test_edge_lists_with_zeros_and_comments_that_mean_one_thing(tmp_path, text):
    path = tmp_path / "edges.csv"
    path.write_bytes(text)
    assert read(path).n > 1


@pytest.mark.parametrize(
    ("arcs", "owner", "message"),
    [
        (b"1, 3\n3, 1\n", b"1\n1\n2\n", r"_A.txt, line 1: found an edge between two graphs"),
        (b"1, 9\n", b"1\n1\n", r"_A.txt, line 1: found id 9 \(ids here run from 1 to 2\)"),
        (b"1, 2\n", b"1\n1\n", r"_A.txt: some edge is listed in one direction only"),
        (b"1, 2\n", b"1\n3\n", r"_indicator.txt, line 2: found graph 3 out of order"),
        (b"1, 2\n", b"2\n2\n", r"_indicator.txt, line 1: found graph 2 out of order"),
    ],
)
def test_batches(tmp_path, arcs, owner, message):
    path = tmp_path / "T.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("T/T_A.txt", arcs)
        archive.writestr("T/T_graph_indicator.txt", owner)
    refused(path, message, read_batch)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"p aux sp co 2\nv 1 0 0\n", r"line 1: the header says 2 nodes; .* found 1 lines"),
        (b"p aux sp co 1\nv 1 0\n", r"line 2: found 2 numbers"),
        (b"p sp 1 1\n", r"line 1: found 'p sp 1 1'; expected the problem line 'p aux sp co"),
    ],
)
def test_coordinates(tmp_path, text, message):
    path = tmp_path / "a.co"
    path.write_bytes(text)
    refused(path, message, read_coordinates)


@pytest.mark.parametrize("kind", ["plain", "gzip", "xz", "bzip2", "zstandard", "zip", "tar", "tar.gz"])
def test_a_text_that_does_not_fit_is_refused_before_all_of_it_is_unpacked(tmp_path, monkeypatch, kind):
    path = tmp_path / "large"
    path.write_bytes(archives(zipfile.ZIP_DEFLATED).get(kind, b"0 1\n" * 50_000))
    verb = "holds" if kind in ("plain", "tar") else "unpacks to"
    monkeypatch.setenv("LOCKSTEP_MEMORY", "1M")  # 128 KiB of text, of 200 kB
    told = refused(path, rf"{verb} more than 128 KiB; .* 1 MiB of memory .*LOCKSTEP_MEMORY=SIZE, .*raises the limit\)")
    assert "\n" not in told
    monkeypatch.setenv("LOCKSTEP_MEMORY", "0.01G")
    assert read(path).m == 50_000


def test_what_unpacks_to_very_much_takes_little_memory_to_refuse(tmp_path, monkeypatch):
    path = tmp_path / "bomb.xz"
    path.write_bytes(lzma.compress(bytes(2**26), preset=1))
    monkeypatch.setenv("LOCKSTEP_MEMORY", "16M")
    tracemalloc.start()
    refused(path, "unpacks to more than 2 MiB")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**24


@pytest.mark.parametrize("text", [b"0 1\n1 9999999", MM + b"pattern general\n10000000 10000000 1\n2 1\n"])
def test_vertices_that_do_not_fit_are_refused(tmp_path, monkeypatch, text):
    path = tmp_path / "far.txt"
    path.write_bytes(text)
    monkeypatch.setenv("LOCKSTEP_MEMORY", "512M")
    monkeypatch.setattr("lockstep.graphs.graph.Graph.from_edges", lambda *_, **__: pytest.fail("it was tried"))
    told = "has 10,000,000 vertices, which take about 610.4 MiB; expected at most 8,388,608, as 512 MiB may be used"
    refused(path, rf"{told} \(LOCKSTEP_MEMORY=SIZE, .*compact=True\) in Python")
    monkeypatch.undo()
    monkeypatch.setenv("LOCKSTEP_MEMORY", "512M")
    assert read(path, compact=True).n in (2, 3)


def test_the_limit_is_a_size(tmp_path, monkeypatch):
    monkeypatch.delenv("LOCKSTEP_MEMORY", raising=False)
    assert 2**26 < memory.limit() < 2**50
    for text, count in {"5": 5, "2k": 2048, "1.5M": 3 * 2**19, "3G": 3 * 2**30, "1T": 2**40}.items():
        monkeypatch.setenv("LOCKSTEP_MEMORY", text)
        assert memory.limit() == count
    for text in ("much", "-1", "5X", "G"):
        monkeypatch.setenv("LOCKSTEP_MEMORY", text)
        with pytest.raises(ValueError, match=f"LOCKSTEP_MEMORY is '{text}'; expected a number of bytes, or a size"):
            memory.limit()


@pytest.mark.parametrize(("text", "told"), [
    (b"%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 2 2.5\n", r"line 3: found 2.5 as an integer"),
    (b"0 9007199254740993\n", r"line 1: found id 9.0071992547409\d+e\+15 \(ids here run from 0 to 2\^53 - 1\)"),
])  # fmt: skip
def test_numbers_that_would_be_rounded(text, told):
    with pytest.raises(GraphError, match=told):
        read(io.BytesIO(text))


RATINGS = {  # text: ratings, or what is wrong
    b"196\t242\t3\t881250949\n186\t302\t3\t891717742\n": [3.0, 3.0],
    b"1 2 3 4\n2 3\n": [1.0] * 4,
    b"user,item,rating\n1,3,4\n": [4.0],
    b"reader,book,Book-Rating\nann,x,4\n": [4.0],
    b"1,2,bad\n1,3,4\n": "line 1: found 'bad'",
    b"1,2,\n1,3,4\n": "line 1: found",
    b"ann,m1,bad\nbob,m2,5\n": "its first line is 'ann,m1,bad'; expected 'user,item,rating' with a finite rating",
    b"1 2 3\n2 3 4\n": "each of its 2 lines has 3 numbers",
    b"1234567890123456789 1 2 3 4\n1 2\n": "line 1: found id 1.23456789012346e",
    b"100000000000000000000 1\n": "line 1: found id 1e",
}


@pytest.mark.parametrize("text", RATINGS)
def test_what_a_text_of_ratings_may_be(text):
    found = RATINGS[text]
    if isinstance(found, str):
        with pytest.raises(GraphError, match=re.escape(found)):
            read_ratings(io.BytesIO(text))
    else:
        assert read_ratings(io.BytesIO(text)).data.tolist() == found


def test_a_nde_file_that_is_cut_off_warns(tmp_path):
    file = tmp_path / "cut.nde"
    file.write_text("3\n0 2\n1 2\n2 2\n0 1\n1 2\n")
    with pytest.warns(GraphWarning, match="the degrees add up to 6; expected 4, twice the edges that follow"):
        assert read(file).m == 4
    file.write_text("3\n0 2\n0 2\n2 2\n0 1\n1 2\n0 2\n")
    refused(file, "expected a line with the degree of each, but vertex 0 has none or several")


def test_a_loop_in_a_metis_file_is_named_by_its_line(tmp_path):
    file = tmp_path / "loop.graph"
    file.write_text("3 3\n1 1 2\n1 3\n2\n")
    refused(file, "line 2: found vertex 1 among its own neighbors")


def test_whole_numbers_that_float64_rounds_are_told(tmp_path):
    file = tmp_path / "big.txt"
    file.write_text("0 1 1\n1 2 9007199254740993\n")
    with pytest.warns(GraphWarning, match="line 2: 9007199254740993 is 2.53 or more"):
        read(file)


def test_a_comment_on_direction_far_below_the_first_counts(tmp_path):
    file = tmp_path / "late.txt"
    file.write_text("# a\n" * 70 + "# Nodes: 7 Edges: 9\n0 1\n")
    refused(file, "line 71: the header says 9 edges")


@pytest.mark.parametrize("cut", ["short", "blank"])
def test_a_metis_file_by_name_is_no_edge_list_however_it_ends(tmp_path, cut):
    cycle = "".join(f"{(v - 2) % 12 + 1} {v % 12 + 1}\n" for v in range(1, 13))
    file = tmp_path / "a.graph"
    file.write_text(f"14 13\n{cycle}" if cut == "short" else f"12 12\n{cycle}" + "\n" * 20)
    if cut == "short":
        refused(file, "the header says 14 vertices; expected as many lines after it, found 12")
    else:
        assert (read(file).n, read(file).directed) == (12, False)
