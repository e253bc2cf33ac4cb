"""Writers' replies: whole files, edits, reports, and what is not a kernel."""

import pytest

from operators.llm.fences import edits
from operators.llm.kernel_reply import KernelReply, apply_edits, read_kernel
from operators.llm.question import Failure, Malformed
from tests.operators.llm.test_replies import reply

FILE = """/*---
launches:
  - {kernel: k, grid: [1], block: [64], args: [a]}
---*/
__global__ void k(float* a) {
    a[threadIdx.x] = 1.0f;
}
"""


def edit(search: str, replace: str) -> str:
    return f"<<<<<<< SEARCH\n{search}=======\n{replace}>>>>>>> REPLACE\n"


@pytest.mark.parametrize(
    "text",
    [
        f"```hip\n{FILE}```\n\n## Report\nDone.",
        f"```hip\n{FILE}\n```\n**Report:** Done.",
        f"Here:\n\n~~~cpp\n{FILE}~~~\n\n# Report\n\nDone.\n",
        f"```\n{FILE}```\n```report\nDone.\n```",
        f"```hip\n/*---\nlaunches: []\n---*/\n```\nBetter:\n```hip\n{FILE}```\n## Report\nDone.",
        f"  ```hip\n{FILE}  ```\n## Report\nDone.".replace("\n", "\r\n"),
    ],
)
def test_a_whole_file_and_its_report(text: str) -> None:
    assert read_kernel(reply(text), "") == KernelReply(source=FILE, report="Done.")


def test_a_bare_file_without_fences() -> None:
    assert read_kernel(reply(f"I tiled it.\n\n{FILE}"), "").source == FILE


COMMENTED = FILE.replace("    a[", "    /* as in\n```\n## The guide\n*/\n    a[")
GUARDED = FILE.replace("    a[", "# pragma unroll\n#  if 1\n    a[").replace(";\n", ";\n#endif\n")
NAMED = FILE.replace("__global__", "namespace n {\n__global__") + "}  // namespace n\n"
LAST = FILE.replace("1.0f", "3.0f")


@pytest.mark.parametrize("file", [FILE, COMMENTED, GUARDED, NAMED])
@pytest.mark.parametrize(
    "form",
    [
        "@\n## Report\nDone.",
        "@\n\n# Report\n\nDone.",
        "@\n**Report**\nDone.",
        "@\n**Report:** Done.",
        "@\nReport:\nDone.",
        "@\n---\nReport: Done.",
        "```hip\n@\n## Report\nDone.",
        "```hip\n@## Report\nDone.\n```",
        "```hip\n@```\n## Report\nDone.",
        "~~~~\n@~~~~\n## Report\nDone.",
        "```hip @```\n## Report\nDone.",
        "```hip\n@\n```report\nDone.\n```",
        "@\n\nDone.",
        "It's simple; don't\nworry.\n\n@\n## Report\nDone.",
    ],
)
def test_the_report_never_lands_in_the_kernel(form: str, file: str) -> None:
    read = read_kernel(reply(form.replace("@", file)), "")
    assert read.source == file
    assert read.report.endswith("Done.")


def test_a_fence_closed_behind_the_last_brace() -> None:
    read = read_kernel(reply(f"```hip\n{FILE.rstrip()}```\nDone."), "")
    assert (read.source, read.report) == (FILE, "Done.")


@pytest.mark.parametrize(
    "text",
    [
        f"{FILE}\nBetter:\n\n{LAST}",
        f"```\n{FILE}```\nNo, rather\n```\n{LAST}```\n",
        f"```\n{LAST}```\nIt was made from\n```\n{FILE}```\n",
        f"```\n{LAST}```\nThe front matter, then:\n```\n{FILE.partition('__global__')[0]}```\n",
        f"```\n{LAST}```\nAnd once more:\n```\n{LAST[:-30]}",
        f"```\n{FILE}```\nwith\n{edit('    a[threadIdx.x] = 1.0f;', '')}\n```\n{LAST}```\n",
        f"The Base:\n```\n{FILE}```\nIn it:\n"
        + edit("    a[threadIdx.x] = 1.0f;\n", "    a[threadIdx.x] = 3.0f;\n"),
        "Its front matter changes too.\n" + edit(FILE, LAST),
    ],
)
def test_of_several_files_the_last_whole_one_counts_that_is_not_the_base(text: str) -> None:
    assert read_kernel(reply(text), FILE).source == LAST


def test_a_file_that_is_cut_off_is_not_taken_as_whole() -> None:
    whole = FILE + "__global__ void j() {\n}\n"
    with pytest.raises(Malformed) as caught:
        read_kernel(reply(f"```hip\n{whole}", finish="length"), "")
    assert caught.value.kind is Failure.TRUNCATED


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (f"```hip\n{FILE[:-3]}", "its braces do not close"),
        (f"```hip\n{FILE.replace('---*/', '')}```", "not closed by ---*/"),
        (FILE.partition("__global__")[0], "no code behind it"),
        ("```\n__global__ void k() {}\n```", "has no front matter"),
        ("<<<<<<< SEARCH\nfoo\n", "edit 1 does not come to its end"),
        (edit("}\n", "}}\n") + "<<<<<<< SEARCH\nfoo\n=======\n", "edit 2 does not come"),
    ],
)
def test_what_is_missing_is_said(text: str, says: str) -> None:
    with pytest.raises(Malformed) as caught:
        read_kernel(reply(text), FILE)
    assert says in caught.value.reason


@pytest.mark.parametrize(
    "unit",
    [
        "/*---\n",
        "/*---\n---*/\n{",
        "```\n",
        '\\"',
        "/*",
        "#  ",
        "} ",
        "\n\n",
        "```hip /*---\n",
        "'",
    ],
)
def test_long_nonsense_is_read_in_a_moment(unit: str) -> None:
    with pytest.raises(Malformed):
        read_kernel(reply(f"/*---\n---*/\n{unit * 30_000}{{"), FILE)


def test_without_a_heading_the_prose_is_the_report() -> None:
    assert read_kernel(reply(f"I tiled it.\n```hip\n{FILE}```\n"), "").report == "I tiled it."


@pytest.mark.parametrize(
    ("search", "replace"),
    [
        ("    a[threadIdx.x] = 1.0f;\n", "    a[threadIdx.x] = 2.0f;\n"),
        ("a[threadIdx.x]=1.0f;\n", "    a[threadIdx.x] = 2.0f;\n"),
        (
            "__global__ void k(float* a) {\n\n  a[threadIdx.x] = 1.0f;\n",
            "__global__ void k(float* a) {\n    a[threadIdx.x] = 2.0f;\n",
        ),
    ],
)
def test_edits_are_found_exactly_or_but_for_blanks(search: str, replace: str) -> None:
    read = read_kernel(reply(edit(search, replace) + "\n## Report\nTwo."), FILE)
    assert read.source == FILE.replace("1.0f", "2.0f")
    assert read.report == "Two."


def test_edits_apply_in_turn_also_within_a_fence() -> None:
    text = "```\n" + edit("block: [64]", "") + "```"
    assert edits(text)[0] == []  # the lines must be whole
    first = edit("  - {kernel: k, grid: [1], block: [64], args: [a]}\n", "  - X\n")
    second = edit("  - X\n", "  - {kernel: k, grid: [2], block: [64], args: [a]}\n")
    read = read_kernel(reply(f"```diff\n{first}{second}```"), FILE)
    assert read.source == FILE.replace("grid: [1]", "grid: [2]")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (edit("    b[0] = 1;\n", "x\n"), "is not in the Base"),
        (edit("\n", "x\n"), "searches for nothing"),
        (edit("}\n", "}\n"), "change nothing"),
    ],
)
def test_a_bad_edit_says_which_and_why(text: str, says: str) -> None:
    with pytest.raises(Malformed) as caught:
        read_kernel(reply(text), FILE)
    assert caught.value.kind is Failure.BAD_EDIT
    assert says in caught.value.reason


def test_an_edit_that_fits_twice_is_refused() -> None:
    with pytest.raises(Malformed, match="2 times"):
        apply_edits("x = 1;\ny;\nx = 1;\n", edits(edit("x = 1;\n", "x = 2;\n"))[0])


def test_an_edit_is_of_what_the_prompt_showed() -> None:
    bad = edit("}\n", "}\n\n") + edit("    b[0] = 1;\n", "x\n")
    with pytest.raises(Malformed, match="not in the kernel that failed as the edits before it"):
        read_kernel(reply(bad), FILE, edited="kernel that failed")


@pytest.mark.parametrize(
    ("text", "finish", "kind"),
    [
        ("One could tile it.", "stop", Failure.PROSE_ONLY),
        ("```cpp\n__global__ void k() {}\n```", "stop", Failure.MISSING_FIELDS),
        (f"```hip\n{FILE[:-20]}", "stop", Failure.TRUNCATED),
        (f"```hip\n{FILE[:-20]}", "length", Failure.TRUNCATED),
        (FILE[:-20], "stop", Failure.TRUNCATED),
        ("<<<<<<< SEARCH\nfoo\n====", "stop", Failure.TRUNCATED),
        ("", "stop", Failure.EMPTY),
        ("I cannot assist with this request.", "stop", Failure.REFUSAL),
    ],
)
def test_what_is_no_kernel_has_its_kind(text: str, finish: str, kind: Failure) -> None:
    with pytest.raises(Malformed) as caught:
        read_kernel(reply(text, finish=finish), FILE)
    assert caught.value.kind is kind
