"""No secret is kept or returned by any way in. Whoever makes a new one is asked for a row in
``memory_ways``."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any, get_type_hints

import pytest
import typer
from memory_world import Numbered, Ticking
from public_formats import Example
from typer.main import get_command
from unit.memory.memory_ways import (
    ALL,
    BY,
    COMMANDS,
    EXAMPLES,
    LINE,
    NAME,
    NAMED,
    NO_COMMANDS,
    NO_TOOLS,
    NO_WAYS,
    OBSERVATION,
    ONE,
    THREAD,
    TOOLS,
    WAYS,
)

import dcf.memory
from dcf.cli.commands.memory import register
from dcf.mcp import load_catalogue
from dcf.memory import (
    InvalidEntry,
    Memory,
    NewAgent,
    NewBlock,
    Source,
    entities,
)
from dcf.memory.audit.entity import Entity


def left(text: str) -> list[Example]:
    """Those of which half of what chance made is in ``text``, in whatever way it is escaped."""
    plain = text.replace("\\n", "\n").replace("\\/", "/")
    return [one for one in EXAMPLES if _half_is_in(plain, one.drawn)]


def _half_is_in(text: str, drawn: str) -> bool:
    half = max(12, len(drawn) // 2)
    # Every half holds one of these whole; few texts have one.
    few = half // 2
    if not any(drawn[at : at + few] in text for at in range(0, len(drawn) - few + 1, few)):
        return False
    return any(drawn[at : at + half] in text for at in range(len(drawn) - half + 1))


def open_memory(folder: Path) -> Any:
    return Memory.open(Source(folder / "m.db"), clock=Ticking(), new_id=Numbered())


@pytest.mark.parametrize("way", WAYS)
async def test_no_secret_is_kept_or_returned(way: str, tmp_path: Path) -> None:
    async with open_memory(tmp_path) as memory:
        await memory.agents.create(NewAgent("ann"), by=BY, agent_id="ann", blocks=[])
        returned = await WAYS[way](memory)
        events = await memory.events.list(limit=100)
        assert left(repr(returned)) == [] and "hunter22" not in repr(returned)
        assert left(repr(events)) == [] and "hunter22" not in repr(events)
        assert await memory.check() == ()
    # All that is in the file: rows, their history, the index of search.
    kept = b"".join(file.read_bytes() for file in sorted(tmp_path.glob("m.db*")))
    assert left(kept.decode("latin-1")) == [] and b"hunter22" not in kept
    assert b"[redacted: " in kept


@pytest.mark.parametrize("way", NAMED)
async def test_no_name_holds_a_credential(way: str, tmp_path: Path) -> None:
    async with open_memory(tmp_path) as memory:
        await memory.agents.create(NewAgent("ann"), by=BY, agent_id="ann", blocks=[])
        with pytest.raises(InvalidEntry) as refused:
            await NAMED[way](memory)
    assert refused.value.problems[0].code == "memory_name_secret"
    assert ONE.drawn not in str(refused.value)
    kept = b"".join(file.read_bytes() for file in sorted(tmp_path.glob("m.db*")))
    assert ONE.drawn.encode() not in kept


def test_every_operation_of_the_memory_is_tried_or_takes_no_text() -> None:
    rest = {
        f"{line.split(':')[0]}.{name}"
        for line in NO_WAYS.strip().splitlines()
        for name in line.split(":")[1].split()
    }
    there = {
        f"{field}.{name}"
        for field, kind in get_type_hints(Memory).items()
        if inspect.isclass(kind)
        for name, _ in inspect.getmembers(kind, inspect.isfunction)
        if not name.startswith("_")
    }
    assert there == rest | (WAYS.keys() | NAMED.keys()) - {"import", "claude_mem", "retrieval"}
    assert rest.isdisjoint(WAYS.keys() | NAMED.keys())


def test_every_command_writes_by_one_of_these_ways() -> None:
    app = typer.Typer()
    register(app)
    app.command("other")(lambda: None)
    (commands,) = (
        one.commands for one in get_command(app).commands.values() if hasattr(one, "commands")
    )
    assert set(commands) == COMMANDS.keys() | set(NO_COMMANDS.split())
    assert {way for ways in COMMANDS.values() for way in ways} <= WAYS.keys()


def test_every_mcp_tool_writes_by_one_of_these_ways() -> None:
    families = ("memory", "agents", "messages", "recall", "observations", "retrieval")
    there = {
        name
        for name, tool in load_catalogue().tools().items()
        if tool.function.__module__.rpartition(".")[2] in families
    }
    assert there == TOOLS.keys() | set(NO_TOOLS.split())
    assert set(TOOLS.values()) <= WAYS.keys() | NAMED.keys()


def test_rows_with_texts_are_written_by_entities_alone() -> None:
    root = Path(dcf.memory.__file__).parent
    writes = re.compile(r"(?:INSERT (?:OR \w+ )?INTO|REPLACE INTO|UPDATE)\s+(\{?[\w.]+\}?)")
    found = {
        f"{file.relative_to(root)}: {table}"
        for file in root.rglob("*.py")
        if "migrations" not in file.parts
        for table in writes.findall(file.read_text())
        if not table.startswith("search_") and table != "SET"
    }
    assert found == {
        "audit/entity.py: {self.table}",
        # The history of what entities wrote, and the same compressed and without what was given up.
        "audit/journal.py: events",
        "consolidation/compressing.py: events",
        "retention/sweeping.py: events",
        "retention/sweeping.py: history_border",
        "retention/sweeping.py: forgotten_consolidations",
        # The same, and rows, without texts and names that are forgotten; who asked for that.
        "forgetting/leaving.py: events",
        "forgetting/leaving.py: {entity.table}",
        "forgetting/leaving.py: documents",
        "forgetting/receipts.py: receipts",
        "forgetting/receipts.py: tombstones",
        # What entities wrote, in another file, encrypted.
        "snapshots/keeping.py: {table}",
        # Derived of rows, or states, times and ids.
        "access/reading.py: node_reads",
        "agents/tags.py: agent_tags",
        "audit/consolidations.py: consolidation_sessions",
        "consolidation/claims.py: consolidation_claims",
        "extraction/claims.py: thread_turns",
        "extraction/spending.py: extraction_requests",
        "letters/delivery.py: letters",
        "observations/changing.py: observed_until",
        "passages/changing.py: passages",
        "projects/changing.py: {SESSION.table}",
        "threads/syncing.py: thread_turns",
    }


async def test_a_marked_text_is_found_by_an_edit_and_by_search(tmp_path: Path) -> None:
    async with open_memory(tmp_path) as memory:
        await memory.agents.create(NewAgent("ann"), by=BY, agent_id="ann", blocks=[])
        block = await memory.blocks.create("ann", NewBlock("notes", f"deploy {LINE}"), by=BY)
        assert block.value == "deploy it is [redacted: github token] now"
        edited = await memory.blocks.replace(
            "ann", "notes", "is [redacted: github token] now", "is gone", by=BY
        )
        assert edited.value == "deploy it is gone"
        await memory.events.undo((await memory.events.list(limit=1))[0].seq, by=BY)
        assert (await memory.blocks.read("ann", "notes")).value == block.value
        found = await memory.search.find("deploy github token", agent_ids=["ann"])
        assert [one.text for one in found][:1] == [block.value]


async def test_what_is_kept_again_is_no_change(tmp_path: Path) -> None:
    async with open_memory(tmp_path) as memory:
        await memory.agents.create(NewAgent("ann"), by=BY, agent_id="ann", blocks=[])
        once = await memory.blocks.create("ann", NewBlock("notes", ALL), by=BY)
        assert await memory.blocks.write("ann", "notes", ALL, by=BY) == once
        assert await memory.blocks.write("ann", "notes", once.value, by=BY) == once
        (first,) = await memory.observations.add(OBSERVATION, by=BY)
        assert await memory.observations.add(OBSERVATION, by=BY) == (first,)
        synced = await memory.threads.sync(THREAD, by=BY)
        again = await memory.threads.sync(THREAD, by=BY)
        assert (again.thread, again.new_turns) == (synced.thread, ())


async def test_a_secret_that_two_edits_put_together_is_taken_out(tmp_path: Path) -> None:
    padding = "The parcel was sent to the tenant on Monday.\n" * 4_000
    async with open_memory(tmp_path) as memory:
        await memory.agents.create(NewAgent("ann"), by=BY, agent_id="ann", blocks=[])
        half = len(NAME) // 2
        for begin, end in (("", ""), (padding, padding)):
            await memory.blocks.create(
                "ann", NewBlock(f"b{len(begin)}", f"{begin}it is {NAME[:8]} @ now{end}"), by=BY
            )
            done = await memory.blocks.replace(
                "ann", f"b{len(begin)}", f"{NAME[:8]} @", f"{NAME[:half]}{NAME[half:]}", by=BY
            )
            assert "it is [redacted: github token] now" in done.value


def test_all_columns_are_kept_without_secrets_or_said_to_be_codes() -> None:
    """What an entity calls a code or a name is a column of it: a misspelt one would be none."""
    known = [one for one in vars(entities).values() if isinstance(one, Entity)]
    migrations = Path(dcf.memory.__file__).parent / "database" / "migrations"
    said = "".join(file.read_text() for file in migrations.glob("v*.py"))
    for one in known:
        for column in (*one.codes, *one.names):
            assert re.search(rf"\b{column} TEXT\b", said), f"{one.name}.{column}"
