"""What each CUresult means for whoever meets it: a verdict on the kernel, or a broken machine."""

from collections.abc import Mapping

from evaluators.device_info import DeviceFault
from evaluators.evaluation import Rejected, Status

# The kernel's fault, by CUresult's name: its status and what happened.
_KERNEL: Mapping[str, tuple[Status, str]] = {
    "CUDA_ERROR_INVALID_VALUE": (
        Status.LAUNCH_ERROR,
        "the driver refuses a value: a grid or block of 0, or one too large",
    ),
    "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES": (
        Status.LAUNCH_ERROR,
        "a block takes more registers or LDS than a multiprocessor has",
    ),
    "CUDA_ERROR_OUT_OF_MEMORY": (Status.LAUNCH_ERROR, "the device has no memory left"),
    "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE": (
        Status.LAUNCH_ERROR,
        "a cooperative launch has more blocks than the device holds at once",
    ),
    "CUDA_ERROR_NO_BINARY_FOR_GPU": (
        Status.LAUNCH_ERROR,
        "the cubin is for another GPU architecture",
    ),
    "CUDA_ERROR_INVALID_IMAGE": (Status.LAUNCH_ERROR, "the cubin cannot be loaded"),
    "CUDA_ERROR_NOT_FOUND": (Status.LAUNCH_ERROR, "the cubin has no such kernel"),
    "CUDA_ERROR_ILLEGAL_ADDRESS": (
        Status.CRASHED,
        "the kernel read or wrote memory that is not its own",
    ),
    "CUDA_ERROR_MISALIGNED_ADDRESS": (
        Status.CRASHED,
        "the kernel read or wrote at an address that its type does not allow",
    ),
    "CUDA_ERROR_INVALID_ADDRESS_SPACE": (
        Status.CRASHED,
        "the kernel used an address of another memory space",
    ),
    "CUDA_ERROR_INVALID_PC": (Status.CRASHED, "the kernel jumped out of its code"),
    "CUDA_ERROR_HARDWARE_STACK_ERROR": (Status.CRASHED, "the kernel overran its stack"),
    "CUDA_ERROR_ILLEGAL_INSTRUCTION": (
        Status.CRASHED,
        "the kernel trapped: an assertion or abort()",
    ),
    "CUDA_ERROR_LAUNCH_FAILED": (
        Status.CRASHED,
        "the kernel failed while it ran: an assertion or abort(), or an access",
    ),
    "CUDA_ERROR_ASSERT": (Status.CRASHED, "an assertion in the kernel failed"),
    "CUDA_ERROR_LAUNCH_TIMEOUT": (Status.TIMEOUT, "the driver stopped the kernel: it ran too long"),
}
# The machine's fault, by CUresult's name: what is wrong and what to do.
_MACHINE: Mapping[str, str] = {
    "CUDA_ERROR_NO_DEVICE": "the driver finds no NVIDIA GPU: check CUDA_VISIBLE_DEVICES",
    "CUDA_ERROR_INVALID_DEVICE": "there is no device of that number: check CUDA_VISIBLE_DEVICES",
    "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH": "driver and libcuda are of two versions: restart",
    "CUDA_ERROR_SYSTEM_NOT_READY": "the fabric is not up: start nvidia-fabricmanager",
    "CUDA_ERROR_ECC_UNCORRECTABLE": (
        "the GPU's memory has an error that ECC cannot correct: take the GPU out of use"
    ),
    "CUDA_ERROR_UNSUPPORTED_PTX_VERSION": "the driver is older than the compiler: update it",
    "CUDA_ERROR_CONTEXT_IS_DESTROYED": "the device was lost by an earlier fault",
}


def cuda_failure(call: str, name: str, text: str) -> Rejected | DeviceFault:
    """The exception for a call that returned the named CUresult; text is the driver's own."""
    if name in _KERNEL:
        status, meaning = _KERNEL[name]
        return Rejected(status, f"{meaning} ({call}: {name})")
    meaning = _MACHINE.get(name) or f"{text or 'no further explanation'}: see dmesg for NVRM"
    return DeviceFault(f"{meaning} ({call}: {name})", code=name)
