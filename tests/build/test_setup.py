"""The set-up script: which Python it takes, what it refuses, and what it does without uv or compiler."""

import os
import shutil
import subprocess

import pytest

from lockstep import paths

TOOLS = ("bash", "uname", "rm", "mkdir", "cat", "cp", "chmod", "dirname", "env", "readlink")


class Machine:
    """A machine with little on its PATH: a few tools, and stand-ins that note how they were called."""

    def __init__(self, folder):
        self.folder, self.bin = folder, folder / "bin"
        self.bin.mkdir()
        for tool in TOOLS:
            os.symlink(shutil.which(tool), self.bin / tool)

    def program(self, name, text):
        file = self.bin / name
        file.write_text(f'#!/bin/bash\necho "{name} $*" >> "{self.folder}/calls"\n{text}\n')
        file.chmod(0o755)
        return file

    def python(self, name, version):
        # As a real one does: tells its version and its place, and makes environments that hold a Python.
        self.program(
            name,
            f"""
case "$*" in
    *version_info*) echo {version} ;;
    *sys.executable*) echo "{self.bin}/{name}" ;;
    *"-m venv"*) mkdir -p "${{@: -1}}/bin" && cp "$0" "${{@: -1}}/bin/python" ;;
    --version) echo "Python {version}" ;;
esac""",
        )

    def set_up(self, python="", uv=""):
        command = ["bash", str(paths.ROOT / "setup.sh"), "env", "requirements.lock", python, str(uv)]
        return subprocess.run(
            command, cwd=self.folder, env={"PATH": str(self.bin)}, text=True, capture_output=True, check=False
        )

    @property
    def calls(self):
        return (self.folder / "calls").read_text()


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path)


@pytest.mark.parametrize("version", ["3.10", "3.13"])
def test_another_python_is_refused_in_one_clear_line(machine, version):
    machine.python("python3", version)
    done = machine.set_up()
    assert done.returncode == 1
    assert done.stderr == (
        f"lockstep: needs Python 3.11 or 3.12 (python3 is {version}); name one with make PYTHON=/path/to/python3.12\n"
    )


def test_a_machine_without_python_is_told_so(machine):
    done = machine.set_up()
    assert done.returncode == 1
    assert "none of python3.12 python3.11 python3 answers" in done.stderr


def test_a_name_that_does_not_work_is_passed_over(machine):
    machine.program("python3.12", "exit 127")
    machine.python("python3.11", "3.11")
    machine.program("c++", "")
    done = machine.set_up()
    assert done.returncode == 0, done.stderr
    assert "made with pip from requirements.lock" in done.stdout
    assert "python3.11 -m venv --clear env" in machine.calls


@pytest.mark.parametrize(
    ("wanted", "taken"), [("3.11", "python3.11"), ("python3.11", "python3.11"), ("", "python3.12")]
)
def test_the_python_that_is_named_is_taken(machine, wanted, taken):
    machine.python("python3.11", "3.11")
    machine.python("python3.12", "3.12")
    machine.program("c++", "")
    assert machine.set_up(wanted).returncode == 0
    assert f"{taken} -m venv" in machine.calls


def test_uv_is_used_where_it_is_and_never_on_another_environment(machine):
    machine.python("python3", "3.12")
    machine.program("c++", "")
    uv = machine.program("uv", f'mkdir -p env/bin; cp "{machine.bin}/python3" env/bin/python')
    done = machine.set_up(uv=uv)
    assert "made with uv" in done.stdout, done.stderr
    assert "pip sync --quiet --compile-bytecode --python env --require-hashes requirements.lock" in machine.calls
    assert "-m venv" not in machine.calls


def test_pip_is_tried_where_uv_cannot_get_the_packages(machine):
    machine.python("python3", "3.12")
    machine.program("c++", "")
    done = machine.set_up(uv=machine.program("uv", "exit 2"))
    assert done.returncode == 0
    assert "uv did not get the packages; trying pip" in done.stdout
    assert (
        "-m pip install --quiet --quiet --disable-pip-version-check --require-hashes -rrequirements.lock"
        in machine.calls
    )


def test_a_machine_without_a_compiler_gets_the_packaged_one(machine):
    machine.python("python3", "3.12")
    done = machine.set_up()
    assert "no C++ compiler found" in done.stdout
    assert "-rrequirements.lock -rrequirements-compiler.lock" in machine.calls


def test_another_system_is_refused(machine):
    (machine.bin / "uname").unlink()
    machine.program("uname", "echo Darwin arm64")
    done = machine.set_up()
    assert done.stderr == "lockstep: needs Linux on x86-64; this is Darwin arm64.\n"


def test_an_environment_behind_a_link_is_left_alone(machine):
    machine.python("python3", "3.12")
    other = machine.folder / "other"
    other.mkdir()
    (other / "kept").touch()
    (machine.folder / "env").symlink_to(other)
    done = machine.set_up()
    assert done.returncode == 1 and (other / "kept").exists()
    assert done.stderr.startswith(f"lockstep: env is a link to {other}, which making it anew would empty")
