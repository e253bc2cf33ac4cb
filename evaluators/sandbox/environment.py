"""The environment of child processes: what they need, and no secrets."""

import os
from collections.abc import Iterable, Mapping

from evaluators.cxx import COMPILER_VARIABLE
from evaluators.device_info import EMULATE, EMULATED_ORDER, FURTHER_BACKENDS, BackendMissing

_READ: Mapping[str, tuple[str, ...]] = {
    "cuda": ("CUDA_VISIBLE_DEVICES",),
    "hip": ("HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"),
}


VARIABLES = ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES")


def visible_names(
    backend_name: str, environment: Mapping[str, str] = os.environ
) -> list[str] | None:
    """The GPUs that the deciding variable names, in its order; None: all, by number from 0.

    HIP takes an empty variable for none, and CUDA's where its own is none (clr's rocdevice.cpp,
    Device::init). What ROCR_VISIBLE_DEVICES hides is gone before these variables count, so it is
    left as it is.
    """
    for variable in _READ.get(backend_name, ()):
        shown = environment.get(variable)
        if shown or (shown is not None and backend_name == "cuda"):
            return [name.strip() for name in shown.split(",") if name.strip()]
    return None


def visible_name(backend_name: str, index: int, environment: Mapping[str, str] = os.environ) -> str:
    """How to name the index-th GPU of those shown here. Raises BackendMissing: not so many."""
    names = visible_names(backend_name, environment)
    if names is None:
        return str(index)
    if index >= len(names):
        raise BackendMissing(
            f"{' or '.join(_READ[backend_name])} shows {', '.join(names) or 'none'}: "
            f"there is no device {index} (counted from 0)"
        )
    return names[index]


def showing(names: Iterable[str]) -> dict[str, str]:
    """What shows just those GPUs, whichever variable a driver or Ray reads."""
    return dict.fromkeys(VARIABLES, ",".join(names))


_KEPT = (
    *("PATH", "LD_LIBRARY_PATH", "TMPDIR", "LANG", "LC_ALL", "KERNEL_SCIENTIST_ROCM"),
    COMPILER_VARIABLE,
    FURTHER_BACKENDS,
    EMULATE,
    EMULATED_ORDER,
)


_KEPT_PREFIXES = ("CUDA_", "HIP_", "HSA_", "NVIDIA_", "ROCM_", "ROCR_")


def device_variables() -> dict[str, str]:
    """Of this process's environment: what devices and their libraries need, and no secrets."""
    return {
        name: value
        for name, value in os.environ.items()
        if name in _KEPT or name.startswith(_KEPT_PREFIXES)
    }
