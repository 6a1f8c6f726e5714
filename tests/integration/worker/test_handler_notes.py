"""Handlers read and write the memory of the branch that they work in."""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from integration.worker.crew import crew_on
from memory_world import Numbered, Ticking
from unit.workflow.stage import document_of, flow, mapping, parallel, task

from dcf.memory import Memory, Source
from dcf.worker import current_work
from dcf.worker.task_memory import HandlerNotes
from dcf.workflow import submit


@pytest.fixture
async def memory(tmp_path: Path) -> AsyncIterator[Memory]:
    source = Source(tmp_path / "memory.db")
    async with Memory.open(source, clock=Ticking(), new_id=Numbered(), embedder="none") as opened:
        yield opened
        assert await opened.check() == ()


async def note(item: str) -> Any:
    notes = current_work().notes
    assert notes is not None
    entry = await notes.write(f"{item} is ripe")
    if item == "fig":
        await notes.promote(entry.id)
    found = [one.text for one in await notes.search("ripe")]
    return {"node": (await notes.node()).called, "found": found}


async def read(_: Any) -> Any:
    notes = current_work().notes
    return None if notes is None else [one.text for one in await notes.read()]


async def test_a_handler_writes_finds_and_promotes_in_its_branch(
    redis_url: str, memory: Memory
) -> None:
    fan = mapping(flow(Note=task("note")), MaxConcurrency=1, ResultPath=None)
    states = {
        "Fan": fan,
        "Read": task("read"),
        "Gather": task("read", AgentBinding={"memory": {"gather": True}}),
    }
    async with crew_on(redis_url) as crew:
        notes_of = partial(HandlerNotes, crew.store, memory, "/lab")
        crew.worker({"note": note, "read": read}, notes_of=notes_of)
        await submit(crew.store, document_of(flow(**states)), ["plum", "fig"], workflow_id="r1")
        assert (await crew.end("r1")).status == "succeeded"
        paths = ["Fan[0]/Note", "Fan[1]/Note", "Read", "Gather"]
        said = {path: one["data"] for path, one in (await crew.store.outputs("r1", paths)).items()}
    assert said == {
        "Fan[0]/Note": {"node": "r1/Fan[0]", "found": ["plum is ripe"]},
        "Fan[1]/Note": {"node": "r1/Fan[1]", "found": ["fig is ripe"]},
        "Read": ["fig is ripe"],
        "Gather": ["fig is ripe", "plum is ripe", "fig is ripe"],
    }


async def test_where_there_is_no_memory_a_handler_is_told(redis_url: str, memory: Memory) -> None:
    off = parallel(flow(Note=task("note")), memory={"scope": "none"})
    async with crew_on(redis_url) as crew:
        notes_of = partial(HandlerNotes, crew.store, memory, "/lab")
        crew.worker({"note": note, "read": read}, notes_of=notes_of)
        await submit(crew.store, document_of(flow(Off=off)), "plum", workflow_id="r1")
        assert (await crew.end("r1")).status == "failed"
        error = (await crew.store.state("r1", "Off[0]/Note")).error
    assert "Note has no memory" in str(error)
