"""Which of the knowledge texts go with a device."""

from functools import cache
from pathlib import Path

from evaluators.device_info import DeviceInfo


def knowledge_of(device: DeviceInfo) -> str:
    """The portable rules, then what is known of the device's own architecture."""
    names = ["portable"]
    if not device.judges_on_device:
        names.append("cpu")
    elif device.arch.startswith("gfx94"):
        names.append("cdna3")
    elif device.arch.startswith("sm_9"):
        names.append("hopper")
    return "\n\n".join(_text(name) for name in names)


@cache
def _text(name: str) -> str:
    return (Path(__file__).parent / f"{name}.md").read_text(encoding="utf-8").strip()
