"""The digest of a kernel follows its machine code, not its text."""

import pytest

from lockstep.machine import MachineError, source
from lockstep.machine import compile as compiler
from lockstep.provenance import device

TEXT = """
__device__ __forceinline__ int twice(int value) { return 2 * value; }
__device__ __noinline__ int slow(int value, int *out) { atomicAdd(out, value); return value + 1; }
__constant__ int table[4] = {1, 2, 3, 4};

extern "C" __global__ void __launch_bounds__(256) work(const int *in, int *out, int n) {
    __shared__ int sums[256];
    int own = blockIdx.x * blockDim.x + threadIdx.x;
    sums[threadIdx.x] = own < n ? twice(in[own]) + table[own & 3] : 0;  // each thread its own
    __syncthreads();
    for (int k = 0; k < 16; ++k) atomicAdd(&out[k], sums[(threadIdx.x + k) & 255]);
    if (own == 7) out[20] = slow(own, out);
}

extern "C" __global__ void other(int *out) { out[threadIdx.x] = 3; }
"""
SAME = {
    "a local variable": [("own", "mine")],
    "a parameter": [("in[", "input["), ("*in,", "*input,")],
    "a helper": [("twice", "doubled"), ("slow", "costly")],
    "comments": [("// each thread its own", "/* one */")],
    "an expression moved into a helper": [
        ("__constant__", "__device__ int place() { return blockIdx.x * blockDim.x + threadIdx.x; }\n__constant__"),
        ("int own = blockIdx.x * blockDim.x + threadIdx.x;", "int own = place();")],
    "a kernel before it": [("__constant__", "extern \"C\" __global__ void first(int *o) { o[0] = 1; }\n__constant__")],
    "the other kernel": [("= 3;", "= 4;")],
}  # fmt: skip
OTHER = {
    "a constant": [("k < 16", "k < 17")],
    "a constant of the device": [("{1, 2, 3, 4}", "{1, 2, 3, 5}")],
    "a barrier": [("__syncthreads();", "")],
    "an atomic": [("atomicAdd(&out[k], ", "atomicMax(&out[k], ")],
    "launch bounds": [("bounds__(256)", "bounds__(128)")],
    "a function that is called": [("value + 1", "value + 2")],
    "a type": [("int sums[256]", "short sums[256]")],
    "an order": [("int n)", "int unused, int n)")],
}


@pytest.fixture(scope="module")
def digest(tmp_path_factory):
    try:
        version = tuple(compiler.nvrtc().getVersion())
    except MachineError as error:
        pytest.skip(str(error))
    if version != device.NVRTC:
        pytest.skip(f"NVRTC is {version} here")
    folder = tmp_path_factory.mktemp("kernels")

    def of(changes, kernel="work"):
        text = TEXT
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        (folder / "trial.cu").write_text(text)
        return device.compiled(folder / "trial.cu")[kernel]

    return of


@pytest.mark.parametrize("what", SAME)
def test_what_leaves_machine_code_as_it_is_leaves_the_digest(digest, what):
    assert digest(SAME[what]) == digest([])


@pytest.mark.parametrize("what", OTHER)
def test_what_changes_machine_code_changes_the_digest(digest, what):
    assert digest(OTHER[what]) != digest([])
    if what not in ("launch bounds", "a constant"):
        assert digest(OTHER[what], "other") == digest([], "other"), "of the one kernel alone"


def test_the_lock_holds_every_text_of_the_package():
    for path in compiler.files():
        for defines in map(dict, device.variants(path)):
            known = device.lock()[device.key(path, defines)]
            assert known["text"] == source.spelling(path, defines), f"{path.name}: lockstep provenance lock"
            names = source.kernels(source.paste(path, marks=False), defines)
            assert known["kernels"].keys() == names.keys()


def test_a_text_that_the_lock_lacks_is_known_nowhere_without_the_compiler(tmp_path, monkeypatch):
    def none():
        raise MachineError("no compiler")

    monkeypatch.setattr(compiler, "nvrtc", none)
    file = tmp_path / "trial.cu"
    file.write_text(TEXT)
    first = device.kernels(file)
    assert first.keys() == {"work", "other"} and first["work"].startswith("text-")
    file.write_text(TEXT.replace("// each", "// every"))
    assert device.kernels(file) == first, "comments count for nothing"
    file.write_text(TEXT.replace("k < 16", "k < 17"))
    assert device.kernels(file)["work"] != first["work"]


def test_a_compiler_that_answers_otherwise_now_and_then_proves_the_lock_still(monkeypatch):
    path = compiler.files()[0]
    defines = dict(device.variants(path)[0])
    kernels = device.lock()[device.key(path, defines)]["kernels"]
    first = sorted(kernels)[0]
    answers = iter([kernels | {first: "another"}] * 3 + [kernels] * 99)
    monkeypatch.setattr(device, "_compiled_now", lambda *text: next(answers))
    assert device.proven(path, defines) == []
    monkeypatch.setattr(device, "_compiled_now", lambda *text: kernels | {first: "another"})
    assert [first in word for word in device.proven(path, defines)] == [True]
    monkeypatch.setattr(device, "_compiled_now", lambda *text: kernels | {"more": "one"})
    assert ["more" in word for word in device.proven(path, defines)] == [True]
