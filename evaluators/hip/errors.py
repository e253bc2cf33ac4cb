"""What each hipError means for whoever meets it: a verdict on the kernel, or a broken machine."""

from collections.abc import Mapping

from evaluators.device_info import DeviceFault
from evaluators.evaluation import Rejected, Status

# The kernel's fault, by hipError's name: its status and what happened.
_KERNEL: Mapping[str, tuple[Status, str]] = {
    "hipErrorInvalidValue": (
        Status.LAUNCH_ERROR,
        "the driver refuses a value: a grid or block of 0, or one too large",
    ),
    "hipErrorInvalidConfiguration": (
        Status.LAUNCH_ERROR,
        "the driver refuses the grid, the block or the LDS",
    ),
    "hipErrorLaunchOutOfResources": (
        Status.LAUNCH_ERROR,
        "a block takes more registers or LDS than a compute unit has",
    ),
    "hipErrorOutOfMemory": (Status.LAUNCH_ERROR, "out of memory: the device has none left"),
    "hipErrorCooperativeLaunchTooLarge": (
        Status.LAUNCH_ERROR,
        "a cooperative launch has more blocks than the device holds at once",
    ),
    "hipErrorInvalidDeviceFunction": (
        Status.LAUNCH_ERROR,
        "the kernel was not compiled for this device",
    ),
    "hipErrorInvalidKernelFile": (Status.LAUNCH_ERROR, "the code object cannot be loaded"),
    "hipErrorInvalidImage": (Status.LAUNCH_ERROR, "the code object cannot be loaded"),
    "hipErrorNoBinaryForGpu": (
        Status.LAUNCH_ERROR,
        "the code object is for another GPU architecture",
    ),
    "hipErrorNotFound": (Status.LAUNCH_ERROR, "the code object has no such kernel"),
    "hipErrorInvalidSymbol": (Status.LAUNCH_ERROR, "the code object has no such symbol"),
    "hipErrorSharedObjectInitFailed": (Status.LAUNCH_ERROR, "the code object cannot be loaded"),
    "hipErrorSharedObjectSymbolNotFound": (
        Status.LAUNCH_ERROR,
        "the code object misses a symbol that it uses",
    ),
    "hipErrorIllegalAddress": (
        Status.CRASHED,
        "the kernel read or wrote memory that is not its own",
    ),
    "hipErrorLaunchFailure": (
        Status.CRASHED,
        "the kernel failed while it ran: an assertion or abort(), or an access",
    ),
    "hipErrorAssert": (Status.CRASHED, "an assertion in the kernel failed"),
    "hipErrorLaunchTimeOut": (Status.TIMEOUT, "the driver stopped the kernel: it ran too long"),
}
# The machine's fault, by hipError's name: what is wrong and what to do.
_MACHINE: Mapping[str, str] = {
    "hipErrorNoDevice": (
        "the driver finds no AMD GPU: check /dev/kfd, the group render, and HIP_, CUDA_ and "
        "ROCR_VISIBLE_DEVICES"
    ),
    "hipErrorInvalidDevice": "there is no device of that number: check HIP_VISIBLE_DEVICES",
    "hipErrorInsufficientDriver": (
        "the kernel driver is older than the runtime needs: update amdgpu-dkms"
    ),
    "hipErrorInitializationError": "the driver does not start: see dmesg for amdgpu",
    "hipErrorNotInitialized": "the driver does not start: see dmesg for amdgpu",
    "hipErrorECCNotCorrectable": (
        "the GPU's memory has an error that ECC cannot correct: take the GPU out of use"
    ),
    "hipErrorContextIsDestroyed": "the device was lost by an earlier fault: replace the process",
    "hipErrorIllegalState": "the device was lost by an earlier fault: replace the process",
    "hipErrorNotSupported": "this driver does not support that call: update ROCm",
    "hipErrorOperatingSystem": "the operating system refused a call: see dmesg for amdgpu",
}


def hip_failure(call: str, name: str, text: str) -> Rejected | DeviceFault:
    """The exception for a call that returned the named hipError; text is the driver's own."""
    if name in _KERNEL:
        status, meaning = _KERNEL[name]
        return Rejected(status, f"{meaning} ({call}: {name})")
    meaning = _MACHINE.get(name) or f"{text or 'no further explanation'}: see dmesg for amdgpu"
    return DeviceFault(f"{meaning} ({call}: {name})", code=name)
