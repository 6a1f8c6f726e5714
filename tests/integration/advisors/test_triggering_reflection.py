"""The event that tells a Reflector of a run's end, from the documents on a real Redis."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from integration.knowledge.world import Agents, play_runs
from integration.worker.crew import Crew, crew_on
from local_world import LocalWorld, local_world
from runtime_world import Says

from dcf.advisors import NotJson, NotRegistered, register_reflector, trigger_reflection
from dcf.memory import SYSTEM, NewAgent

NOW = 1_700_000_000_000


@pytest.fixture
async def crew(redis_url: str) -> AsyncIterator[Crew]:
    async with crew_on(redis_url) as opened:
        opened.worker(agents=Agents())
        yield opened


async def pair(world: LocalWorld) -> tuple[str, str]:
    planner, reflector = [
        await world.runtime.create(NewAgent(name=name), by=SYSTEM) for name in ("p", "r")
    ]
    await register_reflector(world.runtime, planner.id, reflector.id, now=NOW)
    return planner.id, reflector.id


async def test_the_event_says_what_the_documents_say(crew: Crew, tmp_path: Path) -> None:
    (run,) = await play_runs(crew, 1)
    async with local_world(tmp_path) as world:
        planner, reflector = await pair(world)
        world.script(Says("noted"))
        done = await trigger_reflection(
            world.runtime, crew.store, run, planner,
            final_status="failed", execution_summary_json='{"note": "x", "failed": 7}',
            async_message=False, now=NOW,
        )  # fmt: skip
        assert (done.reflector_agent_id, done.message_sent, done.text) == (reflector, True, "noted")
        document = await crew.store.run(run)
        event = done.event
        assert event["type"] == "reflection_event"
        assert event["final_status"] == document.status == "succeeded"
        assert done.warnings == ("final_status is succeeded, not failed",)
        # Two Tasks and what they go on to; the end is when it was, not now.
        assert event["summary"]["note"] == "x"
        assert event["summary"]["failed"] == 0
        assert event["summary"]["succeeded"] >= 2
        assert not event["finalized_at"].startswith("2023")
        assert event["control_plane"] == {"meta_key": crew.store.keys(run).meta}
        asked = (await world.runtime.messages(reflector))[0]
        assert json.loads(asked.content) == event


async def test_without_a_reflector_nobody_is_told(crew: Crew, tmp_path: Path) -> None:
    (run,) = await play_runs(crew, 1)
    async with local_world(tmp_path) as world:
        lonely = await world.runtime.create(NewAgent(name="lonely"), by=SYSTEM)
        with pytest.raises(NotRegistered):
            await trigger_reflection(world.runtime, crew.store, run, lonely.id, now=NOW)
        planner, reflector = await pair(world)
        with pytest.raises(NotJson):
            await trigger_reflection(
                world.runtime, crew.store, run, planner, execution_summary_json="[]", now=NOW
            )
        done = await trigger_reflection(world.runtime, crew.store, run, planner, now=NOW)
        assert (done.message_sent, done.text) == (True, None)
        assert done.run_id
        assert reflector == done.reflector_agent_id
