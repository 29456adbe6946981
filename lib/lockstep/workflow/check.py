"""`make check`: lint, and the tests of files changed since a branch, for use before a commit."""

import ast
import subprocess
import sys
from pathlib import Path

from lockstep import paths

LIB, TESTS = Path("lib/lockstep"), Path("tests")


def changed(base="main"):
    """Files that differ from the merge base with `base`, and untracked files.

    Raises
    ------
    ValueError
        This is no git checkout, or there is no such branch.
    """

    def git(*words):
        told = subprocess.run(["git", *words], cwd=paths.ROOT, capture_output=True, text=True)
        if told.returncode:
            raise ValueError(f"git {' '.join(words)}: {told.stderr.strip()}")
        return told.stdout.split()

    since = git("merge-base", base, "HEAD")[0]
    found = git("diff", "--name-only", since) + git("ls-files", "--others", "--exclude-standard")
    return [Path(name) for name in dict.fromkeys(found)]


def tests_of(files):
    """The test files to run for changed files: themselves, those of the same folder, and those that import them.

    Paths are relative to the project's root.
    """
    names, folders, found = set(), set(), []
    for file in files:
        if file.is_relative_to(TESTS) and file.name.startswith("test_"):
            found.append(file)
        elif file.is_relative_to(LIB):
            names.add(".".join(file.with_suffix("").relative_to("lib").parts).removesuffix(".__init__"))
            folders.add(file.relative_to(LIB).parts[0])
    for test in sorted((paths.ROOT / TESTS).rglob("test_*.py")):
        own = test.relative_to(paths.ROOT)
        if own.parts[1] in folders or names & imported(test):
            found.append(own)
    return [str(file) for file in dict.fromkeys(found) if (paths.ROOT / file).is_file()]


def imported(file):
    """Dotted names that a file imports: modules, packages, and members of them."""
    found = set()
    for part in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(part, ast.Import):
            found |= {alias.name for alias in part.names}
        elif isinstance(part, ast.ImportFrom) and part.module:
            found |= {f"{part.module}.{alias.name}" for alias in part.names} | {part.module}
    return found


def check(base="main"):
    """Lint and test; the exit status."""
    files = changed(base)
    tests = tests_of(files)
    print(f"{len(files)} files changed since {base}: lint, and {len(tests)} files of tests", flush=True)
    lint = subprocess.run([sys.executable, "-m", "ruff", "check", "."], cwd=paths.ROOT).returncode
    run = [sys.executable, "-m", "pytest", "-q", "-n", "2", "-m", "not slow", *tests]
    told = subprocess.run(run, cwd=paths.ROOT).returncode if tests else 0
    return int(bool(lint or told))
