"""Which machine this is, and what its GPU is doing: asked of a library that answers as NVML would."""

import ctypes
import re

import pytest

from lockstep.evidence import computer, nvml


class Library:
    """Answers like libnvidia-ml for one GPU whose power cannot be read."""

    def nvmlInit_v2(self):
        return 0

    def nvmlDeviceGetHandleByIndex_v2(self, index, handle):
        return 0 if index.value == 0 else 2

    def nvmlDeviceGetHandleByPciBusId_v2(self, place, handle):
        return 0 if place.value == b"0000:1B:00.0" else 6

    def nvmlDeviceGetName(self, handle, buffer, length):
        buffer.value = b"NVIDIA H200"
        return 0

    def nvmlSystemGetDriverVersion(self, buffer, length):
        buffer.value = b"580.1"
        return 0

    def nvmlSystemGetCudaDriverVersion_v2(self, value):
        ctypes.cast(value, ctypes.POINTER(ctypes.c_int))[0] = 13010
        return 0

    def nvmlDeviceGetClockInfo(self, handle, kind, value):
        ctypes.cast(value, ctypes.POINTER(ctypes.c_uint))[0] = 1980 if kind.value == 1 else 3201
        return 0

    def nvmlDeviceGetPowerUsage(self, handle, value):
        return 3  # not supported

    def nvmlDeviceGetTemperature(self, handle, kind, value):
        ctypes.cast(value, ctypes.POINTER(ctypes.c_uint))[0] = 41
        return 0

    def nvmlDeviceGetCurrentClocksThrottleReasons(self, handle, value):
        ctypes.cast(value, ctypes.POINTER(ctypes.c_ulonglong))[0] = 0x4 | 0x1
        return 0

    def nvmlDeviceGetCount_v2(self, value):
        ctypes.cast(value, ctypes.POINTER(ctypes.c_uint))[0] = 1
        return 0


def test_a_gpu_tells_who_it_is_and_how_it_is():
    gpu = nvml.Nvml(0, Library())
    assert gpu.identity() == {"gpu": "NVIDIA H200", "driver": "580.1", "cuda": "13.1"}
    assert gpu.count() == 1
    state = {"sm_clock": 1980, "memory_clock": 3201, "power": None, "temperature": 41, "throttle": 5}
    assert gpu.sample() == state
    assert nvml.throttled(state["throttle"]) == ["power cap"], "idling is no throttling"
    assert nvml.throttled(0x1 | 0x2) == nvml.throttled(None) == []
    assert nvml.throttled(0x200 | 0x400 | 0x1) == ["board limit", "reliability"]
    assert nvml.throttled(1 << 40) == ["reason 0x10000000000"], "one that is not known here slows down as well"
    with pytest.raises(OSError, match="error 2"):
        nvml.Nvml(1, Library())


def test_a_gpu_is_found_by_its_place_on_the_bus():
    assert nvml.Nvml("0000:1B:00.0", Library()).identity()["gpu"] == "NVIDIA H200"
    with pytest.raises(OSError, match="error 6"):
        nvml.Nvml("0000:00:00.0", Library())


@pytest.fixture
def fresh(monkeypatch):
    computer.describe_machine.cache_clear()
    yield monkeypatch
    computer.describe_machine.cache_clear()


def test_a_machines_name_begins_with_its_gpu(fresh):
    fresh.setattr(nvml, "gpu", lambda: nvml.Nvml(0, Library()))
    assert re.fullmatch(r"nvidia-h200-[0-9a-f]{8}", computer.machine_name())


def test_a_machine_with_two_gpus_is_another_machine(fresh):
    class Two(Library):
        def nvmlDeviceGetCount_v2(self, value):
            ctypes.cast(value, ctypes.POINTER(ctypes.c_uint))[0] = 2
            return 0

    fresh.setattr(nvml, "gpu", lambda: nvml.Nvml(0, Library()))
    one = computer.describe_machine()
    computer.describe_machine.cache_clear()
    fresh.setattr(nvml, "gpu", lambda: nvml.Nvml(0, Two()))
    two = computer.describe_machine()
    assert (one["gpus"], two["gpus"]) == (1, 2)
    assert (computer.gpu_words(one), computer.gpu_words(two)) == ("NVIDIA H200", "2 × NVIDIA H200")
    assert computer.gpu_words({"gpu": None, "gpus": 0}) is None
    assert re.fullmatch(r"nvidia-h200-[0-9a-f]{8}", two["name"]) and two["name"] != one["name"]


def test_two_machines_with_the_same_gpu_have_two_names(fresh):
    fresh.setattr(nvml, "gpu", lambda: nvml.Nvml(0, Library()))
    first = computer.machine_name()
    computer.describe_machine.cache_clear()
    fresh.setattr(computer, "_cpu_model", lambda: "Another CPU")
    assert computer.machine_name() != first


def test_without_a_gpu_it_is_named_after_its_cpu(fresh):
    fresh.setattr(nvml, "gpu", lambda: None)
    fresh.setattr(computer, "_cpu_model", lambda: "Intel(R) Xeon(R) CPU E5-2670 v3 @ 2.30GHz")
    machine = computer.describe_machine()
    assert re.fullmatch(r"intel-xeon-e5-2670-v3-[0-9a-f]{8}", machine["name"])
    assert machine["gpu"] is None and machine["gpus"] == 0 and machine["cores"] >= 1


def test_a_process_without_a_driver_has_no_gpu(monkeypatch):
    def absent(name):
        raise OSError("libnvidia-ml.so.1: cannot open shared object file")

    monkeypatch.setattr(nvml.ctypes, "CDLL", absent)
    nvml.gpu.cache_clear()
    assert nvml.gpu() is None
    nvml.gpu.cache_clear()
