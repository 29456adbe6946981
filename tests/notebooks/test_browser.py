"""explore.ipynb in a real browser: it opens in JupyterLab, all cells run, and a widget changes the picture.

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

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def lab(browser, tmp_path_factory):
    """A JupyterLab on a free port, on a copy of the notebook; its address and the token."""
    folder = tmp_path_factory.mktemp("lab")
    notebook = json.loads((paths.NOTEBOOKS / "explore.ipynb").read_text())
    for cell in notebook["cells"]:  # nothing stored: what is seen must have been made by running
        if cell["cell_type"] == "code":
            cell["outputs"], cell["execution_count"] = [], None
    (folder / "explore.ipynb").write_text(json.dumps(notebook))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    token = secrets.token_hex(16)
    own = {f"JUPYTER_{kind}_DIR": str(folder / kind.lower()) for kind in ("CONFIG", "DATA", "RUNTIME")}
    settings = {**os.environ, **own, "IPYTHONDIR": str(folder / "ipython"), "JUPYTER_TOKEN": token,
                "LOCKSTEP_DRAWN": str(folder / "drawn"), "PYTHONPATH": str(paths.ROOT / "lib")}  # fmt: skip
    command = [
        sys.executable, "-m", "jupyterlab", "--no-browser", f"--ServerApp.root_dir={folder}",
        f"--ServerApp.port={port}", "--ServerApp.port_retries=0", "--ServerApp.ip=127.0.0.1",
        # It must ask nobody outside.
        "--LabApp.news_url=", "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
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


def test_the_notebook_runs_and_a_widget_changes_the_picture(lab, browser):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.support.ui import Select, WebDriverWait

    wait = WebDriverWait(browser, 90, poll_frequency=0.5)

    def see(selector):
        return wait.until(lambda b: b.find_element(By.CSS_SELECTOR, selector))

    def words():
        return browser.find_element(By.CSS_SELECTOR, ".lockstep-words").text

    def picture():
        """The bytes that the browser shows, so that a change of the address alone is no change."""
        script = (
            "const done = arguments[1]; fetch(arguments[0]).then(r => r.arrayBuffer())"
            ".then(b => done(Array.from(new Uint8Array(b)).join()), e => done(''))"
        )
        element = browser.find_element(By.CSS_SELECTOR, f"img{PICTURE}, {PICTURE} img")
        assert browser.execute_script("return arguments[0].naturalWidth", element) > 300
        return browser.execute_async_script(script, element.get_attribute("src"))

    address, token = lab

    def connected(_):
        """Whether the page has its kernel: a command to run that comes earlier raises a dialog instead."""
        try:
            with urllib.request.urlopen(f"{address}/api/kernels?token={token}", timeout=5) as answer:
                kernels = json.load(answer)
        except OSError:  # a kernel that is about to start can be answered with a server error
            return False
        return any(kernel["connections"] and kernel["execution_state"] == "idle" for kernel in kernels)

    browser.get(f"{address}/lab/tree/explore.ipynb?token={token}")
    see(".jp-Notebook .jp-Cell")
    wait.until(connected)
    see(".jp-Notebook-ExecutionIndicator[data-status='idle']")
    for name in ("Run", "Run All Cells"):
        entry = f"//*[contains(@class,'lm-MenuBar-itemLabel') or contains(@class,'lm-Menu-itemLabel')][.='{name}']"
        wait.until(lambda b, entry=entry: b.find_elements(By.XPATH, entry))[-1].click()

    def shown(_):
        for button in browser.find_elements(By.CSS_SELECTOR, ".jp-Dialog button.jp-mod-accept"):
            button.click()  # it asks for the kernel after all; what was to run then runs
        return browser.find_elements(By.CSS_SELECTOR, PICTURE)

    wait.until(shown)
    wait.until(lambda b: "steps" in words())
    errors = browser.find_elements(By.CSS_SELECTOR, "[data-mime-type='application/vnd.jupyter.error'], .jp-mod-error")
    assert [error.text for error in errors] == []

    first, said = picture(), words()
    number = browser.find_element(By.CSS_SELECTOR, ".widget-slider .widget-readout")
    number.send_keys(Keys.CONTROL, "a")
    number.send_keys("12", Keys.ENTER)
    wait.until(lambda b: "step 12:" in words())
    second = wait.until(lambda b: picture() not in ("", first) and picture())
    assert words() != said

    strategy = next(Select(e) for e in browser.find_elements(By.CSS_SELECTOR, ".widget-dropdown select")
                    if any(o.text == "near-far" for o in Select(e).options))  # fmt: skip
    strategy.select_by_visible_text("near-far")
    wait.until(lambda b: "step 12:" not in words())
    wait.until(lambda b: picture() not in ("", first, second))

    browser.find_element(By.CSS_SELECTOR, ".lockstep-rank").click()
    ranking = browser.find_element(By.CSS_SELECTOR, ".lockstep-ranking")
    wait.until(lambda b: ranking.is_displayed())
    wait.until(lambda b: b.execute_script("return arguments[0].naturalWidth", ranking) > 300)
