"""Agents of a runtime: made, found, listed, changed, deleted."""

from __future__ import annotations

import pytest

from dcf.agents import AgentRuntime
from dcf.memory import Actor, AgentExists, InvalidEntry, NewAgent, RevisionConflict, UnknownAgent


async def test_a_created_agent_is_found_by_id_and_by_name(runtime: AgentRuntime, by: Actor) -> None:
    made = await runtime.create(NewAgent("ada-scout", description="Looks around."), by=by)
    assert await runtime.get(made.id) == made
    found = await runtime.find("ada-scout")
    assert found is not None and found.id == made.id
    assert found.description == "Looks around."
    assert await runtime.find("nobody") is None


async def test_a_new_agent_holds_the_default_labels(runtime: AgentRuntime, by: Actor) -> None:
    made = await runtime.create(NewAgent("scout"), by=by)
    labels = {block.label for block in await runtime.blocks(made.id)}
    assert labels >= {"persona", "human", "project", "skills", "loaded_skills", "style"}


async def test_a_name_is_given_once(runtime: AgentRuntime, by: Actor) -> None:
    await runtime.create(NewAgent("scout"), by=by)
    with pytest.raises(AgentExists, match="scout"):
        await runtime.create(NewAgent("scout"), by=by)


async def test_an_agent_without_a_name_is_refused(runtime: AgentRuntime, by: Actor) -> None:
    with pytest.raises(InvalidEntry):
        await runtime.create(NewAgent(""), by=by)


async def test_an_unknown_agent_is_told_with_the_closest_names(
    runtime: AgentRuntime, by: Actor
) -> None:
    await runtime.create(NewAgent("planner-of-trips"), by=by)
    with pytest.raises(UnknownAgent) as raised:
        await runtime.get("planner-of-trip")
    assert "planner-of-trips" in str(raised.value)


async def test_agents_are_listed_by_all_or_any_of_their_tags(
    runtime: AgentRuntime, by: Actor
) -> None:
    for name, tags in {"a": ("red", "round"), "b": ("red",), "c": ("round",), "d": ()}.items():
        await runtime.create(NewAgent(name, tags=tags), by=by)

    async def names(*tags: str, match: str) -> list[str]:
        listed = await runtime.list(tags=tags, match="all" if match == "all" else "any")
        return [agent.name for agent in listed]

    assert await names("red", "round", match="all") == ["a"]
    assert await names("red", "round", match="any") == ["a", "b", "c"]
    assert await names("red", match="all") == ["a", "b"]
    assert await names("blue", match="any") == []


async def test_a_list_goes_on_behind_the_last_name_of_its_page(
    runtime: AgentRuntime, by: Actor
) -> None:
    for name in ("c", "a", "b"):
        await runtime.create(NewAgent(name, tags=("paged",)), by=by)
    first = await runtime.list(tags=["paged"], limit=2)
    rest = await runtime.list(tags=["paged"], limit=2, after=first[-1].name)
    assert [agent.name for agent in (*first, *rest)] == ["a", "b", "c"]


async def test_fields_are_changed_and_the_others_stay(runtime: AgentRuntime, by: Actor) -> None:
    made = await runtime.create(NewAgent("scout", description="Old.", tags=("x",)), by=by)
    changed = await runtime.update(made.id, by=by, description="New.", tags=("x", "y"))
    assert (changed.name, changed.description) == ("scout", "New.")
    assert set((await runtime.get(made.id)).tags) == {"x", "y"}


async def test_a_change_of_an_agent_that_others_changed_is_refused(
    runtime: AgentRuntime, by: Actor
) -> None:
    seen = await runtime.create(NewAgent("scout"), by=by)
    await runtime.update(seen.id, by=by, expected=seen.revision, description="First.")
    with pytest.raises(RevisionConflict):
        await runtime.update(seen.id, by=by, expected=seen.revision, description="Second.")
    assert (await runtime.get(seen.id)).description == "First."


async def test_a_deleted_agent_is_gone_with_its_conversation(
    runtime: AgentRuntime, by: Actor
) -> None:
    made = await runtime.create(NewAgent("scout"), by=by)
    await runtime.delete(made.id, by=by)
    assert await runtime.find("scout") is None
    with pytest.raises(UnknownAgent):
        await runtime.messages(made.id)
    with pytest.raises(UnknownAgent):
        await runtime.delete(made.id, by=by)
