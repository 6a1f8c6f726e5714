"""Nobody reads another branch: by no way in, and at no moment while others write, move and die."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import subprocess
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
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
FORBIDDEN = ("SIBLING", "NEPHEW", "BELOW", "EDITED", "ELSEWHERE")
"""What the texts of the node ``a``'s relatives say, which it must not read."""
SEEN = ("ANCESTOR", "OWN")
Read = Callable[[Memory, str], Awaitable[object]]


async def family(memory: Memory) -> str:
    """A tree in which each node says who it is; the id of the node that reads, ``a``."""
    ids: dict[str, str] = {}
    for checkpoint, name, parent, text in (
        ("exp", "base", None, "ANCESTOR plum"),
        ("exp", "a", "base", "OWN plum"),
        ("exp", "b", "base", "SIBLING plum"),
        ("exp", "c", "a", "BELOW plum"),
        ("exp", "d", "b", "NEPHEW plum"),
        ("other", "e", None, "ELSEWHERE plum"),
    ):
        above = None if parent is None else ids[parent]
        entries = [NewEntry(text, kind, {"artifacts": [text]}) for kind in ("note", "reflection")]
        node = await memory.nodes.add(NewNode(PROJECT, checkpoint, name, above), *entries, by=BY)
        ids[name] = node.id
    inherited = (await memory.nodes.entries(ids["base"]))[0]
    await memory.nodes.edit(ids["b"], inherited.id, by=BY, text="EDITED plum ANCESTOR")
    for name in ("base", "b", "c"):
        for one in await memory.nodes.entries(ids[name], inherited=False):
            event = {"target_memory_id": one.id, "status": "confirmed"}
            new = NewEntry(f"{one.text} again", "reproducibility_event", event)
            await memory.nodes.write(ids[name], new, by=BY)
    return ids["a"]


def called(name: str, **arguments: Any) -> Read:
    """An operation of the table, as MCP and HTTP call it, by somebody who works in ``a``."""

    async def read(memory: Memory, node: str) -> object:
        environment = {"ARI_CURRENT_NODE_ID": "a"}
        experiment = ExperimentMemory(memory, PROJECT, "exp", by=BY, environment=environment)
        done = await answer(CALLS, experiment, name, arguments)
        assert done.fields.get("ok") is not False, done.text
        return done.text

    return read


def command(show: Callable[..., Awaitable[Any]], *arguments: object, **more: object) -> Read:
    """A command, with all that it shows."""

    async def read(memory: Memory, node: str) -> object:
        source = memory.ledger.database.source
        variables = {"DCF_MEMORY": str(source.path), "DCF_EMBEDDER": "none"}
        shown = await show(Settings.from_env(variables), PROJECT, "exp/a", *arguments, **more)
        return [shown.to_json(), list(map(str, shown.show))]

    return read


LINEAGE = ["base", "a"]
NODES: dict[str, Read] = {
    "nodes.entries": lambda m, it: m.nodes.entries(it),
    "nodes.difference": lambda m, it: m.nodes.difference(it, it),
    "nodes.lineage": lambda m, it: m.nodes.lineage(it),
    "nodes.count": lambda m, it: m.nodes.count(it),
}
SEARCHES: dict[str, Read] = {
    "words": lambda m, it: m.search.find("plum", node=it, k=100),
    "newest": lambda m, it: m.search.find("", node=it, k=100),
    "kinds": lambda m, it: m.search.find("plum", node=it, entry_kinds=["note"], k=100),
    "newest of kinds": lambda m, it: m.search.find("", node=it, entry_kinds=["note"], k=100),
    "having": lambda m, it: m.search.find("plum", node=it, having=["artifacts"], k=100),
    "verified": lambda m, it: m.search.find("plum", node=it, verified=True, k=100),
}
CALLED: dict[str, Read] = {
    "search_memory": called("search_memory", query="plum", ancestor_ids=LINEAGE, limit=99),
    "search_research_memory": called(
        "search_research_memory", query="plum", ancestor_ids=LINEAGE, kinds=["note"], limit=99
    ),
    "get_verified_context": called("get_verified_context", ancestor_ids=LINEAGE, purpose="plum"),
    "get_node_memory": called("get_node_memory", node_id="a"),
    "bulk_get_node_memory": called("bulk_get_node_memory", node_ids=LINEAGE),
    "react_search": called("react_search", query="plum"),
    "react_get_all": called("react_get_all"),
    "list_react_entries": called("list_react_entries"),
    "get_experiment_context": called("get_experiment_context"),
    "health": called("health"),
    "access_log": called("access_log"),
}
COMMANDS: dict[str, Read] = {
    "show": command(show_node, own=False, kinds=(), limit=50, offset=0),
    "search": command(search_node, "plum", 50),
    "diff": command(show_difference, "exp/base"),
}
WITHOUT = {"nodes.lineage", "nodes.count", "react_search", "react_get_all", "list_react_entries"}
WITHOUT |= {"get_experiment_context", "health", "access_log", "nodes.difference"}
"""Those that give numbers, names, or what no node wrote."""
SURFACES = {**NODES, **SEARCHES, **CALLED, **{f"scope {name}": it for name, it in COMMANDS.items()}}

# Who looks at a whole tree, as its name says; and who writes: a node reads nothing by these.
WHOLE_NODES = "entry own size tree named nearest get"
WRITING_NODES = "add change clear delete edit move promote purge reach remove write"
WHOLE_CALLS = "list_all_nodes audit_memory"
WHOLE_COMMANDS = "tree access context backup restore add edit promote move prune"
# Modules that read entries of nodes, or search where some may be found, and why that is no leak.
READERS = {
    "cli/memory/scope.py": "the commands above",
    "cli/memory/search.py": "a person searches the whole memory",
    "cli/memory/show.py": "a person opens one entry by its id",
    "cli/memory/entries.py": "shows what the two before found",
    "mcp/families/recall.py": "leaves entries out: see below",
    "memory/access": "ids of what was read",
    "memory/entities.py": "names the table",
    "memory/database/migrations": "make the tables",
    "memory/experiment": "the operations above",
    "memory/invariants.py": "compares rows with their events",
    "memory/memory.py": "hands out the repositories",
    "memory/nodes": "the operations above",
    "memory/observations/desk.py": "asks for observations alone",
    "memory/retention/counting.py": "counts rows of all tables",
    "worker/task_memory.py": "the node of a Task; what stands below it where the workflow says"
    " `gather`: tests/unit/worker/test_worker_task_memory.py",
    "memory/search": "the searches above",
    "memory/snapshots": "a whole checkpoint, for who takes it along",
}
_READS = re.compile(
    r"\.nodes\.(?:entries|entry|own|difference|count)\(|\bnode_entries\b|\bsearched_entries\b"
    r"|\bNODE_ENTRY\b|\.search\.find\((?![^()]*\bagent_ids=\[)"
)


@pytest.mark.parametrize("name", SURFACES)
async def test_no_way_in_shows_another_branch(name: str, tmp_path: Path) -> None:
    source = Source(tmp_path / "m.db")
    async with Memory.open(source, clock=Ticking(), new_id=Numbered()) as memory:
        node = await family(memory)
        text = repr(await SURFACES[name](memory, node))
    assert [word for word in FORBIDDEN if word in text] == []
    if name not in WITHOUT:
        assert any(word in text for word in SEEN)


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
    rng = Random(int(sys.argv[2]))
    clock = lambda: time.time_ns() // 1_000_000
    async with Memory.open(
        Source(Path(sys.argv[1])), clock=clock, new_id=random_id, embedder="none"
    ) as memory:
        root = await memory.nodes.named("p")
        for number in range(1_000_000):
            by = Actor("agent", "writer", f"{sys.argv[2]} {number}")
            nodes = [one.node.id for one in await memory.nodes.tree(root.id)]
            node, other = rng.choice(nodes), rng.choice(nodes)
            act = rng.choices(range(6), (8, 3, 2, 2, 1 + len(nodes) // 8, 3))[0]
            text = rng.choice(("plum", "fig", "plum fig"))
            try:
                own = await memory.nodes.entries(node, inherited=False)
                if act == 0 and len(own) > 20:
                    await memory.nodes.delete(node, rng.choice(own).id, by=by)
                elif act == 0:
                    kind = rng.choice(("note", "reflection"))
                    await memory.nodes.write(node, NewEntry(text, kind), by=by)
                elif act == 1:
                    new = NewNode("p", "x", random_id("n"), node)
                    await memory.nodes.add(new, NewEntry(text), by=by)
                elif act == 2:
                    entries = await memory.nodes.entries(node)
                    await memory.nodes.edit(node, rng.choice(entries).id, by=by, text=text)
                elif act == 3:
                    await memory.nodes.promote(node, rng.choice(own).id, by=by)
                elif act == 4:
                    await memory.nodes.remove(rng.choice(nodes[-8:]), by=by)
                else:
                    await memory.nodes.move(node, other, by=by)
            except (MemoryProblem, IndexError):
                pass  # another one was faster, or it cannot be

asyncio.run(main())
"""


class Watcher:
    """Reads while others write, and knows by the events what the tree was at each moment."""

    def __init__(self, memory: Memory, rng: Random) -> None:
        self.memory, self.rng, self.tree = memory, rng, Tree()
        self.names: dict[str, str] = {}
        self.seq, self.reason = 0, ""
        self.reads = self.changes = 0
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
        strangers = self._strangers(node, found)
        while not fits and self.ahead:
            self._apply(self.ahead.popleft())
            fits = self._fits(node, name, found)
        assert fits, f"{name} in {node} gave {strangers}, which it does not read"

    def _strangers(self, node: str, found: object) -> object:
        """What was found and is not read in a node, or the other way round; a number as it is."""
        read = self.tree.read(node) if node in self.tree.parents else {}
        return set(found) ^ read.keys() if isinstance(found, list) else found

    async def changed(self) -> None:
        """Wait until others have changed something since the last read."""
        seen = self.changes
        async with asyncio.timeout(60):
            while self.changes == seen or len(self.tree.entries) + len(self.ahead) < 10:
                await self._catch_up()
                await asyncio.sleep(0.002)

    def _fits(self, node: str, name: str, found: object) -> bool:
        if found is None or node not in self.tree.parents:
            return found is None and node not in self.tree.parents
        seen = self.tree.read(node)
        if isinstance(found, int):
            return found == len(seen)
        ids = set(found)  # type: ignore[call-overload]
        return ids == seen.keys() if name in _WHOLE else ids <= seen.keys()

    async def _catch_up(self) -> None:
        """What was changed since, one transaction after the other."""
        rows = await self.memory.ledger.read(self._changes)
        for seq, reason, entity, ref, change in rows:
            if not self.ahead or reason != self.reason:
                self.ahead.append([])
                self.changes += 1
            self.reason, self.seq = reason, seq
            self.ahead[-1].append((entity, ref, json.loads(change)))

    def _changes(self, connection: Connection) -> list[tuple[int, str, str, str, str]]:
        return connection.execute(
            "SELECT seq, reason, entity, entity_id, change FROM events WHERE seq > ? ORDER BY seq",
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
            self.names[ref] = change["created"]["name"]
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

    async def own(self, node: str) -> list[str] | None:
        found = await self.memory.nodes.entries(node, inherited=False, limit=1_000, newest=True)
        assert {one.node_id for one in found} <= {node}
        shown = set(self.tree.read(node)) if node in self.tree.parents else set()
        return [one.id for one in found if one.id in shown]

    async def searched(self, node: str) -> list[str]:
        """By the names of a lineage, as other programs search."""
        lineage = [self.names[one] for one in self.tree.lineage(node)[:-1]]
        experiment = ExperimentMemory(self.memory, "p", "x", by=BY, environment={})
        arguments = {"query": "plum", "ancestor_ids": lineage, "limit": 20}
        done = await answer(CALLS, experiment, "search_memory", arguments)
        assert {one["node_id"] for one in done.fields["results"]} <= set(lineage)
        return []


_LOOKS = {
    "entries": Watcher.entries,
    "count": Watcher.count,
    "newest": Watcher.newest,
    "words": Watcher.words,
    "kinds": Watcher.kinds,
    "own": Watcher.own,
    "searched": Watcher.searched,
}
_WHOLE = ("entries", "newest")
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


def _writer(source: Source, seed: int) -> subprocess.Popen[bytes]:
    return started(WRITER, source.path, seed, interpreter=python())


def _kill(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGKILL)
    process.communicate()
