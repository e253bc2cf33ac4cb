"""A secret in a file and in this process's environment, which nothing that comes back may hold."""

import base64
from dataclasses import dataclass
from pathlib import Path

from evaluators.device import Compiled, Compiler
from evaluators.evaluation import Rejected
from evaluators.kernel.source import parse_kernel
from tests.evaluators.launching import launch, plan

WORD = "planted_word_of_the_host"
VARIABLE = "PLANTED_VARIABLE"
ABOUT = "/*---\nlaunches: [{kernel: k, grid: [1], block: [64], args: []}]\n---*/\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Planted:
    """file: what holds WORD, in a folder that no compiler needs."""

    file: Path

    def put_into(self, text: str) -> str:
        """text with the file's path for @FILE@."""
        return text.replace("@FILE@", str(self.file))


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of one file: a verdict, or what was compiled."""

    rejected: Rejected | None = None
    compiled: Compiled | None = None

    @property
    def said(self) -> str:
        if self.rejected is not None:
            return f"{self.rejected} {self.rejected.log}"
        assert self.compiled is not None
        return self.compiled.log

    def leaks(self, word: str = WORD) -> bool:
        """Whether the word is in a sentence, a log or the code, plainly or as Base64."""
        code = b"".join(b.data for b in self.compiled.binaries.values()) if self.compiled else b""
        held = self.said.encode(errors="replace") + code
        return word.encode() in held or base64.b64encode(word.encode())[:12] in held


def outcome(compiler: Compiler, text: str) -> Outcome:
    """text: a kernel file with a kernel k that takes nothing."""
    try:
        kernel = parse_kernel(text)
        return Outcome(compiled=compiler.compile(kernel, [plan(launch("k", [], block=(64, 1, 1)))]))
    except Rejected as rejected:
        return Outcome(rejected=rejected)
