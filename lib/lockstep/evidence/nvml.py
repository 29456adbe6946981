"""The GPU's present state: clocks, power, temperature and reasons for throttling.

NVML, NVIDIA's management library, is installed with every driver. It is called through `ctypes`, once per round: a
call takes microseconds, starting `nvidia-smi` a tenth of a second.
"""

import ctypes
from functools import cache

# Bits of nvmlClocksEventReasons that are not flagged: GPU idle, and application clock settings.
HARMLESS = 0x1 | 0x2
REASONS = {
    0x4: "power cap",
    0x8: "hardware slowdown",
    0x10: "sync boost",
    0x20: "software thermal slowdown",
    0x40: "hardware thermal slowdown",
    0x80: "power brake",
    0x100: "display clock",
    0x200: "board limit",
    0x400: "reliability",
}


class Nvml:
    """One GPU seen through NVML.

    Parameters
    ----------
    place : int or str
        The GPU's number as NVML counts, or its PCI bus id.
    library : object, optional
        A substitute for the loaded library, for tests.
    """

    def __init__(self, place=0, library=None):
        self.library = library or ctypes.CDLL("libnvidia-ml.so.1")
        self._check(self.library.nvmlInit_v2())
        self.handle = ctypes.c_void_p()
        if isinstance(place, str):
            get_handle, place = self.library.nvmlDeviceGetHandleByPciBusId_v2, ctypes.c_char_p(place.encode())
        else:
            get_handle, place = self.library.nvmlDeviceGetHandleByIndex_v2, ctypes.c_uint(place)
        self._check(get_handle(place, ctypes.byref(self.handle)))

    @staticmethod
    def _check(code):
        if code != 0:
            raise OSError(f"NVML answered with error {code}")

    def _text(self, function, *before):
        buffer = ctypes.create_string_buffer(96)
        self._check(function(*before, buffer, ctypes.c_uint(96)))
        return buffer.value.decode()

    def _number(self, name, *middle, kind=ctypes.c_uint):
        """One number, or None where this GPU does not support the query (power on some laptops, for example)."""
        value = kind()
        if getattr(self.library, name)(self.handle, *middle, ctypes.byref(value)) != 0:
            return None
        return value.value

    def identity(self):
        """The GPU's name, the driver's version and the CUDA version it supports, all text."""
        return {
            "gpu": self._text(self.library.nvmlDeviceGetName, self.handle),
            "driver": self._text(self.library.nvmlSystemGetDriverVersion),
            "cuda": self._cuda(),
        }

    def _cuda(self):
        value = ctypes.c_int()
        if self.library.nvmlSystemGetCudaDriverVersion_v2(ctypes.byref(value)) != 0:
            return None
        return f"{value.value // 1000}.{value.value % 1000 // 10}"

    def sample(self):
        """The present state: `sm_clock` and `memory_clock` in MHz, `power` in W, `temperature` in degrees
        Celsius and `throttle`, NVML's bit mask of reasons (`REASONS`). Unsupported figures are None.
        """
        power = self._number("nvmlDeviceGetPowerUsage")
        return {
            "sm_clock": self._number("nvmlDeviceGetClockInfo", ctypes.c_uint(1)),
            "memory_clock": self._number("nvmlDeviceGetClockInfo", ctypes.c_uint(2)),
            "power": None if power is None else power / 1000,
            "temperature": self._number("nvmlDeviceGetTemperature", ctypes.c_uint(0)),
            "throttle": self._number("nvmlDeviceGetCurrentClocksThrottleReasons", kind=ctypes.c_ulonglong),
        }

    def count(self):
        """Number of GPUs in the driver's list."""
        value = ctypes.c_uint()
        self._check(self.library.nvmlDeviceGetCount_v2(ctypes.byref(value)))
        return value.value


def _place():
    """The PCI bus id of CUDA's first GPU: CUDA_VISIBLE_DEVICES may name it by number, UUID or MIG instance. Else 0."""
    try:
        from cupy.cuda import runtime

        return runtime.deviceGetPCIBusId(0)
    except Exception:  # no CuPy, no driver, or no device that CUDA may use
        return 0


@cache
def gpu():
    """This process's GPU as an `Nvml`, or None without a working NVML."""
    try:
        library = ctypes.CDLL("libnvidia-ml.so.1")
        return Nvml(_place(), library)
    except (OSError, AttributeError):
        return None


def throttled(mask):
    """Names of the throttling reasons in an NVML bit mask, without `HARMLESS`; empty if there is none."""
    mask = int(mask or 0) & ~HARMLESS
    return [REASONS.get(1 << bit, f"reason {1 << bit:#x}") for bit in range(mask.bit_length()) if mask >> bit & 1]
