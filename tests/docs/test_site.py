"""The documentation site builds without warnings, asks no other host, and its form answers as the guide does.

Skipped, with the reason: what needs Sphinx, where the extra `site` is not installed; what needs a browser, where there
is no Chromium with its driver (Debian: chromium, chromium-driver).
"""

import importlib.util
import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

import pytest

from lockstep import choose, guide, paths
from lockstep.choose import tree
from lockstep.choose.features import FEATURES
from lockstep.graphs import disjoint_paths, layered, random_dag, rmat, road_like
from lockstep.guide import features

BUILD = paths.ROOT / "docs" / "build.py"
NEEDED = ("sphinx", "myst_nb", "numpydoc", "pydata_sphinx_theme")
RULES = json.loads((paths.DATA / choose.FILE).read_text(encoding="utf-8"))

sphinx = pytest.mark.skipif(
    any(importlib.util.find_spec(name) is None for name in NEEDED), reason="the extra `site` is not installed"
)


@pytest.fixture(scope="module")
def made():
    """docs/build.py as a module."""
    spec = importlib.util.spec_from_file_location("site_build", BUILD)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder of the built pages."""
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run([sys.executable, BUILD, folder], text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "html"


class Links(HTMLParser):
    """What a page refers to, [(tag, attribute, address), ...], and the ids that it has."""

    def __init__(self, text):
        super().__init__()
        self.found, self.ids = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name == "id":
                self.ids.add(value)
            elif name in ("href", "src", "data", "poster", "action", "srcset") and value:
                self.found.append((tag, name, value))


@pytest.fixture(scope="module")
def pages(site):
    files = [file for file in site.rglob("*.html") if "_static" not in file.parts]  # a template of the theme lies there
    return {file: Links(file.read_text(encoding="utf-8")) for file in files}


def test_without_sphinx_one_line_says_what_to_install(made, monkeypatch, capsys):
    monkeypatch.setattr(made, "find_spec", lambda name: None)
    assert made.main() == 1
    told = capsys.readouterr().err
    assert told.count("\n") == 1 and "sphinx" in told and "'.[site]'" in told


def test_the_sections_that_readme_links_to_have_a_page(made):
    text = (paths.ROOT / "README.md").read_text(encoding="utf-8")
    for target in made.LINK.findall(text):
        place = made.PLACES.get(target)
        assert (made.HERE / place[1:]).is_file() if place else (paths.ROOT / target).is_file(), target


def test_each_marker_of_an_include_stands_in_its_text(made, tmp_path):
    made.gather(tmp_path)
    includes = 0
    for page in tmp_path.rglob("*.md"):
        for name, options in re.findall(r"```\{include\} /(\S+)\n((?::.*\n)*)", page.read_text(encoding="utf-8")):
            text = (tmp_path / name).read_text(encoding="utf-8")
            markers = dict(re.findall(r':([\w-]+): "(.*)"\n', options))
            text = text.partition(markers["start-after"])[2] if "start-after" in markers else text
            assert text and markers.get("end-before", "") in text, f"{page.name}: {markers}"
            includes += 1
    assert includes > 15


def test_the_form_has_every_problem_and_the_words_of_its_rules(made):
    told = made.guide()
    assert set(told["machines"]) == set(RULES) and set(told["problems"]) == set(guide.PROBLEMS)
    for problem, one in told["problems"].items():
        figures = {figure: first for figure, _, first in one["asked"]}
        found = FEATURES[problem][0](figures)
        assert set(found) <= set(one["units"])
        for entries in RULES.values():
            if problem in entries:
                assert tree.features_of(tree.unpacked(entries[problem]["rule"])) <= set(found), "a figure is not asked"


@sphinx
@pytest.mark.slow
def test_every_relative_link_leads_to_a_file_and_an_id(site, pages):
    missing, seen = [], 0
    for file, page in pages.items():
        for _, _, address in page.found:
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                continue
            target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            seen += 1
            if not target.is_file():
                missing.append(f"{file.relative_to(site)}: {address}")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].ids:
                missing.append(f"{file.relative_to(site)}: {address} (no such id)")
    assert seen > 1000 and not missing, "\n".join(missing)


@sphinx
@pytest.mark.slow
def test_no_page_loads_anything_from_another_host(site, pages):
    loaded = []
    for file, page in pages.items():
        loaded += [
            f"{file.relative_to(site)}: {tag} {address}"
            for tag, _, address in page.found
            if tag != "a" and re.match(r"(https?:)?//", address.strip())
        ]
    for file in [*site.rglob("*.css"), *pages]:
        text = file.read_text(encoding="utf-8")
        found = re.findall(r"(?:@import\s*|url\()[\"'\s]*(?:https?:)?//[^)\"'\s]*", text)
        loaded += [f"{file.relative_to(site)}: {address}" for address in found]
    assert not loaded, "\n".join(loaded)


@sphinx
@pytest.mark.slow
def test_each_notebook_has_its_page_with_figures(site):
    for file in paths.NOTEBOOKS.glob("*.ipynb"):
        text = (site / "notebooks" / f"{file.stem}.html").read_text(encoding="utf-8")
        assert re.search(r'<img alt="Figure: [^"]+" [^>]*src="../_images/', text), file.stem


@pytest.fixture(scope="module")
def form(made, browser, tmp_path_factory):
    """The form alone, as the page of the guide has it: Sphinx is not needed for it."""
    folder = tmp_path_factory.mktemp("form")
    made.gather(folder)
    page = (folder / "guide.md").read_text(encoding="utf-8")
    html = re.search(r"```\{raw\} html\n(.*?)```", page, re.DOTALL)[1]
    (folder / "guide.html").write_text(f"<!doctype html><meta charset='utf-8'>{html}", encoding="utf-8")
    browser.get((folder / "guide.html").as_uri())
    return browser


def typed(figures):
    """Figures as the form takes them: the share of near arcs in %."""
    return {**figures, "near": 100 * figures["near"]} if "near" in figures else dict(figures)


def answer(browser, machine, problem, figures):
    script = "return window.lockstepChooser.choose(...arguments).strategy"
    return browser.execute_script(script, machine, problem, typed(figures))


def expected(machine, problem, figures):
    entry, found = RULES[machine][problem], FEATURES[problem][0](figures)
    if entry["small"] and found["size"] < entry["small"][0]:
        return entry["small"][1]
    return tree.decide(tree.unpacked(entry["rule"]), found)[0].strategy


def drawn(problem):
    """Figures of every order of magnitude."""
    for n in (30, 1_000, 60_000, 2_000_000, 50_000_000):
        for degree in (0.5, 1, 1.001, 7, 90):
            m = int(n * degree)
            for share in (1e-6, 1e-3, 0.4, 0.41, 1):
                largest = max(1, int(m * share))
                yield {
                    "toposort": {"n": n, "m": m, "depth": max(1, int(n * share))},
                    "sssp": {"n": n, "m": m, "largest": largest, "near": share},
                    "coloring": {"n": n, "m": m, "largest": largest},
                    "sgd": {"users": n, "items": n // 3 + 1, "m": m, "largest": largest},
                    "swarm": {"graphs": max(1, int(n * share)), "n": n, "m": m},
                }[problem]


@pytest.mark.slow
@pytest.mark.parametrize("problem", guide.PROBLEMS)
def test_the_form_follows_the_rules_that_auto_follows(form, problem):
    answers = set()
    for machine in RULES:
        for figures in drawn(problem) if problem in RULES[machine] else ():
            found = answer(form, machine, problem, figures)
            assert found == expected(machine, problem, figures), f"{machine}: {figures}"
            answers.add(found)
    fitted = [tree.unpacked(entries[problem]["rule"]) for entries in RULES.values() if problem in entries]
    assert {leaf.strategy for one in fitted for leaf, _ in tree.leaves(one)} <= answers, "a leaf that no figures reach"


@pytest.mark.slow
@pytest.mark.parametrize("graph", [
    disjoint_paths(100_000, 50), layered(100_000, 1_000), layered(200_000, 4), random_dag(50_000, 400_000),
    rmat(14, 200_000), road_like(150, 150),
], ids=lambda graph: graph.name)  # fmt: skip
def test_the_form_answers_as_advise_does(form, graph):
    """On recorded machines, for graphs beyond the smallest recorded size."""
    figures = features.of(graph).figures
    for machine in RULES:
        told = guide.advise(graph, machine)
        for problem, choice in told.choices.items():
            if choice.strategy and problem in RULES[machine]:
                assert answer(form, machine, problem, figures) == choice.strategy, f"{machine}, {problem}"


@pytest.mark.slow
def test_typed_figures_change_the_answer_and_a_wrong_one_is_told(form):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.ui import Select

    def enter(**figures):
        for name, value in figures.items():
            box = form.find_element(By.NAME, name)
            box.clear()
            box.send_keys(str(value))

    def told():
        return form.find_element(By.CLASS_NAME, "chooser-answer").text

    Select(form.find_element(By.NAME, "problem")).select_by_value("toposort")
    machine = Select(form.find_element(By.NAME, "machine")).first_selected_option.get_attribute("value")
    for figures in ({"n": 1_000_000, "m": 900_000, "depth": 1_000}, {"n": 1_000_000, "m": 8_000_000, "depth": 100_000}):
        enter(**figures)
        name = form.find_element(By.CLASS_NAME, "chooser-strategy").text
        assert name == expected(machine, "toposort", figures)
        taken = form.find_element(By.CLASS_NAME, "chooser-taken").text
        assert name in taken
    enter(n="1,000,000")
    assert "Take " in told()
    enter(depth="many")
    assert told() == "layers: expected a number from 0"
    enter(depth=0)
    assert told() == "layers: expected 1 or more"


@sphinx
@pytest.mark.slow
@pytest.mark.parametrize("width", [400, 1280])
def test_no_page_is_wider_than_the_screen(site, browser, width):
    screen = {"width": width, "height": 1000, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
    for page in ("index", "guide", "claims", "use/run", "api/graphs", "notebooks/3-toposort-depth", "about/licence"):
        browser.get((site / f"{page}.html").as_uri())
        wide = browser.execute_script("return document.documentElement.scrollWidth - window.innerWidth")
        assert wide <= 0, f"{page}: {wide} pixels wider than {width}"
        script = "return performance.getEntriesByType('resource').map(one => one.name)"
        assert all(name.startswith(("file:", "data:")) for name in browser.execute_script(script)), page
