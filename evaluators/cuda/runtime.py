"""libcuda through cuda-bindings, one call at a time: an error is raised, not returned."""

from typing import Any

from evaluators.cuda.errors import cuda_failure
from evaluators.cuda.nvrtc import WHAT_TO_DO
from evaluators.device_info import BackendMissing, DeviceFault


class Runtime:
    """libcuda through cuda-bindings: an error is raised, not returned."""

    def __init__(self) -> None:
        try:
            from cuda.bindings import driver
        except ImportError as error:
            raise BackendMissing(
                f"cuda-bindings is not installed ({error}): {WHAT_TO_DO}"
            ) from None
        self.cuda = driver
        try:
            self.call("cuInit", 0)
        except DeviceFault as fault:
            if fault.code != "CUDA_ERROR_NO_DEVICE":
                raise

    def call(self, name: str, *values: Any) -> Any:
        """The one value that the call returns after its status, or a tuple, or None.

        Raises Rejected, DeviceFault, and BackendMissing when there is no driver.
        """
        try:
            status, *returned = getattr(self.cuda, name)(*values)
        except RuntimeError as error:  # cuda-bindings, when libcuda is not there
            said = " ".join(str(error).split())[:200]
            raise BackendMissing(f"no CUDA driver ({said}): install NVIDIA's driver") from None
        if status != self.cuda.CUresult.CUDA_SUCCESS:
            raise self.failure(name, status)
        return returned[0] if len(returned) == 1 else tuple(returned) or None

    def failure(self, call: str, status: Any) -> Exception:
        text = self.cuda.cuGetErrorString(status)[-1]
        said = text.decode() if isinstance(text, bytes) else str(text or "")
        return cuda_failure(call, status.name, said)

    def device_count(self) -> int:
        try:
            return int(self.call("cuDeviceGetCount"))
        except DeviceFault as fault:
            if fault.code in ("CUDA_ERROR_NO_DEVICE", "CUDA_ERROR_NOT_INITIALIZED"):
                return 0
            raise
