#!/usr/bin/env bash
# Makes the environment: setup.sh VENV LOCK [PYTHON] [UV]; called by the Makefile.
# With uv where there is one, else (or when uv finds no way to the packages: it reads no pip settings) with venv and pip.
set -euo pipefail
venv=$1 lock=$2 wanted=${3:-} uv=${4:-}
refuse() { echo "lockstep: $*" >&2; exit 1; }

system=$(uname -sm)
[ "$system" = "Linux x86_64" ] || refuse "needs Linux on x86-64; this is $system."

# Both tools empty the folder first, through the link, and an environment that other work stands on would be gone.
[ ! -L "$venv" ] || refuse "$venv is a link to $(readlink "$venv"), which making it anew would empty; remove the link (rm $venv)"

# Names are tried, not versions: a name may be there without working (a version manager's stand-in).
case $wanted in "") names="python3.12 python3.11 python3" ;; 3.*) names=python$wanted ;; *) names=$wanted ;; esac
python="" seen=""
for name in $names; do
    version=$("$name" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null) || continue
    case $version in 3.11|3.12) python=$("$name" -c 'import sys; print(sys.executable)'); break ;; esac
    seen+="${seen:+, }$name is $version"
done
[ -n "$python" ] || refuse "needs Python 3.11 or 3.12 (${seen:-none of $names answers}); name one with make PYTHON=/path/to/python3.12"

locks=("$lock")
if ! command -v c++ >/dev/null && ! command -v g++ >/dev/null && ! command -v clang++ >/dev/null; then
    echo "lockstep: no C++ compiler found; adding the one in the ziglang package (411 MB)"
    locks+=(requirements-compiler.lock)
fi

rm -f "$venv"/.made-from-*
by_uv() {
    "$uv" venv --quiet --clear --python "$python" "$venv" \
    && "$uv" pip sync --quiet --compile-bytecode --python "$venv" --require-hashes "${locks[@]}" \
    && "$uv" pip install --quiet --python "$venv" --no-deps -e .
}
by_pip() {
    "$python" -m venv --clear "$venv" || refuse "$python cannot make an environment; on Debian: apt install python3-venv"
    "$venv/bin/python" -m pip install --quiet --quiet --disable-pip-version-check --require-hashes "${locks[@]/#/-r}" \
    && "$venv/bin/python" -m pip install --quiet --quiet --disable-pip-version-check --no-deps -e .
}
started=$SECONDS
if [ -n "$uv" ] && by_uv; then how=uv
else
    [ -z "$uv" ] || echo "lockstep: uv did not get the packages; trying pip"
    by_pip || refuse "the packages of $lock could not be installed (see above); without network see the README, 'A GPU machine without network'"
    how=pip
fi
echo "lockstep: environment $venv made with $how from $lock in $((SECONDS - started)) s ($("$venv/bin/python" --version))"
