"""A comparison as a person reads it: sentences, then tables."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.table import Table
from rich.text import Text

from engine.compare.amounts import amount_text
from engine.compare.arms import in_common
from engine.compare.campaign import Campaign
from engine.compare.comparison import Comparison
from engine.compare.finals import told_apart, told_together
from engine.compare.pairs import QUANTITIES, Cell, Estimate, Pair
from engine.compare.sentences import factor, headlines
from engine.compare.winners import Duel, Remeasured, inverse
from engine.history.trajectory import AXES
from evaluators.measuring.intervals import Ratio

NARROWEST = 20
"""Characters of names beside figures."""

MOST_LISTED = 12
"""Campaigns whose results are shown one by one."""

BY = {"best": "best", "area": "on average"}
OUTCOMES = {"real": "real", "not shown": "not shown", "too few": "too few seeds"}


def parts(
    comparison: Comparison, together: Sequence[Remeasured], plot: Path | None
) -> Iterator[Text | Table]:
    """What is printed, one below the other."""
    yield from map(_text, headlines(comparison))
    winners = [line for made in together for line in told_together(made)]
    yield from map(_text, winners or told_apart(comparison))
    yield Text()
    yield from _apart(_tables(comparison, together))
    if shared := in_common(comparison.arms):
        yield _text("in common: " + ", ".join(f"{key}={value}" for key, value in shared.items()))
    yield from (_text(f"note: {note}") for note in comparison.notes)
    if any(one.best and not one.best.final for one in comparison.campaigns):
        yield _text("* by the search alone: not measured again at the end")
    if plot is not None:
        yield _text(f"plot: {plot}")


def _tables(comparison: Comparison, together: Sequence[Remeasured]) -> Iterator[Table]:
    if comparison.repetitions:
        yield _repetitions(comparison)
    else:
        yield _arms(comparison)
        yield _ratios(comparison)
        if len(comparison.campaigns) <= MOST_LISTED:
            yield _campaigns(comparison)
    yield from map(_together, together)


def _apart(tables: Iterator[Table]) -> Iterator[Text | Table]:
    for table in tables:
        yield table
        yield Text()


def _text(sentence: str) -> Text:
    """Of others' names nothing is markup."""
    return Text(sentence[:1].upper() + sentence[1:])


def _table(*columns: str) -> Table:
    """The first column is what is folded where a row is too long."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    first, *others = columns
    table.add_column(first, overflow="fold", min_width=NARROWEST)
    for column in others:
        table.add_column(column, overflow="fold")
    return table


def _row(table: Table, *cells: str) -> None:
    table.add_row(*map(Text, cells))


def _arms(comparison: Comparison) -> Table:
    """What each configuration reached, over its campaigns."""
    over = comparison.question.over
    amount = amount_text(comparison.amounts, over, list(comparison.tasks))
    table = _table("configuration", "campaigns", f"best at {amount}", "on average until then")
    for arm in comparison.arms:
        levels = [_level(comparison.level(arm, quantity, over)) for quantity in QUANTITIES]
        _row(table, f"{arm.letter}  {arm.name}", str(len(arm.campaigns)), *levels)
    return table


def _repetitions(comparison: Comparison) -> Table:
    """What each campaign reached."""
    over = comparison.question.over
    amount = amount_text(comparison.amounts, over, list(comparison.tasks))
    table = _table("campaign", "seed", f"best at {amount}", "on average until then", "in the end")
    for arm in comparison.arms:
        levels = [_level(comparison.level(arm, quantity, over)) for quantity in QUANTITIES]
        (one,) = arm.campaigns
        _row(table, f"{arm.letter}  {one.name}", str(one.seed), *levels, _end(one))
    return table


def _ratios(comparison: Comparison) -> Table:
    """Every pair by every quantity and axis; the first row of a pair carries its verdict."""
    table = _table("compared", "by", "at equal", "ratio", "95% interval", "p", "verdict")
    for pair in comparison.pairs:
        name, verdict = f"{pair.second.letter} over {pair.first.letter}", pair.verdict
        for cell in _primary_first(comparison, pair):
            at = amount_text(comparison.amounts, cell.axis, pair.tasks).removeprefix("equal ")
            p = f"{cell.p:.2g}" if cell.ratio.ci95 else ""
            outcome = OUTCOMES[verdict.outcome] if name else ""
            _row(
                table, name, BY[cell.quantity], at, factor(cell.ratio.value), _ends(cell.ratio), p,
                outcome,
            )  # fmt: skip
            name = ""
    return table


def _primary_first(comparison: Comparison, pair: Pair) -> list[Cell]:
    asked = comparison.question
    axes = sorted(AXES, key=lambda axis: axis != asked.over)
    quantities = sorted(QUANTITIES, key=lambda quantity: quantity != asked.by)
    cells = [pair.cell(quantity, axis) for axis in axes for quantity in quantities]
    return [cell for cell in cells if cell is not None]


def _campaigns(comparison: Comparison) -> Table:
    """Of each campaign what it found."""
    over = comparison.question.over
    table = _table("campaign", "task", "seed", f"{over} in all", "best in the end")
    for arm in comparison.arms:
        for one in arm.campaigns:
            spent = f"{one.spent(over):.4g}"
            _row(table, f"{arm.letter}  {one.name}", one.task_name, str(one.seed), spent, _end(one))
    return table


def _together(made: Remeasured) -> Table:
    """Each kernel over the naive seed, and over the fastest."""
    table = _table(f"measured together ({made.task})", "over the naive seed", "over the fastest")
    best = max(made.over_seed, key=lambda one: made.over_seed[one][0], default="")
    for one in made.winners:
        found = made.over_seed.get(one.kernel_id)
        duels = [duel for duel in made.duels if duel.of(one.kernel_id, best)]
        beside = "".join(_beside(duel, one.kernel_id) for duel in duels)
        name = f"{', '.join(one.names)} ({one.kernel_id[:12]})"
        _row(table, name, _ratio(found) if found else "failed", beside)
    return table


def _beside(duel: Duel, kernel_id: str) -> str:
    first = duel.first.kernel_id == kernel_id
    ratio = duel.ratio if first else inverse(duel.ratio)
    return _ratio(ratio) + ("" if duel.shown else ", not shown")


def _level(estimate: Estimate | None) -> str:
    if estimate is None:
        return "-"
    return f"{factor(estimate.value)} {_ends(estimate)}".strip()


def _ends(estimate: Estimate) -> str:
    return f"[{factor(estimate.ci95[0])}, {factor(estimate.ci95[1])}]" if estimate.ci95 else ""


def _end(one: Campaign) -> str:
    """Its own last measurement of its best."""
    best = one.best
    if best is None or best.ci95 is None:
        return "-"
    again = "" if best.final else " *"
    return f"{factor(best.speedup)} [{factor(best.ci95[0])}, {factor(best.ci95[1])}]{again}"


def _ratio(ratio: Ratio) -> str:
    return f"{factor(ratio[0])} [{factor(ratio[1])}, {factor(ratio[2])}]"
