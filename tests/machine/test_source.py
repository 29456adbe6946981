"""Kernel text: includes, signatures, digests."""

import numpy as np
import pytest

from lockstep.machine import CompileError, source, source_digest
from lockstep.machine.source import kernels, parameters, paste, variants

KERNEL = '#include "part.cuh"\nextern "C" __global__ void f(int* a) { a[0] = K; }\n'


@pytest.fixture
def cu(tmp_path):
    (tmp_path / "part.cuh").write_text("// a part\n#pragma once\nconstexpr int K = 1;\n")
    (tmp_path / "f.cu").write_text("// a kernel\n" + KERNEL)
    return tmp_path / "f.cu"


def test_the_digest_sees_text_includes_and_defines(cu):
    first = source_digest(cu)
    assert first == source_digest(cu) and len(first) == 16
    assert source_digest(cu, {"N": 4}) != first
    assert source_digest(cu, {"N": 4}) != source_digest(cu, {"N": 5})
    assert source_digest(cu, extra=["host function"]) != first
    (cu.parent / "part.cuh").write_text("constexpr int K = 2;\n")
    assert source_digest(cu) != first


def test_the_digest_does_not_see_comments_and_spacing(cu):
    first = source_digest(cu)
    cu.write_text("/* another\n   comment */\n" + KERNEL.replace("{ a", "{\n\n      a") + "// the end")
    assert source_digest(cu) == first


def test_text_in_quotes_is_no_comment(cu):
    cu.write_text(KERNEL + 'constexpr const char* u = "a // b";\n')
    first = source_digest(cu)
    cu.write_text(KERNEL + 'constexpr const char* u = "a // c";\n')
    assert source_digest(cu) != first


def test_an_include_is_pasted_once_and_keeps_line_numbers(cu):
    cu.write_text('#include "part.cuh"\n' + KERNEL)
    text = paste(cu)
    assert text.count("constexpr int K = 1;") == 1
    assert '#line 1 "part.cuh"' in text and '#line 2 "f.cu"' in text


def test_a_missing_include_is_named_with_who_wants_it(cu):
    (cu.parent / "part.cuh").unlink()
    with pytest.raises(CompileError, match=r"part\.cuh included from .*f\.cu: cannot be read"):
        paste(cu)


def test_signatures():
    found = kernels(
        'extern "C" __global__ void __launch_bounds__(256, 2)\n g('
        "const unsigned long long* __restrict__ a, T b,\n"
        '  const int4* c, size_t n) {}\n// extern "C" __global__ void no(int* a) {}\n',
        {"T": "float"},
    )
    (name,) = found
    assert name == "g"
    assert [(p.name, p.pointer, p.dtype) for p in found["g"]] == [
        ("a", True, np.uint64), ("b", False, np.float32), ("c", True, np.int32), ("n", False, np.uint64),
    ]  # fmt: skip


def test_a_pointer_to_a_type_of_its_own_takes_any_array():
    (p,) = parameters("const Edge* edges")
    assert p.pointer and p.dtype is None


@pytest.mark.parametrize("declaration", ["Edge edge", "int** a", "int& a", "int4 v"])
def test_parameters_that_no_executor_passes_are_refused(declaration):
    with pytest.raises(CompileError, match="kernel parameter"):
        parameters(declaration)


def test_variants(tmp_path):
    path = tmp_path / "v.cu"
    path.write_text("// what\n// compile: K=16 THREADS=256\n// compile: K=32 FAST\n")
    assert variants(path) == [{"K": "16", "THREADS": "256"}, {"K": "32", "FAST": "1"}]
    path.write_text("// what\n")
    assert variants(path) == [{}]


def test_an_answer_is_remembered_until_a_kernel_is_written(monkeypatch):
    asked, written = [], [(1,)]
    monkeypatch.setattr(source, "_written", lambda: written[0])
    digest = source.until_written(lambda name: asked.append(name) or f"{name} {written[0][0]}")
    assert [digest("a"), digest("a"), digest("b")] == ["a 1", "a 1", "b 1"] and asked == ["a", "b"]
    written[0] = (2,)
    assert digest("a") == "a 2" and asked == ["a", "b", "a"]
    monkeypatch.undo()
    assert len(source._written()) >= 30, "every device file of the package is looked at"
