"""Answers by rule: what a scripted endpoint makes of a prompt of ours."""

import json
import random
import re
from collections.abc import Mapping, Sequence
from typing import Any

import yaml

Messages = Sequence[Mapping[str, str]]

ROLES = {
    "Selector": "selector",
    "Experiment Designer": "designer",
    "Kernel Writer": "writer",
    "Kernel Writer (crossover)": "crossover",
    "Kernel Writer (repair)": "repair",
    "Kernel Writer (probe)": "probe",
    "Distiller": "distiller",
}
OPTIONS = (
    ("-O1", "-O2", "-O3"),
    ("", "-ffast-math", "-fno-fast-math"),
    ("", "-funroll-loops", "-fno-unroll-loops"),
    ("", "-ffp-contract=fast", "-ffp-contract=on", "-ffp-contract=off"),
    ("", "-fno-strict-aliasing"),
)
"""Compiler flags, one of each row; "" is none."""

CODE_TITLES = {"writer": "Base", "crossover": "First parent", "repair": "The kernel that failed"}


def role_of(messages: Messages) -> str:
    """The role that the prompt names."""
    found = re.search(r"You are the ([\w ()]+) in a search", messages[0]["content"])
    return ROLES[found[1]] if found else "writer"


def answer(messages: Messages, number: int) -> str:
    """A sound reply: it follows from the prompt and the number of the call alone."""
    role = role_of(messages)
    prompt = "\n".join(m["content"] for m in messages if m["role"] != "assistant")
    draw = random.Random(f"{number}/{len(prompt)}")
    if role == "selector":
        return _selection(prompt, draw)
    if role == "designer":
        return _design(prompt, draw)
    if role == "probe":
        return f"```hip\n{_probe(prompt)}```\n"
    if role == "distiller":
        return _rules(prompt)
    base = listing(prompt, CODE_TITLES[role])
    kernel = changed(base, prompt, draw)
    return f"```hip\n{kernel}```\n\n## Report\nParameters drawn anew (scripted reply {number}).\n"


def asking(messages: Messages, number: int) -> str:
    """The same, of a designer that asks for as many probes as it may, each for a new reason."""
    said = answer(messages, number)
    may = re.search(r"You may ask for (\d+) at most", messages[-1]["content"])
    if role_of(messages) != "designer" or may is None:
        return said
    probes = [
        {
            "question": f"What does an empty block cost (reason {number}.{place})?",
            "rubric": "1. Launch empty blocks. 2. Compare two counts.",
        }
        for place in range(int(may[1]))
    ]
    return json.dumps({**json.loads(said), "probes": probes})


def _probe(prompt: str) -> str:
    question = prompt.partition("# The question\n")[2].split("\n")[0]
    return PROBE.replace("QUESTION", question.replace('"', ""))


def _selection(prompt: str, draw: random.Random) -> str:
    tournament = prompt.partition("# The kernels of this tournament")[2]
    tournament = re.split(r"\nAncestors|\n# Now", tournament)[0]
    ids = re.findall(r"^\| ([0-9a-f]{16}) \|", tournament, re.MULTILINE)
    base = ids[min(int(draw.expovariate(1.0)), len(ids) - 1)]
    reference = draw.choice([one for one in ids if one != base] or ids)
    said = {
        "base_id": base,
        "reference_id": reference,
        "rationale": f"{base} leads on most shapes; {reference} took another way (scripted).",
    }
    return f"```json\n{json.dumps(said)}\n```"


def _design(prompt: str, draw: random.Random) -> str:
    base = listing(prompt, "Base")
    names = sorted(_front(base).get("space") or {"BLOCK": []})
    low = draw.randint(-5, 10)
    experiments = [
        {
            "technique": f"retune-{draw.choice(names).lower()}",
            "avenue": "work for each thread",
            "description": f"Another value of {draw.choice(names)} ({draw.random():.6f}).",
            "rubric": "1. Change the value. 2. Keep the rest as it is.",
            "performance": [low, low + draw.randint(1, 40)],
            "innovation": draw.randint(0, 100),
        }
        for _ in range(5)
    ]
    avenues = [f"avenue {i}: {name}" for i, name in enumerate((names * 10)[:10])]
    return json.dumps({"avenues": avenues, "experiments": experiments})


def _rules(prompt: str) -> str:
    """Of each kernel in the record that gained or lost for sure, one rule."""
    found = re.findall(
        r"^- ([0-9a-f]{16}): (.*?) \[on \w+\]: ([+-])[\d.e+]+% ", prompt, re.MULTILINE
    )
    rules = [
        {
            "kind": "win" if sign == "+" else "trap",
            "rule": f"Do what {identity} did" if sign == "+" else f"Leave what {identity} did",
            "condition": what[:60],
            "shown_by": [identity],
            "against": [],
        }
        for identity, what, sign in found
    ]
    return f"```json\n{json.dumps({'rules': rules[:8]})}\n```"


def listing(prompt: str, title: str) -> str:
    """The code under a heading."""
    part = prompt.partition(f"# {title}: kernel ")[2]
    found = re.search(r"```hip\n(.*?)\n```", part, re.DOTALL)
    if found is None:
        raise ValueError(f"the prompt lists no {title}")
    return found[1] + "\n"


def _front(source: str) -> dict[str, Any]:
    front = source.partition("/*---")[2].partition("---*/")[0]
    values = yaml.safe_load(front)
    return values if isinstance(values, dict) else {}


def changed(source: str, prompt: str, draw: random.Random) -> str:
    """The kernel with one or two parameters drawn anew from its own space.

    A kernel without a space gets other compiler flags, or for a matrix product a file with tiles
    and a space of its own, so that a campaign has somewhere to go.
    """
    front = _front(source)
    space = front.get("space")
    if isinstance(space, dict) and space:
        params = dict(front["params"])
        names = [name for name in sorted(space) if set(space[name]) - {params[name]}]
        for name in draw.sample(names, min(len(names), draw.randint(1, 2))):
            params[name] = draw.choice([value for value in space[name] if value != params[name]])
        flow = "{" + ", ".join(f"{name}: {value}" for name, value in params.items()) + "}"
        return re.sub(r"^params:.*$", f"params: {flow}", source, count=1, flags=re.MULTILINE)
    if {"a", "b", "c", "M", "N", "K"} <= set(_arguments(front)):
        return _tiled(draw)
    plain = re.sub(r"^options:.*\n", "", source, flags=re.MULTILINE)
    options = json.dumps([said for said in map(draw.choice, OPTIONS) if said])
    return plain.replace("---*/", f"options: {options}\n---*/", 1)


def _arguments(front: Mapping[str, Any]) -> list[str]:
    return [
        arg
        for launch in front["launches"]
        for arg in launch.get("args", ())
        if isinstance(arg, str)
    ]


def _tiled(draw: random.Random) -> str:
    text = TILED
    for name, values in (("TM", (1, 2, 4, 8)), ("TN", (1, 4, 8, 16, 32))):
        text = re.sub(rf"\b{name}: \d+", f"{name}: {draw.choice(values)}", text, count=1)
    return text


TILED = """/*---
launches:
  - kernel: sgemm_tile
    grid: ["ceil_div(N, BX * TN)", "ceil_div(M, BY * TM)"]
    block: [BX, BY]
    args: [a, b, c, M, N, K]
params: {BX: 8, BY: 8, TM: 2, TN: 4}
space: {BX: [2, 4, 8, 16], BY: [2, 4, 8, 16], TM: [1, 2, 4, 8], TN: [1, 2, 4, 8, 16, 32]}
constraints: ["BX * BY <= 256"]
---*/
// A tile of TM x TN outputs a thread, kept in registers; nothing is shared.
__global__ void sgemm_tile(const float* a, const float* b, float* c, int M, int N, int K) {
    int col0 = (blockIdx.x * blockDim.x + threadIdx.x) * TN;
    int row0 = (blockIdx.y * blockDim.y + threadIdx.y) * TM;
    if (row0 < M && col0 < N) {
        if (row0 + TM <= M && col0 + TN <= N) {
            float sum[TM][TN];
            for (int i = 0; i < TM; ++i)
                for (int j = 0; j < TN; ++j) sum[i][j] = 0.0f;
            for (int k = 0; k < K; ++k)
                for (int i = 0; i < TM; ++i) {
                    float x = a[(row0 + i) * K + k];
                    for (int j = 0; j < TN; ++j) sum[i][j] += x * b[k * N + col0 + j];
                }
            for (int i = 0; i < TM; ++i)
                for (int j = 0; j < TN; ++j) c[(row0 + i) * N + col0 + j] = sum[i][j];
        } else {
            for (int i = row0; i < row0 + TM && i < M; ++i)
                for (int j = col0; j < col0 + TN && j < N; ++j) {
                    float sum = 0.0f;
                    for (int k = 0; k < K; ++k) sum += a[i * K + k] * b[k * N + j];
                    c[i * N + j] = sum;
                }
        }
    }
}
"""

PROBE = """/*---
launches:
  - {kernel: empty, grid: [BLOCKS], block: [64], args: [out]}
params: {BLOCKS: 64}
probe:
  question: "QUESTION"
  buffers: {out: {dtype: float32, elements: "64"}}
  cases: [{BLOCKS: 64}, {BLOCKS: 256}]
  per: "BLOCKS"
  show: {out: 2}
---*/
__global__ void empty(float* out) {
    if (blockIdx.x == 0) out[threadIdx.x] = 1.0f;
}
"""
