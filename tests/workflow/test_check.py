"""Which tests `make check` runs for what has changed."""

from pathlib import Path

import pytest

from lockstep import paths
from lockstep.workflow import check


def test_a_change_in_a_study_runs_its_tests_and_those_that_import_it():
    found = check.tests_of([Path("lib/lockstep/toposort/oracle.py")])
    assert "tests/toposort/test_strategies.py" in found and "tests/sgd/test_plans.py" not in found
    assert all((paths.ROOT / file).is_file() for file in found)


def test_a_module_runs_what_imports_it_anywhere():
    found = check.tests_of([Path("lib/lockstep/evidence/recording.py")])
    assert "tests/workflow/test_screen.py" in found and "tests/evidence/test_recording.py" in found


def test_a_changed_test_runs_itself_and_a_text_nothing():
    assert check.tests_of([Path("tests/cli/test_cli.py"), Path("README.md")]) == ["tests/cli/test_cli.py"]


def test_a_branch_that_is_not_there_is_told():
    with pytest.raises(ValueError, match="git merge-base no-such-branch HEAD"):
        check.changed("no-such-branch")
