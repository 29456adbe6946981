"""Every cell of the parameter files is one that its study can measure: a wrong one would be found on the GPU."""

import importlib

import pytest

from lockstep import paths, studies
from lockstep.evidence import parts
from lockstep.workflow import plan

MEASURED = [name for name in studies.PACKAGES if name != "0-machine"]  # whose parts have no cells


@pytest.mark.parametrize("file", ["paper.yaml", "smoke.yaml"])
@pytest.mark.parametrize("study", MEASURED)
def test_cells_ask_for_kinds_strategies_and_options_that_are_there(study, file):
    block = plan.load(paths.CONFIG / file)[study]
    kinds = importlib.import_module(f"lockstep.{studies.PACKAGES[study]}.experiments").KINDS
    found = [cell for part in block["parts"].values() for cell in parts.cells(part, block.get("common"), kinds)]
    assert found and {cell.kind for cell in found} <= set(kinds)
