"""Parameter files: read, validated against their schema, and split into one file for each part.

Snakemake re-runs a job when an input file changed. If every part depended on the whole parameter file, changing one
size would re-run all studies; so each part gets a file with its own and its study's common parameters, rewritten only
when its content changes.
"""

import json
import re
from pathlib import Path

import yaml

from lockstep import paths


class ConfigError(ValueError):
    """A parameter file cannot be used; the message names the file, the key and what was expected there."""


def load(file) -> dict:
    """Read and check one parameter file.

    Parameters
    ----------
    file : path
        For example ``config/smoke.yaml``.

    Returns
    -------
    dict
        ``{study: {"parts": {part: {"seconds": ..., ...}}, "common": {...}}}``

    Raises
    ------
    ConfigError
        If the file is missing, is not YAML, or breaks ``config/schema.yaml``.
    """
    file = Path(file)
    name = _shown(file)
    try:
        content = yaml.safe_load(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        there = ", ".join(sorted(p.stem for p in file.parent.glob("*.yaml") if p.stem != "schema"))
        raise ConfigError(f"{name}: no such parameter file; there is: {there or 'none'}") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" line {mark.line + 1}" if mark else ""
        raise ConfigError(f"{name}{where}: not YAML: {getattr(error, 'problem', error)}") from None
    _check(content, name)
    return content["studies"]


def _check(content, name: str) -> None:
    # Not jsonschema: its import takes a second, which each start of the workflow would pay.
    import fastjsonschema

    schema = yaml.safe_load((paths.CONFIG / "schema.yaml").read_text(encoding="utf-8"))
    try:
        fastjsonschema.validate(schema, content)
    except fastjsonschema.JsonSchemaValueException as error:
        raise ConfigError(f"{name}: {_explain(error)}") from None


def _explain(error) -> str:
    """A schema error in words: which key, what is wrong, what may stand there."""
    at = ".".join(map(str, error.path[1:])) or "top level"
    rule, allowed, found = error.rule, error.rule_definition, error.value
    if rule == "additionalProperties":
        known, patterns = error.definition.get("properties", ()), error.definition.get("patternProperties", ())
        unknown = [str(key) for key in found if key not in known and not any(re.search(p, str(key)) for p in patterns)]
        return f"{at}: unknown key {', '.join(unknown)}; known: {', '.join([*known, *patterns])}"
    if rule == "required":
        missing = [key for key in allowed if key not in found]
        return f"{at}: {', '.join(missing)} is missing; found: {', '.join(map(str, found)) or 'nothing'}"
    if rule == "type":
        return f"{at}: expected {_article(allowed)}, found {json.dumps(found, default=str)}"
    return error.message.replace(error.name, at, 1)


def _article(kind: str) -> str:
    return ("an " if kind[0] in "aeio" else "a ") + {"object": "object (key: value lines)"}.get(kind, kind)


def write_blocks(studies: dict, folder) -> None:
    """Write ``<folder>/<study>/<part>.json`` for every part; a file whose content stays is left untouched.

    Parameters
    ----------
    studies : dict
        What `load` returned.
    folder : path
        Usually ``results/config``.
    """
    for study, block in studies.items():
        shared = {key: value for key, value in block.items() if key != "parts"}
        for part, sizes in block["parts"].items():
            file = Path(folder) / study / f"{part}.json"
            # The predicted time is only displayed; changing it must not trigger a measurement.
            sizes = {key: value for key, value in sizes.items() if key != "seconds"}
            renew(file, json.dumps({**shared, "part": sizes}, indent=1, sort_keys=True) + "\n")


def renew(file: Path, text: str) -> None:
    """Write a text to a file unless its content is equal, so that the modification time is kept."""
    if not file.is_file() or file.read_text(encoding="utf-8") != text:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


def _shown(file: Path) -> str:
    """The path as the user would type it: relative to the compendium where it lies inside."""
    file = file.absolute()
    return str(file.relative_to(paths.ROOT)) if file.is_relative_to(paths.ROOT) else str(file)
