"""Merging campaigns: the same rule's evidence is combined, and contradictions are told."""

from dataclasses import replace

from engine.findings.merge import merged
from engine.findings.reader import FindingsFile
from operators.finding import About, Finding
from tests.engine.findings.records import HERE

WIN = Finding(
    id="w",
    kind="win",
    rule="TM 4 -> 8",
    about=About(family="gemm_tile", parameter="TM", change=(4, 8)),
    condition=HERE,
    ratio=(1.3, 1.2, 1.41),
    shown_by=("a", "b"),
)
TRAP = replace(WIN, id="t", kind="trap", ratio=(0.7, 0.65, 0.75), shown_by=("c", "d"))


def campaign(name: str, *findings: Finding) -> FindingsFile:
    return FindingsFile(
        campaign=name, distillation=1, evaluations=40, condition=HERE, findings=findings
    )


def test_the_same_rule_of_two_campaigns_is_surer_than_of_one() -> None:
    again = replace(WIN, ratio=(1.32, 1.22, 1.43), shown_by=("e", "f"))
    found = merged([campaign("one", WIN), campaign("two", again)])
    (one,) = found.findings
    assert one.origin == "one, two" and set(one.shown_by) == {"a", "b", "e", "f"}
    assert one.ratio is not None and WIN.ratio is not None
    assert WIN.ratio[1] < one.ratio[1] < one.ratio[0] < one.ratio[2] < WIN.ratio[2]
    assert not found.contradictions


def test_a_win_here_and_a_trap_there_is_told_with_numbers() -> None:
    found = merged([campaign("one", WIN), campaign("two", TRAP)])
    assert found.findings == ()
    (why,) = found.contradictions
    assert why == (
        "TM 4 -> 8: it is a win in one (1.3x (1.2 to 1.41), shown by 2 kernels) and is a trap in "
        "two (0.7x (0.65 to 0.75), shown by 2 kernels); together they show neither"
    )


def test_what_stands_in_one_and_fell_in_another_is_told() -> None:
    fell = replace(WIN, fallen="fell at evaluation 140: 5 kernels here say 1x", standing=0.0)
    found = merged([campaign("one", WIN), campaign("two", fell)])
    assert [one.id for one in found.findings] == ["w"]
    assert "in two it fell at evaluation 140" in found.contradictions[0]


def test_other_devices_and_other_shapes_are_rules_of_their_own() -> None:
    there = replace(TRAP, condition=replace(HERE, device_class="cuda/H200"))
    shapes = replace(TRAP, condition=replace(HERE, task_hash="other"))
    found = merged([campaign("one", WIN), campaign("two", there), campaign("three", shapes)])
    assert len(found.findings) == 3 and not found.contradictions


def test_failures_are_counted_together_and_points_stay_apart() -> None:
    trap = Finding(
        id="f",
        kind="trap",
        rule="a barrier in a lambda is UNSUPPORTED",
        about=About(status="UNSUPPORTED", reason="a barrier in a lambda"),
        condition=HERE,
        failures=3,
        shown_by=("a", "b", "c"),
    )
    more = replace(trap, failures=2, shown_by=("d", "e"))
    point = replace(
        WIN,
        id="p",
        about=About(family="gemm_tile", params={"TM": 8}),
        rule="start from gemm_tile",
        ratio=(8.0, 7.0, 9.0),
    )
    better = replace(point, about=About(family="gemm_tile", params={"TM": 4}), ratio=(9.0, 8.5, 10))
    found = merged([campaign("one", trap, point), campaign("two", more, better)])
    failures = next(one for one in found.findings if one.failures)
    assert failures.failures == 5 and len(failures.shown_by) == 5
    start = next(one for one in found.findings if one.about.params)
    assert start.about.params == {"TM": 4} and start.ratio == (9.0, 8.5, 10)


def test_a_campaign_s_evidence_counts_once_however_often_it_comes() -> None:
    found = merged([campaign("one", WIN), campaign("one", WIN)])
    assert found.findings == (replace(WIN, origin="one"),)
    grown = replace(WIN, origin="one", ratio=(1.31, 1.25, 1.38), shown_by=("a", "b", "e"))
    assert merged([campaign("one", WIN), campaign("two", grown)]).findings == (grown,)


def test_words_without_a_number_contradict_by_their_names() -> None:
    said = Finding(id="s", kind="win", rule="Never use LDS", condition=HERE, by="person")
    found = merged([campaign("one", said), campaign("two", replace(said, id="u", kind="trap"))])
    assert found.contradictions == ("Never use LDS: it is a win in one and is a trap in two",)
