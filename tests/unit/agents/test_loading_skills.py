"""Loading and unloading: one change, counted holders, nothing by halves."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from loading_samples import AGENT, Mortal, Struck, library, manifest, twin_store

from control_plane import AgentStore, UnknownAgent, read_agent_history
from dcf.agents.loading import (
    LoadChecks,
    LoadRefused,
    agent_grants,
    load_skill,
    loaded_skills,
    unload_skill,
)
from dcf.skills import Manifest
from dcf.tools import ToolDescription, ToolUnavailable


@pytest.fixture
async def agents() -> AgentStore:
    store = twin_store()
    await store.create(AGENT, "Ann")
    return store


async def record(agents: AgentStore) -> dict[str, Any]:
    agent = await agents.get(AGENT)
    assert agent is not None
    return agent.record


async def codes(agents: AgentStore) -> list[str]:
    return [entry.event["type"] async for entry in read_agent_history(agents, AGENT)]


async def tools(agents: AgentStore) -> list[str]:
    return [f"{g.server_id}:{g.tool_name}" for g in await agent_grants(agents, AGENT)]


QUOTE = manifest("orders.quote", "shop:price", "shop:stock", data={"rates": "a" * 9801})
REFUND = manifest("orders.refund", "shop:price", "bank:pay", data={"rates": "b"})


async def test_a_load_is_on_record_with_everything_it_brought(agents: AgentStore) -> None:
    done = await load_skill(agents, library(QUOTE), AGENT, "orders.quote")
    assert (done.status, done.manifest_id) == ("loaded", QUOTE.manifest_id)
    kept = await record(agents)
    entry = kept["dcf_active_skills"][QUOTE.manifest_id]
    assert entry == {
        "skillName": "orders.quote",
        "skillVersion": "1.0.0",
        "digest": QUOTE.digest,
        "memoryBlockIds": list(done.memory_block_ids),
        "toolIds": ["shop:price", "shop:stock"],
        "dataSourceBlockIds": list(done.data_block_ids),
        "dependencies": {},
        "requested": True,
        "trusted": True,
    }
    blocks = [kept["blocks"][name] for name in (*done.memory_block_ids, *done.data_block_ids)]
    assert [(block["label"], len(block["value"])) for block in blocks] == [
        (f"skill_directives_orders.quote_{QUOTE.manifest_id}", len("Do it.")),
        ("skill_ds_orders.quote_rates_chunk_1_of_3", 4900),
        ("skill_ds_orders.quote_rates_chunk_2_of_3", 4900),
        ("skill_ds_orders.quote_rates_chunk_3_of_3", 1),
    ]
    assert await codes(agents) == ["AgentCreated", "SkillLoaded"]
    assert done.to_json()["added"]["tool_ids"] == ["shop:price", "shop:stock"]


async def test_data_of_one_piece_has_a_plain_label(agents: AgentStore) -> None:
    await load_skill(agents, library(REFUND), AGENT, "orders.refund")
    labels = {block["label"] for block in (await record(agents))["blocks"].values()}
    assert "skill_ds_orders.refund_rates" in labels


async def test_the_same_skill_again_changes_nothing_and_says_so(agents: AgentStore) -> None:
    await load_skill(agents, library(QUOTE), AGENT, "orders.quote")
    before = await agents.get(AGENT)
    again = await load_skill(agents, library(QUOTE), AGENT, "skill://orders.quote@1.0.0")
    assert (again.status, again.skills, again.tool_ids) == ("already_loaded", (), ())
    assert await agents.get(AGENT) == before


async def test_another_digest_under_the_same_id_is_refused_with_both(agents: AgentStore) -> None:
    changed = manifest("orders.quote", "shop:price", directives="Do it well.")
    await load_skill(agents, library(QUOTE), AGENT, "orders.quote")
    before = await agents.get(AGENT)
    with pytest.raises(LoadRefused) as refused:
        await load_skill(agents, library(changed), AGENT, "orders.quote")
    assert QUOTE.digest in str(refused.value)
    assert changed.digest in str(refused.value)
    assert await agents.get(AGENT) == before
    done = await load_skill(agents, library(changed), AGENT, "orders.quote", replace_changed=True)
    assert done.status == "replaced"
    assert await tools(agents) == ["shop:price"]
    fresh = twin_store()
    await fresh.create(AGENT, "Ann")
    await load_skill(fresh, library(changed), AGENT, "orders.quote")
    assert await record(agents) == await record(fresh)


async def test_unloading_one_of_two_that_share_a_tool_leaves_the_other_working(
    agents: AgentStore,
) -> None:
    both = library(QUOTE, REFUND)
    await load_skill(agents, both, AGENT, "orders.quote")
    await load_skill(agents, both, AGENT, "orders.refund")
    assert await tools(agents) == ["bank:pay", "shop:price", "shop:price", "shop:stock"]
    gone = await unload_skill(agents, AGENT, QUOTE.manifest_id)
    assert (gone.status, gone.removed_tool_ids) == ("unloaded", ("shop:stock",))
    assert gone.kept_tool_ids == ("shop:price",)
    assert await tools(agents) == ["bank:pay", "shop:price"]
    assert set(await loaded_skills(agents, AGENT)) == {REFUND.manifest_id}
    only = twin_store()
    await only.create(AGENT, "Ann")
    await load_skill(only, both, AGENT, "orders.refund")
    assert await record(agents) == await record(only)


async def test_versions_of_a_skill_share_equal_texts_and_keep_different_ones(
    agents: AgentStore,
) -> None:
    data = {"same": "s", "other": "old"}
    old = manifest("a.b", data=data)
    new = manifest("a.b", version="2.0.0", data={**data, "other": "new"})
    both = library(old, new)
    await load_skill(agents, both, AGENT, "a.b@1.0.0")
    await load_skill(agents, both, AGENT, "a.b@2.0.0")
    blocks = (await record(agents))["blocks"].values()
    held = {(block["label"], block["value"]): len(block["holders"]) for block in blocks}
    assert held[("skill_ds_a.b_same", "s")] == 2
    assert held[("skill_ds_a.b_other", "old")] == held[("skill_ds_a.b_other", "new")] == 1
    await unload_skill(agents, AGENT, "a.b@^1.0.0")
    values = {block["value"] for block in (await record(agents))["blocks"].values()}
    assert {"s", "new"} <= values
    assert "old" not in values


async def test_what_a_skill_needs_comes_and_goes_with_it(agents: AgentStore) -> None:
    known = library(
        manifest("top", "t:a", needs=["middle@^1.0"]),
        manifest("middle", "t:b", version="1.0.0", needs=["bottom"]),
        manifest("middle", "t:b2", version="1.4.0", needs=["bottom"]),
        manifest("middle", "t:b3", version="2.0.0"),
        manifest("bottom", "t:c"),
        manifest("beside", "t:d", needs=["bottom"]),
    )
    done = await load_skill(agents, known, AGENT, "top")
    assert set(done.skills) == {"skill.top@1.0.0", "skill.middle@1.4.0", "skill.bottom@1.0.0"}
    await load_skill(agents, known, AGENT, "beside")
    assert await tools(agents) == ["t:a", "t:b2", "t:c", "t:d"]
    gone = await unload_skill(agents, AGENT, "top")
    assert set(gone.skills) == {"skill.top@1.0.0", "skill.middle@1.4.0"}
    assert await tools(agents) == ["t:c", "t:d"]
    await unload_skill(agents, AGENT, "beside")
    assert await record(agents) == {"dcf_active_skills": {}, "blocks": {}, "tools": {}}


async def test_what_was_asked_for_itself_stays_until_it_is_unloaded_itself(
    agents: AgentStore,
) -> None:
    known = library(manifest("top", "t:a", needs=["low"]), manifest("low", "t:b"))
    await load_skill(agents, known, AGENT, "top")
    assert (await load_skill(agents, known, AGENT, "low")).status == "loaded"
    kept = await unload_skill(agents, AGENT, "low")
    assert (kept.status, kept.needed_by) == ("still_needed", ("skill.top@1.0.0",))
    assert (await unload_skill(agents, AGENT, "top")).skills == (
        "skill.low@1.0.0", "skill.top@1.0.0"
    )  # fmt: skip


async def test_a_newer_version_in_the_catalog_does_not_change_what_is_loaded(
    agents: AgentStore,
) -> None:
    top, old = manifest("top", needs=["low@^1.0"]), manifest("low", "t:b")
    await load_skill(agents, library(top, old), AGENT, "top")
    newer = library(top, old, manifest("low", "t:c", version="1.9.0"))
    assert (await load_skill(agents, newer, AGENT, "top")).status == "already_loaded"
    assert await tools(agents) == ["t:b"]


async def test_skills_that_need_each_other_go_together(agents: AgentStore) -> None:
    known = library(manifest("a", needs=["b"]), manifest("b", needs=["a"]))
    await load_skill(agents, known, AGENT, "a")
    assert len(await loaded_skills(agents, AGENT)) == 2
    await unload_skill(agents, AGENT, "a")
    assert await loaded_skills(agents, AGENT) == {}


async def test_unloading_what_is_not_loaded_is_no_error(agents: AgentStore) -> None:
    assert (await unload_skill(agents, AGENT, "skill.x@1.0.0")).status == "not_loaded"
    assert await codes(agents) == ["AgentCreated"]


async def test_a_name_that_fits_several_loaded_skills_unloads_none(agents: AgentStore) -> None:
    both = library(manifest("a.b"), manifest("a.b", version="2.0.0"))
    await load_skill(agents, both, AGENT, "a.b@1.0.0")
    await load_skill(agents, both, AGENT, "a.b@2.0.0")
    with pytest.raises(LoadRefused, match=r"skill\.a\.b@1\.0\.0, skill\.a\.b@2\.0\.0"):
        await unload_skill(agents, AGENT, "a.b")


async def test_an_agent_that_is_not_there_is_said_so(agents: AgentStore) -> None:
    for attempt in (
        load_skill(agents, library(QUOTE), "nobody", "orders.quote"),
        unload_skill(agents, "nobody", "orders.quote"),
        loaded_skills(agents, "nobody"),
        agent_grants(agents, "nobody"),
    ):
        with pytest.raises(UnknownAgent):
            await attempt


class Listing:
    """A toolbox whose servers list what they are told to; ``meanwhile`` happens while they do."""

    def __init__(self, servers: dict[str, list[str]], meanwhile: Any = None) -> None:
        self._servers, self._meanwhile = servers, meanwhile

    async def list_tools(self, server_id: str) -> list[ToolDescription]:
        if self._meanwhile is not None:
            await self._meanwhile()
        if server_id not in self._servers:
            raise ToolUnavailable(server_id, "nowhere", "it is down")
        return [ToolDescription(name, "", {}, None) for name in self._servers[server_id]]


async def test_an_agent_that_was_deleted_meanwhile_gets_nothing(agents: AgentStore) -> None:
    async def delete_and_make_anew() -> None:
        old = await agents.get(AGENT)
        assert old is not None
        await agents.delete(old)
        await agents.create(AGENT, "Ann")

    toolbox: Any = Listing({"shop": ["price", "stock"]}, delete_and_make_anew)
    with pytest.raises(UnknownAgent):
        await load_skill(
            agents, library(QUOTE), AGENT, "orders.quote", checks=LoadChecks(toolbox=toolbox)
        )
    assert await record(agents) == {}


async def test_a_tool_that_its_server_lacks_refuses_the_load_unless_it_is_optional(
    agents: AgentStore,
) -> None:
    skill = manifest("a", "shop:price", "shop:sing", "gone:x", optional=["shop:sing"])
    toolbox: Any = Listing({"shop": ["price"]})
    checks = LoadChecks(toolbox=toolbox)
    with pytest.raises(LoadRefused) as refused:
        await load_skill(agents, library(skill), AGENT, "a", checks=checks)
    assert [(p.severity, "gone:x" in p.message) for p in refused.value.problems] == [
        ("warning", False), ("error", True)
    ]  # fmt: skip
    assert await record(agents) == {}
    fine = manifest("a", "shop:price", "shop:sing", "gone:x", optional=["shop:sing", "gone:x"])
    done = await load_skill(agents, library(fine), AGENT, "a", checks=checks)
    assert len(done.warnings) == 2


async def test_a_secret_that_is_not_set_is_named_or_refused(agents: AgentStore) -> None:
    skill = library(manifest("a", secrets=["ONE_KEY", "TWO_KEY"], egress="none"))
    environment = {"ONE_KEY": "hidden", "TWO_KEY": ""}
    with pytest.raises(LoadRefused, match="TWO_KEY, which is not set") as refused:
        await load_skill(agents, skill, AGENT, "a", checks=LoadChecks(environment, "refuse"))
    assert "hidden" not in str(refused.value)
    done = await load_skill(agents, skill, AGENT, "a", checks=LoadChecks(environment))
    assert [problem.code for problem in done.warnings] == ["SKILL_LOAD_SECRET"]


async def test_integrity_must_be_that_of_the_manifest(agents: AgentStore) -> None:
    known = library(QUOTE)
    with pytest.raises(LoadRefused, match=QUOTE.digest):
        await load_skill(agents, known, AGENT, "orders.quote", integrity="sha256:" + "0" * 64)
    done = await load_skill(agents, known, AGENT, "orders.quote", integrity=QUOTE.digest)
    assert done.status == "loaded"


async def test_grants_carry_the_permissions_of_each_skill(agents: AgentStore) -> None:
    risky = manifest("risky", "bank:pay", egress="internet", riskLevel="high", secrets=["PAY_KEY"])
    await load_skill(agents, library(risky), AGENT, "risky")
    [grant] = await agent_grants(agents, AGENT)
    assert (grant.egress, grant.risk, grant.secrets) == ("internet", "high", ("PAY_KEY",))
    assert grant.skill == "skill.risky@1.0.0"
    assert grant.input_schema["properties"] == {"x": {"type": "integer"}}


SHARED = [
    manifest("top", "t:a", "t:b", needs=["low"], data={"d": "x" * 5000}),
    manifest("low", "t:b", "t:c"),
    manifest("beside", "t:a", "t:c", data={"d": "y"}),
]


async def whole(*names: str, known: list[Manifest] = SHARED) -> dict[str, Any]:
    """The record of an agent that loaded exactly these."""
    store = twin_store()
    await store.create(AGENT, "Ann")
    for name in names:
        await load_skill(store, library(*known), AGENT, name)
    agent = await store.get(AGENT)
    assert agent is not None
    return agent.record


@pytest.mark.parametrize("after", [False, True])
async def test_a_crash_at_any_point_of_a_load_leaves_no_half_state(after: bool) -> None:
    before, done = await whole("beside"), await whole("beside", "top")
    outcomes = []
    for nth in range(1, 50):
        store = twin_store()
        await store.create(AGENT, "Ann")
        await load_skill(store, library(*SHARED), AGENT, "beside")
        mortal = Mortal(store.backend, nth, after=after)
        try:
            await load_skill(AgentStore(mortal), library(*SHARED), AGENT, "top")
        except Struck:
            found = await record(store)
            assert found in (before, done), nth
            outcomes.append(found == done)
            await load_skill(store, library(*SHARED), AGENT, "top")
            assert await record(store) == done
        else:
            break
    assert outcomes == [False, False, after]


@pytest.mark.parametrize("after", [False, True])
async def test_a_crash_at_any_point_of_an_unload_leaves_no_half_state(after: bool) -> None:
    before, done = await whole("beside", "top"), await whole("beside")
    outcomes = []
    for nth in range(1, 50):
        store = twin_store()
        await store.create(AGENT, "Ann")
        for name in ("beside", "top"):
            await load_skill(store, library(*SHARED), AGENT, name)
        try:
            await unload_skill(AgentStore(Mortal(store.backend, nth, after=after)), AGENT, "top")
        except Struck:
            found = await record(store)
            assert found in (before, done), nth
            outcomes.append(found == done)
            await unload_skill(store, AGENT, "top")
            assert await record(store) == done
        else:
            break
    assert outcomes == [False, after]


async def test_a_cancelled_load_leaves_no_half_state() -> None:
    """The task is cancelled at each of its turns in the event loop."""
    before, done = await whole(), await whole("top")
    for turns in range(12):
        store = twin_store()
        await store.create(AGENT, "Ann")
        slow: Any = Listing({"t": ["a", "b", "c"]}, lambda: asyncio.sleep(0))
        loading = load_skill(store, library(*SHARED), AGENT, "top", checks=LoadChecks(toolbox=slow))
        task = asyncio.create_task(loading)
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert await record(store) in (before, done), turns


async def test_loaders_at_the_same_time_lose_nothing_of_each_other() -> None:
    class Slow:
        """A backend that lets others go first at every call."""

        def __init__(self, inner: Any) -> None:
            self._inner, self.close = inner, inner.close

        async def run(self, *args: Any) -> Any:
            await asyncio.sleep(0)
            return await self._inner.run(*args)

        async def command(self, *args: Any) -> Any:
            await asyncio.sleep(0)
            return await self._inner.command(*args)

    skills = [manifest(f"s{number}", "t:shared", f"t:own{number}") for number in range(8)]
    inner = twin_store()
    await inner.create(AGENT, "Ann")
    store = AgentStore(Slow(inner.backend))
    await asyncio.gather(
        *(load_skill(store, library(*skills), AGENT, skill.name) for skill in skills)
    )
    assert await record(inner) == await whole(*(s.name for s in skills), known=skills)
    await asyncio.gather(*(unload_skill(store, AGENT, skill.name) for skill in skills[1:]))
    assert await record(inner) == await whole("s0", known=skills)
