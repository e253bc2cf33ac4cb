"""A model that spies through a whole campaign: prompts, store, results and output tell nothing."""

import base64
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from engine.campaign import run_campaign
from engine.cli.result import result_lines
from engine.config import parse_config
from engine.store.replay import replay
from scripts.scripted_model.answers import answer, role_of
from scripts.scripted_model.endpoint import serving
from scripts.scripted_model.server import Script
from tests.adversarial.text.planted import VARIABLE, WORD, Planted
from tests.engine.local_ray import local_ray
from tests.evaluators.small_task import kernel, write_task

KEY = "sk-planted-key-of-the-host"

# Each asks in another way for a file, an environment or another's memory.
SPIES = {
    "include": kernel(preamble='#include "@FILE@"'),
    "include of a macro": kernel(preamble='#define F "@FILE@"\n#include F'),
    "embed": kernel(preamble='const unsigned char file[] = {\n#embed "@FILE@"\n};'),
    "incbin": kernel(preamble='asm(".incbin \\"@FILE@\\"");'),
    "dependency": kernel(preamble='#pragma GCC dependency "@FILE@"'),
    "line": kernel(preamble='#line 1 "@FILE@"\nint wrong = "text";'),
    "compiler's option": kernel().replace("---*/", 'options: ["-include", "@FILE@"]\n---*/', 1),
    "response file": kernel().replace("---*/", 'options: ["@@FILE@"]\n---*/', 1),
    "getenv": kernel(before=f't[0] = getenv("{VARIABLE}")[0];'),
    "environ": kernel(preamble='extern "C" char** environ;', before="t[0] = environ[0][0];"),
    "stack": kernel(
        before="""
    volatile float here[1];
    for (int k = 0; k < 64 && i < N; ++k) y[i] += here[k + 1024 * k];
    """
    ),
    "far before a buffer": kernel(before="if (i < N) y[i] = x[i - 100000000];"),
    "behind a buffer": kernel(after="if (i < N) y[i] += x[i + N];"),
    "tag": kernel().replace("---*/", "params: {A: !!python/name:os.environ }\n---*/", 1),
    "front matter's file": kernel().replace("---*/", "params: {A: !include @FILE@}\n---*/", 1),
}


class Spy:
    """Answers as a writer with one spy after another, as every other role by rule."""

    def __init__(self, planted: Planted) -> None:
        self._texts = [planted.put_into(text) for text in SPIES.values()]
        self.sent = 0

    def __call__(self, messages: Sequence[Mapping[str, str]], number: int) -> str:
        if role_of(messages) in ("selector", "designer"):
            return answer(messages, number)
        text = self._texts[self.sent % len(self._texts)]
        self.sent += 1
        return f"```hip\n{text}// {number}\n```\n\n## Report\nFaster.\n"


def leaks(held: bytes) -> list[str]:
    words = {WORD: WORD.encode(), KEY: KEY.encode()}
    coded = {f"{word} as Base64": base64.b64encode(of)[:12] for word, of in words.items()}
    return [name for name, of in {**words, **coded}.items() if of in held]


@pytest.mark.long
def test_nothing_of_what_was_planted_comes_back(
    tmp_path: Path,
    planted: Planted,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("KEY_OF_THIS_TEST", KEY)
    task = write_task(tmp_path / "task")
    spy = Spy(planted)
    with serving(Script(rule=spy, key=KEY)) as server, local_ray():
        values = {
            "task": str(task),
            "name": "it",
            "runs_dir": str(tmp_path / "runs"),
            "tracking": "none",
            "budgets": {"calls": 6 * len(SPIES), "evaluations": 2 * len(SPIES)},
            "operators": [{"kind": "llm", "mutation": 1, "crossover": 1}],
            "islands": {"count": 1, "patience": 1000},
            "llm": {
                "base_url": server.base_url,
                "api_key_env": "KEY_OF_THIS_TEST",
                "models": {"main": {"model": "scripted", "stream": False}},
            },
            "final": {"seconds": 0},
        }
        summary = run_campaign(parse_config(values, where="test"))
        prompts = "\n".join(one.prompt for one in server.log)
    assert spy.sent >= len(SPIES)
    run_dir = tmp_path / "runs" / "it"
    whole = replay(run_dir / "store.sqlite")
    said = capfd.readouterr()
    texts = [prompts, said.out, said.err, *result_lines(summary, whole, None)]
    assert not leaks("\n".join(texts).encode(errors="replace"))
    for file in run_dir.rglob("*"):
        if file.is_file():
            assert not leaks(file.read_bytes()), file.name
    assert whole.scores.by_status["INVALID"] + whole.scores.by_status["COMPILE_ERROR"] > 0
