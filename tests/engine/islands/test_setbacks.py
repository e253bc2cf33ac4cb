"""Islands whose models send what can't be used: the question changes, the model, then it ends."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from engine.config import CampaignConfig, parse_config
from engine.credit.choices import models_drawn
from engine.islands.setbacks import IN_A_ROW, UNUSABLE, Setbacks
from engine.searching import why_ended
from engine.store.events import CycleFinished, CycleStarted, Drafted, Event, from_row, to_row
from evaluators.evaluation import Evaluation, Status
from evaluators.tasks.task_file import load_task
from operators.catalog import catalog_operators
from operators.individual import Candidate
from operators.llm.scientist import llm_operators
from scripts.scripted_model.answers import answer, role_of
from scripts.scripted_model.endpoint import serving
from scripts.scripted_model.server import Script
from tests.engine.islands.test_island import INFO, World
from tests.operators.people import DirectModel, direct

SGEMM = load_task("sgemm")
NONSENSE = "One could tile this kernel, and that would surely help."
SMALLER = "# A smaller task"

Messages = Sequence[Mapping[str, str]]
Rule = Callable[[Messages, int], str]


@dataclass(frozen=True)
class Minded:
    """An island that asks a scripted endpoint, and what it asked."""

    world: World
    model: DirectModel

    def questions(self, role: str) -> list[tuple[int, str, bool]]:
        """Cycle, model and whether the task was a smaller one, of each question's first call."""
        return [
            (one.cycle, one.model, SMALLER in one.prompt.messages[1].content)
            for one in self.model.asked
            if one.role == role and one.key.endswith("/0")
        ]

    @property
    def finished(self) -> list[CycleFinished]:
        return self.world.of(CycleFinished)


@contextmanager
def minded(
    rule: Rule,
    *,
    models: Sequence[str] = ("main",),
    mix: Mapping[str, Any] | None = None,
    in_flight: int = 1,
    evaluations: int = 20,
    earlier: Sequence[Event] = (),
    world: type[World] = World,
) -> Iterator[Minded]:
    with serving(Script(rule=rule)) as server:
        model = direct(server)
        yield Minded(
            world=world(
                budget=evaluations,
                earlier=earlier,
                task=SGEMM,
                close=model.endpoint.close,
                tools=llm_operators(model, catalog_operators(SGEMM, INFO), novelty=None),
                operators=[{"kind": "llm", "crossover": 0, "mutation": 0, **(mix or {})}],
                islands={"cycles_in_flight": in_flight, "patience": 50},
                llm={"models": {name: {"model": "scripted"} for name in models}},
            ),
            model=model,
        )


def spoiling(
    role: str, *, until: Callable[[str], bool] = lambda prompt: False, said: str = NONSENSE
) -> Rule:
    """Nonsense for the role, until something stands in the prompt."""

    def rule(messages: Messages, number: int) -> str:
        prompt = messages[1]["content"]
        spoilt = role_of(messages) == role and not until(prompt)
        return said if spoilt else answer(messages, number)

    return rule


def unlike() -> Rule:
    """Sound replies, of which no two hold the same kernel."""
    numbers = iter(range(10_000))

    def rule(messages: Messages, number: int) -> str:
        text = answer(messages, number)
        return text.replace("---*/\n", f"---*/\n#define REPLY {next(numbers)}\n", 1)

    return rule


def test_three_lost_cycles_make_the_task_smaller_and_a_good_one_mends_it() -> None:
    rule = spoiling("designer", until=lambda prompt: SMALLER in prompt or "c5" in prompt)
    with minded(rule, evaluations=6) as island:
        assert island.world.run() == "stopped"
    asked = island.questions("designer")
    assert [smaller for _, _, smaller in asked[:5]] == [False, False, False, True, False]
    small = next(one for one in island.model.asked if (one.cycle, one.role) == (4, "designer"))
    text = "\n".join(message.content for message in small.prompt.messages)
    assert "Then design 1 *experiments*" in text and "First list 3 *avenues*" in text
    assert "The last: prose_only: there is no JSON object in the reply" in text
    assert [bool(one.lost) for one in island.finished[:4]] == [True, True, True, False]
    assert island.finished[3].written > 0
    assert island.finished[0].lost == {"designer": island.finished[0].lost["designer"]}


def test_a_writer_is_asked_for_edits_unless_edits_went_wrong() -> None:
    bad = "<<<<<<< SEARCH\nno such line\n=======\n\n>>>>>>> REPLACE"
    for said, wanted in ((NONSENSE, "edits only"), (bad, "complete kernel file")):
        rule = spoiling("writer", said=said)
        with minded(rule, mix={"experiments_per_cycle": 1}, evaluations=1) as island:
            ending = island.world.run()
        assert ending.startswith(f"{UNUSABLE} in 9 cycles in a row (writer: ")
        text = island.model.asked[-1].prompt.messages[1].content
        assert wanted in text.partition(SMALLER)[2]


def test_then_another_model_is_asked_and_then_the_island_ends() -> None:
    with minded(spoiling("designer"), models=("main", "other")) as island:
        ending = island.world.run()
        state = island.world.island.state()
    asked = island.questions("designer")
    assert [model for _, model, _ in asked] == [""] * 6 + ["other"] * 3
    assert [smaller for _, _, smaller in asked] == [False] * 3 + [True] * 6
    assert len(island.finished) == 9
    assert ending.startswith("no reply could be used in 9 cycles in a row (designer: prose_only: ")
    assert state.warning == ending
    config = island.world.config
    told = why_ended([ending, ending], config, SGEMM, 5)
    assert told.startswith(ending) and "llm.models" in told
    assert "on 1 of 2 islands" in why_ended([ending, "nothing new"], config, SGEMM, 5)


def two_writers(*models: str) -> CampaignConfig:
    """Of these models the writer asks a and b."""
    named = {name: {"model": name} for name in models}
    llm = {"models": named, "roles": {"writer": ["a", "b"]}}
    return parse_config({"task": "sgemm", "llm": llm, "operators": [{"kind": "llm"}]}, where="test")


@pytest.mark.parametrize(
    ("models", "told"),
    [
        (("a", "b", "c"), "the writer asks 'c' in place of 'a' and 'b'"),
        (("c", "a", "b"), "the writer asks 'c' in place of 'a' and 'b'"),
        (("a", "b"), "llm.models names no other model to ask"),
    ],
)
def test_where_credit_chooses_among_models_one_is_asked_that_it_does_not_know(
    models: tuple[str, ...], told: str
) -> None:
    config = two_writers(*models)
    setbacks = Setbacks(1, config.operators_of(1), config.llm, models_drawn(config, 1))
    for cycle in range(2 * IN_A_ROW):
        step = setbacks.begin(cycle, "experiment").step
        lost = {"writer": "bad_edit: it is not there"}
        setbacks.take(CycleFinished(island=1, cycle=1, lost=lost, step=step))
    assert setbacks.warning.endswith(told)
    assert setbacks.begin(9, "experiment").models == ({"writer": "c"} if "c" in models else {})


def test_a_person_is_told_which_model_is_asked_now() -> None:
    config = two_writers("a", "b")
    setbacks = Setbacks(1, config.operators_of(1), config.llm)
    lost = {"writer": "bad_edit: it is not there"}
    told = []
    for cycle in range(3 * IN_A_ROW):
        step = setbacks.begin(cycle, "experiment").step
        setbacks.take(CycleFinished(island=1, cycle=1, lost=lost, step=step))
        told.append(setbacks.warning)
    assert told[1] == "" and told[2].endswith("smaller tasks are asked for")
    assert told[5].endswith("the writer asks 'a' in place of 'b'")
    assert setbacks.ending == told[8] != ""
    # A later session begins as at first, with the model that was changed to.
    assert setbacks.begin(10, "experiment").step == 0 and setbacks.ending == ""
    assert setbacks.begin(11, "experiment").models == {"writer": "a"}


def test_cycles_in_flight_do_not_skip_a_step() -> None:
    """Twelve at once are lost before any could be asked otherwise."""
    with minded(spoiling("designer"), models=("main", "other"), in_flight=12) as island:
        assert island.world.run().startswith(UNUSABLE)
    asked = island.questions("designer")
    assert sum(smaller and not model for _, model, smaller in asked) >= IN_A_ROW
    assert sum(bool(model) for _, model, _ in asked) >= IN_A_ROW


def test_tuned_parameters_mend_nothing_and_count_as_nothing() -> None:
    mix = {"experiment": 1, "mutation": 1, "designs": 2}
    with minded(spoiling("designer"), mix=mix, evaluations=200) as island:
        assert island.world.run().startswith(UNUSABLE)
    operators = {event.cycle: event.operator for event in island.world.of(CycleStarted)}
    lost = [one.cycle for one in island.finished if one.lost]
    assert len(lost) == 9
    assert {operators[cycle] for cycle in lost} == {"experiment"}
    assert len(island.finished) > 9


def test_kernels_that_no_backend_takes_are_replies_that_cannot_be_used() -> None:
    class Refusing(World):
        async def evaluate(
            self, kernel_id: str, candidate: Candidate, held: bool = False
        ) -> Evaluation:
            made = await super().evaluate(kernel_id, candidate, held)
            return Evaluation(
                kernel_id=kernel_id,
                task_hash=made.task_hash,
                device_class=made.device_class,
                status=Status.INVALID,
                reason="line 2: nonsense",
            )

    mix = {"experiments_per_cycle": 1}
    with minded(unlike(), world=Refusing, mix=mix, evaluations=500) as island:
        ending = island.world.run()
    assert "invalid_kernel: line 2: nonsense" in ending
    assert len(island.finished) == 9


@pytest.mark.parametrize("kept", [9, 17])
def test_a_resumed_island_asks_as_it_would_have(kept: int) -> None:
    rule = spoiling("designer")
    with minded(rule, models=("main", "other")) as whole:
        ending = whole.world.run()
    cut = [from_row(event.kind, to_row(event)[-1]) for event in whole.world.log[:kept]]
    with minded(rule, models=("main", "other"), earlier=cut) as resumed:
        assert resumed.world.run() == ending
    questions = {one.key: (one.prompt_hash, one.model) for one in whole.model.asked}
    again = {one.key: (one.prompt_hash, one.model) for one in resumed.model.asked}
    assert again.items() <= questions.items()
    assert max(questions) in again


def test_a_resumed_campaign_gives_models_another_chance() -> None:
    with minded(spoiling("designer")) as ended:
        assert ended.world.run().startswith(UNUSABLE)
    with minded(answer, earlier=ended.world.log, evaluations=5) as resumed:
        assert resumed.world.run() == "stopped"
    assert not resumed.questions("designer")[0][2]
    assert resumed.world.of(Drafted)[1:]


# --- repairs ------------------------------------------------------------------------------------


def failing(*reasons: tuple[Status, str]) -> type[World]:
    """Every line of kernels fails for these reasons in turn, and then for the last of them."""

    class Failing(World):
        async def evaluate(
            self, kernel_id: str, candidate: Candidate, held: bool = False
        ) -> Evaluation:
            made = await super().evaluate(kernel_id, candidate, held)
            drafted = next(one for one in self.of(Drafted) if one.kernel_id == kernel_id)
            status, reason = reasons[min(drafted.slot // 1000, len(reasons) - 1)]
            return Evaluation(
                kernel_id=kernel_id,
                task_hash=made.task_hash,
                device_class=made.device_class,
                status=status,
                reason=reason,
            )

    return Failing


BROKEN = Status.COMPILE_ERROR
WRONG = Status.WRONG


@pytest.mark.parametrize(
    ("reasons", "repairs", "made"),
    [
        ([(BROKEN, "line 3: no x")], 1, 1),
        ([(BROKEN, "line 3: no x"), (BROKEN, "line 9: no y")], 1, 2),
        ([(BROKEN, "line 3: no x"), (WRONG, "c[0, 0] is 1, not 2")], 1, 2),
        ([(WRONG, "c[0, 0] is 1, not 2"), (WRONG, "c[0, 7] is 3, not 2")], 1, 1),
        ([(WRONG, "c[0, 0] is 1, on M=1"), (WRONG, "c[0, 0] is 1, on M=64")], 1, 2),
        ([(BROKEN, "a"), (BROKEN, "b"), (BROKEN, "c"), (BROKEN, "d")], 1, 2),
        ([(BROKEN, "a"), (BROKEN, "a"), (BROKEN, "c"), (BROKEN, "d")], 2, 3),
        ([(BROKEN, "a"), (BROKEN, "b")], 2, 2),
        ([(BROKEN, "a"), (BROKEN, "b")], 0, 0),
    ],
)
def test_a_repair_that_moved_the_error_is_repaired_once_more(
    reasons: list[tuple[Status, str]], repairs: int, made: int
) -> None:
    mix = {"repairs": repairs, "experiments_per_cycle": 1}
    with minded(unlike(), mix=mix, evaluations=1 + made, world=failing(*reasons)) as island:
        assert island.world.run() == "stopped"
    first = [one for one in island.world.of(Drafted) if one.cycle == 1]
    assert [one.origin for one in first] == ["experiment"] + ["repair"] * made
    assert [one.slot for one in first] == [1000 * i for i in range(made + 1)]
