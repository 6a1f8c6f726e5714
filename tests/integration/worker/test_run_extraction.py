"""Ended runs are queued and read for a model, each end once, and told to no other run."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from extraction_world import agent_of, answer_of, called, converse
from integration.worker.crew import Crew, crew_on
from memory_world import Numbered, Ticking
from unit.workflow.stage import flow, passing, task

from dcf.memory import SYSTEM, Filter, Memory, Source, TurnFence
from dcf.memory.extraction import Answer, ExtractionQueue, Extractor, Prompt
from dcf.worker import EventReader, RunExtraction, prune_queue
from dcf.worker.run_extraction import extraction_of
from dcf.workflow import finalize, load, submit

FLOW = flow(
    Charge=task("charge", Next="Done"),
    Done=passing(End=True),
)
CUSTOMER = "CUST-4711 of Kassel"


class Model:
    """Finds one thing in each event, and keeps what it was asked."""

    identity = "scripted"

    def __init__(self) -> None:
        self.prompts: list[Prompt] = []

    async def ask(self, prompt: Prompt) -> Answer:
        self.prompts.append(prompt)
        return Answer(answer_of(prompt, f"Found in {len(self.prompts)}"), "scripted:model")


class World:
    """A crew, a memory, and what has a model asked about its runs."""

    def __init__(self, crew: Crew, memory: Memory, most: int = 100) -> None:
        self.crew, self.memory, self.model = crew, memory, Model()
        self.queue = ExtractionQueue(memory.ledger, most=most)
        reader = EventReader(memory, crew.store)
        self.extractor = Extractor(memory.ledger, self.queue, self.model, reader.read)
        self.extraction = RunExtraction(crew.store, memory, self.queue, self.extractor, "/shop")

    async def ended(self, *names: str) -> None:
        """These runs are over and sealed."""
        for name in names:
            document = load(json.dumps(FLOW), file="f")
            await submit(self.crew.store, document, {"who": CUSTOMER}, workflow_id=name)
        for name in names:
            await self.crew.end(name)
            await finalize(self.crew.store, name, by="test")


@pytest.fixture
async def crew(redis_url: str) -> AsyncIterator[Crew]:
    async with crew_on(redis_url) as crew:
        crew.worker({"charge": _charge})
        yield crew


async def _charge(_: object) -> dict[str, str]:
    return {"receipt": "R-0815"}


@pytest.fixture
async def memory(tmp_path: Path) -> AsyncIterator[Memory]:
    source = Source(tmp_path / "m.db")
    async with Memory.open(source, clock=Ticking(), new_id=Numbered(), embedder="none") as opened:
        yield opened
        assert await opened.check() == ()


async def test_a_model_is_shown_what_a_run_was_given_and_did_once(
    crew: Crew, memory: Memory
) -> None:
    world = World(crew, memory)
    await world.ended("a", "b")
    for _ in range(2):
        await world.extraction.sweep()
        await world.extractor.run()
    assert len(world.model.prompts) == 2
    for prompt in world.model.prompts:
        assert CUSTOMER in prompt.user
        assert "StateDone path=Charge try=1 next=Done" in prompt.user
        assert 'Charge put out: {"receipt": "R-0815"}' in prompt.user
    (one,) = await memory.observations.list(Filter(source_ids=["a"]))
    assert str(one.origin.citation) == "dcf://run/a"
    # Of no workflow: what one run was given is told to no other one.
    assert (one.project, one.workflow, one.extracted) == ("/shop", "", True)


async def test_a_clock_that_was_ahead_keeps_no_run_from_a_sweep(crew: Crew, memory: Memory) -> None:
    world = World(crew, memory)
    now = await crew.store.now_ms()
    later = now + 10**10
    await memory.observations.observe_until("run, by a model", later, later, by=SYSTEM)
    await world.ended("a")
    await world.extraction.sweep()
    assert (await world.queue.counts()).waiting == 1
    # And the next sweep goes on from there.
    assert await memory.observations.observed_until("run, by a model", later) < later


async def test_a_model_is_shown_what_the_tools_of_its_agents_put_out(
    crew: Crew, memory: Memory
) -> None:
    world = World(crew, memory)
    await world.ended("a")
    agent_id, run = await agent_of(memory), await crew.store.run("a")
    steps = called("track", {"id": 7}, "the parcel is in Fulda")
    for incarnation in (run.incarnation, "another/run", f"{run.incarnation}/1"):
        fence = TurnFence(f"a/Charge/{incarnation}", 1)
        await converse(memory, agent_id, f"Do {incarnation}", "done", *steps, fence=fence)
        steps = called("track", {"id": 8}, "what another run was told")
    await world.extraction.sweep()
    await world.extractor.run()
    (prompt,) = world.model.prompts
    assert 'track {"id": 7}: the parcel is in Fulda' in prompt.user
    assert "another run" not in prompt.user


async def test_of_a_run_that_is_gone_no_model_is_asked(crew: Crew, memory: Memory) -> None:
    world = World(crew, memory)
    await world.ended("a")
    await world.extraction.sweep()
    await crew.store.backend.command("DEL", crew.store.keys("a").meta)
    work = await world.extractor.run()
    assert (work.done, work.observations, len(world.model.prompts)) == (1, 0, 0)


async def test_a_run_that_cannot_be_read_keeps_no_model_from_the_others(
    crew: Crew, memory: Memory
) -> None:
    world = World(crew, memory)
    await world.ended("a", "b")
    await world.extraction.sweep()
    await crew.store.backend.command("JSON.SET", crew.store.keys("a").meta, "$.ctl", '"x"')
    work = await world.extractor.run()
    assert (work.done, work.failed, work.end) == (1, 1, "empty")
    while not work.set_aside:
        memory.ledger.clock.now = work.again_at
        work = await world.extractor.run()
    assert "the run cannot be read" in work.set_aside[0]


async def test_no_half_of_a_secret_is_shown_to_a_model(crew: Crew, memory: Memory) -> None:
    """One stands where a long value is cut."""
    world = World(crew, memory)
    document = load(json.dumps(FLOW), file="f")
    given = {"who": "x" * 1_960 + " AKIAIOSFODNN7EXAMPLE " + "ghp_" + "a1B2" * 9 + "y" * 3_000}
    await submit(crew.store, document, given, workflow_id="a")
    await crew.end("a")
    await finalize(crew.store, "a", by="test")
    await world.extraction.sweep()
    await world.extractor.run()
    (prompt,) = world.model.prompts
    assert "xxx" in prompt.user
    assert "AKIAIOSF" not in prompt.user and "ghp_" not in prompt.user


async def test_what_is_done_goes_with_its_run(crew: Crew, memory: Memory) -> None:
    world, clock = World(crew, memory), memory.ledger.clock
    await world.ended("a", "b")
    await world.extraction.sweep()
    await world.extractor.run()
    await prune_queue(world.queue, crew.store, by=SYSTEM)
    await crew.store.backend.command("DEL", crew.store.keys("a").meta)
    await prune_queue(world.queue, crew.store, by=SYSTEM)
    later = clock.now + 91 * 86_400_000
    assert len(await world.queue.finished_runs(before=later, after=0, limit=9)) == 2, "too young"
    clock.now = later
    await prune_queue(world.queue, crew.store, by=SYSTEM)
    ((_, left),) = await world.queue.finished_runs(before=later, after=0, limit=9)
    counts = await world.queue.counts()
    assert (left, counts.done, counts.found) == ("b", 2, 2)


async def test_a_full_queue_keeps_no_sweep_from_its_end(crew: Crew, memory: Memory) -> None:
    world = World(crew, memory, most=2)
    await world.ended("a", "b", "c")
    await world.extraction.sweep()
    assert (await world.queue.counts()).waiting == 2
    assert (await world.queue.standing()).refused == 1


@pytest.mark.parametrize(
    ("env", "works"),
    [
        ({}, False),
        ({"DCF_MODEL": "ollama:small"}, False),
        ({"DCF_EXTRACT": "off", "DCF_MODEL": "ollama:small"}, False),
        ({"DCF_EXTRACT": "on"}, False),
        ({"DCF_EXTRACT": "on", "DCF_MODEL": "ollama:small"}, True),
    ],
)
async def test_workers_do_so_only_where_it_is_turned_on_and_there_is_a_model(
    crew: Crew, memory: Memory, env: dict[str, str], works: bool
) -> None:
    assert (extraction_of(env, crew.store, memory, "/shop") is not None) is works
