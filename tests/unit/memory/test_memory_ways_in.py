"""No secret is kept or returned by any way in. Whoever makes a new one is asked for a row here."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, get_type_hints

import pytest
import typer
from memory_world import Numbered, Ticking
from public_formats import Example, examples
from typer.main import get_command

import dcf.memory
from dcf.agents.files import import_agents, read_agent_file
from dcf.cli.commands.memory import register
from dcf.mcp import load_catalogue
from dcf.memory import (
    Actor,
    ArrivingObservation,
    InvalidEntry,
    Memory,
    NewAgent,
    NewBlock,
    NewLetter,
    NewMessage,
    NewObservation,
    NewPassage,
    NewProject,
    NewThread,
    NewTurn,
    Occurrence,
    Origin,
    Outline,
    Source,
    ToolUse,
    Usage,
    entities,
)
from dcf.memory.audit.entity import Entity
from dcf.memory.threads.piece import pieces_of
from dcf.memory.threads.syncing import Syncing

BY = Actor("user", "ada")
EXAMPLES = examples(26)
ALL = "\n".join(f"Use {one.text} until Monday, said Ann." for one in EXAMPLES)
ONE = next(one for one in EXAMPLES if one.maker == "GitHub")
NAME = ONE.text
LINE = f"it is {ONE.text} now"
DATA = {"note": ALL, "list": [one.text for one in EXAMPLES], "password": "hunter22hunter"}
Way = Callable[[Memory], Awaitable[object]]


async def _block(memory: Memory, value: str = "before") -> object:
    return await memory.blocks.create("ann", NewBlock("notes", value), by=BY)


async def _after(first: Awaitable[object], then: Callable[[Any], Awaitable[object]]) -> object:
    return await then(await first)


async def _turn(memory: Memory, how: Callable[[Any], Awaitable[object]]) -> object:
    return await how(await memory.turns.begin("ann", NewMessage("user", ALL), by=BY))


async def _letter(memory: Memory, how: Callable[[Any], Awaitable[object]]) -> object:
    await memory.letters.leave(NewLetter("ann", "bob", ALL, "c1", 60_000), by=BY)
    return await how(await memory.letters.take(by=BY, lease_ms=60_000))


async def _pad(memory: Memory, how: Callable[[], Awaitable[object]]) -> object:
    await memory.scratch_pads.begin("ann", "task", by=BY)
    return await how()


async def _skill(memory: Memory) -> object:
    folder = Path(memory.ledger.database.source.path).parent / "skills"
    (folder / "tea").mkdir(parents=True)
    text = f"---\nname: tea\ndescription: {LINE}\n---\n{ALL}\n"
    (folder / "tea" / "SKILL.md").write_text(text)
    await memory.skills.sync("ann", folder, by=BY)
    return await memory.skills.list("ann")


def _agent_file() -> object:
    return {
        "agents": [
            {
                "id": "agent-0",
                "name": "gardener",
                "description": ALL,
                "system": ALL,
                "tags": [LINE],
                "block_ids": ["block-0"],
                "messages": [
                    {"id": "m-0", "role": "user", "content": [{"type": "text", "text": ALL}]}
                ],
                "in_context_message_ids": ["m-0"],
            }
        ],
        "groups": [],
        "blocks": [{"id": "block-0", "label": "notes", "value": ALL, "description": LINE}],
        "files": [],
        "sources": [],
        "tools": [],
        "mcp_servers": [],
        "created_at": "2026-11-24T10:00:00Z",
    }


async def _import(memory: Memory) -> object:
    return await import_agents(memory, read_agent_file(json.dumps(_agent_file())), by=BY)


OBSERVATION = NewObservation(
    "bugfix",
    LINE,
    Origin("run", "r1"),
    subtitle=LINE,
    facts=tuple(one.text for one in EXAMPLES[:90]),
    narrative=ALL[:15_000],
    related=(f"see {NAME}",),
)


async def _records(memory: Memory) -> object:
    return [one async for one in memory.observations.records()]


async def _synced(memory: Memory) -> object:
    """A session of another program, with what is unknown in it and a line that is broken."""
    known = {"sessionId": "s", "cwd": f"/work/{NAME}", "uuid": NAME}
    said = {**known, "type": "user", "message": {"content": ALL}}
    lines = [json.dumps(said), json.dumps({**known, "type": LINE, "of": DATA}), f"{NAME} {ALL!r}"]
    with TemporaryDirectory() as folder:
        file = Path(folder, "session.jsonl")
        file.write_text("\n".join(lines) + "\n")
        return [one async for one in memory.thread_files.sync(file, by=BY)]


THREAD = NewThread(
    "claude_code",
    Outline("t1", title=LINE, parent=NAME),
    (
        NewTurn("user", ALL, key=NAME),
        NewTurn("assistant", "", (ToolUse("bash", {"command": ALL, **DATA}, ALL),)),
    ),
)
CALL = {"kind": "call", "id": "call_1", "name": "send", "args": DATA}
RETURN = {"kind": "return", "id": "call_1", "name": "send", "content": ALL}

WAYS: dict[str, Way] = {
    "agents.create": lambda m: m.agents.create(
        NewAgent("x", ALL, ALL, system=ALL, tags=(LINE,), metadata=DATA, extra=DATA),
        by=Actor("user", "ada", ALL),
    ),
    "agents.update": lambda m: m.agents.update("ann", by=BY, system=ALL, metadata=DATA),
    "agents.tag": lambda m: m.agents.tag("ann", by=BY, add=(LINE,)),
    "blocks.create": lambda m: m.blocks.create(
        "ann", NewBlock("notes", ALL, description=ALL, metadata=DATA), by=BY
    ),
    "blocks.write": lambda m: _after(
        _block(m), lambda _: m.blocks.write("ann", "notes", ALL, by=BY)
    ),
    "blocks.append": lambda m: _after(
        _block(m), lambda _: m.blocks.append("ann", "notes", ALL, by=BY)
    ),
    "blocks.replace": lambda m: _after(
        _block(m, f"old {NAME} old"),
        lambda _: m.blocks.replace("ann", "notes", f"old {NAME}", ALL, by=BY),
    ),
    "blocks.change": lambda m: _after(
        _block(m), lambda _: m.blocks.change("ann", "notes", by=BY, description=ALL, metadata=DATA)
    ),
    "messages.append": lambda m: m.messages.append(
        "ann",
        NewMessage("user", ALL),
        NewMessage("assistant", "", parts=(CALL,)),
        NewMessage("tool", ALL, parts=(RETURN,)),
        by=BY,
    ),
    "passages.insert": lambda m: m.passages.insert(
        "ann", NewPassage(ALL, tags=(LINE,), source=LINE), by=BY
    ),
    "passages.change": lambda m: _after(
        m.passages.insert("ann", NewPassage("before"), by=BY),
        lambda made: m.passages.change(made[0].id, by=BY, text=ALL, tags=(LINE,)),
    ),
    "observations.add": lambda m: m.observations.add(OBSERVATION, by=BY),
    "observations.observe": lambda m: _after(
        m.observations.observe(Origin("run", "r-1"), "1/0", replace(OBSERVATION, note=ALL), by=BY),
        lambda made: m.observations.occurrences(made[0].id),
    ),
    "observations.take_in": lambda m: _after(
        m.observations.take_in(
            ArrivingObservation(OBSERVATION, (Occurrence(Origin("run", "r1"), ALL, 1),)), by=BY
        ),
        lambda _: _records(m),
    ),
    "threads.sync": lambda m: _after(
        m.threads.sync(THREAD, by=BY), lambda made: m.threads.turn(made.thread.id, 2)
    ),
    "threads.keep": lambda m: m.threads.keep(
        Syncing("claude_code"), tuple(pieces_of(THREAD)), by=BY
    ),
    "thread_files.sync": lambda m: _synced(m),
    "letters.leave": lambda m: m.letters.leave(NewLetter("ann", "bob", ALL, "c", 9_000), by=BY),
    "letters.answer": lambda m: _letter(m, lambda it: m.letters.answer(it, DATA, by=BY)),
    "letters.fail": lambda m: _letter(m, lambda it: m.letters.fail(it, LINE, ALL, by=BY)),
    "turns.begin": lambda m: m.turns.begin("ann", NewMessage("user", ALL), by=BY),
    "turns.answer": lambda m: _turn(
        m,
        lambda it: m.turns.answer(
            it, NewMessage("assistant", ALL), by=BY, model=LINE, usage=Usage()
        ),
    ),
    "turns.fail": lambda m: _turn(
        m, lambda it: m.turns.fail(it, LINE, ALL, by=BY, model="m", usage=Usage())
    ),
    "attached_tools.attach": lambda m: m.attached_tools.attach(
        "ann", [dcf.memory.ToolSpec("send", ALL, {"type": "object", "description": ALL})], by=BY
    ),
    "projects.create": lambda m: m.projects.create(
        NewProject("/work", name=LINE, metadata=DATA), by=BY
    ),
    "projects.update": lambda m: _after(
        m.projects.create(NewProject("/work"), by=BY),
        lambda _: m.projects.update("/work", by=BY, name=LINE, metadata=DATA),
    ),
    "projects.create_block": lambda m: _after(
        m.projects.create(NewProject("/work"), by=BY),
        lambda _: m.projects.create_block("/work", NewBlock("notes", ALL), by=BY),
    ),
    "sessions.begin": lambda m: m.sessions.begin("ann", by=BY, skills_directory=f"/x {NAME}"),
    "sessions.end": lambda m: _after(
        m.sessions.begin("ann", by=BY), lambda it: m.sessions.end(it.id, by=BY, reason=ALL)
    ),
    "scratch_pads.write": lambda m: _pad(
        m, lambda: m.scratch_pads.write("ann", "task", ALL, by=BY)
    ),
    "scratch_pads.append": lambda m: _pad(
        m, lambda: m.scratch_pads.append("ann", "task", ALL, by=BY)
    ),
    "skills.sync": _skill,
    "import": _import,
}
NAMED: dict[str, Way] = {
    "agents.create": lambda m: m.agents.create(NewAgent(NAME), by=BY),
    "agents.update": lambda m: m.agents.update("ann", by=BY, name=NAME),
    "blocks.create": lambda m: m.blocks.create("ann", NewBlock(NAME), by=BY),
    "blocks.attach": lambda m: _after(
        _block(m), lambda it: m.blocks.attach("ann", it.id, by=BY, label=NAME)
    ),
    "messages.append": lambda m: m.messages.append(
        "ann", NewMessage("user", "hello", correlation_id=NAME), by=BY
    ),
    "letters.leave": lambda m: m.letters.leave(NewLetter("ann", NAME, "hi", "c", 9_000), by=BY),
    "observations.add": lambda m: m.observations.add(
        NewObservation("change", "title", Origin("run", NAME)), by=BY
    ),
    "observations.observe": lambda m: m.observations.observe(Origin("run", NAME), "1/0", by=BY),
    "observations.take_in": lambda m: m.observations.take_in(
        ArrivingObservation(
            NewObservation("change", "title", Origin("run", "r1")),
            (Occurrence(Origin("run", NAME), "", 1),),
        ),
        by=BY,
    ),
    "threads.sync": lambda m: m.threads.sync(NewThread("amp", Outline(NAME), ()), by=BY),
    "projects.create": lambda m: m.projects.create(NewProject(f"/work/{NAME}"), by=BY),
    "projects.ensure": lambda m: m.projects.ensure(f"/work/{NAME}", by=BY),
    "projects.link": lambda m: _after(
        m.projects.create(NewProject("/work"), by=BY),
        lambda _: _after(
            m.blocks.create(None, NewBlock("notes", type="shared"), by=BY),
            lambda it: m.projects.link("/work", it.id, by=BY, label=NAME),
        ),
    ),
    "sessions.begin": lambda m: m.sessions.begin("ann", by=BY, project=f"/work/{NAME}"),
    "scratch_pads.begin": lambda m: m.scratch_pads.begin("ann", NAME, by=BY),
}
# What takes no text that is kept: ids, numbers, names that are there already.
NO_WAYS = """
agents: delete find get list named
blocks: delete detach discard find get holders list read
labels: defaults new
messages: archive count get list
passages: count_reads delete get list
observations: around delete get is_observed list observe_until observed_until occurrences records
threads: get list turn turns
thread_files: formats
contexts: assemble observed
search: catch_up check embedder find rebuild
events: border last list roll_back_agent roll_back_block roll_back_consolidation roll_back_project
events: text undo
letters: get give_back keep list take
turns: get keep leave ledger_of list
attached_tools: detach list
projects: agents blocks delete enter get leave list of_agent unlink with_block
sessions: context get list note_loaded_skills resume
scratch_pads: during end end_expired get list
skills: discover get list load register unload unregister watch
ledger: change close read under
"""
# What each command of `dcf memory` calls to write; the others write nothing of a user's text.
COMMANDS = {
    "init": "agents.create",
    "agents": "agents.update",
    "remember": "blocks.append",
    "import": "import",
    "skills": "skills.sync",
    "threads": "thread_files.sync",
    "observations": "observations.take_in",
}
NO_COMMANDS = (
    "backup consolidate context doctor export forget gc history rekey restore rollback"
    " search show stats"
)

# The same of the MCP tools for memories, agents and their messages.
TOOLS = {
    "write_memory_block": "blocks.write",
    "append_memory_block": "blocks.append",
    "replace_in_memory_block": "blocks.replace",
    "create_memory_block": "blocks.create",
    "attach_memory_block": "blocks.attach",
    "create_agent": "agents.create",
    "send_message_to_agent": "turns.begin",
    "send_message_to_agent_async": "letters.leave",
    "archival_memory_insert": "passages.insert",
}
NO_TOOLS = """
list_memory_blocks read_memory_block detach_memory_block delete_memory_block list_agents read_agent
resolve_agent_name_to_id delete_agent remove_tool_return_limits read_agent_reply get_agent_messages
archival_memory_search archival_memory_list archival_memory_delete search_memory
read_memory_history rollback_memory
"""


def left(text: str) -> list[Example]:
    """Those of which half of what chance made is in ``text``, in whatever way it is escaped."""
    plain = text.replace("\\n", "\n").replace("\\/", "/")
    return [
        one
        for one in EXAMPLES
        if any(
            one.drawn[at : at + half] in plain
            for half in (max(12, len(one.drawn) // 2),)
            for at in range(len(one.drawn) - half + 1)
        )
    ]


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
    assert there == rest | (WAYS.keys() | NAMED.keys()) - {"import"}
    assert rest.isdisjoint(WAYS.keys() | NAMED.keys())


def test_every_command_writes_by_one_of_these_ways() -> None:
    app = typer.Typer()
    register(app)
    app.command("other")(lambda: None)
    (commands,) = (
        one.commands for one in get_command(app).commands.values() if hasattr(one, "commands")
    )
    assert set(commands) == COMMANDS.keys() | set(NO_COMMANDS.split())
    assert set(COMMANDS.values()) <= WAYS.keys()


def test_every_mcp_tool_writes_by_one_of_these_ways() -> None:
    families = ("memory", "agents", "messages", "recall")
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
        # Derived of rows, or states, times and ids.
        "agents/tags.py: agent_tags",
        "audit/consolidations.py: consolidation_sessions",
        "consolidation/claims.py: consolidation_claims",
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
