"""The LLM operators against the scripted endpoint: sound replies, spoilt ones, and refusals."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from evaluators.evaluation import Status
from evaluators.kernel.source import parse_kernel
from operators.catalog import catalog_operators
from operators.llm.designer import LlmDesigner
from operators.llm.question import Failure
from operators.llm.scientist import llm_operators
from operators.llm.selector import LlmSelector
from operators.operator import Declined, InVain, Operators, Unusable
from scripts.scripted_model.answers import TILED
from scripts.scripted_model.faults import REPLY_FAULTS
from scripts.scripted_model.server import Script, ScriptedServer
from tests.operators.people import (
    DEVICE,
    EXPERIMENT,
    SEED,
    SGEMM,
    TILE,
    DirectModel,
    context,
    direct,
    failure,
    individual,
)

Use = Callable[[Operators, DirectModel], Awaitable[Any]]

MISTAKEN = failure(
    TILED.replace("float sum[TM][TN]", "float sums[TM][TN]"),
    Status.COMPILE_ERROR,
    "line 16: use of undeclared identifier 'sum'",
    log="kernel.hip:16:47: error: use of undeclared identifier 'sum'",
    parent=TILE.id,
)


def using(script: Script, use: Use, **changes: object) -> tuple[Any, DirectModel, ScriptedServer]:
    """What use returns or raises Declined with, for operators over a server that runs script."""

    async def go() -> tuple[Any, DirectModel, ScriptedServer]:
        async with ScriptedServer(script) as server:
            model = direct(server, **changes)
            operators = llm_operators(model, catalog_operators(SGEMM, DEVICE), novelty=0.995)
            try:
                return await use(operators, model), model, server
            except Declined as declined:
                return declined, model, server
            finally:
                await model.endpoint.close()

    return asyncio.run(go())


async def select(operators: Operators, _: DirectModel) -> Any:
    return await operators.selector.select([TILE, SEED], context(SEED, TILE, MISTAKEN))


async def design(operators: Operators, _: DirectModel) -> Any:
    return await operators.designer.design(TILE, SEED, context(SEED, TILE))


async def write(operators: Operators, _: DirectModel) -> Any:
    return await operators.writer.write(TILE, SEED, EXPERIMENT, context(SEED, TILE))


async def cross(operators: Operators, _: DirectModel) -> Any:
    return await operators.crossover.cross(TILE, SEED, context(SEED, TILE))


async def repair(operators: Operators, _: DirectModel) -> Any:
    assert operators.repairer is not None
    return await operators.repairer.repair(MISTAKEN, context(SEED, TILE, MISTAKEN))


ALL: dict[str, Use] = {
    "selector": select,
    "designer": design,
    "writer": write,
    "crossover": cross,
    "repair": repair,
}


def test_a_good_base_with_a_bad_reference_costs_no_call() -> None:
    said = json.dumps({"base_id": TILE.id, "reference_id": MISTAKEN.id, "rationale": "It leads."})
    selection, model, _ = using(Script(replies=[said]), select)
    assert len(model.asked) == 1 and not model.counted
    assert (selection.base_id, selection.reference_id) == (TILE.id, SEED.id)
    assert MISTAKEN.id in selection.rationale and selection.decided_by == "model"


def test_a_selector_that_rests_is_not_asked() -> None:
    async def rest(operators: Operators, _: DirectModel) -> Any:
        resting = replace(context(SEED, TILE), resting=frozenset({"selector"}))
        return await operators.selector.select([TILE, SEED], resting)

    selection, model, _ = using(Script(), rest)
    assert model.asked == []
    assert (selection.decided_by, selection.in_vain) == ("tournament", "")
    assert "is not asked for some cycles" in selection.rationale


def test_a_live_kernel_outside_of_the_tournament_may_be_chosen() -> None:
    third = individual(TILED.replace("sum", "third"), speedup=2.0, origin="experiment")
    away = replace(individual(TILED.replace("sum", "away"), speedup=9.0), island=4)

    async def choose(operators: Operators, _: DirectModel) -> Any:
        known = context(SEED, TILE, third, away)
        return await operators.selector.select([TILE, SEED], known)

    said = {"base_id": third.id, "reference_id": away.id, "rationale": "Another way."}
    selection, model, _ = using(Script(replies=[json.dumps(said)]), choose)
    assert (selection.base_id, selection.reference_id) == (third.id, away.id)
    shown = model.asked[0].prompt.messages[-1].content
    assert third.id in shown and "cannot be chosen" not in shown
    foreign = {**said, "base_id": away.id}  # populations stay apart
    selection, model, _ = using(Script(replies=[json.dumps(foreign)]), choose)
    assert len(model.asked) == 2 and selection.base_id in (TILE.id, SEED.id)


@pytest.mark.parametrize("stream", [True, False])
def test_each_role_makes_use_of_a_sound_reply(stream: bool) -> None:
    selection, _, _ = using(Script(), select, stream=stream)
    assert selection.decided_by == "model"
    assert {selection.base_id, selection.reference_id} == {TILE.id, SEED.id}
    designed, _, _ = using(Script(), design, stream=stream)
    assert len(designed.avenues) == 10
    assert len(designed.experiments) == 5
    assert all(e.performance[0] <= e.performance[1] for e in designed.experiments)
    for use in (write, cross, repair):
        draft, _, _ = using(Script(), use, stream=stream)
        assert parse_kernel(draft.candidate.source).params.keys() >= {"TM", "TN"}
        assert draft.report.startswith("Parameters drawn anew")


@pytest.mark.parametrize(
    ("role", "fault"),
    # Only the selector names ids.
    [(r, f) for r in ALL for f in REPLY_FAULTS if r == "selector" or f != "unknown_ids"],
)
def test_one_spoilt_reply_is_asked_for_again(role: str, fault: str) -> None:
    result, model, _ = using(Script(plan=[fault]), ALL[role])
    assert not isinstance(result, Declined)
    assert model.keys == [f"i0/c1/s0/{role}/0", f"i0/c1/s0/{role}/2"]
    [(key, kind, reason)] = model.counted
    assert key == model.keys[0]
    assert reason in model.asked[1].prompt.messages[-1].content
    if fault == "malformed_json" and role in ("writer", "crossover", "repair"):
        assert kind is Failure.INVALID_KERNEL  # what is malformed there is the front matter
    else:
        assert kind == fault


@pytest.mark.parametrize("role", ALL)
def test_two_spoilt_replies_decline_or_leave_it_to_the_tournament(role: str) -> None:
    result, model, _ = using(Script(plan=["prose_only", "refusal"]), ALL[role])
    assert [kind for _, kind, _ in model.counted] == [Failure.PROSE_ONLY, Failure.REFUSAL]
    if role == "selector":
        assert result.decided_by == "tournament"
        assert "the tournament decided" in result.rationale
        assert "refusal" in result.rationale and result.in_vain.startswith("refusal: ")
    else:
        assert isinstance(result, Declined)
        assert str(result).startswith(f"{role}: two replies could not be used")


@pytest.mark.parametrize(
    ("plan", "asked"),
    [
        (["malformed_json", "missing_fields"], [0, 2, 3]),
        (["refusal", "truncated"], [0, 2, 3]),
        (["missing_fields", "malformed_json", "truncated"], [0, 2, 3]),
        (["malformed_json", "malformed_json"], [0, 2]),
        (["truncated", "truncated"], [0, 2]),
        (["missing_fields", "prose_only"], [0, 2]),
        (["only_reasoning", "refusal"], [0, 2]),
    ],
)
def test_a_reply_that_is_wrong_in_another_way_is_asked_for_once_more(
    plan: list[str], asked: list[int]
) -> None:
    result, model, _ = using(Script(plan=plan), design)
    assert model.keys == [f"i0/c1/s0/designer/{attempt}" for attempt in asked]
    sound = len(asked) > len(plan)
    assert isinstance(result, Unusable) != sound
    if len(asked) == 3:
        complaint = model.asked[2].prompt.messages[-1]
        assert model.counted[1][2] in complaint.content
        assert len(model.asked[2].prompt.messages) == 4
    if not sound:
        assert result.role == "designer"
        assert result.reason == f"{model.counted[-1][1]}: {model.counted[-1][2]}"


def test_a_near_duplicate_is_nothing_that_cannot_be_used() -> None:
    again = f"```hip\n{TILED}// the same\n```"
    result, _, _ = using(Script(replies=[again, again]), write)
    assert isinstance(result, Declined) and not isinstance(result, Unusable)


@pytest.mark.parametrize("role", ALL)
def test_an_unanswered_question_declines_or_leaves_it_to_the_tournament(role: str) -> None:
    result, model, _ = using(Script(plan=["server_error"]), ALL[role])
    assert len(model.asked) == 1
    if role == "selector":
        assert result.decided_by == "tournament"
        assert result.in_vain == "The server had an error."
    else:
        assert isinstance(result, InVain)
        assert (result.role, result.reason) == (role, "The server had an error.")


@pytest.mark.parametrize("role", ALL)
def test_a_context_too_long_is_tried_once_with_a_shorter_prompt(role: str) -> None:
    result, model, server = using(Script(context_characters=1000), ALL[role])
    assert model.keys == [f"i0/c1/s0/{role}/0", f"i0/c1/s0/{role}/1"]
    first, second = (request.prompt.characters for request in model.asked)
    assert second < first
    reason = result.rationale if role == "selector" else str(result)
    assert "the prompt is too long for 'scripted'" in reason
    assert len(server.log) == 2


def test_with_one_kernel_there_is_nothing_to_select() -> None:
    async def alone(operators: Operators, _: DirectModel) -> Any:
        return await operators.selector.select([SEED], context(SEED))

    selection, model, _ = using(Script(), alone)
    assert selection.base_id == selection.reference_id == SEED.id
    assert model.asked == []


def test_the_first_selection_is_asked_where_that_is_wanted() -> None:
    async def alone(operators: Operators, model: DirectModel) -> Any:
        selector = LlmSelector(model, operators.selector, tokens=8_000, least=1)
        return await selector.select([SEED], context(SEED))

    selection, model, _ = using(Script(), alone)
    assert selection.base_id == selection.reference_id == SEED.id
    assert selection.decided_by == "model" and len(model.asked) == 1


def test_an_abbreviated_id_is_understood() -> None:
    said = {"base_id": TILE.id[:8], "reference_id": f"`{SEED.id}`", "rationale": "short"}
    selection, _, _ = using(Script(replies=[json.dumps(said)]), select)
    assert (selection.base_id, selection.reference_id) == (TILE.id, SEED.id)


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (f"```hip\n{TILED}// the same\n```", Failure.NEAR_DUPLICATE),
        (f"```hip\n{TILED.replace('params:', 'parameters:')}```", Failure.INVALID_KERNEL),
        (f"```hip\n{TILED}#include <unistd.h>\n```", Failure.INVALID_KERNEL),
        (
            f"```hip\n{TILED.replace('args: [a, b, c,', 'args: [a, b, d,')}```",
            Failure.INVALID_KERNEL,
        ),
        ("<<<<<<< SEARCH\nno such line\n=======\n\n>>>>>>> REPLACE", Failure.BAD_EDIT),
    ],
)
def test_kernels_that_need_no_evaluation_go_back_to_the_writer(reply: str, kind: Failure) -> None:
    draft, model, _ = using(Script(replies=[reply]), write)
    assert [counted for _, counted, _ in model.counted] == [kind]
    assert "TM" in draft.candidate.source


@pytest.mark.parametrize("form", ["```hip\n\n@```", "Here.\n\n@", "\n\n  ```hip\r\n@  ```\n"])
@pytest.mark.parametrize(
    "line",
    ["parameters: {X: 1}", "options: [--help]", "#include <unistd.h>", 'asm("nop");', "int $x;"],
)
def test_a_reason_names_the_line_of_the_file_that_the_model_wrote(line: str, form: str) -> None:
    lines = TILED.splitlines()
    place = 9 if ": " in line else 12
    file = "\n".join([*lines[:place], line, *lines[place:]]) + "\n"
    _, model, _ = using(Script(replies=[form.replace("@", file)]), write)
    [(_, kind, reason)] = model.counted
    assert kind is Failure.INVALID_KERNEL
    assert reason.startswith(f"line {place + 1}: ")
    assert reason.endswith(f" (the file's line {place + 1} is: {line})")


def test_a_kernel_that_stays_invalid_is_handed_on_to_be_stored() -> None:
    bad = TILED.replace("params:", "parameters:")
    draft, _, _ = using(Script(replies=[f"```hip\n{bad}```"] * 2), write)
    assert draft.candidate.source == bad


def test_edits_of_the_base_make_a_kernel() -> None:
    edit = "<<<<<<< SEARCH\nparams: {BX: 8, BY: 8, TM: 2, TN: 4}\n=======\n"
    edit += "params: {BX: 4, BY: 8, TM: 4, TN: 16}\n>>>>>>> REPLACE\n\n## Report\nLarger tiles.\n"
    draft, _, _ = using(Script(replies=[edit]), write)
    assert parse_kernel(draft.candidate.source).params["TN"] == 16
    assert draft.report == "Larger tiles."


def test_a_kernel_that_passed_is_not_repaired() -> None:
    async def repair_good(operators: Operators, _: DirectModel) -> Any:
        assert operators.repairer is not None
        return await operators.repairer.repair(TILE, context(TILE))

    result, model, _ = using(Script(), repair_good)
    assert isinstance(result, Declined)
    assert model.asked == []


def test_a_cure_of_one_character_is_no_near_duplicate() -> None:
    async def mend(operators: Operators, _: DirectModel) -> Any:
        assert operators.repairer is not None
        long = MISTAKEN.candidate.source + "\n".join(f"// {i}" for i in range(500))
        broken = failure(long, Status.COMPILE_ERROR, "line 16", parent=TILE.id)
        return await operators.repairer.repair(broken, context(TILE, broken))

    cure = "<<<<<<< SEARCH\n            float sums[TM][TN];\n=======\n"
    cure += "            float sum[TM][TN];\n>>>>>>> REPLACE\n"
    draft, model, _ = using(Script(replies=[cure]), mend)
    assert "float sum[TM]" in draft.candidate.source
    assert model.counted == []


def test_parents_of_two_islands_are_introduced_as_such() -> None:
    guest = individual(TILED.replace("TM: 2", "TM: 8"), speedup=2.0, island=3)

    async def marry(operators: Operators, _: DirectModel) -> Any:
        return await operators.crossover.cross(TILE, guest, context(TILE, guest))

    _, model, _ = using(Script(), marry)
    assert "two separate populations" in model.asked[0].prompt.messages[1].content


def test_how_many_avenues_and_experiments_is_configured() -> None:
    async def go() -> str:
        async with ScriptedServer() as server:
            model = direct(server)
            designer = LlmDesigner(model, tokens=16_000, avenues=3, experiments=2)
            await designer.design(TILE, SEED, context(TILE))
            await model.endpoint.close()
            return model.asked[0].prompt.messages[0].content

    text = asyncio.run(go())
    assert "First list 3 *avenues*" in text
    assert "Then design 2 *experiments*" in text
