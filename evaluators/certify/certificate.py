"""Certificate: what is claimed of a kernel, with all that a repetition needs; as JSON."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from pydantic import TypeAdapter, ValidationError

from evaluators.evaluation import Beside
from evaluators.measuring.headline import Headline, headline

FORMAT = 1


class CertificateError(Exception):
    """A certificate can't be made, read or repeated. One sentence: which, why, what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One suite of shapes, on inputs that were never used before.

    round: each has a new secret. worst: the largest error as a part of the limit (1.0).
    """

    round: int
    suite: str
    shapes: int
    worst: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Against the task's naive seed, paired and interleaved; see evaluate's figures.

    speedup: geometric mean over the benchmark shapes, with their weights; ci95 is to hold a later
    measurement on such a device too. sittings: in new processes. busy: a sentence where the machine
    was busy. weights, whole, baselines, launching_us: as in Evaluation.
    """

    seed_id: str
    speedup: float
    ci95: tuple[float, float]
    sittings: int
    times_us: Mapping[str, float]
    speed_of_light: Mapping[str, float]
    busy: str = ""
    weights: Mapping[str, float] = field(default_factory=dict)
    whole: float | None = None
    baselines: Mapping[str, Beside] = field(default_factory=dict)
    launching_us: Mapping[str, float] = field(default_factory=dict)

    @property
    def fastest(self) -> Headline | None:
        """Beside the fastest of the task's baselines, where any but the naive seed was measured."""
        return headline((self.speedup, *self.ci95), self.baselines)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fingerprint:
    """Of device and toolchain. versions: of drivers, libraries and packages, by name."""

    device: str
    device_class: str
    engine: str
    compiler: str
    harness: str
    system: str
    python: str
    versions: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate:
    """source: the kernel file's whole text. made_at: ISO 8601, UTC. seconds: for the sittings."""

    kernel_id: str
    source: str
    task: str
    task_hash: str
    backend: str
    made_at: str
    seconds: float
    checks: tuple[Check, ...]
    comparison: Comparison
    resources: tuple[Mapping[str, Any], ...]
    fingerprint: Fingerprint
    format: Literal[1] = 1

    def write(self, path: Path) -> None:
        """Raises CertificateError."""
        _write(path, json.dumps(asdict(self), indent=1) + "\n")

    @classmethod
    def read(cls, path: Path) -> "Certificate":
        """Raises CertificateError: no such file, or not what write() wrote."""
        try:
            return TypeAdapter(cls).validate_json(path.read_bytes())
        except OSError as error:
            raise CertificateError(
                f"{path}: the certificate can't be read ({error.strerror}); name a file that "
                "'certify' wrote"
            ) from None
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = ".".join(map(str, first["loc"])) or "the file"
            raise CertificateError(
                f"{path}: this is no certificate of format {FORMAT} ({where}: {first['msg']}); "
                "make it anew with 'certify'"
            ) from None


def write_page(path: Path, text: str) -> None:
    """Raises CertificateError."""
    _write(path, text)


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text)
    except OSError as error:
        raise CertificateError(
            f"{path} can't be written ({error.strerror}): name another"
        ) from None
