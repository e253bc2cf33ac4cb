"""The texts about devices: they parse, name sources, keep apart, and say what tables say."""

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from evaluators.acceptance.mfma import INSTRUCTIONS, LANES, Instruction, table
from evaluators.hip.products import CDNA3_FLOPS_A_CLOCK, PRODUCTS
from operators.llm.knowledge.sections import FOLDER, KINDS, TOPICS, read_section
from operators.llm.knowledge.traits import TRAITS

FILES = sorted(FOLDER.glob("*/*.md"))
SIDES = {16: r"16x16 shapes", 32: r"32x32 shapes"}
MOST_CHARACTERS = 3_200
"""Of a file: a section should leave room for the others."""
OTHERS = {
    "cpu": "GPU|CDNA|MI[23]\\d\\d|gfx\\d|XCD|MFMA|Hopper|H[12]00|sm_\\d|NVIDIA|warp|bank|_sync",
    "hip": "CDNA|MI[23]\\d\\d|gfx\\d|XCD|MFMA|AGPR|Hopper|H[12]00|sm_\\d|NVIDIA|NVRTC|AVX",
    "cdna3": "Hopper|H[12]00|sm_\\d|NVIDIA|NVRTC|tensor core|warp\\b|multiprocessor|AVX",
    "hopper": "CDNA|MI[23]\\d\\d|gfx\\d|XCD|MFMA|AGPR|vmcnt|wavefront|AVX",
}


def ids(path: Path) -> str:
    return f"{path.parent.name}/{path.stem}"


def test_every_kind_has_sections_and_every_file_is_one() -> None:
    assert {path.parent.name for path in FILES} == set(KINDS)
    assert {path.stem for path in FILES} == set(TOPICS)
    assert not (FOLDER / "cpu" / "matrix_cores.md").exists()


@pytest.mark.parametrize("path", FILES, ids=ids)
def test_a_section_parses_and_is_small(path: Path) -> None:
    section = read_section(path)
    assert len(path.read_text(encoding="utf-8")) <= MOST_CHARACTERS
    assert set(section.parts) - {""} <= set(section.front.roles)
    for role in section.front.roles:
        heading, *lines, sources = section.text(role, frozenset(TRAITS)).splitlines()
        assert heading == f"## {section.title}"
        assert lines, f"nothing is said to the {role}"
        assert sources == f"(Sources: {'; '.join(section.front.sources)}.)"


@pytest.mark.parametrize("path", FILES, ids=ids)
def test_a_section_speaks_of_no_other_device(path: Path) -> None:
    _, _, text = path.read_text(encoding="utf-8").split("---\n", 2)
    assert not re.findall(OTHERS[path.parent.name], text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("- No front matter.\n", "must begin with front matter"),
        ("---\nroles: [designer]\ntopic: lds\nwhen: {any: 1}\n---\n- x\n", "sources"),
        ("---\nroles: [poet]\ntopic: lds\nwhen: {any: 1}\nsources: [a]\n---\n- x\n", "roles"),
        ("---\nroles: [writer]\ntopic: lds\nwhen: {odd: 1}\nsources: [a]\n---\n- x\n", "odd"),
        (
            "---\nroles: [writer]\ntopic: lds\nwhen: {any: 1}\nsources: [a]\nmore: 1\n---\n- x\n",
            "more",
        ),
        ("---\nroles: [writer]\ntopic: lds\nwhen: {any: 1}\nsources: [a]\n---\n- {ood} x\n", "ood"),
        (
            "---\nroles: [writer]\ntopic: memory\nwhen: {any: 1}\nsources: [a]\n---\n- x\n",
            "DEVICE/TOPIC.md",
        ),
    ],
)
def test_a_section_that_is_none_is_refused_by_name(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "hip" / "lds.md"
    path.parent.mkdir()
    path.write_text(text)
    with pytest.raises(ValueError, match=said) as refused:
        read_section(path)
    assert str(refused.value).startswith(str(path))


# --- CDNA3's matrix instructions against the tables ---------------------------------------------

MATRIX_CORES = (FOLDER / "cdna3" / "matrix_cores.md").read_text(encoding="utf-8")


def named() -> Iterator[tuple[Instruction, int]]:
    """The instructions that the text names, and the cycles that it tells."""
    known = {one.builtin: one for one in INSTRUCTIONS}
    for builtin, cycles in re.findall(r"`__builtin_amdgcn_mfma_(\w+)` \((\d+)\)", MATRIX_CORES):
        yield known[builtin], int(cycles)


NAMED = tuple(named())


def test_every_instruction_but_those_of_int8_is_named() -> None:
    wanted = {one.name for one in INSTRUCTIONS if one.dtype.kind != "i"}
    assert {one.name for one, _ in NAMED} == wanted
    assert len(re.findall("__builtin_amdgcn_mfma_", MATRIX_CORES)) == len(wanted)


@pytest.mark.parametrize(("one", "cycles"), NAMED, ids=lambda value: getattr(value, "name", None))
def test_cycles_agree_with_the_peaks(one: Instruction, cycles: int) -> None:
    """Four matrix cores a compute unit, each busy with one instruction."""
    dtype = "xf32" if one.name.endswith("_xf32") else str(one.dtype)
    assert 4 * 2 * one.side**2 * one.depth == cycles * CDNA3_FLOPS_A_CLOCK[dtype]


@pytest.mark.parametrize(("one", "cycles"), NAMED, ids=lambda value: getattr(value, "name", None))
def test_layouts_agree_with_every_row_of_the_table(one: Instruction, cycles: int) -> None:
    (line,) = [line for line in MATRIX_CORES.splitlines() if SIDES[one.side] in line]
    said = {matrix: (row, column) for matrix, row, column in re.findall(PLACE, line)}
    held = {"A": one.held, "B": one.held, "D": one.sums}
    for matrix, places in table()[one.name].items():
        lane, element = np.meshgrid(np.arange(LANES), np.arange(held[matrix]), indexing="ij")
        values = {"l": lane, "j": element, "r": element, "e": one.held}
        found = [eval(part.replace("/", "//"), {}, values) for part in said[matrix]]
        assert (np.stack(np.broadcast_arrays(*found), -1) == places).all(), matrix


PLACE = r"`?([ABD])\[(?:row|k =) ([^\]]+)\]\[(?:column|k =) ([^\]]+)\]`"


def test_peaks_are_the_products_own() -> None:
    (whole,) = [one for one in PRODUCTS if one.name.endswith("MI300X")]
    flops = whole.peaks(whole.compute_units).flops
    said = dict(
        zip(("float8_e4m3fnuz", "float16", "xf32", "float32"), (2615, 1307, 654, 163), strict=True)
    )
    assert {name: round(flops[name] / 1e12) for name in said} == said
    for value in said.values():
        assert re.search(rf"\b{value}\b", MATRIX_CORES)
