"""README.md's tables are made from the ledger, the recordings and the registry, and are the present ones."""

import re

import pytest

from lockstep import paths
from lockstep.choose import tree
from lockstep.digits import significant
from lockstep.evidence import claims, telling
from lockstep.guide.problems import PROBLEMS
from lockstep.machine import costs
from lockstep.provenance import stale
from lockstep.report.typeset import machines_of
from lockstep.workflow import pictures, readme
from lockstep.workflow.screen import conclude

TEXT = (paths.ROOT / "README.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def found():
    return claims.summary(recordings=paths.RECORDINGS, results=paths.RECORDINGS, stale=stale)


def test_the_made_parts_are_the_present_ones(found):
    assert readme.MADE.findall(TEXT), "README.md has lost its markers"
    assert readme.made(TEXT, found) == TEXT, "renew them with: make readme"


def test_the_published_verdicts_are_the_present_ones(found):
    told = (paths.PAPER / "published" / "claims.txt").read_text(encoding="utf-8")
    assert told == found.text.rstrip() + "\n", "make readme"


def test_every_paper_and_every_recorded_machine_has_its_place(found):
    table = readme.verdicts(found)
    for paper in claims.papers().values():
        assert f"| {paper['study']} | {paper['message']} |" in table
    judged = found.verdicts[found.verdicts["verdict"].isin(telling.TESTED)]
    columns = table.splitlines()[0].count("parts of its claims")
    assert columns == judged["machine"].nunique()
    assert ("Also recorded" in table) == (columns < found.verdicts["machine"].nunique())


def test_a_machine_with_nothing_to_judge_is_named_below_the_table(two_machines):
    """Two GPUs, and rows of one part that no claim asks for: no column of grey."""
    found = claims.summary(recordings=two_machines, results=two_machines)
    head, *_, blank, below = readme.verdicts(found, two_machines).splitlines()
    assert head.count("parts of its claims") == 1 and "NVIDIA Test (2026-01-02)" in head and not blank
    assert below == ("Also recorded, but not used for any verdict: 2 × NVIDIA Test (2026-02-03): 5-swarm-batch.")


def test_a_part_that_does_not_exist_is_named(found):
    with pytest.raises(ValueError, match="'weather'; there are ladder, choices, verdicts"):
        readme.made("<!-- made: weather -->\nrain\n<!-- end -->", found)


def test_the_pictures_that_it_shows_are_of_the_recordings(found, tmp_path):
    """Drawn again from what is published they are the same bytes."""
    shown = sorted(re.findall(r"paper/published/(\w+)\.svg", TEXT))
    assert shown == ["depth", "steps", "verdicts"]
    lead = machines_of(found, paths.RECORDINGS, paths.RECORDINGS)[0]
    for file in pictures.draw(found, lead, tmp_path):
        assert file.read_text() == (paths.ROOT / "paper" / "published" / file.name).read_text(), file.name


def test_it_links_only_to_what_is_there():

    for target in re.findall(r"\]\(([^)#:]+)\)", TEXT):
        assert (paths.ROOT / target).exists(), f"README.md links to {target}"


def test_what_a_step_costs_is_study_0_s(found, two_machines):
    told = readme.ladder(found)
    lead = machines_of(found, paths.RECORDINGS, paths.RECORDINGS)[0]
    cost = costs.of(lead["name"], paths.RECORDINGS, paths.RECORDINGS)
    for figure in (cost.step_us, cost.launch_us, 1e3 * cost.grid_barrier_us(), cost.hop_ns):
        assert f"**{significant(figure)} " in told
    without = claims.summary(recordings=two_machines, results=two_machines)
    assert "not recorded" in readme.ladder(without, two_machines)


def test_every_answer_of_the_guide_has_its_line(found):
    told = readme.choices(found)
    machine, known = readme.guided(found)
    assert [lesson.problem for lesson in known] == list(PROBLEMS.values()) and f"On {machine}; ×" in told
    leaves = [(lesson.problem.name, leaf) for lesson in known for leaf, _ in tree.leaves(lesson.tree)]
    lines = [line for line in told.splitlines() if line.startswith("|")][2:]
    assert len(lines) == len(leaves)
    for line, (name, leaf) in zip(lines, leaves, strict=True):
        assert f"| `{leaf.strategy}`: " in line, name
    serial = next(line for line in lines if "`serial`" in line)
    assert serial.endswith("| it is one |") and "not measured" not in told


def test_the_last_screen_is_the_one_that_the_workflow_prints(found, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(paths, "RESULTS", tmp_path)
    monkeypatch.setattr(paths, "GENERATED", tmp_path)
    (tmp_path / "claims.txt").write_text(found.text)
    (tmp_path / "report.pdf").write_text("")
    conclude(report=True)
    told = capsys.readouterr().err.strip()
    assert readme.screen(found) == f"```\n{told}\n```" and "report.html" in told and told.startswith("Lockstep: ")


def test_headlines_give_the_published_figure_and_ours(found):
    told = readme.headlines(found).splitlines()
    assert sum(line.startswith("|") for line in told) == 2 + len(readme.HEADLINES)
    line = next(line for line in told if line.startswith("| A2: "))
    tested = found.verdicts[found.verdicts["verdict"].isin(telling.TESTED)]
    part = tested.drop_duplicates("part").set_index("part").loc["A2"]  # of the machine that leads
    published, lead = (cell.strip() for cell in line.split("|")[2:4])
    assert published == f"{part['published']}×" and lead.rstrip(f" {telling.STALE}").endswith(part["verdict"])
