"""Kernel text: includes, signatures, digests."""

import numpy as np
import pytest

from lockstep.machine import CompileError, source
from lockstep.machine.source import kernels, parameters, paste, settled, variants

KERNEL = '#include "part.cuh"\nextern "C" __global__ void f(int* a) { a[0] = K; }\n'


@pytest.fixture
def cu(tmp_path):
    (tmp_path / "part.cuh").write_text("// a part\n#pragma once\nconstexpr int K = 1;\n")
    (tmp_path / "f.cu").write_text("// a kernel\n" + KERNEL)
    return tmp_path / "f.cu"


def test_the_digest_sees_text_includes_and_defines(cu):
    first = source.spelling(cu)
    assert first == source.spelling(cu) and len(first) == 16
    assert source.spelling(cu, {"N": 4}) != first
    assert source.spelling(cu, {"N": 4}) != source.spelling(cu, {"N": 5})
    (cu.parent / "part.cuh").write_text("constexpr int K = 2;\n")
    assert source.spelling(cu) != first


def test_the_digest_does_not_see_comments_and_spacing(cu):
    first = source.spelling(cu)
    cu.write_text("/* another\n   comment */\n" + KERNEL.replace("{ a", "{\n\n      a") + "// the end")
    assert source.spelling(cu) == first


def test_text_in_quotes_is_no_comment(cu):
    cu.write_text(KERNEL + 'constexpr const char* u = "a // b";\n')
    first = source.spelling(cu)
    cu.write_text(KERNEL + 'constexpr const char* u = "a // c";\n')
    assert source.spelling(cu) != first


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
    path.write_text("// compile: WIDTH=8,16 HOLDS=0,1\n// compile: FAST\n")
    products = [{"WIDTH": width, "HOLDS": holds} for width in ("8", "16") for holds in ("0", "1")]
    assert variants(path) == [*products, {"FAST": "1"}]


def test_macro_definitions_that_come_to_the_same_settle_alike(tmp_path):
    path = tmp_path / "s.cu"
    path.write_text("#ifndef WIDE\n#define WIDE 0  // ids\n#endif\n#ifndef IDS\n#define IDS WIDE\n#endif\n"
                    "// OTHER stands in a comment alone\n")  # fmt: skip
    assert settled(path) == settled(path, {"IDS": 0, "OTHER": 3}) == (("IDS", "0"), ("WIDE", "0"))
    assert settled(path, {"WIDE": True}) == (("IDS", "1"), ("WIDE", "1")) != settled(path, {"IDS": 1})
