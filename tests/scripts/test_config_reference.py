"""docs/configuration.md is what the models say, and says something of every key."""

import pytest
from pydantic import BaseModel

from engine.config import CampaignConfig
from scripts.docs.config_reference import PAGE, page, section_in
from tests.engine.test_config import sections

PLAIN = [
    (section, key)
    for section in dict.fromkeys(sections(CampaignConfig))
    for key, info in section.model_fields.items()
    if section_in(info.annotation) is None
]


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text() == page(), "run python -m scripts.docs.config_reference"


@pytest.mark.parametrize(
    ("section", "key"), PLAIN, ids=[f"{section.__name__}.{key}" for section, key in PLAIN]
)
def test_every_key_has_a_sentence_and_a_row(section: type[BaseModel], key: str) -> None:
    said = section.model_fields[key].description
    assert said and said.endswith(".")
    assert said[0].isupper() or said[0] == "`"
    assert f"{key}` | " in page()
    assert " ".join(said.split()) in page()


@pytest.mark.parametrize("section", dict.fromkeys(sections(CampaignConfig)))
def test_every_section_has_one(section: type[BaseModel]) -> None:
    assert section.__doc__ and section.__doc__ is not BaseModel.__doc__
