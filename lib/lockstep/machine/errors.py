"""Exceptions of executors and kernels."""


class MachineError(Exception):
    """Base of all errors of this package."""


class NoGpuError(MachineError):
    """No CUDA device is usable; the message gives the reason (no CuPy, driver or device)."""


class CompileError(MachineError):
    """A kernel file does not compile, or no compiler is found; the message holds the compiler's output."""


class LaunchError(MachineError):
    """An invalid launch: grid not co-resident, too much shared memory, wrong arguments."""


class KernelError(MachineError):
    """A kernel failed while running on the emulator."""


class DivergentBarrierError(KernelError):
    """Some threads of a block wait at a barrier that others never reach."""


class DeadlockError(KernelError):
    """All unfinished threads are blocked."""


class LivelockError(KernelError):
    """Threads run, but within the budget of turns none finished and no barrier opened."""


class DataRaceError(KernelError):
    """Two unordered accesses to an address by different threads, at least one a write and not both atomic."""


class MemoryFaultError(KernelError):
    """A thread accessed memory outside its arrays, its shared memory or its stack."""
