"""Wheels for a machine without network: locked packages that such a machine lacks.

The lock lists the dependents of each package ("# via"), so the dependencies of a few packages can be followed through
the file for any Python version, installed or not.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

# Packages to run and test notebooks, and the libraries that the studies compare with.
WANTED = (
    "papermill ipykernel snakemake nbconvert nbval fastjsonschema pooch rustworkx igraph distributed sortedcontainers "
    "shtab"
).split()
# Packages assumed present in an image for GPU computing with PyData, with their dependencies.
PRESENT = (
    "numpy scipy pandas pyarrow numba networkx matplotlib seaborn cupy-cuda13x cuda-toolkit pyyaml jinja2 tqdm psutil "
    "requests packaging pytest hypothesis pytest-xdist pip certifi click attrs aiohttp pygments fonttools setuptools"
).split()
# Old and new names of the same C library; pip matches them one by one.
PLATFORMS = [f"manylinux_2_{n}_x86_64" for n in (35, 34, 31, 28, 27, 26, 24, 17, 12, 5)]
PLATFORMS += ["manylinux2014_x86_64", "manylinux2010_x86_64", "manylinux1_x86_64"]


def parse(text: str, python: str) -> dict[str, dict]:
    """Parse a hashed lock: package -> pin, hashes and dependents, for one Python version.

    Parameters
    ----------
    text : str
        Content of requirements.lock.
    python : str
        Such as ``"3.12"``; entries whose marker excludes it are left out.
    """
    from packaging.requirements import Requirement

    environment = {
        "python_version": python,
        "python_full_version": f"{python}.0",
        "sys_platform": "linux",
        "platform_machine": "x86_64",
        "extra": "",
    }
    packages = {}
    for block in re.split(r"\n(?=[a-z0-9])", text):
        requirement = Requirement(block.split("\\")[0].split("\n")[0].strip())
        if requirement.marker and not requirement.marker.evaluate(environment):
            continue
        comment = block.partition("# via")[2]
        packages[requirement.name] = {
            "pin": f"{requirement.name}{requirement.specifier}",
            "hashes": re.findall(r"sha256:[0-9a-f]{64}", block),
            "via": set(re.findall(r"[\w.-]+(?: \([^)]*\))?", comment.replace("#", " "))),
        }
    return packages


def closure(packages: dict[str, dict], roots) -> set[str]:
    """The roots and their transitive dependencies in the lock."""
    reached = set(roots) & set(packages)
    while True:
        more = {name for name, entry in packages.items() if name not in reached and entry["via"] & reached}
        if not more:
            return reached
        reached |= more


def collect(lock, python: str, folder) -> list[Path]:
    """Download the wheels that `WANTED` needs beyond `PRESENT` into a folder; returns them.

    Raises
    ------
    ValueError
        For a Python version that the project does not support.
    RuntimeError
        If pip cannot get a package.
    """
    if python not in ("3.11", "3.12"):
        raise ValueError(f"PYTHON={python}: the GPU machine's Python must be 3.11 or 3.12")
    packages = parse(Path(lock).read_text(encoding="utf-8"), python)
    chosen = sorted(closure(packages, WANTED) - closure(packages, PRESENT))
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.whl"):
        old.unlink()
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    with tempfile.TemporaryDirectory() as scratch:
        wheels, sources = Path(scratch, "wheels.txt"), Path(scratch, "sources.txt")
        # connection-pool is distributed as source only and built here.
        for file, source in ((wheels, False), (sources, True)):
            names = [name for name in chosen if (name == "connection-pool") == source]
            lines = (" ".join([packages[n]["pin"], *(f"--hash={h}" for h in packages[n]["hashes"])]) for n in names)
            file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        abis = (f"cp{python.replace('.', '')}", "abi3", "none")
        target = ["--python-version", python, "--implementation", "cp"]
        target += [word for abi in abis for word in ("--abi", abi)]
        target += [word for platform in PLATFORMS for word in ("--platform", platform)]
        common = ["--no-deps", "--require-hashes"]
        for command in (
            [*pip, "download", *common, "--only-binary=:all:", *target, "-d", str(folder), "-r", str(wheels)],
            [*pip, "wheel", *common, "-w", str(folder), "-r", str(sources)],
        ):
            result = subprocess.run(command, capture_output=True, text=True, check=False)
            if result.returncode:
                raise RuntimeError(f"pip: {result.stderr.strip().splitlines()[-1] if result.stderr else 'failed'}")
    return sorted(folder.glob("*.whl"))
