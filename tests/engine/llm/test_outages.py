"""Outages: an endpoint that answered once is waited for from its first silence on."""

from engine.llm.outages import TRIES_AT_FIRST_CONTACT, Outages
from operators.llm.call import ApiKey
from operators.llm.endpoint import Endpoint

HERE, THERE = (Endpoint(f"http://127.0.0.1:{port}/v1", ApiKey()) for port in (1, 2))


def test_one_that_never_answered_gets_a_few_tries() -> None:
    outages = Outages(900.0)
    for tries in range(1, TRIES_AT_FIRST_CONTACT):
        assert not outages.failed(HERE, tries)
    assert outages.failed(HERE, TRIES_AT_FIRST_CONTACT)
    assert outages.now() == ()


def test_waiting_begins_with_the_silence_not_with_the_last_answer() -> None:
    """Replies may take longer than outage_s."""
    now = 0.0
    outages = Outages(900.0, clock=lambda: now)
    outages.answered(HERE)
    now = 5000.0
    assert not outages.failed(HERE, 1)
    now = 5899.0
    assert not outages.failed(HERE, 20)
    now = 5900.0
    assert outages.failed(HERE, 21)


def test_an_answer_ends_an_outage_and_the_next_begins_anew() -> None:
    now = 0.0
    outages = Outages(900.0, clock=lambda: now)
    for endpoint in (HERE, THERE):
        outages.answered(endpoint)
        assert not outages.failed(endpoint, 1)
    assert [one.base_url for one in outages.now()] == [HERE.base_url, THERE.base_url]
    outages.answered(HERE)
    assert [one.base_url for one in outages.now()] == [THERE.base_url]
    now = 1000.0
    assert not outages.failed(HERE, 1)
    assert outages.failed(THERE, 9)
