"""The shipped probes beside what is known of a device: prints JSON; exit code 1 where they differ.

    python -m scripts.bench_probes --backend cuda [--rounds 5] [--out FILE]

Copies beside the acceptance's own (10%), LDS at stride 32 beside stride 1 (8 times at least), the
order of shuffles (exact), a block and a barrier beside loops written by hand (a factor of 2): in
turns, medians. It needs what a campaign on that backend needs, and no network.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

from evaluators.acceptance.rates import copy_rate
from evaluators.acceptance.trial import Broken
from evaluators.device import Compiler, Device, backend
from evaluators.device_info import BackendMissing
from evaluators.evaluation import Rejected
from evaluators.probes.measured import Measured
from evaluators.probes.probe import BuiltProbe, compile_probe
from evaluators.probes.readings import empty_block_ns, shuffle_faults
from evaluators.probes.run import measure
from evaluators.probes.shipped import catalogue, reading
from scripts.bench_probes.bare import THREADS, Bare, bare_of

COPY_WITHIN, BARE_WITHIN, LDS_TIMES = 0.10, 2.0, 8.0
MOST_SECONDS = {"cpu": 20.0}
GPU_SECONDS = 15.0
MOST_CHARACTERS = 2500


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One comparison. probe, known: medians, in unit; holds: None where it says nothing here."""

    name: str
    unit: str
    probe: float | None
    known: float | None
    ratio: float | None
    wanted: str
    holds: bool | None
    note: str = ""


class Bench:
    """The probes of one open device, compiled once."""

    def __init__(self, device: Device, compiler: Compiler, rounds: int) -> None:
        self.device = device
        self.compiler = compiler
        self.rounds = rounds
        self.built: dict[str, BuiltProbe] = {}
        self.found: dict[str, tuple[Measured, ...]] = {}

    def whole_set(self) -> dict[str, Any]:
        """Every probe compiled and run, as at a campaign's start."""
        started = time.perf_counter()
        info = self.device.info
        told = {name: self._told(name, probe.text) for name, probe in catalogue(info).items()}
        seconds = time.perf_counter() - started
        characters = sum(len(s) for one in told.values() for s in one["sentences"])
        most = MOST_SECONDS.get(info.backend, GPU_SECONDS)
        passed = all(not one["failed"] for one in told.values())
        return {
            "seconds": round(seconds, 2),
            "characters": characters,
            "holds": seconds <= most and characters <= MOST_CHARACTERS and passed,
            "probes": told,
        }

    def _told(self, name: str, text: str) -> dict[str, Any]:
        info, started = self.device.info, time.perf_counter()
        try:
            built = compile_probe(text, self.compiler, info)
            found = measure(self.device, built)
        except Rejected as rejected:
            return {"failed": str(rejected), "log": rejected.log[:500], "sentences": []}
        self.built[name], self.found[name] = built, found
        return {
            "failed": "",
            "sentences": list(reading(built, found, info)),
            "seconds": round(time.perf_counter() - started, 2),
            "cases": [
                {**one.values, "us": [one.us.median, one.us.low, one.us.high]} for one in found
            ],
        }

    def checks(self) -> list[Check]:
        """Those that mean something on this device."""
        info = self.device.info
        checks = [self.tried("copy bandwidth", self.copy)]
        if info.backend != "cpu":
            checks += [self.tried("LDS", self.lds), self.tried("shuffles", self.shuffles)]
        bare = bare_of(info.backend, info.arch)
        if bare is None:
            wanted = "no loop by hand is written for this backend"
            return [*checks, *(_unknown(name, wanted) for name in ("block", "barrier"))]
        with bare:
            checks.append(self.tried("block", lambda: self.block(bare)))
            checks.append(self.tried("barrier", lambda: self.barrier(bare)))
        return checks

    def tried(self, name: str, check: Callable[[], Check]) -> Check:
        """What a check finds; one that can't be made does not hold."""
        try:
            return check()
        except (Broken, KeyError, Rejected) as error:
            said = f"the probe {error} failed" if isinstance(error, KeyError) else str(error)
            return replace(_unknown(name, "an answer"), holds=False, note=said)

    def copy(self) -> Check:
        """The acceptance tells the fastest of five: beside it stands the probe's second of nine."""
        built = self.built["copy"]
        widest = replace(built, cases=built.cases[:1])
        told: list[float] = []

        def fast() -> float:
            (one,) = self.measured(widest)
            told.append(one.bytes_per_s)
            return one.counted / one.us.low * 1e6

        ours, known = self.in_turns(fast, lambda: copy_rate(self.device, self.compiler))
        ratio = ours / known
        return Check(
            name="copy bandwidth beside the acceptance's",
            unit="bytes/s",
            probe=ours,
            known=known,
            ratio=ratio,
            wanted=f"within {COPY_WITHIN:.0%}",
            note=f"the probe's sentence tells a median, {median(told) / known:.3f} of that rate",
            holds=abs(ratio - 1) <= COPY_WITHIN,
        )

    def lds(self) -> Check:
        cases = {one.values["STRIDE"]: one for one in self.found["lds"]}
        ours, known = cases[32].each_ns, cases[1].each_ns
        return Check(
            name="LDS reads at stride 32 beside stride 1",
            unit="ns",
            probe=ours,
            known=known,
            ratio=ours / known,
            wanted=f"{LDS_TIMES:g} times at least",
            holds=ours / known >= LDS_TIMES,
        )

    def shuffles(self) -> Check:
        faults = shuffle_faults(self.found["shuffle_order"], self.device.info.wavefront)
        return Check(
            name="order of shuffles",
            unit="lanes that got another value",
            probe=len(faults),
            known=0,
            ratio=None,
            wanted="exact",
            holds=not faults,
        )

    def block(self, bare: Bare) -> Check:
        built = self.built["empty"]
        launch, full = built.cases[0], _of_threads(built)
        few = replace(built, cases=(launch, full))
        ours, known = self.in_turns(lambda: empty_block_ns(*self.measured(few)), bare.block_ns)
        return _beside("a block that writes one number", ours, known)

    def barrier(self, bare: Bare) -> Check:
        built = self.built[bare.barrier]
        few = replace(built, cases=(_of_threads(built),))
        ours, known = self.in_turns(lambda: self.measured(few)[0].each_ns, bare.barrier_ns)
        return _beside(f"{bare.barrier} of {THREADS} threads", ours, known)

    def measured(self, built: BuiltProbe) -> tuple[Measured, ...]:
        return measure(self.device, built)

    def in_turns(self, one: Callable[[], float], other: Callable[[], float]) -> tuple[float, float]:
        """The median of each."""
        pairs = [(one(), other()) for _ in range(self.rounds)]
        return median(pair[0] for pair in pairs), median(pair[1] for pair in pairs)


def _of_threads(built: BuiltProbe) -> Any:
    of_size = [case for case in built.cases if case.values["THREADS"] == THREADS]
    return of_size[-1]


def _beside(name: str, ours: float, known: float) -> Check:
    ratio = ours / known
    return Check(
        name=f"{name} beside a loop by hand",
        unit="ns",
        probe=ours,
        known=known,
        ratio=ratio,
        wanted=f"within a factor of {BARE_WITHIN:g}",
        holds=1 / BARE_WITHIN <= ratio <= BARE_WITHIN,
    )


def _unknown(name: str, wanted: str) -> Check:
    return Check(
        name=name, unit="ns", probe=None, known=None, ratio=None, wanted=wanted, holds=None
    )


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backend", required=True, help="cpu, cuda or hip")
    parser.add_argument("--rounds", type=int, default=5, help="turns of each comparison (5)")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the JSON here, too")
    parsed = parser.parse_args(arguments)
    try:
        device = backend(parsed.backend).open_device(0)
    except BackendMissing as missing:
        print(f"bench_probes: {missing}", file=sys.stderr)
        return 2
    info = device.info
    bench = Bench(device, backend(parsed.backend).compiler(arch=info.arch), parsed.rounds)
    whole = bench.whole_set()
    checks = bench.checks()
    holds = whole["holds"] and all(check.holds is not False for check in checks)
    said = {
        "device": info.name,
        "device_class": info.device_class,
        "compiler": info.compiler,
        "rounds": parsed.rounds,
        "holds": holds,
        "checks": [asdict(check) for check in checks],
        "set": whole,
    }
    text = json.dumps(said, indent=2, ensure_ascii=False)
    print(text)
    if parsed.out is not None:
        parsed.out.write_text(text + "\n", encoding="utf-8")
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
