"""Records of agents: names are unique, changes compare and set, what is said twice counts once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from campaigns import CONTRACT, settled
from cluster import cluster_server
from worlds import World

from control_plane import (
    AgentBusy,
    AgentChange,
    AgentConflict,
    AgentDocument,
    AgentExists,
    AgentStore,
    BadDocument,
    BadName,
    CorruptHistory,
    NameTaken,
    RedisBackend,
    ServerError,
    UnknownAgent,
    read_agent_history,
)
from control_plane.script import Script
from control_plane.twin import Twin

pytestmark = settled(*CONTRACT)


@pytest.fixture
async def agents(world: World) -> AsyncIterator[AgentStore]:
    yield AgentStore(world.backend, tokens=world.token)


async def events(agents: AgentStore, agent_id: str) -> list[str]:
    return [entry.event["type"] async for entry in read_agent_history(agents, agent_id)]


def noted(text: str) -> AgentChange:
    return AgentChange([{"type": text}], {"note": text})


async def test_a_new_agent_is_found_by_id_and_by_name(agents: AgentStore) -> None:
    made = await agents.create("a:1", "Ann", tags=["role:worker"], record={"notes": [], "n": {}})
    assert await agents.get("a:1") == made
    assert (made.name, made.tags, made.revision) == ("Ann", ("role:worker",), 1)
    assert made.record == {"notes": [], "n": {}}
    assert await agents.find("Ann") == "a:1"
    assert await agents.find("ann") is None
    assert await agents.get("a:2") is None
    assert await events(agents, "a:1") == ["AgentCreated"]


async def test_an_id_and_a_name_belong_to_one_agent(agents: AgentStore) -> None:
    await agents.create("a", "Ann")
    with pytest.raises(AgentExists):
        await agents.create("a", "Bob")
    with pytest.raises(NameTaken, match="agent a"):
        await agents.create("b", "Ann")
    assert await agents.find("Bob") is None
    assert await agents.get("b") is None


@pytest.mark.parametrize("agent_id", ["", "a b", "ä", "a/b", "a" * 129, "a:history", "{a}", "a\n"])
async def test_an_id_that_would_read_as_something_else_is_refused(
    agents: AgentStore, agent_id: str
) -> None:
    with pytest.raises(BadName):
        await agents.create(agent_id, "Ann")


@pytest.mark.parametrize("name", ["", "a\tb", "x" * 257])
async def test_a_name_nobody_could_read_is_refused(agents: AgentStore, name: str) -> None:
    with pytest.raises(BadName):
        await agents.create("a", name)


async def test_ids_and_names_that_look_like_keys_of_ours_disturb_nothing(
    agents: AgentStore,
) -> None:
    for number, agent_id in enumerate(("names", "index", "history", "a", "a:b", "gone:1")):
        await agents.create(agent_id, f"agent:{number}")
    assert [agent.agent_id for agent in (await agents.page()).agents] == [
        "names", "index", "history", "a", "a:b", "gone:1"
    ]  # fmt: skip


async def test_a_change_under_an_old_revision_is_refused_and_writes_nothing(
    agents: AgentStore, world: World
) -> None:
    made = await agents.create("a", "Ann")
    first = await agents.change(made, noted("First"))
    assert isinstance(first, AgentDocument)
    assert (first.revision, first.record) == (2, {"note": "First"})
    before = await world.dump()
    assert await agents.change(made, noted("Second")) == AgentConflict(2)
    assert await world.dump() == before


async def test_members_that_a_change_does_not_name_stay(agents: AgentStore) -> None:
    made = await agents.create("a", "Ann", record={"one": 1, "two": {"x": []}})
    await agents.change(made, AgentChange([{"type": "X"}], {"one": None}))
    again = await agents.get("a")
    assert again is not None
    assert again.record == {"one": None, "two": {"x": []}}
    part = await agents.get("a", ["two", "three"])
    assert part is not None
    assert part.record == {"two": {"x": []}}


async def test_values_come_back_as_they_were_given(agents: AgentStore) -> None:
    values = {"big": 2**70, "small": 0.1 + 0.2, "mark": {"$json": "x"}, "empty": [[], {}]}
    await agents.create("a", "Ann", record=values)
    found = await agents.get("a")
    assert found is not None
    assert found.record == values
    changed = await agents.change(found, AgentChange([], {"small": 1e308, "new": values}))
    assert isinstance(changed, AgentDocument)
    again = await agents.get("a")
    assert again is not None
    assert again.record == {**values, "small": 1e308, "new": values}


@pytest.mark.parametrize("value", [float("nan"), "\ud800", {1: 2}, object()])
async def test_what_is_no_json_is_refused_before_anything_is_written(
    agents: AgentStore, world: World, value: Any
) -> None:
    made = await agents.create("a", "Ann")
    before = await world.dump()
    with pytest.raises(BadDocument):
        await agents.change(made, AgentChange([], {"x": value}))
    with pytest.raises(BadDocument):
        await agents.create("b", "Bob", record={"x": value})
    assert await world.dump() == before


async def test_a_member_is_no_larger_than_4_mib(agents: AgentStore) -> None:
    made = await agents.create("a", "Ann")
    with pytest.raises(BadDocument, match="4194304"):
        await agents.change(made, AgentChange([], {"x": "y" * 4 * 1024 * 1024}))


async def test_a_new_name_is_the_only_one(agents: AgentStore) -> None:
    made = await agents.create("a", "Ann")
    await agents.create("b", "Bob")
    with pytest.raises(NameTaken):
        await agents.change(made, AgentChange(name="Bob"))
    renamed = await agents.change(made, AgentChange(name="Cleo", tags=["x"]))
    assert isinstance(renamed, AgentDocument)
    assert await agents.get("a") is not None
    assert (renamed.name, renamed.tags) == ("Cleo", ("x",))
    assert [await agents.find(name) for name in ("Ann", "Bob", "Cleo")] == [None, "b", "a"]


async def test_pages_show_every_agent_once_whatever_comes_and_goes_between(
    agents: AgentStore,
) -> None:
    for number in range(7):
        await agents.create(f"a{number}", f"Agent {number}", tags=[f"odd:{number % 2}"])
    first = await agents.page(limit=3)
    assert [agent.agent_id for agent in first.agents] == ["a0", "a1", "a2"]
    for gone in (await agents.get("a2"), await agents.get("a4")):
        assert gone is not None
        await agents.delete(gone)
    await agents.create("late", "Late")
    second = await agents.page(limit=3, after=first.after)
    third = await agents.page(limit=3, after=second.after)
    assert [agent.agent_id for agent in second.agents] == ["a3", "a5", "a6"]
    assert [agent.agent_id for agent in third.agents] == ["late"]
    assert third.after is None
    assert await agents.count() == 6
    odd = await agents.page(limit=2, tags=["odd:1"])
    assert [agent.agent_id for agent in odd.agents] == ["a1", "a3"]
    rest = await agents.page(limit=2, tags=["odd:1"], after=odd.after)
    assert [agent.agent_id for agent in rest.agents] == ["a5"]


async def test_a_deleted_agent_leaves_its_history_and_nothing_else(
    agents: AgentStore, world: World
) -> None:
    made = await agents.create("a", "Ann")
    await agents.change(
        made, AgentChange([{"type": "Asked"}], asked={"agent\ta\t1": 5}), call="ask"
    )
    assert await agents.backend.command("ZRANGE", "cp:approvals", 0, -1) == ["agent\ta\t1"]
    await agents.delete(made, by="me", settled=["agent\ta\t1"], history_kept_ms=5000)
    assert await agents.get("a") is None
    assert await agents.find("Ann") is None
    assert await agents.count() == 0
    assert await agents.backend.command("EXISTS", "cp:approvals") == 0
    assert await events(agents, "a") == ["AgentCreated", "Asked", "AgentDeleted"]
    assert 0 < await agents.backend.command("PTTL", "cp:agent:a:history") <= 5000
    with pytest.raises(UnknownAgent):
        await agents.delete(made)


async def test_an_agent_made_anew_under_the_id_is_another_and_goes_on_with_the_history(
    agents: AgentStore,
) -> None:
    old = await agents.create("a", "Ann")
    await agents.delete(old)
    new = await agents.create("a", "Ann")
    assert new.incarnation != old.incarnation
    with pytest.raises(UnknownAgent):
        await agents.change(old, noted("Stale"))
    with pytest.raises(UnknownAgent):
        await agents.delete(old)
    with pytest.raises(UnknownAgent):
        await agents.update("a", lambda _: noted("Stale"), incarnation=old.incarnation)
    assert await events(agents, "a") == ["AgentCreated", "AgentDeleted", "AgentCreated"]
    assert await agents.backend.command("PTTL", "cp:agent:a:history") == -1


async def test_what_is_kept_of_a_deleted_agent_is_what_the_next_with_its_id_begins_with(
    agents: AgentStore, world: World
) -> None:
    kept = {"used": {"calls": 2**70, "share": 0.1 + 0.2}, "odd": {"$json": "x"}}
    old = await agents.create("a", "Ann", record={**kept, "skills": ["x"]})
    await agents.delete(old, keep=["used", "odd", "none"], history_kept_ms=1)
    for _ in range(2):
        new = await agents.create("a", "Bob", record={"used": None, "more": 1})
        assert new.record == {**kept, "more": 1}
        assert await agents.get("a") == new
        await agents.delete(new, keep=["used"])
    other = await agents.create("b", "Bob")
    assert other.record == {}
    with pytest.raises(BadName):
        await agents.delete(other, keep=["$.x"])


class Doubling:
    """Runs every script twice and sees to it that the second changes nothing."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.doubled: list[str] = []

    async def run(self, script: Script, keys: Sequence[str], args: Sequence[str | int]) -> Any:
        first = await self._world.backend.run(script, keys, args)
        before = await self._world.dump()
        assert await self._world.backend.run(script, keys, args) == first
        assert await self._world.dump() == before
        self.doubled.append(script.name)
        return first

    async def command(self, *args: str | int) -> Any:
        return await self._world.backend.command(*args)

    async def close(self) -> None: ...


async def test_what_is_said_twice_has_one_effect_and_one_answer(world: World) -> None:
    doubling = Doubling(world)
    agents = AgentStore(doubling, tokens=world.token)
    made = await agents.create("a", "Ann")
    changed = await agents.change(made, AgentChange([{"type": "X"}], {"used": 1}))
    assert isinstance(changed, AgentDocument)
    await agents.note(changed, [{"type": "Y"}])
    await agents.delete(changed, keep=["used"])
    assert (await agents.create("a", "Ann")).record == {"used": 1}
    assert doubling.doubled == [
        "record_create", "record_change", "record_change", "record_delete", "record_create"
    ]  # fmt: skip


async def test_a_call_said_again_after_others_gets_its_first_answer(
    agents: AgentStore, world: World
) -> None:
    made = await agents.create("a", "Ann", call="c0")
    await agents.change(made, noted("X"), call="c1")
    now = await agents.update("a", lambda _: noted("Y"))
    before = await world.dump()
    again = await agents.change(made, noted("X"), call="c1")
    assert isinstance(again, AgentDocument)
    assert again.revision == 2
    assert (await agents.create("a", "Ann", call="c0")).created_at == made.created_at
    assert await world.dump() == before
    await agents.delete(now, call="c2")
    await agents.delete(now, call="c2")
    await agents.create("a", "Ann", call="c0")
    assert await agents.get("a") is None, "what was deleted does not come back by an echo"


async def test_only_the_last_calls_are_remembered(agents: AgentStore, world: World) -> None:
    await agents.create("a", "Ann")
    for number in range(80):
        await agents.update("a", lambda _, number=number: noted(f"N{number}"))
    said = (await world.dump())["cp:agent:a"]["ctl"]["said"]
    assert len(said) == 32


async def test_no_change_is_lost_between_many_at_once(agents: AgentStore) -> None:
    await agents.create("a", "Ann", record={"count": 0})

    async def raise_it() -> None:
        def plan(agent: AgentDocument) -> AgentChange:
            count = agent.record["count"] + 1
            return AgentChange([{"type": "Raised", "to": count}], {"count": count})

        await agents.update("a", plan, ["count"])

    await asyncio.gather(*(raise_it() for _ in range(30)))
    agent = await agents.get("a")
    assert agent is not None
    assert (agent.record["count"], agent.revision) == (30, 31)


async def test_a_change_that_never_gets_through_ends(agents: AgentStore) -> None:
    class Late(AgentStore):
        async def change(self, *args: Any, **options: Any) -> AgentConflict:
            return AgentConflict(9)

    await agents.create("a", "Ann")
    late = Late(agents.backend, jitter=lambda: 0.0)
    with pytest.raises(AgentBusy):
        await late.update("a", lambda _: noted("X"))


async def test_the_history_is_bounded_and_its_chain_still_fits(agents: AgentStore) -> None:
    made = await agents.create("a", "Ann")
    for start in range(0, 5100, 300):
        await agents.note(made, [{"type": "N", "n": start + n} for n in range(300)])
    entries = [entry async for entry in read_agent_history(agents, "a")]
    assert len(entries) == 5000
    assert entries[-1].event["n"] == 5099
    last = [entry async for entry in read_agent_history(agents, "a", after=entries[-2].entry)]
    assert [entry.event["n"] for entry in last] == [5099]


@pytest.mark.parametrize("which", [1, -1])
async def test_a_history_that_somebody_changed_is_told(agents: AgentStore, which: int) -> None:
    made = await agents.create("a", "Ann")
    for number in range(3):
        await agents.note(made, [{"type": "N", "n": number}])
    entries = await agents.backend.command("XRANGE", "cp:agent:a:history", "-", "+")
    await agents.backend.command("XDEL", "cp:agent:a:history", entries[which][0])
    with pytest.raises(CorruptHistory):
        await events(agents, "a")


async def test_all_keys_are_declared_or_share_a_slot() -> None:
    """A strict twin refuses any other; so would a cluster."""
    now = 1_790_000_000_000_000
    for cluster in (False, True):
        agents = AgentStore(Twin(lambda: now), cluster=cluster)
        made = await agents.create("a", "Ann")
        done = await agents.change(
            made, AgentChange([{"type": "X"}], {"x": 1}, name="Bob", asked={"agent\ta\t1": 1})
        )
        assert isinstance(done, AgentDocument)
        assert await agents.backend.command("ZRANGE", "cp:approvals", 0, -1) == ["agent\ta\t1"]
        await agents.delete(done, settled=["agent\ta\t1"])
        assert await agents.backend.command("ZRANGE", "cp:approvals", 0, -1) == []
        assert await agents.count() == 0


async def test_a_server_that_takes_no_writes_leaves_the_record_as_it_was() -> None:
    twin = Twin(lambda: 1_790_000_000_000_000)
    agents = AgentStore(twin)
    made = await agents.create("a", "Ann")
    before = twin.dump()
    twin.fail_next("JSON.MSET", "OOM command not allowed", nth=1)
    with pytest.raises(ServerError):
        await agents.change(made, noted("X"))
    assert twin.dump() == before


class OneSlot:
    """Scripts are sent so that a cluster refuses keys of several slots."""

    def __init__(self, inner: RedisBackend) -> None:
        self._inner = inner
        self.command, self.close = inner.command, inner.close

    async def run(self, script: Script, keys: Sequence[str], args: Sequence[str | int]) -> Any:
        return await self._inner.run(Script(script.name, f"#!lua\n{script.source}"), keys, args)


async def test_a_cluster_takes_every_script_and_the_list_of_approvals_follows(
    short_dir: Path,
) -> None:
    with cluster_server(short_dir) as url:
        agents = AgentStore(OneSlot(RedisBackend.from_url(url)), cluster=True)
        made = await agents.create("a", "Ann", record={"x": 1})
        with pytest.raises(NameTaken):
            await agents.create("b", "Ann")
        done = await agents.change(
            made, AgentChange([{"type": "X"}], {"x": 2}, name="Bob", asked={"agent\ta\t1": 5})
        )
        assert isinstance(done, AgentDocument)
        assert await agents.backend.command("ZRANGE", "cp:approvals", 0, -1) == ["agent\ta\t1"]
        assert [agent.name for agent in (await agents.page()).agents] == ["Bob"]
        await agents.delete(done, settled=["agent\ta\t1"])
        assert await agents.backend.command("EXISTS", "cp:approvals") == 0
        assert await events(agents, "a") == ["AgentCreated", "X", "AgentDeleted"]
        await agents.backend.close()
