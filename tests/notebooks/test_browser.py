"""Notebooks in a real browser: they open in JupyterLab, all cells run, and a widget changes the picture.

Skipped, with the reason, where there is no Chromium with its driver (Debian: chromium, chromium-driver).
"""

import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
import urllib.request

import pytest

from lockstep import paths

PICTURE = ".lockstep-schedule"
CONTROL = """from lockstep import explore
from lockstep.evidence import Study
explore.recorded(Study("4-coloring-phase-switch"))"""  # the control at the end of each study's notebook

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def lab(browser, tmp_path_factory):
    """A JupyterLab on a free port, on copies of the notebooks; its address and the token."""
    folder = tmp_path_factory.mktemp("lab")
    notebook = json.loads((paths.NOTEBOOKS / "explore.ipynb").read_text())
    for cell in notebook["cells"]:  # nothing stored: what is seen must have been made by running
        if cell["cell_type"] == "code":
            cell["outputs"], cell["execution_count"] = [], None
    (folder / "explore.ipynb").write_text(json.dumps(notebook))
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": CONTROL}
    (folder / "control.ipynb").write_text(json.dumps({**notebook, "cells": [{**cell, "id": "control"}]}))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    token = secrets.token_hex(16)
    own = {f"JUPYTER_{kind}_DIR": str(folder / kind.lower()) for kind in ("CONFIG", "DATA", "RUNTIME")}
    settings = {**os.environ, **own, "IPYTHONDIR": str(folder / "ipython"), "JUPYTER_TOKEN": token,
                "JUPYTER_CONFIG_PATH": str(paths.CONFIG / "jupyter"),  # as `make lab`: it asks nobody outside
                "LOCKSTEP_DRAWN": str(folder / "drawn"), "PYTHONPATH": str(paths.ROOT / "lib")}  # fmt: skip
    command = [
        sys.executable, "-m", "jupyterlab", "--no-browser", f"--ServerApp.root_dir={folder}",
        f"--ServerApp.port={port}", "--ServerApp.port_retries=0", "--ServerApp.ip=127.0.0.1",
        *(["--allow-root"] if os.geteuid() == 0 else []),
    ]  # fmt: skip
    log = (folder / "log.txt").open("w")
    server = subprocess.Popen(command, cwd=folder, env=settings, stdout=log, stderr=log, start_new_session=True)
    try:
        address = f"http://127.0.0.1:{port}"
        for _ in range(120):
            try:
                urllib.request.urlopen(f"{address}/api/status?token={token}", timeout=1)
                break
            except OSError:
                assert server.poll() is None, (folder / "log.txt").read_text()[-2000:]
                time.sleep(0.5)
        else:
            pytest.fail((folder / "log.txt").read_text()[-2000:])
        yield address, token
    finally:
        os.killpg(server.pid, signal.SIGTERM)  # the group that it leads: itself and its kernels
        try:
            server.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(server.pid, signal.SIGKILL)
        log.close()


class Page:
    """A notebook in the browser."""

    def __init__(self, lab, browser, name):
        from selenium.webdriver.support.ui import WebDriverWait

        self.browser, (self.address, self.token), self.name = browser, lab, name
        self.wait = WebDriverWait(browser, 300, poll_frequency=0.5).until
        browser.get(f"{self.address}/lab/tree/{name}?reset&token={self.token}")  # without the tabs of before
        self.see(".jp-Notebook .jp-Cell")
        self.wait(self._connected)
        self.see(".jp-Notebook-ExecutionIndicator[data-status='idle']")

    def all(self, selector):
        return self.browser.find_elements("css selector", selector)

    def see(self, selector):
        return self.wait(lambda b: self.all(selector))[0]

    def _connected(self, _):
        """Whether the page has its kernel: a command to run that comes earlier raises a dialog instead."""
        try:
            with urllib.request.urlopen(f"{self.address}/api/sessions?token={self.token}", timeout=5) as answer:
                sessions = json.load(answer)
        except OSError:  # a kernel that is about to start can be answered with a server error
            return False
        kernels = [session["kernel"] for session in sessions if session["path"] == self.name]
        return any(kernel["connections"] and kernel["execution_state"] == "idle" for kernel in kernels)

    def run_all(self, until):
        """Run all cells by the menu until something of a selector is there; no cell may end in an error."""
        for name in ("Run", "Run All Cells"):
            entry = f"//*[contains(@class,'lm-MenuBar-itemLabel') or contains(@class,'lm-Menu-itemLabel')][.='{name}']"
            self.wait(lambda b, entry=entry: b.find_elements("xpath", entry))[-1].click()

        def shown(_):
            for button in self.all(".jp-Dialog button.jp-mod-accept"):
                button.click()  # it asks for the kernel after all; what was to run then runs
            return self.all(until)

        self.wait(shown)
        errors = self.all("[data-mime-type='application/vnd.jupyter.error'], .jp-mod-error")
        assert [error.text for error in errors] == []

    def picture(self, selector):
        """The bytes that the browser shows, so that a change of the address alone is no change."""
        script = (
            "const done = arguments[1]; fetch(arguments[0]).then(r => r.arrayBuffer())"
            ".then(b => done(Array.from(new Uint8Array(b)).join()), e => done(''))"
        )
        element = self.see(selector)
        assert self.browser.execute_script("return arguments[0].naturalWidth", element) > 300
        return self.browser.execute_async_script(script, element.get_attribute("src"))

    def pick(self, text):
        """Pick an entry of the first list that has one which begins so."""
        from selenium.webdriver.support.ui import Select

        lists = map(Select, self.all(".widget-dropdown select"))
        one, entry = next((one, o.text) for one in lists for o in one.options if o.text.startswith(text))
        one.select_by_visible_text(entry)


def test_the_notebook_runs_and_a_widget_changes_the_picture(lab, browser):
    from selenium.webdriver.common.keys import Keys

    page, image = Page(lab, browser, "explore.ipynb"), f"img{PICTURE}, {PICTURE} img"

    def words():
        return page.all(".lockstep-words")[0].text

    page.run_all(until=PICTURE)
    page.wait(lambda b: "steps" in words())

    first, said = page.picture(image), words()
    number = page.see(".widget-slider .widget-readout")
    number.send_keys(Keys.CONTROL, "a")
    number.send_keys("12", Keys.ENTER)
    page.wait(lambda b: "step 12:" in words())
    second = page.wait(lambda b: page.picture(image) not in ("", first) and page.picture(image))
    assert words() != said

    page.pick("near-far")
    page.wait(lambda b: "step 12:" not in words())
    page.wait(lambda b: page.picture(image) not in ("", first, second))

    page.see(".lockstep-rank").click()
    ranking = page.see(".lockstep-ranking")
    page.wait(lambda b: ranking.is_displayed())
    page.wait(lambda b: b.execute_script("return arguments[0].naturalWidth", ranking) > 300)


def test_the_control_of_a_study_follows_what_is_picked_and_fits_a_narrow_window(lab, browser):
    page, image = Page(lab, browser, "control.ipynb"), "img.widget-image, .widget-image img"
    page.run_all(until=image)
    first = page.wait(lambda b: page.picture(image))
    assert "news" not in "".join(toast.text for toast in page.all(".Toastify__toast"))  # it is not to ask for any

    page.pick("C7:")
    page.wait(lambda b: any("C7" in words.text for words in page.all(".widget-html")))
    second = page.wait(lambda b: page.picture(image) not in ("", first) and page.picture(image))
    page.pick("nvidia-h100")  # the H200 comes first
    page.wait(lambda b: page.picture(image) not in ("", first, second))

    # In a window of 800 px the file browser leaves the notebook some 400: the lists stand below each other.
    before = browser.get_window_size()
    script = (
        "const right = e => e.getBoundingClientRect().right; const area = right(arguments[0]);"
        "return Math.max(...Array.from(document.querySelectorAll(arguments[1]), right)) - area"
    )
    inside = ".widget-dropdown, .widget-image, .widget-html"
    try:
        browser.set_window_size(800, 800)
        page.wait(lambda b: b.execute_script(script, page.all(".jp-OutputArea-output")[0], inside) <= 1)
    finally:
        browser.set_window_size(before["width"], before["height"])
