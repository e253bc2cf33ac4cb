"""The pages in docs/: their links lead somewhere, and the keys and verdicts that they name are."""

import re
from pathlib import Path

import pytest

from engine.config import CampaignConfig
from evaluators.evaluation import Status

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
SECTIONS = "|".join(CampaignConfig.model_fields)


def dotted_keys(text: str) -> set[str]:
    """`islands.count`, `final.seconds=120`, `operators.0.base: seed`, `llm.models.NAME.model`."""
    return set(re.findall(rf"[`\s]((?:{SECTIONS})(?:\.\w+)+)(?=[`=:\s\[])", text))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_files_and_headings(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)\s]+)\)", page.read_text()):
        name, _, heading = target.partition("#")
        file = page.parent / name if name else page
        assert file.exists(), target
        if heading:
            titles = re.findall(r"^#+ (.+)$", file.read_text(), re.MULTILINE)
            slugs = {re.sub(r"[^\w -]", "", one).lower().replace(" ", "-") for one in titles}
            assert heading in slugs, target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_keys_that_a_page_names_are_keys(page: Path) -> None:
    known = dotted_keys((ROOT / "docs" / "configuration.md").read_text())
    sections = {key.rpartition(".")[0] for key in known}
    named = {re.sub(r"operators\.\d", "operators.0", key) for key in dotted_keys(page.read_text())}
    named = {re.sub(r"llm\.models\.\w+", "llm.models.NAME", key) for key in named}
    not_keys = re.compile(r"llm\.roles\.|\w+\.(?:md|py|json|yaml|log|txt)$")
    named = {key for key in named if not not_keys.match(key)}
    assert named - known - sections - {"llm.models.NAME"} == set()


def test_the_glossary_knows_every_verdict() -> None:
    rows = re.findall(r"^\| ([A-Z_]+) \|", (ROOT / "docs" / "glossary.md").read_text(), re.M)
    assert rows == list(Status)


def test_the_glossary_explains_a_word_once_a_section() -> None:
    text = (ROOT / "docs" / "glossary.md").read_text()
    for section in text.split("\n## ")[1:]:
        words = re.findall(r"^\*\*(.+?)\.\*\*", section, re.MULTILINE)
        assert words and len(words) == len(set(words))
