"""The GPU's compiler, on a machine without a GPU."""

import pytest

from lockstep.machine import CompileError, MachineError
from lockstep.machine.compile import PACKAGE, compile_file, files, main, nvrtc
from lockstep.machine.source import variants


@pytest.fixture(autouse=True)
def compiler():
    try:
        nvrtc()
    except MachineError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("path", files(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_every_kernel_file_compiles(path):
    """One variant for one architecture; `python -m lockstep.machine.compile` in .ci/run does all of them."""
    assert compile_file(path, variants(path)[0], "sm_90")


def test_the_tests_own_kernels_compile(kernels_cu):
    found = {r.kernel: r for r in compile_file(kernels_cu, {"ROUNDS": 3}, "sm_90")}
    assert {"add", "warps", "rounds"} <= set(found)
    assert found["add"].registers > 0 and found["add"].spills == 0


def test_spills_are_reported_and_errors_are_counted(tmp_path, capsys):
    (tmp_path / "spills.cu").write_text(
        'extern "C" __global__ void __launch_bounds__(1024) spills(float* a) {\n'
        "    float v[96];\n#pragma unroll\n"
        "    for (int i = 0; i < 96; ++i) v[i] = a[i * 1024 + threadIdx.x];\n"
        "    __syncthreads();\n#pragma unroll\n"
        "    for (int i = 0; i < 96; ++i) a[(95 - i) * 1024 + threadIdx.x] = v[i] * v[(i * 7) % 96];\n}\n"
    )
    assert main([str(tmp_path / "spills.cu"), "--arch", "sm_90"]) == 0
    assert "<- spills" in capsys.readouterr().out
    (tmp_path / "broken.cu").write_text('extern "C" __global__ void f(int* a) {\n    a[0] = b;\n}\n')
    assert main([str(tmp_path / "broken.cu"), "--arch", "sm_90"]) == 1
    told = capsys.readouterr()
    assert "1 failed" in told.out and "broken.cu(2)" in told.err
    with pytest.raises(CompileError, match=r"broken\.cu does not compile for sm_90"):
        compile_file(tmp_path / "broken.cu")
    assert main([str(tmp_path / "absent.cu")]) == 1
