"""Which of the knowledge texts a role is given for a device."""

from functools import cache
from pathlib import Path

from evaluators.device_info import DeviceInfo
from operators.llm.question import Role

TEXTS = Path(__file__).parent
FOLDERS = {"designer": "designer", "writer": "writer", "crossover": "writer", "repair": "writer"}


def knowledge_of(device: DeviceInfo, role: Role) -> str:
    """Strategy for the Designer, rules and idioms for those who write; the Selector has numbers.

    Of the device's own kind and architecture alone: what pays on a GPU costs on a CPU.
    """
    folder = FOLDERS.get(role)
    if folder is None:
        return ""
    return "\n\n".join(_text(folder, name) for name in _names(device))


def _names(device: DeviceInfo) -> tuple[str, ...]:
    if not device.judges_on_device:
        return ("cpu",)
    if device.arch.startswith("gfx94"):
        return ("gpu", "cdna3")
    if device.arch.startswith("sm_9"):
        return ("gpu", "hopper")
    return ("gpu",)


@cache
def _text(folder: str, name: str) -> str:
    return (TEXTS / folder / f"{name}.md").read_text(encoding="utf-8").strip()
