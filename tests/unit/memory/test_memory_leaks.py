"""Nobody reads another branch: by no way in, and at no moment while others write, move and die."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import subprocess
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import typer
from campaigns import SOAK, campaign
from commands import python
from memory_world import Numbered, Ticking, started
from typer.main import get_command
from unit.memory.node_tree import Tree

import dcf
from dcf.cli.commands.memory_scope import register_scope
from dcf.cli.memory.scope import search_node, show_difference, show_node
from dcf.cli.settings import Settings
from dcf.mcp.experiment import CALLS
from dcf.mcp.experiment.calls import answer
from dcf.mcp.families.recall import _SEARCHED
from dcf.memory import (
    OPERATIONS,
    Actor,
    ContextSetting,
    ExperimentMemory,
    Memory,
    NewEntry,
    NewNode,
    Nodes,
    Source,
    UnknownNode,
    random_id,
)
from dcf.memory.database import Connection

BY = Actor("user", "ada")
PROJECT = "/lab"
WORDS = ("ANCESTOR", "OWN", "SIBLING", "NEPHEW", "BELOW", "EDITED", "ELSEWHERE", "STEP", "GOAL")
"""Each is in the texts of one node, or in what all nodes of the experiment share: the node ``a``
reads the first two."""
Read = Callable[[Memory, Mapping[str, str]], Awaitable[object]]


async def family(memory: Memory) -> dict[str, str]:
    """A tree in which each node says who it is; the ids of the nodes by name. Who reads is ``a``.
    There are another experiment and another project, with all that this one has."""
    ids: dict[str, str] = {}
    for project, checkpoint, name, parent, text in (
        (PROJECT, "exp", "base", None, "ANCESTOR plum"),
        (PROJECT, "exp", "a", "base", "OWN plum"),
        (PROJECT, "exp", "b", "base", "SIBLING plum"),
        (PROJECT, "exp", "c", "a", "BELOW plum"),
        (PROJECT, "exp", "d", "b", "NEPHEW plum"),
        (PROJECT, "other", "e", None, "ELSEWHERE plum"),
        ("/shop", "exp", "f", None, "ELSEWHERE plum"),
    ):
        above = None if parent is None else ids[parent]
        entries = [NewEntry(text, kind, {"artifacts": [text]}) for kind in ("note", "reflection")]
        node = await memory.nodes.add(NewNode(project, checkpoint, name, above), *entries, by=BY)
        ids[name] = node.id
    inherited = (await memory.nodes.entries(ids["base"]))[0]
    await memory.nodes.edit(ids["b"], inherited.id, by=BY, text="EDITED plum ANCESTOR")
    for name in ("base", "b", "c"):
        for one in await memory.nodes.entries(ids[name], inherited=False):
            event = {"target_memory_id": one.id, "status": "confirmed"}
            new = NewEntry(f"{one.text} again", "reproducibility_event", event)
            await memory.nodes.write(ids[name], new, by=BY)
    for project, checkpoint, name, word in (
        (PROJECT, "exp", "a", ""),
        (PROJECT, "other", "e", "ELSEWHERE "),
        ("/shop", "exp", "f", "ELSEWHERE "),
    ):
        it = ExperimentMemory(memory, project, checkpoint, by=BY, environment={})
        await it.react_add(f"{word}STEP plum")
        await it.seed_core_memory(context={"goal": f"{word}GOAL"})
        await memory.nodes.entries(ids[name], by=Actor("agent", f"{word}OWN"))
    return ids


def words(read: Read) -> Read:
    """What a way in shows, as the words of it."""

    async def found(memory: Memory, ids: Mapping[str, str]) -> object:
        text = repr(await read(memory, ids))
        return {word for word in WORDS if word in text}

    return found


def called(name: str, **arguments: Any) -> Read:
    """An operation of the table, as MCP and HTTP call it, by somebody who works in ``a``."""

    async def read(memory: Memory, ids: Mapping[str, str]) -> object:
        environment = {"ARI_CURRENT_NODE_ID": "a"}
        experiment = ExperimentMemory(memory, PROJECT, "exp", by=BY, environment=environment)
        done = await answer(CALLS, experiment, name, arguments)
        assert done.fields.get("ok") is not False, done.text
        return done.fields

    return read


def command(show: Callable[..., Awaitable[Any]], *arguments: object, **more: object) -> Read:
    """A command, with all that it shows."""

    async def read(memory: Memory, ids: Mapping[str, str]) -> object:
        source = memory.ledger.database.source
        variables = {"DCF_MEMORY": str(source.path), "DCF_EMBEDDER": "none"}
        shown = await show(Settings.from_env(variables), PROJECT, "exp/a", *arguments, **more)
        return [shown.to_json(), list(map(str, shown.show))]

    return read


async def names_of_lineage(memory: Memory, ids: Mapping[str, str]) -> object:
    return [one.called for one in await memory.nodes.lineage(ids["a"])]


def told(**more: str) -> Read:
    """A context of somebody who works in a node, or is shown branches."""

    async def read(memory: Memory, ids: Mapping[str, str]) -> object:
        which: dict[str, Any] = {name: ids[one] for name, one in more.items() if name == "node"}
        which |= {name: [ids[one]] for name, one in more.items() if name == "branches"}
        return await memory.contexts.of_work(PROJECT, "orders", ContextSetting("index"), **which)

    return read


LINEAGE = ["base", "a"]
BOTH, OWN, ANCESTOR = {"ANCESTOR", "OWN"}, {"OWN"}, {"ANCESTOR"}
Surface = tuple[Read, object, str]
"""How it is read, what that shows, and the condition without which it shows more, of LEAKS."""
NODES: dict[str, Surface] = {
    "nodes.entries": (words(lambda m, it: m.nodes.entries(it["a"])), BOTH, "lineage"),
    "nodes.difference": (
        words(lambda m, it: m.nodes.difference(it["a"], it["base"])),
        OWN,
        "lineage",
    ),
    "nodes.lineage": (names_of_lineage, [PROJECT, "exp/base", "exp/a"], "lineage"),
    # Two entries of each, and two events of the first.
    "nodes.count": (lambda m, it: m.nodes.count(it["a"]), 6, "lineage"),
}
CONTEXTS: dict[str, Surface] = {
    "context": (words(told(node="a")), BOTH, "lineage"),
    "context of a branch": (words(told(branches="a")), OWN, "own"),
}
_FOUND: dict[str, tuple[str, dict[str, Any], set[str]]] = {
    "words": ("plum", {}, BOTH),
    "newest": ("", {}, BOTH),
    "kinds": ("plum", {"entry_kinds": ["note"]}, BOTH),
    "newest of kinds": ("", {"entry_kinds": ["note"]}, BOTH),
    "having": ("plum", {"having": ["artifacts"]}, BOTH),
    "verified": ("plum", {"verified": True}, ANCESTOR),
}


def found_by(query: str, more: Mapping[str, Any]) -> Read:
    return lambda memory, ids: memory.search.find(query, node=ids["a"], k=100, **more)


SEARCHES: dict[str, Surface] = {
    name: (words(found_by(query, more)), shown, "lineage")
    for name, (query, more, shown) in _FOUND.items()
}
_SCOPE = {"ancestor_ids": LINEAGE, "limit": 99}
CALLED: dict[str, Surface] = {
    name: (words(called(name, **arguments)), shown, leak)
    for name, arguments, shown, leak in (
        ("search_memory", {"query": "plum", **_SCOPE}, BOTH, "names"),
        ("search_research_memory", {"query": "plum", "kinds": ["note"], **_SCOPE}, BOTH, "names"),
        ("get_verified_context", {"purpose": "plum", **_SCOPE}, ANCESTOR, "names"),
        ("get_node_memory", {"node_id": "a"}, OWN, "own"),
        ("bulk_get_node_memory", {"node_ids": LINEAGE}, BOTH, "own"),
        ("react_search", {"query": "plum"}, {"STEP"}, "names"),
        ("react_get_all", {}, {"STEP"}, "own"),
        ("list_react_entries", {}, {"STEP"}, "own"),
        ("get_experiment_context", {}, {"GOAL"}, "address"),
        ("access_log", {}, OWN, "reads"),
    )
}
# Two entries of each of five nodes, an edited one, and seven events.
_SIZE = {"ok": True, "nodes": 5, "entries": 18, "problems": []}
CALLED["health"] = (called("health"), _SIZE, "size")
COMMANDS: dict[str, Surface] = {
    "show": (
        words(command(show_node, own=False, kinds=(), limit=50, offset=0)),
        BOTH,
        "lineage",
    ),
    "search": (words(command(search_node, "plum", 50)), BOTH, "lineage"),
    "diff": (words(command(show_difference, "exp/base")), OWN, "lineage"),
}
SURFACES = {
    **NODES,
    **CONTEXTS,
    **SEARCHES,
    **CALLED,
    **{f"scope {name}": it for name, it in COMMANDS.items()},
}


async def every_node(memory: ExperimentMemory, names: object) -> dict[str, str]:
    return await memory._memory.ledger.read(
        lambda it: {f"{row['name']} {row['id']}": row["id"] for row in it.execute(_ALL_NODES)}
    )


def any_row(connection: Connection, project: str, checkpoint: str, name: str) -> Any:
    """The last node of a name, of whichever experiment."""
    found = "SELECT * FROM nodes WHERE name = ? ORDER BY rowid DESC"
    return dict(connection.execute(found, (name,)).fetchone())


def size_of_all(connection: Connection, *_: object) -> tuple[int, int]:
    counts = "SELECT (SELECT count(*) FROM nodes), (SELECT count(*) FROM node_entries)"
    return tuple(connection.execute(counts).fetchone())


_ALL_NODES = "SELECT id, name FROM nodes"
_NO_LINEAGE = "WITH RECURSIVE lineage (id, parent, up) AS (SELECT id, parent, 0 FROM nodes)"
LEAKS: dict[str, tuple[str, object]] = {
    "lineage": ("dcf.memory.nodes.finding._LINEAGE", _NO_LINEAGE),
    "own": ("dcf.memory.nodes.finding._readable", lambda node, *_: ("1", {"node": node})),
    "names": ("dcf.memory.experiment.experiment.ExperimentMemory._named", every_node),
    "address": ("dcf.memory.nodes.finding.known_row", any_row),
    "size": ("dcf.memory.nodes.nodes.checkpoint_size", size_of_all),
    "reads": ("dcf.memory.access.reading._WITHIN", "1"),
}
"""Conditions that keep nodes apart, each with what stands in its place where it is missing."""

# Who looks at a whole tree, as its name says; and who writes: a node reads nothing by these.
WHOLE_NODES = "entry own size tree named nearest made get"
WRITING_NODES = "add change clear delete edit keep move promote purge reach remove write"
WHOLE_CALLS = "list_all_nodes audit_memory"
WHOLE_COMMANDS = "tree access context backup restore add edit promote move prune"
# Modules that read entries of nodes, or search where some may be found, and why that is no leak.
READERS = {
    "cli/memory/scope.py": "the commands above",
    "cli/memory/show.py": "a person opens one entry by its id",
    "mcp/families/recall.py": "leaves entries out: see below",
    "memory/context/offers.py": "the contexts above",
    "memory/entities.py": "names the table",
    "memory/database/migrations": "make the tables",
    "memory/experiment": "the operations above",
    "memory/forgetting/places.py": "takes entries out, and shows nothing of them",
    "memory/nodes": "the operations above",
    "memory/observations/desk.py": "asks for observations alone",
    "memory/retention/counting.py": "counts rows of all tables",
    "retrieval/retrievers.py": "searches the observations of a project",
    "retrieval/sqlite_backend.py": "searches the documents of a project, the archive of one agent",
    "worker/task_memory.py": "the node of a Task; what stands below it where the workflow says"
    " `gather`: tests/integration/worker/test_run_nodes.py",
    "memory/search": "the searches above",
    "memory/snapshots": "a whole checkpoint, for who takes it along",
}
_READS = re.compile(
    r"\bnodes\.(?:entries|entry|own|difference|count)\(|\bnode_entries\b|\bsearched_entries\b"
    r"|\b(?:entry_rows?|entry_count|named_entries)\b"
    r"|\bNODE_ENTRY\b|\.search\.find\b(?!\([^()]*\bagent_ids=\[)"
)


@pytest.mark.parametrize("name", SURFACES)
async def test_no_way_in_shows_another_branch(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And each shows more where the condition is missing that keeps it from that: none is a way
    that shows nothing whatever it does."""
    source = Source(tmp_path / "m.db")
    read, expected, leak = SURFACES[name]
    async with Memory.open(source, clock=Ticking(), new_id=Numbered(), embedder="none") as memory:
        ids = await family(memory)
        assert await read(memory, ids) == expected
        monkeypatch.setattr(*LEAKS[leak])
        assert await read(memory, ids) != expected


def test_every_operation_on_nodes_is_tried_or_said_to_be_of_the_whole_tree() -> None:
    public = {name for name in vars(Nodes) if not name.startswith("_")}
    tried = {name.partition(".")[2] for name in NODES}
    assert public == tried | set(f"{WHOLE_NODES} {WRITING_NODES}".split())


def test_every_operation_of_the_table_is_tried_or_writes() -> None:
    reading = {name for name, one in OPERATIONS.items() if not one.writes}
    assert reading == CALLED.keys() | set(WHOLE_CALLS.split())


def test_every_command_on_nodes_is_tried_or_said_to_be_of_the_whole_tree() -> None:
    app = typer.Typer()
    register_scope(app)
    (group,) = get_command(app).commands.values()  # type: ignore[attr-defined]
    assert set(group.commands) == COMMANDS.keys() | set(WHOLE_COMMANDS.split())


def test_every_module_that_may_read_entries_is_known() -> None:
    """Exports, packed contexts, observations, resources: whoever begins to read entries, by an
    operation or by SQL, is asked for a line in ``READERS`` and, if a node reads by it, a surface
    above."""
    root = Path(dcf.__file__).parent
    found = {
        str(file.relative_to(root))
        for file in root.rglob("*.py")
        if _READS.search(file.read_text("utf-8"))
    }
    unknown = {one for one in found if not one.startswith(tuple(READERS))}
    assert unknown == set()
    assert {one for one in READERS if not any(it.startswith(one) for it in found)} == set()


async def test_searches_for_agents_and_projects_find_no_entries(tmp_path: Path) -> None:
    assert "entry" not in _SEARCHED
    source = Source(tmp_path / "m.db")
    async with Memory.open(source, clock=Ticking(), new_id=Numbered(), embedder="none") as memory:
        await family(memory)
        for query in ("plum", ""):
            assert await memory.search.find(query, projects=[PROJECT], k=100) == ()
            assert await memory.search.find(query, agent_ids=["a"], k=100) == ()
            assert await memory.search.find(query, kinds=_SEARCHED, k=100) == ()


WRITER = """
import asyncio, sys, time
from pathlib import Path
from random import Random
from dcf.memory import Actor, Memory, MemoryProblem, NewEntry, NewNode, Source, random_id

async def main() -> None:
    rng, folder = Random(int(sys.argv[2])), Path(f"{sys.argv[1]}-{sys.argv[2]}")
    folder.mkdir(exist_ok=True)
    clock = lambda: time.time_ns() // 1_000_000
    async with Memory.open(
        Source(Path(sys.argv[1])), clock=clock, new_id=random_id, embedder="none"
    ) as memory:
        root = await memory.nodes.named("p")
        for number in range(1_000_000):
            by = Actor("agent", "writer", f"{sys.argv[2]} {number}")
            nodes = [one.node.id for one in await memory.nodes.tree(root.id)]
            node, other = rng.choice(nodes), rng.choice(nodes)
            act = rng.choices(range(8), (8, 3, 2, 2, 1 + len(nodes) // 8, 3, 2, 2))[0]
            checkpoints = await memory.snapshots.checkpoints("p")
            text = rng.choice(("plum", "fig", "plum fig"))
            try:
                own = await memory.nodes.entries(node, inherited=False)
                if act == 0 and len(own) > 20:
                    await memory.nodes.delete(node, rng.choice(own).id, by=by)
                elif act == 0:
                    kind = rng.choice(("note", "reflection"))
                    await memory.nodes.write(node, NewEntry(text, kind), by=by)
                elif act == 1:
                    checkpoint = (await memory.nodes.get(node)).checkpoint or "x"
                    new = NewNode("p", checkpoint, random_id("n"), node)
                    await memory.nodes.add(new, NewEntry(text), by=by)
                elif act == 2:
                    entries = await memory.nodes.entries(node)
                    await memory.nodes.edit(node, rng.choice(entries).id, by=by, text=text)
                elif act == 3:
                    await memory.nodes.promote(node, rng.choice(own).id, by=by)
                elif act == 4:
                    await memory.nodes.remove(rng.choice(nodes[-8:]), by=by)
                elif act == 5:
                    await memory.nodes.move(node, other, by=by)
                elif act == 6:
                    name = rng.choice(checkpoints)
                    await memory.snapshots.back_up("p", name, folder / name)
                elif len(nodes) > 30:
                    await memory.nodes.purge("p", rng.choice(checkpoints), by=by)
                else:
                    name = rng.choice((None, random_id("c")))
                    kept = rng.choice(sorted(folder.iterdir()))
                    await memory.snapshots.restore(kept, "p", by=by, checkpoint=name)
            except (MemoryProblem, IndexError):
                pass  # another one was faster, or it cannot be

asyncio.run(main())
"""


class Watcher:
    """Reads while others write, and knows by the events what the tree was at each moment."""

    def __init__(self, memory: Memory, rng: Random) -> None:
        self.memory, self.rng, self.tree = memory, rng, Tree()
        self.names: dict[str, tuple[str, str]] = {}
        self.asked: list[str] = []
        self.seq, self.reason, self.is_restored = 0, "", False
        self.reasons: set[str] = set()
        self.reads = self.changes = self.restores = 0
        self.ahead: deque[list[tuple[str, str, dict[str, Any]]]] = deque()

    async def look(self) -> None:
        """Read in a random node, and demand that this is what it had at a moment in between."""
        await self._catch_up()
        while self.ahead:
            self._apply(self.ahead.popleft())
        node = self.rng.choice(list(self.tree.parents))
        name, read = self.rng.choice(list(_LOOKS.items()))
        try:
            found = await read(self, node)
        except UnknownNode:
            found = None
        await self._catch_up()
        self.reads += 1
        fits = self._fits(node, name, found)
        strangers = self._strangers(node, name, found)
        while not fits and self.ahead:
            self._apply(self.ahead.popleft())
            fits = self._fits(node, name, found)
        assert fits, f"{name} in {node} gave {strangers}, which it does not read"

    def _strangers(self, node: str, name: str, found: object) -> object:
        """What was found and is not read in a node, or the other way round; a number as it is."""
        return set(found) ^ self._readable(node, name) if isinstance(found, list) else found

    def _readable(self, node: str, name: str) -> set[str]:
        """What can be read of a node, or of those that were asked for by name."""
        if name == "searched":
            return set(self.tree.of(self.asked))
        if node not in self.tree.parents:
            return set()
        return set(self.tree.of([node]) if name == "own" else self.tree.read(node))

    async def changed(self) -> None:
        """Wait until others have changed something since the last read."""
        seen = self.changes
        async with asyncio.timeout(60):
            while self.changes == seen or len(self.tree.entries) + len(self.ahead) < 10:
                await self._catch_up()
                await asyncio.sleep(0.002)

    def _fits(self, node: str, name: str, found: object) -> bool:
        # Who asks by names is told what those have that are there.
        if name != "searched" and (found is None or node not in self.tree.parents):
            return found is None and node not in self.tree.parents
        readable = self._readable(node, name)
        if isinstance(found, int):
            return found == len(readable)
        ids = set(found)  # type: ignore[call-overload]
        return ids == readable if name in _WHOLE else ids <= readable

    async def _catch_up(self) -> None:
        """What was changed since, one transaction after the other."""
        rows = await self.memory.ledger.read(self._changes)
        for seq, reason, operation, entity, ref, change in rows:
            if not self._goes_on(reason, operation):
                self.ahead.append([])
                self.changes += 1
            self.reason, self.seq = reason, seq
            self.ahead[-1].append((entity, ref, json.loads(change)))

    def _goes_on(self, reason: str, operation: str) -> bool:
        """Whether an event is of the same transaction as the one before it: each has a reason of
        its own. What a restore writes has the reasons of before, until it says what it restored."""
        was_restored, is_known = self.is_restored, reason in self.reasons
        is_same = bool(self.ahead) and reason == self.reason
        self.reasons.add(reason)
        self.is_restored = operation != "restored" and (was_restored or (is_known and not is_same))
        self.restores += self.is_restored and not was_restored
        return is_same or was_restored

    def _changes(self, connection: Connection) -> list[tuple[int, str, str, str, str, str]]:
        return connection.execute(
            "SELECT seq, reason, operation, entity, entity_id, change FROM events"
            " WHERE seq > ? ORDER BY seq",
            (self.seq,),
        ).fetchall()

    def _apply(self, changes: Sequence[tuple[str, str, dict[str, Any]]]) -> None:
        for entity, ref, change in changes:
            if entity == "node":
                self._change_node(ref, change)
            elif "created" in change:
                row = change["created"]
                self.tree.entries[ref] = (row["node_id"], row["text"], row["shadows"])
            elif "deleted" in change:
                del self.tree.entries[ref]
            elif "shadows" in change["changed"]:
                owner, text, _ = self.tree.entries[ref]
                self.tree.entries[ref] = (owner, text, change["changed"]["shadows"][1])

    def _change_node(self, ref: str, change: dict[str, Any]) -> None:
        if "created" in change:
            self.tree.parents[ref] = change["created"]["parent"]
            self.names[ref] = (change["created"]["checkpoint"], change["created"]["name"])
        elif "deleted" in change:
            del self.tree.parents[ref]
        elif "parent" in change["changed"]:
            self.tree.parents[ref] = change["changed"]["parent"][1]

    async def entries(self, node: str) -> list[str]:
        return [one.id for one in await self.memory.nodes.entries(node, limit=100_000)]

    async def count(self, node: str) -> int:
        return await self.memory.nodes.count(node)

    async def newest(self, node: str) -> list[str]:
        return [one.ref for one in await self.memory.search.find("", node=node, k=1_000)]

    async def words(self, node: str) -> list[str]:
        return [one.ref for one in await self.memory.search.find("plum", node=node, k=20)]

    async def kinds(self, node: str) -> list[str]:
        found = await self.memory.search.find("fig", node=node, entry_kinds=["note"], k=20)
        return [one.ref for one in found]

    async def own(self, node: str) -> list[str]:
        found = await self.memory.nodes.entries(node, inherited=False, limit=1_000, newest=True)
        return [one.id for one in found]

    async def searched(self, node: str) -> list[str]:
        """By the names of a lineage, as other programs search."""
        self.asked = self.tree.lineage(node)[:-1]
        lineage = [self.names[one][1] for one in self.asked]
        checkpoint = self.names[node][0]
        experiment = ExperimentMemory(self.memory, "p", checkpoint, by=BY, environment={})
        arguments = {"query": "plum", "ancestor_ids": lineage, "limit": 20}
        done = await answer(CALLS, experiment, "search_memory", arguments)
        return [one["entry_id"] for one in done.fields["results"]]


_LOOKS = {
    "entries": Watcher.entries,
    "count": Watcher.count,
    "newest": Watcher.newest,
    "words": Watcher.words,
    "kinds": Watcher.kinds,
    "own": Watcher.own,
    "searched": Watcher.searched,
}
_WHOLE = ("entries", "newest", "own")
"""Those that give all that a node reads."""


WRITERS, READS = (2, 2_000) if SOAK else (1, 40)


@pytest.mark.timeout(900)
@campaign(50)
def test_no_read_sees_another_branch_while_others_write_move_and_die(share: int) -> None:
    async def run(folder: Path) -> Watcher:
        source = Source(folder / "m.db")
        async with Memory.open(
            source, clock=Ticking(), new_id=random_id, embedder="none"
        ) as memory:
            first = await memory.nodes.add(NewNode("p", "x", "0"), NewEntry("plum"), by=BY)
            await memory.nodes.add(NewNode("p", "x", "1", first.id), NewEntry("fig"), by=BY)
            rng = Random(share)
            watcher = Watcher(memory, rng)
            seeds = iter(range(share * 1_000, share * 1_000 + 1_000))
            writers = [_writer(source, next(seeds)) for _ in range(WRITERS)]
            try:
                while watcher.reads < READS:
                    if watcher.reads % 25 == 24:
                        at = rng.randrange(WRITERS)
                        _kill(writers[at])
                        writers[at] = _writer(source, next(seeds))
                    if watcher.reads % 5 == 0:
                        await watcher.changed()
                    await watcher.look()
            finally:
                for one in writers:
                    _kill(one)
            assert await memory.check() == ()
            return watcher

    with TemporaryDirectory() as folder:
        watcher = asyncio.run(run(Path(folder)))
    assert watcher.changes >= watcher.reads / 5, "too little was changed meanwhile"
    assert watcher.restores or not SOAK


def _writer(source: Source, seed: int) -> subprocess.Popen[bytes]:
    return started(WRITER, source.path, seed, interpreter=python())


def _kill(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGKILL)
    process.communicate()
