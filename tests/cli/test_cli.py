"""The command line: what it prints, where, and with which exit status."""

import argparse
import errno
import io
import json
import os
import pathlib
import subprocess
import sys
import time
import tracemalloc
import zipfile

import numpy as np
import pytest

from lockstep import cli, output, paths, studies
from lockstep.graphs import registry
from lockstep.toposort import topological_sort


def json_commands():
    """The commands that take --json."""
    (known,) = (action for action in cli.parser()._actions if isinstance(action, argparse._SubParsersAction))
    return [name for name, one in known.choices.items() if "--json" in one._option_string_actions]


@pytest.fixture
def run(capsys):
    """Run the command line in this process; returns (exit status, standard output, standard error)."""

    def command(*words):
        try:
            status = cli.main([str(word) for word in words])
        except SystemExit as stop:
            status = stop.code
        return status, *capsys.readouterr()

    return command


@pytest.fixture
def graph(tmp_path):
    """Write an edge list; returns its path."""

    def write(text):
        file = tmp_path / "graph.txt"
        file.write_text(text)
        return file

    return write


@pytest.mark.parametrize("words", [["--help"], ["sort", "--strategy", "list"], ["datasets"]])
def test_a_reader_that_closes_the_pipe_is_no_error(words):
    """As `head -1` may do before all is written."""
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run([sys.executable, "-m", "lockstep", *words], stdout=write, stderr=subprocess.PIPE, text=True)
    os.close(write)
    assert (done.returncode, done.stderr) == (0, "")


def test_help_names_every_command_and_is_quick():
    code = (
        "import atexit, sys, lockstep.cli; atexit.register(lambda: print(*sys.modules)); lockstep.cli.main(['--help'])"
    )
    done = subprocess.run([sys.executable, "-c", code], text=True, capture_output=True, check=True)
    assert not {"numpy", "pandas", "numba", "cupy", "networkx"} & set(done.stdout.splitlines()[-1].split())
    commands = ("advise", "compare", "sort", "paths", "color", "factorize", "swarm", "claims", "datasets", "machine")
    for word in (*commands, "exit status"):
        assert word in done.stdout


@pytest.mark.parametrize("words", [[], ["sorted"], ["sort"], ["sort", "x", "--executor", "tpu"]])
def test_wrong_usage_is_status_2(run, words):
    status, out, err = run(*words)
    assert status == 2
    assert out == ""
    assert err.startswith("usage: lockstep")


def test_sort_prints_an_order_and_says_how_it_was_made(run, graph):
    file = graph("# arcs\n3 1\n1 0\n3 2\n2 0\n")
    status, out, err = run("sort", file)
    assert status == 0
    order = list(map(int, out.split()))
    assert sorted(order) == [0, 1, 2, 3]
    assert order[0] == 3 and order[-1] == 0
    assert "4 vertices in 3 layers, sorted by " in err
    reason = err.partition("sorted by ")[2]
    assert "(" in reason, "auto must say why it chose what it chose"


def test_what_the_package_warns_of_is_one_line(run, graph):
    file = graph("white,black\nalice,bob\nbob,carol\n")
    status, out, err = run("sort", file, "--quiet")
    assert status == 0 and len(out.split()) == 5
    assert err.count("\n") == 1 and err.startswith(f"{file}, line 1: 'white' and 'black' occur in no other line")


def test_a_registered_graph_goes_by_its_name_where_no_file_has_it(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    status, out, err = run("color", "Karate")
    assert status == 0 and len(out.split()) == 34 and "Karate: 34 vertices" in err
    (tmp_path / "karate").write_text("0 1\n")
    assert len(run("color", "karate")[1].split()) == 2, "the file comes first"
    status, out, err = run("color", "karat")
    assert (status, out) == (2, "")
    assert "karat: no such file, and no data set 'karat' is registered; did you mean karate?" in err
    assert run("color", "karat.txt")[2].endswith("karat.txt: no such file\n"), "a name with an ending is a file's"
    others = ("factorize", "les-miserables", "graph", "ratings"), ("color", "DD", "batch", "graph")
    for command, name, kind, wanted in others:
        status, _, err = run(command, name)
        assert status == 2 and f"the data set of that name is of the kind {kind}; expected {wanted}" in err


def test_registered_ratings_go_by_their_name_with_the_ids_of_their_file(run, tmp_path, monkeypatch):
    if registry._here(registry._entry("ml-latest-small"), None)[1] is None:
        pytest.skip("ml-latest-small is not here")
    monkeypatch.chdir(tmp_path)
    options = "--sweeps", 1, "--strategy", "serial", "--output", "vectors.npz"
    status, _, err = run("factorize", "ml-latest-small", *options)
    assert status == 0 and "ml-latest-small: 610 users, 9,724 items" in err
    status, _, err = run("factorize", "ml-latest-small", "--member", "ratings.csv")
    assert status == 2 and "the registry says how it is read" in err
    with np.load("vectors.npz") as found:
        assert found["user_ids"][[0, -1]].tolist() == [1, 610] and found["item_ids"][-1] == 193_609


def test_sort_agrees_with_the_function_and_writes_a_file(run, graph, tmp_path):
    rng = np.random.default_rng(0)
    arcs = np.sort(rng.choice(200, (400, 2)), axis=1)
    file = graph("".join(f"{a} {b}\n" for a, b in arcs if a != b))
    status, out, err = run("sort", file, "--strategy", "serial", "--output", tmp_path / "order.txt")
    assert (status, out) == (0, "")
    assert "sorted by serial" in err
    from lockstep.graphs import read

    expected = topological_sort(read(file), strategy="serial").order
    assert np.array_equal(np.loadtxt(tmp_path / "order.txt", dtype=int), expected)


@pytest.mark.parametrize("command", ["sort", "paths", "color", "factorize", "swarm"])
def test_strategies_are_listed_without_a_graph(run, command):
    package = {"sort": "toposort", "paths": "sssp", "color": "coloring", "factorize": "sgd"}.get(command, command)
    status, out, _ = run(command, "--strategy", "list")
    table = studies.table(package)
    assert status == 0 and [line.split()[0] for line in out.splitlines()] == list(table)
    assert all(entry.what in out for entry in table.values())


def test_one_vertex_is_told_in_the_singular_and_none_is_no_error(run, tmp_path):
    head = "%%MatrixMarket matrix coordinate pattern general\n"
    for n, told in ((1, "1 vertex in 1 layer,"), (0, "0 vertices in 0 layers,")):
        file = tmp_path / "few.mtx"
        file.write_text(f"{head}{n} {n} 0\n")
        status, out, err = run("sort", file)
        assert (status, out.split()) == (0, ["0"] * n) and told in err
        assert run("color", file)[0] == 0
        assert run("paths", file, "--source", 0)[0] == (0 if n else 2)


def test_an_archive_that_is_a_batch_says_so(run, tmp_path):
    path = tmp_path / "T.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("T/T_A.txt", "1, 2\n2, 1\n")
        archive.writestr("T/T_graph_indicator.txt", "1\n1\n")
    status, out, err = run("advise", path)
    assert (status, out) == (2, "") and "holds a batch of graphs; expected one graph (swarm, advise --batch)" in err
    assert run("advise", path, "--batch")[0] == 0


def test_a_member_of_an_archive(run, tmp_path):
    file = tmp_path / "two.zip"
    with zipfile.ZipFile(file, "w") as archive:
        for name, arcs in (("a.txt", "0 1\n"), ("b.txt", "1 0\n")):
            archive.writestr(name, arcs)
    status, _, err = run("sort", file)
    assert status == 2 and "--member" in err and "a.txt, b.txt" in err
    assert run("sort", file, "--member", "b.txt")[:2] == (0, "1\n0\n")


def test_an_output_that_cannot_be_written_is_refused_before_the_work(run, graph, tmp_path, monkeypatch):
    monkeypatch.setattr("lockstep.toposort.topological_sort", lambda *_, **__: pytest.fail("it was sorted"))
    (tmp_path / "file").write_text("")
    refused = [(tmp_path, "this is a folder"), (tmp_path / "file" / "x", "cannot be made")]
    if os.path.isdir("/proc"):
        refused.append(("/proc/order.txt", "nothing can be written to /proc"))
    for place, told in refused:
        status, out, err = run("sort", graph("0 1\n"), "--output", place)
        assert (status, out) == (2, "") and told in err and err.count("\n") == 1
    monkeypatch.undo()
    assert run("sort", graph("0 1\n"), "--output", tmp_path / "new" / "order.txt")[0] == 0
    assert (tmp_path / "new" / "order.txt").read_text() == "0\n1\n"


@pytest.mark.parametrize("command", [("sort",), ("color",), ("paths", "--source", 0)])
def test_an_output_that_is_the_file_read_is_refused(run, graph, tmp_path, command):
    file, link = graph("0 1\n"), tmp_path / "link"
    link.symlink_to(file)
    for place in (file, link):
        status, out, err = run(command[0], file, *command[1:], "--output", place)
        assert (status, out) == (2, "") and "this is the file that is read" in err
    assert file.read_text() == "0 1\n"


def test_a_target_that_is_no_vertex_is_refused_before_the_work(run, graph, monkeypatch):
    monkeypatch.setattr("lockstep.sssp.shortest_paths", lambda *_, **__: pytest.fail("paths were found"))
    status, _, err = run("paths", graph("0 1\n"), "--source", 0, "--target", 9)
    assert status == 2 and "no vertex 9" in err


def test_advice_is_on_ratings_or_on_a_batch(run, graph):
    status, _, err = run("advise", graph("0,1,2\n"), "--ratings", "--batch")
    assert status == 2 and "--ratings and --batch" in err


def test_sort_runs_a_kernel_on_the_emulator(run, graph):
    status, out, err = run("sort", graph("0 1\n1 2\n"), "--strategy", "frontier", "--executor", "host")
    assert (status, out) == (0, "0\n1\n2\n"), err


def test_a_cycle_is_printed_with_status_1(run, graph):
    status, out, err = run("sort", graph("0 1\n1 2\n2 3\n3 1\n"))
    assert (status, out) == (1, "")
    assert len(err.splitlines()) == 1
    assert all(str(vertex) in err for vertex in (1, 2, 3))


@pytest.mark.parametrize(("text", "words"), [
    ("0 1\n1 x\n", ["graph.txt", "2"]),
    ("", ["graph.txt"]),
    ("0 1\n1 -4\n", ["graph.txt", "2"]),
])  # fmt: skip
def test_bad_input_is_one_line_that_names_file_and_place(run, graph, text, words):
    status, out, err = run("sort", graph(text))
    assert (status, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert err.startswith("lockstep: ")
    for word in words:
        assert word in err


def test_a_graph_that_does_not_fit_is_refused_in_one_line(run, graph, monkeypatch):
    file = graph("0 1\n1 9999999\n")
    monkeypatch.setenv("LOCKSTEP_MEMORY", "8M")
    for command in (["sort"], ["color"], ["paths", "--source", 0]):
        status, out, err = run(*command, file)
        assert (status, out, err.count("\n")) == (2, "", 1)
        assert err.startswith(f"lockstep: {file} has 10,000,000 vertices")
        assert "at most 131,072, as 8 MiB may be used (LOCKSTEP_MEMORY=" in err
    monkeypatch.setenv("LOCKSTEP_MEMORY", "much")
    assert run("sort", file)[::2] == (2, "lockstep: LOCKSTEP_MEMORY is 'much'; expected a number of bytes, or a size "
                                         "such as 500M or 64G\n")  # fmt: skip


def test_memory_that_runs_out_all_the_same_is_told_in_one_line(run, graph, monkeypatch):
    def fails(*_, **__):
        return np.empty(2**55)

    monkeypatch.setattr("lockstep.toposort.topological_sort", fails)
    status, out, err = run("sort", graph("0 1\n"))
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "graph.txt: the memory does not suffice (Unable to allocate" in err and "LOCKSTEP_MEMORY" in err


def test_a_missing_file_and_an_unknown_strategy(run, graph, tmp_path):
    status, _, err = run("sort", tmp_path / "none.txt")
    assert status == 2 and "none.txt" in err
    status, _, err = run("sort", graph("0 1\n"), "--strategy", "bogo")
    assert status == 2 and "'bogo'" in err and "serial" in err


def test_a_switch_that_is_none_is_named(run, graph):
    status, _, told = run("color", graph("0 1\n"), "--switch=--5")
    assert status == 2 and "switch='--5'; expected a round" in told


def test_a_gpu_that_is_not_there_is_told(run, graph):
    from lockstep.machine import gpu_available

    if gpu_available():
        pytest.skip("there is a GPU")
    status, out, err = run("sort", graph("0 1\n"), "--strategy", "frontier", "--executor", "cuda")
    assert (status, out) == (2, "")
    assert len(err.splitlines()) == 1


def test_datasets_without_network_and_mirror(run, tmp_path, monkeypatch):
    monkeypatch.setenv("LOCKSTEP_OFFLINE", "1")
    monkeypatch.delenv("LOCKSTEP_MIRROR", raising=False)
    monkeypatch.setattr(paths, "CACHE", tmp_path / "empty")
    status, out, _ = run("datasets", "--output", tmp_path / "datasets.csv")
    assert status == 0
    told = {line.split()[0]: line.split()[1] for line in out.splitlines() if len(line.split()) > 1}
    assert told["karate"] == told["package-dependencies"] == "built-in"
    line = next(line for line in out.splitlines() if line.startswith("wiki-Talk"))
    assert "missing" in line and "https://" in line, "a missing data set says how to get it"
    assert out.splitlines()[-1].endswith("into a folder that LOCKSTEP_MIRROR names."), "once, for all of them"
    assert (tmp_path / "datasets.csv").read_text().startswith("name,")


def test_a_data_set_is_fetched_by_name(run):
    status, out, err = run("datasets", "--fetch", "karate")
    assert status == 0 and err == "karate: built-in, checked\n" and "karate" in out
    status, out, err = run("datasets", "--fetch", "nothing")
    assert (status, out) == (2, "") and "nothing" in err and err.count("\n") == 1


def test_a_table_goes_through_links_and_pipes_and_does_not_replace_them(run, tmp_path):
    file, link, pipe = (tmp_path / name for name in ("table.csv", "link.csv", "pipe"))
    link.symlink_to(file)
    assert run("datasets", "--output", link)[0] == 0 and link.is_symlink()
    os.mkfifo(pipe)
    read = subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE, text=True)
    assert run("datasets", "--output", pipe)[0] == 0 and pipe.is_fifo()
    assert read.communicate(timeout=10)[0] == file.read_text() != ""


@pytest.mark.parametrize("words", [["datasets"], ["claims"], ["compare", "toposort", "karate"]])
def test_json_and_a_table_do_not_both_go_to_standard_output(run, words):
    status, out, err = run(*words, "--json", "--output", "-")
    assert (status, out) == (2, "") and "both write to standard output; name a file for the table" in err


@pytest.mark.parametrize("kind", ["sgd", "--ratings"])
def test_what_says_how_a_graph_is_read_is_refused_for_ratings(run, tmp_path, kind):
    (tmp_path / "ratings.csv").write_text("1,1,5\n1,2,3\n2,1,4\n")
    words = ["compare", kind] if kind == "sgd" else ["advise", kind]
    status, out, err = run(*words, tmp_path / "ratings.csv", "--unweighted")
    assert (status, out) == (2, "") and "--unweighted says how the file of one graph is read; this is a file of" in err


def test_a_coloring_says_what_is_odd_about_its_file(run, tmp_path):
    (tmp_path / "some.csv").write_text("alpha,beta\na,b\nb,c\n")
    err = run("color", tmp_path / "some.csv")[2]
    assert "'alpha' and 'beta' occur in no other line" in err


def test_machine_says_what_recordings_call_this_one(run):
    status, out, _ = run("machine", "--json")
    assert status == 0
    facts = json.loads(out)
    status, out, _ = run("machine")
    assert facts["name"] in out
    assert run("machine", "--name")[1] == facts["name"] + "\n"
    assert "executor" in out


@pytest.mark.parametrize(
    "words, told", [(["--claim", "Z9"], "no part 'Z9'"), (["--study", "9-x"], "no study '9-x'"),
                    (["--verdict", "wins"], "no verdict 'wins' among these verdicts; there are holds, fails")]
)  # fmt: skip
def test_a_name_that_no_claim_has_is_refused_before_anything_is_judged(run, monkeypatch, words, told):
    monkeypatch.setattr("lockstep.evidence.claims.summary", lambda **_: pytest.fail("judged"))
    status, out, err = run("claims", *words)
    assert (status, out) == (2, "") and told in err


def test_claims_lists_verdicts_for_each_machine(run, tmp_path, two_machines, monkeypatch):
    monkeypatch.setattr(paths, "RECORDINGS", two_machines)
    status, out, _ = run("claims", "--output", tmp_path / "claims.csv")
    assert status in (0, 1)
    header = (tmp_path / "claims.csv").read_text().splitlines()[0].split(",")
    assert {"machine", "claim", "verdict"} <= set(header)
    for recorded in paths.RECORDINGS.glob("*/machine.json"):
        assert recorded.parent.name in out


@pytest.mark.parametrize("count", [0, 1, 2**16, 2**16 + 1, 150_000])
@pytest.mark.parametrize("kind", ["ids", "reals", "lengths"])
def test_results_are_written_a_part_at_a_time_as_in_one(tmp_path, capsys, kind, count):
    numbers = np.arange(count)[::-1] - 3
    if kind != "ids":
        numbers = numbers.astype(float) / (1 if kind == "lengths" else 7)
        numbers[::5] = np.inf
    expected = numbers.tolist()
    if kind == "lengths":
        expected = [d if d == np.inf else int(d) for d in expected]
    expected = "".join(f"{number}\n" for number in expected)
    output.write_column(numbers, tmp_path / "out", whole=kind == "lengths")
    output.write_column(numbers, None, whole=kind == "lengths")
    assert (tmp_path / "out").read_bytes() == expected.encode() == capsys.readouterr().out.encode()


def test_writing_takes_no_more_memory_for_more_results(tmp_path):
    numbers = np.arange(600_000) / 7
    tracemalloc.start()
    output.write_column(numbers, tmp_path / "out")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 16e6  # all at once: 75 MB


def test_output_cut_short_by_its_reader_is_no_error(graph):
    file = graph("".join(f"{k} {k + 1}\n" for k in range(20000)))
    command = f"{sys.executable} -m lockstep sort {file} --strategy serial | head -n 1; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], text=True, capture_output=True, check=True)
    assert done.stdout.split() == ["0", "0"]
    assert "Broken" not in done.stderr


def test_results_as_json(run, graph, tmp_path):
    file = graph("0 1 2.5\n1 2 1\n5 6 1\n")
    for words, wanted in (
        (["sort", file], {"strategy": "serial", "vertices": 7, "arcs": 3, "layers": 3}),
        (["paths", file, "--source", 0], {"source": 0, "reached": 3, "distances": [0, 2.5, 3.5, *[None] * 4]}),
        (["color", file], {"count": 2, "notes": ["directed arcs taken as edges"]}),
    ):
        status, out, err = run(*words, "--json")
        found = json.loads(out)
        assert status == 0 and found["file"] == str(file) and "graph.txt: " in err
        assert wanted.items() <= found.items()
    status, out, _ = run("compare", "toposort", file, "--strategies", "serial", "--json")
    assert status == 0 and [line["verified"] for line in json.loads(out)] == ["exact"]
    status, out, _ = run("datasets", "--json")
    assert status == 0 and {"name", "status", "source"} <= set(json.loads(out)[0])
    ratings = tmp_path / "ratings.csv"
    ratings.write_text("1,1,3\n1,2,4\n2,1,5\n")
    vectors = tmp_path / "vectors.npz"
    status, out, _ = run("factorize", ratings, "--sweeps", 2, "--json", "--output", vectors)
    assert status == 0 and len(json.loads(out)["rmse"]) == 2
    with np.load(vectors) as file:  # whose rows the vectors are
        assert file["user_ids"].tolist() == [1, 2] and file["item_ids"].tolist() == [1, 2]


@pytest.mark.parametrize("command", json_commands())
def test_json_is_as_the_schema_says(run, graph, tmp_path, command):
    """The schema that `lockstep schema` prints, against what the command writes."""
    fastjsonschema = pytest.importorskip("fastjsonschema")
    status, out, _ = run("schema", command)
    assert status == 0
    holds = fastjsonschema.compile(json.loads(out))
    file, ratings = graph("0 1 2.5\n1 2 1\n5 6 1\n"), tmp_path / "ratings.csv"
    ratings.write_text("1,1,3\n1,2,4\n2,1,5\n")
    words = {
        "sort": [file], "paths": [file, "--source", 0], "color": [file], "factorize": [ratings, "--sweeps", 2],
        "swarm": [file, "--unweighted", "--out", tmp_path / "out"], "advise": [file],
        "compare": ["toposort", file, "--rounds", 1],
    }.get(command, [])  # fmt: skip
    status, out, err = run(command, *words, "--json")
    assert status == 0, err
    found = json.loads(out)
    holds(found)
    assert found, "something to hold against it"
    if isinstance(found, dict):
        spoilt = {key: value for key, value in found.items() if key != next(iter(found))}
        with pytest.raises(fastjsonschema.JsonSchemaValueException):
            holds(spoilt)


def test_a_command_without_json_has_no_schema(run):
    status, _, err = run("schema", "schema")
    assert status == 2 and "no command 'schema' writes JSON; there are sort, paths" in err


def test_json_goes_to_the_output_and_a_cycle_gives_none(run, graph, tmp_path):
    file = graph("0 1\n1 2\n")
    status, out, _ = run("sort", file, "--json", "--output", tmp_path / "order.json")
    assert (status, out) == (0, "") and json.loads((tmp_path / "order.json").read_text())["order"] == [0, 1, 2]
    status, out, err = run("sort", graph("0 1\n1 0\n"), "--json")
    assert (status, out) == (1, "") and "cycle" in err


NAMED = "source,target,weight\nhome,shop,2\nshop,work,1.5\nhome,work,9\nattic,home,1\n"


def test_names_go_in_and_come_out(run, graph, tmp_path):
    file = graph(NAMED)
    assert run("sort", file)[1].split() == ["attic", "home", "shop", "work"]
    status, out, err = run("paths", file, "--source", "home")
    assert (status, out) == (0, "home\t0.0\nshop\t2.0\nwork\t3.5\nattic\tinf\n") and "3 of 4 vertices reached" in err
    status, out, err = run("paths", file, "--source", "home", "--target", "work")
    assert (status, out) == (0, "home\nshop\nwork\n") and "to work: 2 arcs, length 3.5" in err
    status, out, _ = run("paths", file, "--source", "home", "--target", "work", "--json")
    found = json.loads(out)
    assert (found["path"], found["source"], found["labels"][1]) == (["home", "shop", "work"], "home", "shop")
    colors = dict(line.split("\t") for line in run("color", file)[1].splitlines())
    assert len({colors["home"], colors["shop"], colors["work"]}) == 3
    wrong = {"has no vertex of that name": ["nowhere"], "no path leads from": ["home", "--target", "attic"]}
    for told, words in wrong.items():
        status, out, err = run("paths", file, "--source", *words)
        assert (status, out) == (1 if "path" in told else 2, "") and told in err.splitlines()[-1]
    status, out, err = run("sort", graph("a b\nb a\n"))
    assert status == 1 and "a" in err.splitlines()[-1] and "numbered from 0" not in err
    status, _, err = run("paths", graph("0 1\n"), "--source", "home")
    assert status == 2 and "the vertices of graph are numbers" in err


def test_how_a_file_is_read_can_be_said(run, graph):
    file = graph("# Directed\n7 3 5\n3 9 2\n")
    out = run("paths", file, "--source", 9, "--undirected")[1].split()
    assert (out[3], out[7], out[9], out.count("inf")) == ("2", "7", "0", 7)
    assert run("paths", file, "--source", 7, "--unweighted", "--compact")[1] == "3\t1\n7\t0\n9\t2\n"
    assert run("sort", file, "--names")[1].split() == ["7", "3", "9"]
    assert run("sort", graph("# Undirected\n0 1\n"), "--directed")[0] == 1, "both arcs of an edge are a cycle"
    status, _, err = run("sort", "karate", "--directed")
    assert status == 2 and "the registry says how it is read" in err


def test_standard_input_and_output(run, graph, tmp_path, monkeypatch):
    def given(text):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))

    given("0 2\n2 1\n")
    status, out, err = run("sort", "-", "--output", "-")
    assert (status, out) == (0, "0\n2\n1\n") and err.startswith("<stdin>: 3 vertices")
    given("0 2\n2 x\n")
    status, out, err = run("sort", "-")
    assert (status, out) == (2, "") and "line 2: found 'x'" in err
    given("a,x,3\na,y,4\nb,x,5\n")
    done = subprocess.run([sys.executable, "-m", "lockstep", "factorize", "-", "--sweeps", "2", "--output", "-"],
                          input=b"1,1,3\n1,2,4\n2,1,5\n", capture_output=True, check=True)  # fmt: skip
    assert set(np.load(io.BytesIO(done.stdout))) == {"users", "items", "user_ids", "item_ids"}
    assert done.stderr.count(b"RMSE") == 2
    status, out, _ = run("datasets", "--output", "-")
    assert status == 0 and out.startswith("name,") and "registered" not in out
    assert not (tmp_path / "-").exists() and not os.path.exists("-")


def test_quiet_and_verbose(run, graph):
    file = graph("0 1\n")
    assert run("sort", file, "-q")[1:] == ("0\n1\n", "")
    err = run("sort", file, "-v")[2]
    assert f"reading {file}: " in err and "sorting: " in err and "sorted by" in err
    status, _, err = run("sort", graph("0 1\n1 x\n"), "--quiet")
    assert status == 2 and err.count("\n") == 1
    assert "Traceback" in run("sort", graph("0 1\n1 x\n"), "--verbose")[2]
    assert run("sort", file, "-q", "-v")[0] == 2


@pytest.mark.parametrize(
    ("terminal", "words", "counted"), [(True, [], True), (True, ["-q"], False), (False, [], False)]
)
def test_seconds_of_a_long_step_are_counted_on_a_terminal(monkeypatch, graph, terminal, words, counted):
    told = io.StringIO()
    told.isatty = lambda: terminal
    monkeypatch.setattr(sys, "stderr", told)
    monkeypatch.setattr(output, "LATER", 0.05)

    def slow(*given, **options):
        end = time.monotonic() + (30 if counted else 0.3)
        while "sorting: 0 s" not in told.getvalue() and time.monotonic() < end:
            time.sleep(0.01)
        return topological_sort(*given, **options)

    monkeypatch.setattr("lockstep.toposort.topological_sort", slow)
    assert cli.main(["sort", str(graph("0 1\n1 2\n")), *words]) == 0
    lines = told.getvalue().split("\r")
    assert ("sorting: 0 s" in lines) == counted
    if counted:
        assert lines[lines.index("sorting: 0 s") + 1].isspace()  # and the line is cleared


def test_a_full_disk_leaves_no_part_of_a_result(run, graph, tmp_path, monkeypatch):
    file, kept = graph("0 1\n"), tmp_path / "order.txt"
    kept.write_text("of before\n")

    class Full(io.StringIO):
        def write(self, text):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    opened = pathlib.Path.open
    monkeypatch.setattr(pathlib.Path, "open", lambda self, mode="r", **how: (
        opened(self, mode, **how).close() or Full() if self.suffix == ".new" else opened(self, mode, **how)))
    status, _, err = run("sort", file, "--output", kept)
    assert status == 2 and f"{kept}: cannot be written (No space left on device)" in err
    assert kept.read_text() == "of before\n" and sorted(os.listdir(tmp_path)) == ["graph.txt", "order.txt"]


@pytest.mark.parametrize("there", [True, False])
def test_an_output_file_is_the_only_one_that_is_written(run, graph, tmp_path, there):
    file, output, other = graph("0 1\n"), tmp_path / "o.txt", tmp_path / "o.txt.new"
    other.write_text("another file\n")
    if there:
        output.write_text("of before\n")
    status, _, _ = run("sort", file, "--output", output)
    assert status == 0 and output.read_text() == "0\n1\n" and other.read_text() == "another file\n"
    assert sorted(os.listdir(tmp_path)) == ["graph.txt", "o.txt", "o.txt.new"]


@pytest.mark.parametrize("mode", [0o600, 0o664])
def test_a_file_that_is_replaced_keeps_its_mode(run, graph, tmp_path, mode):
    file, output = graph("0 1\n"), tmp_path / "o.txt"
    assert run("sort", file, "--output", output)[0] == 0
    usual, before = output.stat().st_mode & 0o777, os.umask(0)
    os.umask(before)
    assert usual == 0o666 & ~before
    output.chmod(mode)
    assert run("sort", file, "--output", output)[0] == 0 and output.stat().st_mode & 0o777 == mode


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_completion_is_a_script_of_the_shell(run, tmp_path, shell):
    pytest.importorskip("shtab")
    status, out, _ = run("completion", shell)
    assert status == 0 and "lockstep" in out and "--undirected" in out
    if shell == "bash":
        script = tmp_path / "complete.bash"
        script.write_text(out + "\nCOMP_WORDS=(lockstep so); COMP_CWORD=1; _shtab_lockstep; echo ${COMPREPLY[@]}\n")
        done = subprocess.run(["bash", script], text=True, capture_output=True)
        assert "sort" in done.stdout.split()


def test_names_in_a_list_are_names_of_a_sort(run):
    status, out, _ = run("sort", "package-dependencies")
    assert status == 0 and len(out.split()) > 100


def test_a_target_without_a_path_is_an_answer(run, tmp_path):
    (tmp_path / "g.txt").write_text("0 1\n1 2\n")
    status, _, told = run("paths", tmp_path / "g.txt", "--source", "2", "--target", "0")
    assert status == 1 and "no path leads from 2 to 0" in told
    status, _, told = run("paths", tmp_path / "g.txt", "--source", "0", "--target", "9")
    assert status == 2 and "no vertex 9: g has vertices 0 to 2" in told


def test_renumbered_vertices_keep_their_numbers_in_json(run, tmp_path):
    (tmp_path / "g.txt").write_text("5 7\n7 9\n")
    status, out, _ = run("paths", tmp_path / "g.txt", "--source", "5", "--target", "9", "--compact", "--json")
    assert status == 0 and (json.loads(out)["source"], json.loads(out)["path"]) == (5, [5, 7, 9])
    assert json.loads(out)["labels"] == [5, 7, 9]


def test_a_graph_without_arcs_has_no_vertex_to_start_from(run, tmp_path):
    (tmp_path / "g.txt").write_text("# Nodes: 5 Edges: 0\n")
    status, _, told = run("paths", tmp_path / "g.txt", "--source", "0", "--compact")
    assert status == 2 and "vert" in told and "Traceback" not in told


def test_a_format_can_be_said(run, tmp_path):
    (tmp_path / "g.txt").write_text("3 3\n2 3\n1 3\n1 2\n")
    assert run("color", tmp_path / "g.txt", "--format", "metis", "-q")[1].split() == ["0", "1", "2"]
    assert run("sort", tmp_path / "g.txt")[0] == 1, "an edge list with a loop"
