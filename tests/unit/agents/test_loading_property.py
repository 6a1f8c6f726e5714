"""Whatever is loaded and unloaded in whatever order, the record is the sum of what is active."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from loading_samples import AGENT, Mortal, Struck, library, manifest, twin_store

from control_plane import AgentStore, read_agent_history
from dcf.agents.loading import LoadRefused, load_skill, unload_skill
from dcf.skills import Manifest

SKILLS = [
    manifest("a", "s:one", "s:two", data={"d": "x" * 4901}),
    manifest("b", "s:two", "s:three", needs=["c"]),
    manifest("c", "s:one", needs=["d@^1.0"]),
    manifest("d", "s:four", data={"same": "t"}),
    manifest("d", "s:four", version="2.0.0", data={"same": "t"}),
    manifest("e", "s:three", needs=["b", "d@2.x"]),
]
CHANGED = [
    manifest("a", "s:five", data={"d": "z"}),
    manifest("d", "s:two", needs=["a"]),
]
BY_ID = {skill.manifest_id: skill for skill in SKILLS}
NEEDS = {
    "skill.b@1.0.0": ["skill.c@1.0.0"],
    "skill.c@1.0.0": ["skill.d@1.0.0"],
    "skill.e@1.0.0": ["skill.b@1.0.0", "skill.d@2.0.0"],
}

acts = st.lists(
    st.tuples(
        st.sampled_from(["load", "unload"]),
        st.sampled_from(sorted(BY_ID)),
        st.sampled_from([None, None, None, 1, 2, 3, -1, -2, -3]),
    ),
    max_size=12,
)


def closure(wanted: set[str]) -> set[str]:
    """What is there when exactly ``wanted`` were asked for."""
    found: set[str] = set()
    waiting = list(wanted)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += NEEDS.get(name, [])
    return found


def check(record: dict[str, Any], by_id: dict[str, Manifest]) -> None:
    """The record is what its active set says, made anew from the manifests."""
    active = record.get("dcf_active_skills", {})
    tools: dict[str, set[str]] = defaultdict(set)
    texts: dict[str, set[str]] = defaultdict(set)
    for name in active:
        skill = by_id[name]
        assert active[name]["digest"] == skill.digest
        for tool in skill.tools:
            tools[f"{tool.server_id}:{tool.tool_name}"].add(name)
        texts[skill.directives + "@" + name].add(name)
        for source in skill.data_sources:
            texts[source.text + "@" + skill.name].add(name)
    assert {tool: set(entry["holders"]) for tool, entry in record.get("tools", {}).items()} == tools
    blocks = record.get("blocks", {})
    assert sum(len(block["holders"]) for block in blocks.values()) == sum(
        len(entry["memoryBlockIds"]) + len(set(entry["dataSourceBlockIds"]))
        for entry in active.values()
    )
    for name, entry in active.items():
        skill = by_id[name]
        [directives] = entry["memoryBlockIds"]
        assert blocks[directives]["value"] == skill.directives
        assert name in blocks[directives]["holders"]
        pieces = [blocks[block] for block in entry["dataSourceBlockIds"]]
        assert all(name in piece["holders"] for piece in pieces)
        assert "".join(piece["value"] for piece in pieces) == "".join(
            source.text for source in skill.data_sources
        )
    held = {block for entry in active.values() for block in
            (*entry["memoryBlockIds"], *entry["dataSourceBlockIds"])}  # fmt: skip
    assert set(blocks) == held


@settings(max_examples=120, deadline=None)
@given(acts)
def test_the_record_is_the_sum_of_the_active_skills_also_after_crashes(
    sequence: list[tuple[str, str, int | None]],
) -> None:
    asyncio.run(_one_after_another(sequence))


async def _one_after_another(sequence: list[tuple[str, str, int | None]]) -> None:
    store = twin_store()
    await store.create(AGENT, "Ann")
    known = library(*SKILLS)
    wanted: set[str] = set()
    for act, name, strike in sequence:
        backend: Any = store.backend
        if strike is not None:
            backend = Mortal(backend, abs(strike), after=strike < 0)
        user = AgentStore(backend)
        try:
            if act == "load":
                await load_skill(user, known, AGENT, name)
            else:
                await unload_skill(user, AGENT, name)
        except Struck:
            agent = await store.get(AGENT)
            assert agent is not None
            now = agent.record.get("dcf_active_skills", {})
            asked = {skill for skill, entry in now.items() if entry["requested"]}
            assert asked in (wanted, wanted | {name}, wanted - {name})
            wanted = asked
        else:
            wanted = wanted | {name} if act == "load" else wanted - {name}
        agent = await store.get(AGENT)
        assert agent is not None
        assert set(agent.record.get("dcf_active_skills", {})) == closure(wanted)
        check(agent.record, BY_ID)
    events = [entry.event async for entry in read_agent_history(store, AGENT)]
    agent = await store.get(AGENT)
    assert agent is not None
    assert len(events) == agent.revision


@settings(max_examples=60, deadline=None)
@given(st.lists(acts, min_size=2, max_size=3))
def test_several_at_the_same_time_leave_a_record_that_adds_up(
    sequences: list[list[tuple[str, str, int | None]]],
) -> None:
    async def user(store: AgentStore, sequence: list[tuple[str, str, int | None]]) -> None:
        for act, name, strike in sequence:
            backend = Turns(store.backend)
            mortal: Any = backend if strike is None else Mortal(backend, abs(strike), after=False)
            try:
                if act == "load":
                    await load_skill(AgentStore(mortal), library(*SKILLS), AGENT, name)
                else:
                    await unload_skill(AgentStore(mortal), AGENT, name)
            except Struck:
                pass

    async def together() -> None:
        store = twin_store()
        await store.create(AGENT, "Ann")
        await asyncio.gather(*(user(store, sequence) for sequence in sequences))
        agent = await store.get(AGENT)
        assert agent is not None
        check(agent.record, BY_ID)
        active = agent.record.get("dcf_active_skills", {})
        assert set(active) == closure({n for n, e in active.items() if e["requested"]})

    asyncio.run(together())


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.sampled_from([0, 1, 2]), st.sampled_from("abcde")), max_size=10))
def test_replacing_keeps_the_sum_right(sequence: list[tuple[int, str]]) -> None:
    """0 unloads, 1 loads as it was, 2 loads the changed one in its place."""

    async def drive() -> None:
        store = twin_store()
        await store.create(AGENT, "Ann")
        changed = {skill.manifest_id: skill for skill in CHANGED}
        other = [changed.get(skill.manifest_id, skill) for skill in SKILLS]
        for act, name in sequence:
            try:
                if act == 0:
                    await unload_skill(store, AGENT, f"skill.{name}@1.0.0")
                else:
                    known = library(*(SKILLS if act == 1 else other))
                    ref = f"{name}@1.0.0"
                    await load_skill(store, known, AGENT, ref, replace_changed=act == 2)
            except LoadRefused:
                assert act == 1
            agent = await store.get(AGENT)
            assert agent is not None
            active = agent.record.get("dcf_active_skills", {})
            there = {
                skill: changed[skill]
                if skill in changed and entry["digest"] == changed[skill].digest
                else BY_ID[skill]
                for skill, entry in active.items()
            }
            check(agent.record, there)

    asyncio.run(drive())


class Turns:
    """Lets others go first at every call."""

    def __init__(self, inner: Any) -> None:
        self._inner, self.close = inner, inner.close

    async def run(self, *args: Any) -> Any:
        await asyncio.sleep(0)
        return await self._inner.run(*args)

    async def command(self, *args: Any) -> Any:
        await asyncio.sleep(0)
        return await self._inner.command(*args)
