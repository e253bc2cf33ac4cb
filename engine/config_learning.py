"""The sections of a campaign's configuration that tell how it learns."""

from pathlib import Path
from typing import Any

from pydantic import Field, model_validator

from engine.config_sections import Section


class Probes(Section):
    """Small launches that answer a question about the device, such as what a barrier costs. Models
    are told the answers; where none is asked, nothing is probed. In a word: `probes: off` is
    none."""

    most: int = Field(default=12, ge=0)
    """Probes that designers may ask for, over all sessions, beside the set that comes with the
    package. That is measured at the start, as far as its answers are not kept from an earlier
    campaign. 0: neither."""
    share: float = Field(default=0.05, gt=0, le=1)
    """Part of the devices' time that probes may take while kernels wait; idle devices run them at
    once."""

    @model_validator(mode="before")
    @classmethod
    def _bare_word(cls, value: Any) -> Any:
        if isinstance(value, str | bool):  # YAML reads a bare off as false
            words: dict[str | bool, dict[str, int]] = {"off": {"most": 0}, False: {"most": 0}}
            words |= {"on": {}, True: {}}
            if value not in words:
                raise ValueError("write on, off, or most and share")
            return words[value]
        return value


class Credit(Section):
    """What is asked next, by what was gained for what it cost: operators, models, avenues and
    lines of descent. `credit: off`: the configured weights alone decide, and models are dealt."""

    floor: float = Field(default=0.05, ge=0, le=1)
    """Part of the draws that follows the configured weights whatever was gained, so that nothing
    starves. 1: all of them, as with `off`."""
    half_life: float = Field(default=15, gt=0)
    """Kernels after which whoever is not asked is as likely as not another than before, so that
    what was gained counts half. Whoever is asked tells by its own gains whether it changed."""

    @model_validator(mode="before")
    @classmethod
    def _bare_word(cls, value: Any) -> Any:
        if isinstance(value, str | bool):  # YAML reads a bare off as false, a bare on as true
            words = {"off": {"floor": 1}, False: {"floor": 1}, "on": {}, True: {}}
            if value not in words:
                raise ValueError("write on, off, or floor and half_life")
            return words[value]
        return value

    @property
    def on(self) -> bool:
        return self.floor < 1


class Findings(Section):
    """Rules that results bear out, kept in `RUN/findings.yaml`, told to operators and models, and
    brought along from other campaigns. In a word: a list is `sources`."""

    every: int = Field(default=40, ge=0)
    """Evaluations between two distillations; the last is at the end. 0: none, and no file."""
    sources: tuple[Path, ...] = ()
    """Campaigns' folders, or files of findings, that this one begins with (`from` is the same).
    Only rules for this class of device, and for this task or none, are used."""

    @model_validator(mode="before")
    @classmethod
    def _bare_list(cls, value: Any) -> Any:
        if isinstance(value, list | tuple):
            return {"sources": value}
        if isinstance(value, str | bool):
            raise ValueError(
                "write a list of campaigns and files, as in [runs/first], or every and sources; "
                "every: 0 is none"
            )
        if isinstance(value, dict) and "from" in value and "sources" not in value:
            return {("sources" if key == "from" else key): one for key, one in value.items()}
        return value
