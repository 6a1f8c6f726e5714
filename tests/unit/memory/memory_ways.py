"""Every way by which a text comes into a memory, and what takes none."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from claude_mem_database import make_database
from public_formats import examples
from unit.documents.made_files import docx_file, pdf_file

import dcf.memory
from dcf.agents.files import import_agents, read_agent_file
from dcf.documents import ReadDocument, ReadPiece
from dcf.memory import (
    SNAPSHOT_FILE,
    Actor,
    ArrivingObservation,
    FileState,
    Memory,
    NewAgent,
    NewBlock,
    NewEntry,
    NewLetter,
    NewMessage,
    NewNode,
    NewObservation,
    NewPassage,
    NewPlaybook,
    NewProject,
    NewThread,
    NewTurn,
    Node,
    NodeResult,
    NodeStep,
    Occurrence,
    Origin,
    Outline,
    Passage,
    Snapshot,
    Texts,
    ToolUse,
    Usage,
    open_claude_mem,
)
from dcf.memory.snapshots.lines import counts_of, written
from dcf.memory.snapshots.version import Version
from dcf.memory.threads.piece import pieces_of
from dcf.memory.threads.syncing import Syncing
from dcf.retrieval import NewItem, SqliteItems

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


async def _documents(memory: Memory) -> object:
    """A folder with a document of each format."""
    lines = ALL.splitlines()
    cells = [{"cell_type": "code", "source": ALL, "outputs": [{"text": lines}]}, DATA]
    page = "".join(f"<p title='{one}'>{one}</p>" for one in lines)
    files: dict[str, str | bytes] = {
        "a.md": f"# {LINE}\n\n{ALL}",
        "a.txt": ALL,
        "a.py": f'KEY = "{NAME}"\n',
        "a.json": json.dumps(DATA),
        "a.csv": "name,value\n" + "".join(f'"{one}",1\n' for one in lines),
        "a.html": f"<title>{LINE}</title><h1>{LINE}</h1>{page}",
        "a.ipynb": json.dumps({"cells": cells}),
        "a.eml": f"From: {NAME}@a.org\nSubject: {LINE}\n\n{ALL}",
        "a.pdf": pdf_file([ALL], title=LINE),
        "a.docx": docx_file(
            [("Heading 1", LINE), *(("Normal", one) for one in lines)], [lines[:9]]
        ),
    }
    with TemporaryDirectory() as folder:
        for name, data in files.items():
            Path(folder, name).write_bytes(data.encode() if isinstance(data, str) else data)
        synced = memory.document_files.sync(Path(folder), project=folder, by=BY)
        reports = [one async for one in synced]
    assert [one.outcome for one in reports] == ["added"] * len(files)
    read = [one.document for one in reports if one.document is not None]
    return reports, [await memory.documents.pieces(one) for one in read]


async def _refreshed(memory: Memory) -> object:
    """A file that has secrets since it was read."""
    with TemporaryDirectory() as folder:
        file = Path(folder, "a.txt")
        file.write_text("nothing of note")
        synced = memory.document_files.sync(file, project=folder, by=BY)
        assert [one.outcome async for one in synced] == ["added"]
        file.write_text(ALL)
        again = memory.document_files.refresh(folder, by=BY)
        reports = [one async for one in again]
    assert [one.outcome for one in reports] == ["changed"]
    read = [one.document for one in reports if one.document is not None]
    return reports, [await memory.documents.pieces(one) for one in read]


async def _promoted(memory: Memory) -> object:
    await memory.blocks.create("ann", NewBlock("notes", f"before {LINE}"), by=BY)
    (made,) = await memory.observations.add(OBSERVATION, by=BY)
    return await memory.observations.promote([made.id], "ann", "notes", by=BY)


async def _claude_mem(memory: Memory) -> object:
    """A database of another program, with what has no place in an observation."""
    titled = {"title": LINE, "subtitle": LINE, "facts": list(OBSERVATION.facts), "metadata": ALL}
    row = {**titled, "type": LINE, "narrative": ALL[:15_000], "concepts": [LINE], "agent_id": NAME}
    with TemporaryDirectory() as folder:
        file = make_database(Path(folder, "c.db"), [row, {"text": ALL[:15_000]}])
        with open_claude_mem(file) as database:
            read = [one for row in database.rows() if (one := row.read()[0]) is not None]
    await memory.observations.take_in(*read, by=BY)
    return await _records(memory)


FILE = FileState(1, "", "")
PLAYBOOK = NewPlaybook(f"Busy: {LINE}", ALL[:15_000], LINE, "/work", ("observation-1",))
DOCUMENT = ReadDocument(LINE, "text", (ReadPiece(ALL, (LINE,), 1, 2), ReadPiece(LINE, page=1)))
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
    "passages.keep": lambda m: m.passages.keep(
        "ann", [Passage("p-1", "ann", ALL, (LINE,), 0.5, LINE, 0, None, 1)], by=BY
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
    "observations.edit": lambda m: _after(
        m.observations.add(replace(OBSERVATION, title="a", facts=("b",), narrative=""), by=BY),
        lambda made: m.observations.edit(
            made[0].id, Texts(LINE, LINE, OBSERVATION.facts, OBSERVATION.narrative), by=BY
        ),
    ),
    "observations.take_in": lambda m: _after(
        m.observations.take_in(
            ArrivingObservation(OBSERVATION, (Occurrence(Origin("run", "r1"), ALL, 1),)), by=BY
        ),
        lambda _: _records(m),
    ),
    "observations.promote": lambda m: _promoted(m),
    "threads.sync": lambda m: _after(
        m.threads.sync(THREAD, by=BY), lambda made: m.threads.turn(made.thread.id, 2)
    ),
    "threads.keep": lambda m: m.threads.keep(
        Syncing("claude_code"), tuple(pieces_of(THREAD)), by=BY
    ),
    "thread_files.sync": lambda m: _synced(m),
    "documents.keep": lambda m: m.documents.keep("/work", "a.txt", FILE, DOCUMENT, by=BY),
    "document_files.sync": lambda m: _documents(m),
    "document_files.refresh": lambda m: _refreshed(m),
    "playbooks.add": lambda m: m.playbooks.add(PLAYBOOK, by=BY),
    "playbooks.edit": lambda m: _after(
        m.playbooks.add(NewPlaybook("Busy", "Wait.", "ann"), by=BY),
        lambda it: m.playbooks.edit(
            it.id, by=BY, pattern=f"Busy: {LINE}", resolution=PLAYBOOK.resolution, owner=LINE
        ),
    ),
    "playbooks.count": lambda m: _after(
        m.playbooks.add(NewPlaybook("Busy", "Wait.", "ann"), by=BY),
        lambda it: m.playbooks.count(it.id, helped=True, used_by=LINE, by=BY),
    ),
    "playbooks.match": lambda m: _after(
        m.playbooks.add(PLAYBOOK, by=BY),
        lambda _: m.playbooks.match(PLAYBOOK.project, f"{PLAYBOOK.pattern} {ALL}"),
    ),
    "nodes.add": lambda m: m.nodes.add(
        NewNode("shop", "exp", "first", title=ALL, metadata=DATA), NewEntry(ALL), by=BY
    ),
    "nodes.change": lambda m: _after(
        _node(m), lambda it: m.nodes.change(it.id, by=BY, title=ALL, metadata=DATA)
    ),
    "nodes.keep": lambda m: _after(
        _node(m), lambda it: m.nodes.keep(it.id, NodeResult("work", 1, ALL), by=BY)
    ),
    "nodes.write": lambda m: _after(
        _node(m), lambda it: m.nodes.write(it.id, NewEntry(ALL, metadata=DATA), by=BY)
    ),
    "nodes.edit": lambda m: _after(
        _after(_node(m), lambda it: m.nodes.write(it.id, NewEntry("before"), by=BY)),
        lambda it: m.nodes.edit(it[0].node_id, it[0].id, by=BY, text=ALL, metadata=DATA),
    ),
    "nodes.promote": lambda m: _after(
        _after(_node(m), lambda it: m.nodes.write(it.id, NewEntry(ALL), by=BY)),
        lambda it: m.nodes.promote(it[0].node_id, it[0].id, by=BY),
    ),
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
    "snapshots.restore": lambda m: _after(_snapshot(m), lambda _: m.nodes.entry("e-1")),
    "skills.sync": _skill,
    "import": _import,
    "claude_mem": _claude_mem,
    "retrieval": lambda m: SqliteItems(m, BY).remember(
        "/work", NewItem(ALL, (LINE,), LINE, f"src/{NAME}.py")
    ),
}


async def _snapshot(memory: Memory, name: str = "first") -> object:
    """A file that another memory wrote, which kept what this one does not."""
    moments = {"revision": 1, "created_at": 1, "updated_at": 1}
    own = {"name": name, "parent": None, "title": ALL, "score": 0.5}
    node = {"id": "n-1", **own, "metadata": DATA, **moments}
    said = {"node_id": "n-1", "kind": "note", "text": ALL, "shadows": None}
    entry = {"id": "e-1", **said, "metadata": DATA, **moments}
    by = Actor("user", "ada", ALL)
    versions = (Version("node", node, 1, by), Version("entry", entry, 1, by))
    with TemporaryDirectory() as folder:
        file = Path(folder, SNAPSHOT_FILE)
        about = Snapshot(file, "shop", "exp", 1, None, **counts_of(versions), encrypted=False)
        file.write_bytes(written(about, versions))
        return await memory.snapshots.restore(Path(folder), "shop", by=by)


async def _node(memory: Memory) -> Node:
    return await memory.nodes.add(NewNode("shop", "exp", "first"), by=BY)


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
    "documents.keep": lambda m: m.documents.keep("/work", NAME, FILE, DOCUMENT, by=BY),
    "playbooks.add": lambda m: m.playbooks.add(
        NewPlaybook("Busy", "Wait.", "ann", f"/work/{NAME}"), by=BY
    ),
    "nodes.add": lambda m: m.nodes.add(NewNode("shop", "exp", NAME), by=BY),
    "nodes.reach": lambda m: m.nodes.reach("shop", "exp", [NodeStep(NAME, "", "run")], by=BY),
    "snapshots.restore": lambda m: _snapshot(m, NAME),
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
passages: count_reads delete delete_several deleted get list several
observations: around forget get is_observed list observe_until observed_until occurrences pin
observations: records unpin
threads: get hits list projects_in turn turns
thread_files: formats
documents: confirm files get list pieces remove several states take
playbooks: get list proposals remove
nodes: clear count delete difference entries entry get lineage move named nearest own purge remove
nodes: made size tree
snapshots: back_up checkpoints
contexts: assemble observed of_work section
search: catch_up keep_up leave_behind limits embedder find rebuild
events: border last list roll_back_agent roll_back_block roll_back_consolidation roll_back_project
events: text undo
letters: get give_back keep list take
turns: calls_for_run get keep leave ledger_of list own_since
attached_tools: detach list
projects: agents blocks delete enter get leave list of_agent unlink with_block
sessions: context get list note_loaded_skills resume
scratch_pads: during end end_expired get list
skills: discover get list load register unload unregister watch
ledger: change close read under
access: close flush list note
forgetting: begin check end find forget note receipt receipts withdraw
"""
# What each command of `dcf memory` calls to write; the others write nothing of a user's text.
COMMANDS = {
    "init": ("agents.create",),
    "agents": ("agents.update",),
    "remember": ("blocks.append",),
    "import": ("import",),
    "observations": (
        "claude_mem",
        "observations.edit",
        "observations.promote",
        "observations.take_in",
    ),
    "skills": ("skills.sync",),
    "threads": ("thread_files.sync",),
    "serve": ("nodes.add", "nodes.write"),
    "scope": (
        "nodes.add",
        "nodes.change",
        "nodes.write",
        "nodes.edit",
        "nodes.promote",
        "snapshots.restore",
    ),
}
NO_COMMANDS = (
    "backup consolidate context doctor export forget gc history receipts rekey"
    " restore rollback search show stats"
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
    "observations_change": "observations.edit",
    "log_artifact": "retrieval",
}
NO_TOOLS = """
list_memory_blocks read_memory_block detach_memory_block delete_memory_block list_agents read_agent
resolve_agent_name_to_id delete_agent remove_tool_return_limits read_agent_reply get_agent_messages
archival_memory_search archival_memory_list archival_memory_delete search_memory
read_memory_history rollback_memory observations_search observations_timeline observations_details
augmented_context
"""
