"""The examples in docstrings give what they show."""

import doctest
import importlib

import pytest

from lockstep import paths

PACKAGE = paths.ROOT / "lib"
WITH_EXAMPLES = [file for file in PACKAGE.glob("lockstep/**/*.py") if ">>> " in file.read_text(encoding="utf-8")]


@pytest.mark.parametrize("file", WITH_EXAMPLES, ids=lambda file: str(file.relative_to(PACKAGE)))
def test_examples(file):
    name = ".".join(file.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__")
    failed, tried = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert tried and not failed
