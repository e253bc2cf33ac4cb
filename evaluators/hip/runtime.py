"""libamdhip64, AMD's runtime, through hip-python: found, loaded, called."""

import os
import re
from collections.abc import Mapping
from importlib import metadata
from typing import Any

from evaluators.device_info import BackendMissing, DeviceFault
from evaluators.hip.errors import hip_failure
from evaluators.hip.rocm import library, rocm_roots

OLDEST_ROCM = 6
_DO = "install ROCm's HIP runtime, or set ROCM_PATH to where it lies"


def runtime_library(environment: Mapping[str, str] = os.environ) -> str:
    """libamdhip64 of the first ROCm that has it, else what the loader finds."""
    for root in rocm_roots(environment):
        if found := library(root, "libamdhip64"):
            return str(found)
    return "libamdhip64.so"


class Runtime:
    """libamdhip64 through hip-python, 6.4 to 7.2 and 10.0: an error is raised, not returned."""

    def __init__(self) -> None:
        try:
            import hip
            from hip import hip as calls
        except ImportError as error:
            raise BackendMissing(
                f"hip-python is not installed ({error}): install the package hip-python"
            ) from None
        binding = getattr(hip, "chip", None)  # 10.0 has none: it goes by ROCM_PATH, the loader
        if binding is not None:
            binding.DLL = runtime_library().encode()
        self.hip = calls

    def call(self, name: str, *values: Any) -> Any:
        """The one value that the call returns after its status, or a tuple, or None.

        Raises Rejected, DeviceFault, and BackendMissing when there is no library.
        """
        try:
            status, *returned = getattr(self.hip, name)(*values)
        except RuntimeError as error:  # hip-python, when dlopen or dlsym fails
            raise BackendMissing(f"{_one_line(error)}: {_DO}") from None
        if status != self.hip.hipError_t.hipSuccess:
            raise hip_failure(name, status.name, self._text(status))
        return returned[0] if len(returned) == 1 else tuple(returned) or None

    def _text(self, status: Any) -> str:
        said = self.hip.hipGetErrorString(status)[-1]
        return said.decode() if hasattr(said, "decode") else str(said or "")

    def ready(self, name: str, *values: Any) -> bool:
        """Of a call that may answer hipErrorNotReady."""
        status = getattr(self.hip, name)(*values)[0]
        if status == self.hip.hipError_t.hipErrorNotReady:
            return False
        if status != self.hip.hipError_t.hipSuccess:
            raise hip_failure(name, status.name, self._text(status))
        return True

    def device_count(self) -> int:
        try:
            return int(self.call("hipGetDeviceCount"))
        except DeviceFault as fault:
            if fault.code == "hipErrorNoDevice":
                return 0
            raise

    def version(self) -> str:
        """Such as 7.2.53211; the runtime packs it as major * 10^7 + minor * 10^5 + patch."""
        packed = int(self.call("hipRuntimeGetVersion"))
        return f"{packed // 10**7}.{packed // 10**5 % 100}.{packed % 10**5}"

    def check_version(self) -> None:
        found = self.version()
        if int(found.split(".")[0]) < OLDEST_ROCM:
            raise BackendMissing(
                f"hip-python {metadata.version('hip-python')} needs ROCm {OLDEST_ROCM} or newer, "
                f"the HIP runtime here is {found}: update ROCm"
            )

    def properties(self, index: int) -> Any:
        if int(metadata.version("hip-python").split(".")[0]) >= 10:
            return self.call("hipGetDeviceProperties", index)
        found = self.hip.hipDeviceProp_t()
        self.call("hipGetDeviceProperties", found, index)
        return found


def _one_line(error: BaseException) -> str:
    """hip-python writes paths as bytes."""
    return re.sub(r"b'([^']*)'", r"\1", " ".join(str(error).split()))
