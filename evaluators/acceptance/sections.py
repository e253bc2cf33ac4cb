"""Every section of the acceptance, in the order in which a report tells them."""

from collections.abc import Sequence

from evaluators.acceptance import faults, mfma, noise, rates, seeds, together
from evaluators.acceptance.contract import CONTRACT, Check
from evaluators.acceptance.trial import Section, Setup, Trial
from evaluators.device import backend

BUDGET_S = 600.0
"""For everything. The sections' own deadlines add up to it."""


def _identity(setup: Setup) -> str:
    info = setup.device.info
    count = backend(setup.backend_name).device_count()
    part = f", {info.compute_units} compute units {info.partition}".rstrip()
    return (
        f"{count} × {info.name} ({info.arch}), {info.compiler}"
        f"{part if info.compute_units else ''}, wavefront {info.wavefront}, "
        f"{info.lds_bytes >> 10} KiB of LDS a block, {info.cache_bytes / 2**20:.4g} MiB of cache"
    )


def _devices() -> Sequence[Trial]:
    todo = "run kernel-scientist doctor, which says what is missing"
    return (Trial(name="device", run=_identity, todo=todo),)


def _contract() -> Sequence[Trial]:
    def trial(check: Check) -> Trial:
        def run(setup: Setup) -> str:
            check(setup.device, setup.compiler)
            return "as it must be"

        return Trial(
            name=check.__name__.replace("_", " "),
            run=run,
            todo="results from this device can't be trusted: try the pinned versions of driver "
            "and bindings, then send this report",
        )

    return tuple(map(trial, CONTRACT))


def sections() -> tuple[Section, ...]:
    """Opens nothing."""
    return (
        _section("device", "The device", _devices(), 30),
        _section("contract", "The device contract", _contract(), 100),
        _section("mfma", "MFMA layouts against mfma.csv", mfma.trials(), 50),
        _section("rates", "Rates against the table of peaks", rates.trials(), 50),
        _section("faults", "Recovery from faults", faults.trials(), 60),
        _section("together", "Several devices at once", together.trials(), 70),
        _section("noise", "A/A noise", noise.trials(), 130),
        _section("seeds", "Shipped seeds", seeds.trials(), 110),
    )


def _section(name: str, title: str, trials: Sequence[Trial], deadline_s: float) -> Section:
    return Section(name=name, title=title, trials=tuple(trials), deadline_s=deadline_s)
