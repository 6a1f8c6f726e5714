"""The archive of a runtime's agents."""

from __future__ import annotations

import pytest

from dcf.agents import AgentRuntime
from dcf.memory import Actor, MemoryProblem, NewAgent, NewPassage


async def test_a_passage_is_found_by_what_it_says(runtime: AgentRuntime, by: Actor) -> None:
    agent = await runtime.create(NewAgent("scout"), by=by)
    texts = ("The harbour opens at six.", "Bread is baked on Tuesdays.", "The cat is called Minka.")
    for text in texts:
        await runtime.insert_passage(agent.id, NewPassage(text, tags=("town",)), by=by)
    assert {passage.text for passage in await runtime.passages(agent.id)} == set(texts)
    found = await runtime.search_passages(agent.id, "harbour opens", k=1)
    assert [passage.text for passage in found] == ["The harbour opens at six."]


async def test_archives_are_apart(runtime: AgentRuntime, by: Actor) -> None:
    one = await runtime.create(NewAgent("one"), by=by)
    other = await runtime.create(NewAgent("other"), by=by)
    await runtime.insert_passage(one.id, NewPassage("a secret garden"), by=by)
    assert await runtime.passages(other.id) == ()
    assert await runtime.search_passages(other.id, "secret garden") == ()


async def test_a_deleted_passage_is_not_found(runtime: AgentRuntime, by: Actor) -> None:
    agent = await runtime.create(NewAgent("scout"), by=by)
    passage = await runtime.insert_passage(agent.id, NewPassage("a secret garden"), by=by)
    await runtime.delete_passage(agent.id, passage.id, by=by)
    assert await runtime.passages(agent.id) == ()
    assert await runtime.search_passages(agent.id, "secret garden") == ()
    with pytest.raises(MemoryProblem):
        await runtime.delete_passage(agent.id, passage.id, by=by)
