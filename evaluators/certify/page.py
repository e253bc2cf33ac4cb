"""A certificate as a page of Markdown."""

from collections.abc import Iterable, Iterator

from evaluators.certify.certificate import Certificate
from evaluators.measuring.headline import baseline_lines, interval_text, times
from evaluators.measuring.launch_cost import launching_lines
from evaluators.tasks.baselines import SEED
from evaluators.weights import whole_text


def page(certificate: Certificate) -> str:
    return "\n".join([*_lines(certificate), ""])


def _lines(one: Certificate) -> Iterator[str]:
    found = one.comparison
    low, high = found.ci95
    yield f"# Certificate of kernel {one.kernel_id}"
    yield ""
    over_seed = f"{found.speedup:.2f} times as fast as the naive seed"
    where, interval = f"on {one.fingerprint.device}", f"95% interval {low:.2f} to {high:.2f}"
    first = found.fastest
    if first is None or first.name == SEED:
        yield f"**{over_seed} of {one.task}** {where} ({interval}), and right on every shape."
    else:
        fastest = f"{first.called}, the fastest of {first.among} baselines of {one.task}"
        yield (
            f"**{times(first.ratio[0])} over {fastest}** {where} ({interval_text(first.ratio)}), "
            f"right on every shape, and {over_seed} ({interval})."
        )
    yield ""
    yield (
        f"Measured on {one.made_at} by Kernel Scientist, harness {one.fingerprint.harness}. The "
        "interval is to hold a later measurement on such a device too. Repeat it with"
    )
    yield ""
    yield "    kernel-scientist certify --verify certificate.json"
    yield ""
    if found.busy:
        yield f"Mind: {found.busy}."
        yield ""
    yield "## Speed"
    yield ""
    mean = "Weighted geometric mean" if found.weights else "Geometric mean"
    yield (
        f"{mean} over {len(found.times_us)} benchmark shapes, each timed in turn with seed "
        f"{found.seed_id}, in {found.sittings} sittings of new processes on new inputs."
    )
    yield ""
    if found.whole is not None:
        text = whole_text(found.whole)
        yield f"{text[0].upper()}{text[1:]}."
        yield ""
    yield from _table(("shape", "µs", "of the speed of light"), _times(one))
    lines = [
        *baseline_lines((found.speedup, low, high), found.baselines),
        *launching_lines(found.launching_us, found.times_us),
    ]
    if lines:
        yield from (f"- {line}" for line in lines)
        yield ""
    yield "## Correctness"
    yield ""
    yield (
        "Each round is a new process with a new secret, from which all inputs are drawn. The "
        "held-out shapes are shown to no one who writes kernels; the tests hold the values that "
        "the task admits (spikes, cancellation, zeros, ...)."
    )
    yield ""
    rows = ((str(c.round), c.suite, str(c.shapes), f"{c.worst:.3f}") for c in one.checks)
    yield from _table(("round", "suite", "shapes", "largest error, as a part of the limit"), rows)
    yield "## What it takes"
    yield ""
    for kernel in one.resources:
        plain = {k: v for k, v in kernel.items() if isinstance(v, int | float | str)}
        yield "- " + ", ".join(f"{key} {value}" for key, value in plain.items())
    yield ""
    yield "## Device and toolchain"
    yield ""
    yield from _table(("", "found"), _fingerprint(one))
    yield "## The kernel"
    yield ""
    yield "```cpp"
    yield one.source.rstrip()
    yield "```"


def _times(one: Certificate) -> Iterator[tuple[str, ...]]:
    for label, time_us in one.comparison.times_us.items():
        light = one.comparison.speed_of_light.get(label)
        yield label, f"{time_us:.1f}", "" if light is None else f"{100 * light:.0f}%"


def _fingerprint(one: Certificate) -> Iterator[tuple[str, ...]]:
    found = one.fingerprint
    yield "device", found.device
    yield "engine", found.engine
    yield "compiler", found.compiler
    yield "system", found.system
    yield "Python", found.python
    yield from found.versions.items()
    yield "task", f"{one.task} {one.task_hash}"


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    for row in (head, ("---",) * len(head), *rows):
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |"
    yield ""
