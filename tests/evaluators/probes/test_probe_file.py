"""Probe files: what is read from them, and one sentence for everything that is wrong."""

import pickle

import pytest

from evaluators.cpu.compiler import CpuCompiler
from evaluators.evaluation import Rejected, Status
from evaluators.kernel.source import parse_kernel
from evaluators.probes.probe import Answer, compile_probe, parse_probe
from tests.evaluators.probes.files import H100, LAUNCH, probe_text


def test_what_a_probe_says() -> None:
    probe = parse_probe(probe_text(more='  per: "N"\n  show: {out: 4}\n'))
    assert probe.question == "What does it cost to add two?"
    assert probe.cases == ({"N": 64}, {"N": 256})
    assert probe.buffers["out"].fill == "iota"
    assert probe.front.show == {"out": 4}


def test_the_id_is_that_of_its_meaning() -> None:
    text = probe_text()
    same = text.replace("probe:\n", "probe:   # a remark\n").replace("+= 2.0f;", "+= 2.0f;   ")
    assert parse_probe(same).id == parse_probe(text).id
    others = [
        probe_text(question="Another?"),
        text.replace("2.0f", "3.0f"),
        probe_text(more="  per: N\n"),
    ]
    assert len({parse_probe(one).id for one in [text, *others]}) == 4


def test_lines_of_its_code_are_those_of_the_file() -> None:
    text = probe_text(code="\n\nint x = __DATE__;\n")
    line = text[: text.index("__DATE__")].count("\n") + 1
    with pytest.raises(Rejected, match="__DATE__ is not allowed") as caught:
        compile_probe(text, CpuCompiler(), H100)
    assert caught.value.reason.startswith(f"line {line}: ")


def test_names_of_params_are_compiled_and_others_are_sizes() -> None:
    text = probe_text(
        cases="[{N: 64, STEP: 1}, {N: 128, STEP: 1}, {N: 64, STEP: 2}]", top="params: {STEP: 1}\n"
    )
    built = compile_probe(text, CpuCompiler(), H100)
    assert {dict(defines)["STEP"] for defines in built.compiled.binaries} == {1, 2}
    assert len(built.compiled.binaries) == 2
    again = pickle.loads(pickle.dumps(built))
    assert again.cases == built.cases
    assert again.nbytes == {"out": 512}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x", "line 1: a kernel file begins with its front matter"),
        (
            "/*---\nlaunches: []\n---*/",
            "line 1: the front matter lacks the key 'probe', which makes a file a probe",
        ),
        (
            probe_text(top="scratch: {s: 4}\n"),
            "line 8: unknown key 'scratch' in a probe (known: launches, params, options, probe)",
        ),
        (probe_text(question='""'), "line 3: probe: 'question' must be a sentence"),
        (
            probe_text(question="x" * 201),
            "line 3: probe: a question of 201 characters is too long (limit 200)",
        ),
        (
            probe_text().replace("  question: What does it cost to add two?\n", ""),
            "line 3: the key 'question' is missing",
        ),
        (probe_text(more="  colour: red\n"), "line 6: unknown key 'colour' in probe (known: "),
        (probe_text(buffers="{N: 4}"), "line 4: probe: buffers: N needs {dtype: float32, "),
        (probe_text(buffers="{int: {elements: 4}}"), "probe: buffers: 'int' cannot be a buffer's"),
        (probe_text(buffers="{out: {fill: one}}"), "line 4: the key 'elements' is missing"),
        (
            probe_text(buffers="{out: {elements: 4, fill: nine}}"),
            "line 4: buffer out: fill 'nine' is not one of zero, one, iota, random",
        ),
        (
            probe_text(buffers="{out: {elements: 4, dtype: double}}"),
            "line 4: buffer out: dtype 'double' is not one of float32, ",
        ),
        (probe_text(buffers="{out: {elements: M}}"), "line 4: probe: buffers: unknown name 'M'"),
        (
            probe_text(buffers="{out: {elements: N - 64}}"),
            "buffer out has 0 elements for {'N': 64}",
        ),
        (
            probe_text(buffers="{out: {elements: N << 40}}"),
            "probe: the buffers take 1,125,899,906,842,624 bytes, on this device at most",
        ),
        (
            probe_text(buffers="{out: {elements: N << 20, fill: one}}"),
            "of what is filled with one, at most 268,435,456 are allowed",
        ),
        (probe_text(cases="[]"), "line 5: 'cases' must be a list with at least one entry"),
        (probe_text(cases=f"{[{'N': 1}] * 17}"), "line 5: 'cases' has 17 entries (limit 16)"),
        (probe_text(cases="[{N: 1}, {M: 1}]"), "every case has the same names; the first has N, "),
        (probe_text(cases="[{N: 1.5}]"), "line 5: probe: cases: N must be a 32-bit integer, not"),
        (probe_text(cases="[{int: 1}]"), "line 5: probe: cases: 'int' cannot name a parameter"),
        (probe_text(cases="[N]"), "line 5: probe: cases: give 1 to 8 names and values"),
        (probe_text(more="  baseline: {M: 0}\n"), "line 6: probe: baseline: 'M' is neither in "),
        (probe_text(more="  per: M\n"), "line 6: probe: per: 'M' is neither in params nor in "),
        (probe_text(more="  per: 0\n"), "line 6: probe: per is 0 for {'N': 64}: it must be 1 or"),
        (probe_text(more="  per: N /\n"), "line 6: probe: per: 'N /' is not an expression"),
        (probe_text(more="  per: N\n  bytes: N\n"), "line 7: probe: give 'per' or 'bytes', not"),
        (probe_text(more="  show: {in: 4}\n"), "line 6: probe: show: 'in' is not in buffers"),
        (probe_text(more="  show: {out: 65}\n"), "show: out needs 1 to 64 elements, not 65"),
        (probe_text(launch=LAUNCH.replace("out,", "in,")), "args: unknown name 'in' (known: out, "),
        (probe_text(launch=LAUNCH.replace("N, 64", "M, 64")), "unknown name 'M'"),
        (
            "/*---\n{probe: {question: Why?}, launches: [{kernel: k, grid: 1, block: 1, args: []}]}"
            "\n---*/",
            "line 2: 'probe' and the other keys of the front matter stand on lines of their own",
        ),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(text: str, said: str) -> None:
    with pytest.raises(Rejected) as caught:
        compile_probe(text, CpuCompiler(), H100)
    assert caught.value.status is Status.INVALID
    assert said in caught.value.reason
    assert "\n" not in caught.value.reason
    answer = Answer.of_rejected(text, caught.value)
    assert (answer.status, answer.reason) == (Status.INVALID, caught.value.reason)
    assert answer.probe_id


def test_a_compiler_that_refuses_answers_the_question() -> None:
    text = probe_text(code=ADD_WITH.replace("CALL", "no_such_builtin(2.0f)"))
    with pytest.raises(Rejected) as caught:
        compile_probe(text, CpuCompiler(), H100)
    answer = Answer.of_rejected(text, caught.value)
    assert answer.status is Status.COMPILE_ERROR
    assert "no_such_builtin" in answer.reason
    assert answer.question == "What does it cost to add two?"
    assert 1 <= len(answer.sentences) <= 4
    assert any("no_such_builtin" in sentence for sentence in answer.sentences)
    drawn = [one for one in answer.sentences if not any(map(str.isalnum, one))]
    assert drawn == []  # the compiler's caret


ADD_WITH = """
__global__ void add(float *out, int n) { out[threadIdx.x] = CALL; }
"""


def test_a_kernel_file_may_not_be_a_probe() -> None:
    parse_probe(probe_text())
    with pytest.raises(Rejected, match="unknown key 'probe'"):
        parse_kernel(probe_text())
