"""What beside words speaks for a message: who says it, when, and whether it asks or answers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest
from memory_world import Numbered, Ticking

from dcf.memory import Actor, Memory, NewAgent, NewMessage, Source
from dcf.memory.search.period import Period, period_of


@pytest.fixture
async def words(tmp_path: Path, clock: Ticking) -> AsyncIterator[Memory]:
    """A memory that goes by words alone."""
    source = Source(tmp_path / "words.db")
    async with Memory.open(source, clock=clock, new_id=Numbered(), embedder="none") as opened:
        yield opened


def _ms(year: int, month: int, day: int) -> int:
    return round(datetime(year, month, day, 12, tzinfo=UTC).timestamp() * 1000)


async def _first(memory: Memory, by: Actor, said: Sequence[NewMessage], query: str, at: int) -> str:
    """The text that is found first; messages are a day apart, other talk between them."""
    agent = await memory.agents.create(NewAgent("anna"), by=by, blocks=())
    talk = [one for message in said for one in (message, *[NewMessage("user", "so it is")] * 4)]
    times = [at + place // 5 * 86_400_000 for place in range(len(talk))]
    await memory.messages.append(agent.id, *talk, by=by, created_at=times)
    return (await memory.search.find(query, agent_ids=[agent.id]))[0].text


async def test_of_two_messages_the_one_that_does_not_ask_comes_first(
    words: Memory, by: Actor
) -> None:
    said = [NewMessage("user", "The boat is red?"), NewMessage("user", "The boat is red.")]
    assert await _first(words, by, said, "red boat", _ms(2024, 5, 1)) == "The boat is red."


@pytest.mark.parametrize("mark", ["？", "؟", "? \n"])
async def test_questions_of_other_scripts_ask_too(words: Memory, by: Actor, mark: str) -> None:
    said = [NewMessage("user", f"red boat{mark}"), NewMessage("user", "red boat!")]
    assert await _first(words, by, said, "red boat", _ms(2024, 5, 1)) == "red boat!"


async def test_a_message_after_a_question_answers_it(words: Memory, by: Actor) -> None:
    agent = await words.agents.create(NewAgent("anna"), by=by, blocks=())
    talk = ["how so.", "red boat A", "", "", "", "how so?", "red boat B"]
    said = [NewMessage("user", text or "well well") for text in talk]
    await words.messages.append(agent.id, *said, by=by)
    found = await words.search.find("red boat", agent_ids=[agent.id])
    assert found[0].text == "red boat B"


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("what boat does Tom have", "a boat here"),
        ("what boat does Ines have", "a boat there"),
        ("what boat do Ines and Tom have", "a boat here"),
    ],
)
async def test_messages_of_the_one_who_is_named_come_first(
    words: Memory, by: Actor, query: str, first: str
) -> None:
    said = [
        NewMessage("user", "a boat here", sender="Tom"),
        NewMessage("user", "a boat there", sender="Ines"),
    ]
    assert await _first(words, by, said, query, _ms(2024, 5, 1)) == first


@pytest.mark.parametrize("query", ["boat on 2 May 2024", "boat on 2024-05-02", "boat May 2nd"])
async def test_messages_of_the_day_that_is_named_come_first(
    words: Memory, by: Actor, query: str
) -> None:
    said = [NewMessage("user", f"the boat, {mark}") for mark in ("one", "two", "three")]
    assert await _first(words, by, said, query, _ms(2024, 5, 1)) == "the boat, two"


@pytest.mark.parametrize(
    ("query", "period"),
    [
        ("on May 3rd, 2024", Period(2024, 5, 3)),
        ("the 3rd of May", Period(None, 5, 3)),
        ("3 Sept. 2024", Period(2024, 9, 3)),
        ("in the summer, July 2023 or so", Period(2023, 7, None)),
        ("late june", Period(None, 6, None)),
        ("during 2022", Period(2022, None, None)),
        ("2024-02", Period(2024, 2, None)),
        ("what is 2024-13", None),
        ("may I ask", None),
        ("a march of 20 people", None),
        ("room 2022", None),
        ("sun 12 times, mar 5", Period(None, 3, 5)),
        ("", None),
    ],
)
def test_a_query_names_a_time(query: str, period: Period | None) -> None:
    assert period_of(query) == period


def test_a_period_holds_its_days_in_utc() -> None:
    may = Period(2024, 5, None)
    last = datetime(2024, 5, 31, 23, 59, 59, tzinfo=UTC).timestamp() * 1000
    assert may.holds(round(last))
    assert not may.holds(round(last) + 1_000)
    assert Period(None, 5, 31).holds(round(last))
