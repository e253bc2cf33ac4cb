"""Whether to believe what a campaign found, and why: a sentence and the facts behind it."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from engine.history.campaigns import State
from engine.history.history import History
from engine.report.texts import between, command, count, short, times
from engine.store.kinds.contests import Contested
from engine.store.ratios import COSTS
from engine.store.scoreboard import Best
from engine.store.summary import BestFound, Summary, meaning_of
from engine.store.toolchain import toolchain_of

Answer = Literal["yes", "roughly", "not yet", "no"]

Sign = Literal["for", "beware", "against"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """sign: what it says of the figure."""

    sign: Sign
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Belief:
    """question, said: a question and what to answer; why: one sentence; facts: the most telling
    ones first."""

    answer: Answer
    question: str
    said: str
    why: str
    facts: tuple[Fact, ...]


def belief(history: History, summary: Summary, state: State, run: str) -> Belief:
    """run: the folder as commands name it."""
    best, found = history.replay.scores.best, summary.best
    if best is None or found is None or best.kernel_id == summary.baseline["id"]:
        return Belief(
            answer="no",
            question="Was anything found?",
            said="No" if state == "ended" else "Nothing yet that was checked",
            why=_nothing_found(summary, state, run),
            facts=(*_waiting(history, state), *_troubles(history)),
        )
    if not best.timed:
        return _untimed(history, state)
    answer, why = _judged(history, best, found, state, run)
    facts = (*_measured(best, found), *_checked(history, best), *_rivals(history, best))
    return Belief(
        answer=answer,
        question="Is it a win?" if answer == "no" else "Is it to be believed?",
        said="Not shown" if answer == "no" else answer.capitalize(),
        why=why,
        facts=(*facts, *_waiting(history, state), *_troubles(history)),
    )


def _untimed(history: History, state: State) -> Belief:
    """Of a campaign on an emulated device."""
    return Belief(
        answer="not yet",
        question="Is it faster?",
        said="Nothing was timed",
        why="The device was emulated: the kernel gave right results on small shapes, and an "
        "estimate of its cost put it first. Take it to a real MI300, which alone can say how fast "
        "it is.",
        facts=(
            Fact(sign="for", text="Right on small held-out shapes, which nobody was shown."),
            Fact(sign="beware", text=f"{COSTS[0].upper()}{COSTS[1:]}."),
            Fact(sign="beware", text="Shapes that take long in emulation were not checked."),
            *_troubles(history),
        ),
    )


def _nothing_found(summary: Summary, state: State, run: str) -> str:
    verdicts = summary.evaluations["total"]
    if not verdicts:
        return "No kernel has a verdict yet."
    tried = f"none of the {count(verdicts, 'kernel')} with a verdict"
    if verdicts == 1:
        tried = "the naive seed alone has a verdict, and nothing"
    if state == "running":
        return f"So far {tried} was shown to be faster than the naive seed; the search goes on."
    if state == "killed":
        return (
            f"Before the campaign was killed, {tried} was shown to be faster than the naive seed; "
            f"{command('resume', run)} goes on."
        )
    return f"{tried[0].upper()}{tried[1:]} was shown to be faster than the naive seed."


def _judged(
    history: History, best: Best, found: BestFound, state: State, run: str
) -> tuple[Answer, str]:
    if not found.shown_faster:
        level, low_high = "99%" if best.ci99 else "95%", between(best.ci99 or best.ci95)
        busy = "; and the machine was busy, so measure it again" if found.busy else ""
        return "no", (
            f"The {level} interval, {low_high}, holds 1, so this kernel may be no faster than the "
            f"naive seed{busy}."
        )
    if not best.final:
        return "not yet", _why_not_yet(history, best, state, run)
    if found.engines:
        return "no", f"{found.engines.capitalize()}. Take both to a GPU."
    sittings = f"{count(best.sittings, 'sitting')} of new processes on new inputs"
    if found.busy:
        return "roughly", (
            f"That it is faster, yes; how much faster, roughly: it was timed against the naive "
            f"seed itself in {sittings} and is right on held-out shapes, but the machine was busy."
        )
    return "yes", (
        f"It was timed against the naive seed itself in {sittings}, it is right on held-out "
        "shapes too, and the whole interval lies above 1."
    )


def _why_not_yet(history: History, best: Best, state: State, run: str) -> str:
    figure = "so far this figure is " + meaning_of(best)
    if not best.sittings:
        figure = "this figure is from one race of the search"
    if state in ("running", "starting"):
        return f"The campaign still runs: {figure}."
    if not history.replay.campaign.config.get("final", {"seconds": 1}).get("seconds"):
        return (
            f"The campaign was to measure nothing at its end (final.seconds: 0): {figure}; "
            "certify the kernel to have it measured."
        )
    ended = "was killed before" if state == "killed" else "ended without"
    return (
        f"The campaign {ended} its final measurement: {figure}. {command('resume', run)} goes on "
        "and measures it."
    )


def _measured(best: Best, found: BestFound) -> Iterator[Fact]:
    intervals = [("95%", best.ci95), ("99%", best.ci99)]
    told = " and ".join(f"{name} {between(one)}" for name, one in intervals if one)
    if told and found.shown_faster:
        yield Fact(sign="for", text=f"Its intervals lie above 1: {told}.")
    elif told:
        yield Fact(sign="against", text=f"Not all of its intervals lie above 1: {told}.")
    if found.busy:
        yield Fact(sign="beware", text=f"{found.busy[0].upper()}{found.busy[1:]}.")


def _checked(history: History, best: Best) -> Iterator[Fact]:
    won = won_contest(history, best.kernel_id)
    if won is not None:
        yield Fact(
            sign="for",
            text="Right on the held-out shapes, which nobody was shown, when it became the best in "
            f"contest {won.number}.",
        )
    else:
        text = "Right on the held-out shapes, which nobody was shown, before it was announced."
        yield Fact(sign="for", text=text)


def won_contest(history: History, kernel_id: str) -> Contested | None:
    """The last that made the kernel the best."""
    won = (one for one in history.contests if one.kernel_id == kernel_id and one.outcome == "won")
    return max(won, key=lambda one: one.number, default=None)


def _rivals(history: History, best: Best) -> Iterator[Fact]:
    final = history.replay.scores.titles.final
    if final is None or final.kernel_id != best.kernel_id:
        return
    near = [(one, ratio) for one, ratio in final.rivals.items() if ratio[1] <= 1.0]
    for kernel_id, (estimate, low, high) in near:
        beside = f"Beside {short(kernel_id)} it was {times(estimate)} as fast"
        which = "that one is the faster" if high < 1.0 else "the two may be equally fast"
        yield Fact(
            sign="beware",
            text=f"{beside} ({between((low, high))}): {which}. The win over the seed stands.",
        )
    if final.rivals and not near:
        least = min(final.rivals.values())
        runners = "its runner-up" if len(final.rivals) == 1 else f"{len(final.rivals)} runners-up"
        text = f"Faster than {runners}, measured beside it: {times(least[0])} the closest."
        yield Fact(sign="for", text=text)


def _waiting(history: History, state: State) -> Iterator[Fact]:
    """A kernel that the search found faster, and that had no contest yet."""
    scores = history.replay.scores
    if state == "ended" or not scores.anchors:
        return
    for kernel_id in scores.ranked(1):
        speedup = scores.evaluations[kernel_id].speedup
        if scores.lead(kernel_id) > 0 and kernel_id not in scores.titles.settled and speedup:
            yield Fact(
                sign="beware",
                text=f"In one race of the search {short(kernel_id)} was {times(speedup)} as fast "
                "as the naive seed; it was neither raced again nor tried on held-out shapes yet.",
            )


def _troubles(history: History) -> Iterator[Fact]:
    """What happened on the way, that a reader may want to look into."""
    whole = history.replay
    for before, now in pairwise(toolchain_of(session.started) for session in whole.sessions):
        if before != now:
            text = f"The toolchain changed from {before} to {now}: all was measured again."
            yield Fact(sign="beware", text=text)
    titles = whole.scores.titles
    if titles.demotions:
        many = count(len(titles.demotions), "earlier best")
        yield Fact(sign="beware", text=f"{many} lost the place again when measured once more.")
    if titles.wrong:
        many = count(len(titles.wrong), "kernel")
        yield Fact(sign="beware", text=f"{many} seemed faster, and failed a closer look: left out.")
    if whole.scores.withdrawn:
        many = count(len(whole.scores.withdrawn), "anchor")
        yield Fact(
            sign="beware", text=f"{many} withdrawn: kernels are timed against the one before."
        )
    if history.faults:
        many = count(len(history.faults), "fault")
        yield Fact(
            sign="beware", text=f"{many} of infrastructure, none of them a kernel's verdict."
        )
