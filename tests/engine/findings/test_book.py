"""The book: results make rules, bear them out, and bring them down; a model's too."""

from dataclasses import replace

import pytest

from engine.findings.book import bearer, distilled
from evaluators.evaluation import Status
from operators.catalog.families import families
from operators.finding import About, Finding, best_founded, lines
from operators.individual import Individual
from operators.llm.distiller import Rule
from scripts.scripted_model.individuals import SGEMM, TILE, individual
from tests.engine.findings.records import HERE, failed, made, record

WIN = [made("tiles", number, gain) for number, gain in enumerate((2.0, 2.1, 2.2))]
BACK = [made("tiles", number + 10, 0.5) for number in range(4)]


def of(findings: tuple[Finding, ...], key: str) -> Finding:
    (found,) = [one for one in findings if one.about.key == key]
    return found


def test_a_technique_that_wins_is_a_rule_with_its_kernels() -> None:
    one = of(distilled(record(*WIN)), "technique tiles")
    assert (one.kind, one.by, one.fallen) == ("win", "template", "")
    assert set(one.shown_by) == {kernel.id for kernel in WIN} and not one.against
    assert one.ratio is not None and one.ratio[1] > 1.9 and one.ratio[2] < 2.3
    (line,) = lines([one], SGEMM.hash)
    assert line.startswith("tiles on a kernel without it (It helps.): 2.1x (")
    assert "shown by 3 kernels" in line


def test_no_rule_is_made_of_what_is_within_noise() -> None:
    assert distilled(record(made("nothing", 1, 1.004), made("nothing", 2, 0.998))) == ()


def test_a_technique_that_loses_is_a_trap() -> None:
    one = of(distilled(record(*BACK)), "technique tiles")
    assert one.kind == "trap" and "makes it slower" in one.rule
    assert lines([one], SGEMM.hash)[0].startswith("trap: tiles")


def test_a_rule_that_results_contradict_falls_and_says_when_and_by_what() -> None:
    first = distilled(record(*WIN))
    after = distilled(record(*WIN, *BACK, evaluations=140), first)
    (fallen,) = [one for one in after if one.fallen]
    assert fallen.id == first[0].id and fallen.standing == 0
    assert fallen.fallen.startswith("fell at evaluation 140: 7 kernels here say ")
    assert "and it was 2.1x" in fallen.fallen
    assert set(fallen.against) == {one.id for one in BACK}
    assert fallen not in best_founded(after) and after[-1] is fallen


def test_a_rule_that_fell_stands_again_once_results_say_so() -> None:
    first = distilled(record(*WIN))
    fell = distilled(record(*WIN, *BACK), first)
    more = [made("tiles", number + 20, 2.1, base=WIN[number % 3]) for number in range(40)]
    again = of(distilled(record(*WIN, *BACK, *more), fell), "technique tiles")
    assert not again.fallen and again.kind == "win"


def test_a_verdict_that_turns_to_wrong_takes_its_rule_down() -> None:
    first = distilled(record(*WIN))
    wrong = [
        replace(one, evaluation=failed("tiles", n, Status.WRONG, "y is 4").evaluation)
        for n, one in enumerate(WIN)
    ]
    after = distilled(record(*wrong), first)
    assert of(after, "technique tiles").fallen.endswith("no result bears it out any more")


def test_kernels_too_slow_to_be_timed_speak_against_a_win() -> None:
    slow = [failed("tiles", 30 + n, Status.STOPPED_EARLY, "3x slower") for n in range(4)]
    assert of(distilled(record(*WIN)), "technique tiles").kind == "win"
    assert not [one for one in distilled(record(*WIN, *slow)) if one.about.key == "technique tiles"]


def test_failures_alike_but_for_their_numbers_are_one_trap() -> None:
    reason = "line {}: a barrier in a lambda"
    kernels = [failed("lambda", n, Status.UNSUPPORTED, reason.format(n + 7)) for n in range(3)]
    (one,) = distilled(record(*kernels))
    assert one.kind == "trap" and one.failures == 3 and one.ratio is None
    assert "a barrier in a lambda is UNSUPPORTED" in one.rule
    assert "3 kernels" in lines([one], SGEMM.hash)[0]
    passing = [made("lambda", 50 + n, 1.0) for n in range(4)]
    (after,) = [x for x in distilled(record(*kernels, *passing), (one,)) if x.id == one.id]
    assert "4 kernels pass, and 3 fail so" in after.fallen


def point(family: str, speedup: float, **params: int) -> Individual:
    source = families(SGEMM).render(family, params)
    return individual(source.text, speedup=speedup, parents=(TILE.id,), origin="mutation")


def test_parameters_are_paired_among_kernels_that_differ_in_them_alone() -> None:
    space = families(SGEMM).sources["gemm_tile"].space
    name = next(key for key, values in space.items() if len(values) > 2)
    other = next(key for key, values in space.items() if key != name and len(values) > 1)
    low, high = sorted(space[name])[:2]
    kernels = [
        point("gemm_tile", speedup, **{name: value, other: at})
        for at, base in zip(space[other][:2], (4.0, 8.0), strict=True)
        for value, speedup in ((low, base), (high, base * 1.5))
    ]
    one = of(distilled(record(*kernels)), f"parameter gemm_tile/{name} {low}>{high}")
    assert one.kind == "win" and one.ratio is not None
    assert one.ratio[0] == pytest.approx(1.5, rel=0.01)
    assert one.rule == f"{name} {low} -> {high} in family gemm_tile"


def test_the_fastest_family_its_point_and_those_that_stay_behind() -> None:
    behind = [point("gemm_lds", 2.0 + n / 100, **one) for n, one in enumerate(_points("gemm_lds"))]
    best = point("gemm_tile", 9.0)
    found = distilled(record(*behind, best))
    assert of(found, "family gemm_tile").kind == "win"
    start = of(found, "point gemm_tile")
    assert start.about.params == families(SGEMM).sources["gemm_tile"].params
    assert start.shown_by == (best.id,)
    lost = of(found, "family gemm_lds")
    assert lost.kind == "trap" and "stays behind gemm_tile" in lost.rule


def _points(family: str) -> list[dict[str, int]]:
    source = families(SGEMM).sources[family]
    return [source.grid.params(row) for row in range(3)]


# --- other campaigns' -------------------------------------------------------------------------


def brought(kind: str = "win", ratio: tuple[float, float, float] = (2.0, 1.9, 2.1)) -> Finding:
    return Finding(
        id="b",
        kind="win" if kind == "win" else "trap",
        rule="tiles",
        about=About(technique="tiles"),
        condition=HERE,
        ratio=ratio,
        shown_by=("x", "y"),
        origin="elsewhere",
    )


def test_what_was_brought_along_stands_until_results_here_contradict_it() -> None:
    came = brought()
    (same,) = distilled(record(), (came,), brought=(came,))
    assert same == came
    borne = of(distilled(record(*WIN), (came,), brought=(came,)), "technique tiles")
    assert borne.origin == "elsewhere" and {"x", "y"} < set(borne.shown_by)
    fell = [x for x in distilled(record(*BACK), (came,), brought=(came,)) if x.fallen]
    assert [one.id for one in fell] == ["b"] and fell[0].fallen.endswith("by elsewhere")


def test_a_number_that_came_along_is_not_counted_twice() -> None:
    came = brought()
    once = distilled(record(*WIN), (came,), brought=(came,))
    twice = distilled(record(*WIN), once, brought=(came,))
    assert of(once, "technique tiles") == of(twice, "technique tiles")


def test_a_person_s_rule_is_kept_and_comes_first() -> None:
    own = Finding(id="p", kind="trap", rule="Leave K alone", condition=HERE, by="person")
    found = distilled(record(*WIN), (own,))
    assert found[0] == own


# --- a model's --------------------------------------------------------------------------------


def test_a_model_s_number_is_computed_from_the_kernels_it_names() -> None:
    bear = bearer(record(*WIN, *BACK), ())
    ids = tuple(one.id for one in WIN)
    one = bear(Rule(kind="win", rule="Keep sums in registers", shown_by=ids))
    assert isinstance(one, Finding) and one.ratio is not None
    assert one.ratio[0] == pytest.approx(2.1, rel=0.01) and one.by == "model"


def test_a_rule_that_its_kernels_do_not_bear_out_is_turned_away() -> None:
    bear = bearer(record(*WIN, *BACK), ())
    said = bear(Rule(kind="win", rule="It is fast", shown_by=tuple(one.id for one in BACK)))
    assert said == "none of its kernels shows a win"


def test_a_model_s_rule_is_renewed_by_its_id_and_falls_by_what_speaks_against_it() -> None:
    whole = record(*WIN, *BACK)
    ids = tuple(one.id for one in WIN)
    first = bearer(whole, ())(Rule(kind="win", rule="Keep sums in registers", shown_by=ids))
    assert isinstance(first, Finding)
    renewed = bearer(whole, (first,))(
        Rule(kind="win", rule="Keep all sums in registers", shown_by=ids, renews=first.id)
    )
    assert isinstance(renewed, Finding) and renewed.id == first.id
    found = distilled(whole, (first,), (renewed,))
    assert [one.rule for one in found if one.by == "model"] == ["Keep all sums in registers"]
    against = replace(first, against=tuple(one.id for one in BACK))
    (after,) = [one for one in distilled(whole, (against,)) if one.by == "model"]
    assert "bears out no win" in after.fallen


# --- what moves with the best ---------------------------------------------------------------------


def test_the_recipe_of_the_fastest_kernel_names_its_techniques_in_order() -> None:
    tiles = made("tiles", 1, 2.0)
    wide = made("wide-loads", 1, 1.5, base=tiles)
    one = of(distilled(record(tiles, wide, made("other", 1, 1.1))), "recipe")
    assert one.about.recipe == ("tiles", "wide-loads") and one.shown_by == (wide.id,)
    assert (
        one.rule == "the fastest kernel was made by tiles, then wide-loads, beside the naive seed"
    )


def test_another_campaign_s_recipe_stands_beside_one_s_own() -> None:
    theirs = replace(
        brought(), id="r", rule="theirs", about=About(recipe=("wide-loads", "padding"))
    )
    tiles = made("tiles", 1, 2.0)
    whole = record(tiles, made("wide-loads", 1, 1.5, base=tiles))
    found = distilled(whole, (theirs,), brought=(theirs,))
    recipes = [one for one in found if one.about.recipe]
    assert theirs in recipes and len(recipes) == 2
    later = distilled(whole, found, brought=(theirs,))
    assert {one.id: one for one in later} == {one.id: one for one in found}
