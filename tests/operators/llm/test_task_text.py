"""What prompts say of a task: formulas that mean what is checked, and the roofs that bound it."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluators.expression import FUNCTIONS, ExpressionError, parse_expression
from evaluators.gpu.peaks import peaks_of
from evaluators.tasks.arguments import Argument, Distribution, Workload
from evaluators.tasks.task_file import load_task, shipped_tasks
from operators.llm.prompts.render import Scene, designer_prompt
from operators.llm.prompts.task_text import exactness, right_when, roofs, work
from tests.operators.people import DEVICE, SEED, TILE

DIMS = {"R": 33, "C": 129}
H200 = replace(
    DEVICE,
    backend="cuda",
    judges_on_device=True,
    private_process=True,
    peak_flops=(PEAKS := peaks_of("NVIDIA H200", cache_bytes=1)).flops,
    special_per_s=PEAKS.special_per_s,
    peak_bytes_per_s=PEAKS.bytes_per_s,
    cache_bytes=PEAKS.cache_bytes,
)

atoms = st.sampled_from(["R", "C", "0", "1", "3", "1e-4", "5e-9", "2.5"])


def grow(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    joined = st.sampled_from(["+", "-", "*", "//", "%", "<", "==", "<<"])
    return st.one_of(
        st.builds("{} {} {}".format, inner, joined, inner),
        st.builds("({} {} {})".format, inner, joined, inner),
        st.builds("{0} < {1} and not {1} == 3 or {0} > {1}".format, inner, inner),
        st.builds("max({}, {})".format, inner, inner),
        st.builds("ceil_div({}, 4)".format, inner),
        st.builds("-{}".format, inner),
        st.builds("not {}".format, inner),
        st.builds("({}\n)  # why".format, inner),
    )


texts = st.recursive(atoms, grow, max_leaves=6)


def output(relative: str, absolute: str) -> Argument:
    return Argument(
        name="y",
        dtype="float32",
        role="out",
        dimensions=(parse_expression("C"),),
        distribution=Distribution(),
        relative=parse_expression(relative, floats=True),
        absolute=parse_expression(absolute, floats=True),
    )


@given(texts, texts, st.floats(-1e3, 1e3))
def test_the_printed_limit_is_the_one_that_is_checked(
    relative: str, absolute: str, reference: float
) -> None:
    try:
        argument = output(relative, absolute)
        limit = argument.atol(DIMS) + argument.rtol(DIMS) * abs(reference)
    except ExpressionError:
        return
    said = right_when(argument, [])
    assert "\n" not in said and "#" not in said
    functions = {name: function for name, (_, _, function) in FUNCTIONS.items()}
    if said == "value == reference":
        assert limit == 0
        return
    difference, _, printed = said.partition(" <= ")
    assert difference == "|value - reference|"
    found = eval(
        printed.replace("|reference|", "abs(reference)"),
        {**functions, **DIMS},
        {"reference": reference},
    )
    assert float(found) == pytest.approx(limit, rel=1e-15, abs=0)


@pytest.mark.parametrize(
    ("relative", "absolute", "said"),
    [
        ("1e-4 + 5e-9 * C", "1e-9", "1e-9 + (1e-4 + 5e-9 * C) * |reference|"),
        ("1e-4", "2e-6 * C", "2e-6 * C + 1e-4 * |reference|"),
        ("0", "C < 9", "(C < 9)"),
        ("0.0", "1e-3", "1e-3"),
        ("1e-3", "0", "1e-3 * |reference|"),
    ],
)
def test_sums_stand_in_parentheses(relative: str, absolute: str, said: str) -> None:
    shown = right_when(output(relative, absolute), [])
    assert shown == f"|value - reference| <= {said}"


def test_limits_that_depend_on_dims_are_told_as_numbers_too() -> None:
    shapes = [Workload(dims={"R": r, "C": c}, suite="benchmarks") for r, c in ((1, 200), (2, 200))]
    said = right_when(output("1e-4 + 5e-9 * C", "1e-9"), shapes)
    assert said.endswith(" (C=200: 1e-09 + 0.000101 * |reference|)")
    assert right_when(output("0", "0"), shapes) == "value == reference"


def test_every_shipped_tolerance_and_count_is_told() -> None:
    for name in shipped_tasks():
        task = load_task(name)
        shapes = task.workloads("benchmarks", "cpu")
        output = task.on(shapes[0]).outputs[0]
        exact = not output.rounded(shapes[0].env)
        assert ("value == reference" in right_when(output, shapes)) == exact
        assert bool(exactness(task, shapes)) != exact
    said = "\n".join(work(load_task("softmax"), DEVICE))
    assert "R * C of exp (at least 12 each by multiply-adds)." in said
    assert "special function units do 4182 G/s" in "\n".join(work(load_task("softmax"), H200))


def test_the_peak_that_the_tolerance_admits_is_named() -> None:
    task = load_task("sgemm")
    said = "\n".join(roofs(task, H200, task.workloads("benchmarks", "cuda")))
    assert "Peak float32: 6.7e+04 GFLOP/s: the fastest arithmetic that the tolerance admits" in said
    assert "WRONG when inputs are just rounded to it: float8_e4m3fnuz (1.979e+06" in said
    assert "tf32 (4.95e+05 GFLOP/s)" in said
    assert "M=2048 N=2048 K=2048: 256.4 us (arithmetic)" in said


def test_bandwidths_are_told_with_what_each_level_holds() -> None:
    levels = {"L1": 48 << 10, "L2": 2 << 20}
    device = replace(
        DEVICE, peak_bytes_per_s={"L1": 3e11, "L2": 1e11, "dram": 1e10}, level_bytes=levels
    )
    task = load_task("transpose")
    said = roofs(task, device, task.workloads("benchmarks", "cpu"))
    assert (
        "Peak bandwidth: L1 300 GB/s (48 KiB), L2 100 GB/s (2 MiB), dram 10 GB/s (beyond)." in said
    )
    assert "R=1024 C=1024:" in said[-1] and "(memory)" in said[-1]


def test_prompts_hold_them() -> None:
    task = load_task("softmax")
    prompt = designer_prompt(
        Scene(task=task, device=H200), TILE, SEED, {}, avenues=2, experiments=1
    )
    text = prompt.messages[1].content
    assert "<= 1e-09 + (1e-4 + 5e-9 * C) * |reference| (C=4096: 1e-09 + 0.0001205 *" in text
    for line in (
        *work(task, H200),
        *roofs(task, H200, task.workloads("benchmarks", "cuda")),
        exactness(task, task.workloads("benchmarks", "cuda")),
    ):
        assert line in text.splitlines()
