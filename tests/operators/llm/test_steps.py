"""Tests of what prompts say of a step: its Base, its gain, its failures, what was changed."""

from dataclasses import replace

from evaluators.evaluation import Status
from evaluators.measuring.gain import spread_on
from operators.individual import BY_A_PERSON, Individual
from operators.llm.prompts.record import record
from operators.llm.prompts.steps import base_of, changes, failures, outcome, percent, what
from operators.llm.prompts.tables import listing, table
from scripts.scripted_model.answers import TILED
from tests.operators.people import DEVICE, EXPERIMENT, SEED, TILE, failure, individual

SPREAD = spread_on(DEVICE)
BROKEN = replace(
    failure(TILED.replace("+=", "-="), Status.WRONG, "c[0] is 5, not 7", parent=SEED.id),
    report="Register tiles, sums in two halves.",
)
MENDED = individual(
    TILED.replace("sum", "total"),
    speedup=3.0,
    parents=(SEED.id,),
    origin="repair",
    experiment=EXPERIMENT,
)
MENDED = replace(MENDED, repairs=BROKEN.id)
TUNED = individual(
    TILED.replace("params: {", "params: {EXTRA: 2, ", 1),
    speedup=4.4,
    parents=(TILE.id,),
    origin="mutation",
)
UNITED = individual(
    TILED.replace("sum", "both"),
    speedup=8.0,
    parents=(TILE.id, MENDED.id),
    origin="crossover",
    report="Tiles of the first, the order of the second.",
)
ALL = {one.id: one for one in (SEED, BROKEN, MENDED, TILE, TUNED, UNITED)}


def test_a_gain_is_said_with_its_interval_or_as_noise() -> None:
    assert percent((1.5, 1.4, 1.6)) == "+50% (+40..+60)"
    assert percent((0.8, 0.7, 0.9)) == "-20% (-30..-10)"
    assert percent((1.01, 0.97, 1.05)) == "within noise (-3..+5%)"
    assert percent((31.0, 20.0, 40.0)) == "+3000% (+1900..+3900)"


def test_a_repaired_kernel_keeps_its_history() -> None:
    assert base_of(MENDED, ALL) == SEED
    assert failures(MENDED, ALL) == [BROKEN]
    assert outcome(MENDED, ALL, SPREAD).startswith("+200% (")
    assert "predicted +10..+60%" in outcome(MENDED, ALL, SPREAD)
    told = listing(MENDED, ALL, SPREAD, 5000)
    assert f"Made from {SEED.id} by experiment." in told.lineage
    assert BROKEN.id in told.lineage and "c[0] is 5, not 7" in told.lineage
    assert "sums in two halves" in told.lineage
    assert f"Gain over {SEED.id}: +200%" in told.lineage
    assert f"gain over {SEED.id}" in told.times


def test_the_repair_of_a_stored_campaign_names_what_failed_as_its_parent() -> None:
    old = replace(MENDED, parents=(BROKEN.id,), repairs="")
    assert base_of(old, ALL) == SEED
    assert failures(old, ALL) == [BROKEN]
    assert f"Made from {SEED.id} by experiment." in listing(old, ALL, SPREAD, 5000).lineage


def test_the_chain_of_two_repairs_is_told_in_order() -> None:
    worse = replace(
        failure(TILED.replace("+=", "*="), Status.COMPILE_ERROR, "line 9: no", parent=SEED.id),
        origin="repair",
        repairs=BROKEN.id,
    )
    last = replace(MENDED, repairs=worse.id)
    known = {**ALL, worse.id: worse}
    assert failures(last, known) == [BROKEN, worse]
    assert failures(last, {}) == []


def test_mutations_and_crossovers_say_what_they_did() -> None:
    assert changes(TUNED, ALL) == "EXTRA - -> 2"
    assert what(TUNED, ALL) == "mutation: EXTRA - -> 2"
    assert what(UNITED, ALL).startswith(f"crossover of {TILE.id} and {MENDED.id}: Tiles of the")
    told = record(ALL, SPREAD, 10)
    assert "crossover of" in told and "1 mutations of" in told
    assert "EXTRA - -> 2, +10%" in told or "EXTRA - -> 2, within noise" in told


def test_the_record_tells_of_all_islands_and_of_traps() -> None:
    elsewhere = replace(TILE, island=3)
    told = record({**ALL, TILE.id: elsewhere}, SPREAD, 10)
    assert "register-tiles: Several outputs" in told
    assert "repaired [on" in told and "WRONG" not in told  # the mended one stands for both
    trap = {one.id: one for one in (SEED, BROKEN)}
    assert "WRONG: c[0] is 5, not 7" in record(trap, SPREAD, 10)


def test_what_the_record_has_no_room_for_is_named_by_technique() -> None:
    many = [
        individual(
            TILED.replace("sum", f"sum{n}"),
            speedup=2.0,
            parents=(SEED.id,),
            origin="experiment",
            experiment=replace(EXPERIMENT, technique=f"technique-{n}"),
        )
        for n in range(20)
    ]
    told = record({one.id: one for one in (SEED, *many)}, SPREAD, 5)
    assert all(f"technique-{n}" in told for n in range(20))
    assert told.count("Several outputs") == 5
    assert "earlier (15 steps)" in told


def row(one: Individual) -> str:
    text = table([one], ALL, SPREAD)
    return text.splitlines()[-1]


def test_rows_compare_by_ratios_and_hold_no_raw_time() -> None:
    assert "4x (4%)" in row(TILE)
    assert "250" not in row(TILE)
    assert "1 (seed)" in row(SEED)


def test_a_kernel_that_was_stopped_early_has_its_bound_in_the_table() -> None:
    stopped = replace(
        BROKEN,
        evaluation=replace(
            BROKEN.evaluation,
            status=Status.STOPPED_EARLY,
            reason="shown with 99% confidence to be more than 3.42x slower than the best",
        ),
    )
    assert "STOPPED_EARLY" in row(stopped) and "3.42x slower" in row(stopped)


def test_nobody_predicted_what_a_persons_idea_brings() -> None:
    idea = replace(EXPERIMENT, technique=BY_A_PERSON, performance=(0.0, 0.0))
    made = replace(TILE, experiment=idea)
    assert outcome(TILE, ALL, SPREAD).startswith(f"{outcome(made, ALL, SPREAD)}, predicted ")
    assert what(made, ALL).startswith(f"{BY_A_PERSON}: ")
