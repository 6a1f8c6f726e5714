"""The memory of one experiment, in the shapes of the system that a tree search comes from.

Programs that search a tree of ideas call a memory by these names, with these arguments, and are
given these dictionaries. Nodes have the names that the caller gives them. Whoever writes works in a
current node; writing to another one is refused in the answer, not raised, as those callers expect.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from dcf.memory.actor import Actor
from dcf.memory.errors import MemoryProblem
from dcf.memory.memory import Memory
from dcf.memory.node import NewEntry, NewNode, Node, NodeEntry
from dcf.memory.nodes import NodeExists, UnknownEntry, UnknownNode
from dcf.memory.search.found import Found

CURRENT = "ARI_CURRENT_NODE_ID"
"""The variable that names the current node, for callers that set it."""
TRACE = ".trace"
CONTEXT = ".context"
"""The nodes of what is not scoped: the steps of all nodes, and what the experiment is about. They
stand beside the experiment's tree, so no node inherits them."""
_ALL = 1_000_000
_MOST = 1_000

Answer = dict[str, Any]


class ExperimentMemory:
    """What the nodes of the experiment ``checkpoint`` of a ``project`` remember."""

    def __init__(
        self,
        memory: Memory,
        project: str,
        checkpoint: str,
        *,
        by: Actor,
        environment: Mapping[str, str],
    ) -> None:
        self._memory = memory
        self._project, self._checkpoint = project, checkpoint
        self._by, self._environment = by, environment
        self._set: str | None = None

    def _set_current_node(self, node_id: str | None) -> None:
        """Work in this node from now on; None: in the one that the environment names."""
        self._set = node_id

    @property
    def current_node(self) -> str | None:
        """The node that is written to."""
        return self._set or self._environment.get(CURRENT) or None

    async def add_memory(
        self,
        node_id: str,
        text: str,
        metadata: Mapping[str, Any] | None = None,
        *,
        kind: str = "note",
    ) -> Answer:
        """``{ok, id}``; ``{ok: false, error}`` unless ``node_id`` is the current node."""
        wrong = self._not_current(node_id)
        if wrong is not None:
            return {"ok": False, "error": wrong}
        return await self._write(node_id, NewEntry(text, kind, metadata or {}))

    async def search_memory(
        self, query: str, ancestor_ids: Sequence[str], limit: int = 5
    ) -> Answer:
        """``{results: [{entry_id, node_id, text, metadata, score}]}``, the best first; none without
        ancestors."""
        return await self._search(query, ancestor_ids, (), limit)

    async def search_research_memory(
        self,
        query: str,
        ancestor_ids: Sequence[str],
        kinds: Sequence[str] = (),
        require_artifacts: bool = False,
        limit: int = 5,
    ) -> Answer:
        """As ``search_memory``, of these kinds, each with its ``kind``; with ``require_artifacts``
        only entries whose metadata name ``artifacts``."""
        return await self._search(query, ancestor_ids, kinds, limit, artifacts=require_artifacts)

    async def get_node_memory(self, node_id: str) -> Answer:
        """``{entries: [{entry_id, text, metadata, ts}]}`` in the order of time; ``ts`` is in
        seconds since the epoch. A node without any has no entries."""
        return {"entries": await self._entries(node_id)}

    async def bulk_get_node_memory(self, node_ids: Sequence[str]) -> Answer:
        """``{by_node: {node_id: entries}}``, as ``get_node_memory`` has them."""
        return {"by_node": {one: await self._entries(one) for one in dict.fromkeys(node_ids)}}

    async def list_all_nodes(self) -> Answer:
        """``{by_node: {node_id: entries}}`` of all nodes of the experiment."""
        return await self.bulk_get_node_memory([one.name for one in await self._nodes()])

    async def clear_node_memory(self, node_id: str) -> Answer:
        """``{removed}``: how many entries of the current node were removed."""
        wrong = self._not_current(node_id)
        if wrong is not None:
            return {"removed": 0, "error": wrong}
        return {"removed": await self._clear(node_id)}

    async def purge_checkpoint(self) -> Answer:
        """``{removed}``: all nodes of the experiment with all that they have, in numbers of
        entries."""
        names = [CONTEXT, TRACE, *(one.name for one in await self._nodes())]
        removed = sum([len(await self._entries(name)) for name in names])
        for name in names:
            # What stands below a node goes with it.
            node = await self._node(name)
            if node is not None:
                await self._memory.nodes.remove(node.id, by=self._by)
        return {"removed": removed}

    async def get_experiment_context(self) -> Answer:
        """What the experiment is about; ``{}`` before it is seeded."""
        node = await self._node(CONTEXT)
        if node is None:
            return {}
        return dict(node.metadata)

    async def seed_core_memory(
        self, persona: str = "", human: str = "", context: Mapping[str, Any] | None = None
    ) -> Answer:
        """``{ok}``: say once what the experiment is about: its goal, primary metric, hardware, and
        any other field. Whoever comes later is refused, with what is there."""
        seed = {"persona": persona, "human": human, **(context or {})}
        new = NewNode(self._project, self._checkpoint, CONTEXT, metadata=seed)
        try:
            await self._memory.nodes.add(new, by=self._by)
        except NodeExists:
            error = "the experiment is seeded already"
            return {"ok": False, "error": error, "context": await self.get_experiment_context()}
        except MemoryProblem as problem:
            return {"ok": False, "error": str(problem)}
        return {"ok": True}

    async def bulk_import(
        self, entries: Sequence[Mapping[str, Any]], kind: str = "node_scope"
    ) -> Answer:
        """``{imported}``: entries as other memories of this kind have them, ``{node_id, text,
        metadata}`` each; with the kind ``react`` steps of the trace, without a node."""
        problems: list[str] = []
        imported = 0
        for number, one in enumerate(entries):
            name = TRACE if kind == "react" else str(one.get("node_id") or "")
            text = str(one.get("text") or one.get("content") or "")
            entry = NewEntry(text, str(one.get("kind") or "note"), one.get("metadata") or {})
            done = await self._write(name, entry)
            imported += done["ok"]
            problems += [] if done["ok"] else [f"entry {number}: {done['error']}"]
        return {"imported": imported, **({"errors": problems} if problems else {})}

    async def backup(self, folder: str | Path) -> Answer:
        """``{ok, file, nodes, entries}``: the whole experiment, its context and trace too, in the
        folder, from which ``restore`` has it again."""
        try:
            done = await self._memory.snapshots.back_up(
                self._project, self._checkpoint, Path(folder)
            )
        except MemoryProblem as problem:
            return {"ok": False, "error": str(problem)}
        return {"ok": True, "file": str(done.file), "nodes": done.nodes, "entries": done.entries}

    async def restore(self, folder: str | Path) -> Answer:
        """``{ok, nodes, entries, new}``: what ``backup`` wrote, if nothing is there yet; it is not
        ``new`` if the same is there already. Where something else is, ``{ok: false, error}``."""
        try:
            done = await self._memory.snapshots.restore(
                Path(folder), self._project, by=self._by, checkpoint=self._checkpoint
            )
        except MemoryProblem as problem:
            return {"ok": False, "error": str(problem)}
        counts = {"nodes": done.nodes, "entries": done.entries}
        return {"ok": True, **counts, "new": done.is_new}

    async def react_add(self, content: str, metadata: Mapping[str, Any] | None = None) -> Answer:
        """``{ok, id}``: one more step in the trace of the experiment, which is not scoped."""
        return await self._write(TRACE, NewEntry(content, "step", metadata or {}))

    async def react_search(self, query: str, limit: int = 10) -> Answer:
        """``{results}``: steps of the trace, whichever node made them."""
        return await self._search(query, [TRACE], (), limit)

    async def react_get_all(self) -> Answer:
        """``{entries}``: the trace in the order of time."""
        return await self.get_node_memory(TRACE)

    async def list_react_entries(self, limit: int = 100) -> Answer:
        """``{entries}``: the last ``limit`` steps of the trace, in the order of time."""
        entries = await self._entries(TRACE)
        return {"entries": entries[max(len(entries) - limit, 0) :]}

    async def add_experiment_result(self, node_id: str, text: str, **metadata: Any) -> Answer:
        """As ``add_memory``: what an experiment gave."""
        return await self.add_memory(node_id, text, metadata, kind="experiment_result")

    async def add_failure_case(self, node_id: str, text: str, **metadata: Any) -> Answer:
        """As ``add_memory``: what failed, and how."""
        return await self.add_memory(node_id, text, metadata, kind="failure_case")

    async def add_procedure_memory(self, node_id: str, text: str, **metadata: Any) -> Answer:
        """As ``add_memory``: how something is done."""
        return await self.add_memory(node_id, text, metadata, kind="procedure")

    async def add_reflection(
        self, node_id: str, text: str, confidence: float, **metadata: Any
    ) -> Answer:
        """As ``add_memory``: what is thought of it; ``confidence`` is from 0 to 1."""
        if not 0 <= confidence <= 1:
            return {"ok": False, "error": f"confidence is {confidence}, not between 0 and 1"}
        noted = {**metadata, "confidence": confidence}
        return await self.add_memory(node_id, text, noted, kind="reflection")

    async def add_reproducibility_event(
        self, node_id: str, target_memory_id: str, status: str, text: str = "", **metadata: Any
    ) -> Answer:
        """As ``add_memory``: that the entry ``target_memory_id`` could be reproduced, or not."""
        noted = {**metadata, "target_memory_id": target_memory_id, "status": status}
        said = text or f"{target_memory_id}: {status}"
        return await self.add_memory(node_id, said, noted, kind="reproducibility_event")

    async def health(self) -> Answer:
        """``{ok, nodes, entries, problems}``; it is not ``ok`` if anything in the file is wrong."""
        nodes = await self._nodes()
        entries = [len(await self._entries(one.name)) for one in nodes]
        wrong = [one.message for one in await self._memory.check()]
        return {"ok": not wrong, "nodes": len(nodes), "entries": sum(entries), "problems": wrong}

    def _not_current(self, node_id: str) -> str | None:
        current = self.current_node
        if current is None:
            return f"there is no current node: set {CURRENT}"
        if node_id != current:
            return f"{node_id!r} is not the current node, which is {current!r}"
        return None

    async def _write(self, name: str, entry: NewEntry) -> Answer:
        """``{ok, id}``, in a node that is made if it is missing."""
        try:
            node = await self._node(name) or await self._made(name)
            (kept,) = await self._memory.nodes.write(node.id, entry, by=self._by)
        except MemoryProblem as problem:
            return {"ok": False, "error": str(problem)}
        return {"ok": True, "id": kept.id}

    async def _made(self, name: str) -> Node:
        # Somebody else may make it first.
        with suppress(NodeExists):
            new = NewNode(self._project, self._checkpoint, name)
            return await self._memory.nodes.add(new, by=self._by)
        return await self._memory.nodes.named(self._project, self._checkpoint, name)

    async def _node(self, name: str) -> Node | None:
        with suppress(UnknownNode):
            return await self._memory.nodes.named(self._project, self._checkpoint, name)
        return None

    async def _nodes(self) -> list[Node]:
        """The nodes of the experiment, each before its children."""
        with suppress(UnknownNode):
            root = await self._memory.nodes.named(self._project)
            found = [one.node for one in await self._memory.nodes.tree(root.id)]
            own = [one for one in found if one.checkpoint == self._checkpoint]
            return [one for one in own if one.name not in (TRACE, CONTEXT)]
        return []

    async def _entries(self, name: str) -> list[Answer]:
        node = await self._node(name)
        if node is None:
            return []
        kept = await self._memory.nodes.entries(node.id, inherited=False, limit=_ALL)
        return [_entry(one) for one in kept]

    async def _clear(self, name: str) -> int:
        node = await self._node(name)
        if node is None:
            return 0
        kept = await self._memory.nodes.entries(node.id, inherited=False, limit=_ALL)
        for one in kept:
            await self._memory.nodes.delete(node.id, one.id, by=self._by)
        return len(kept)

    async def _search(
        self,
        query: str,
        names: Sequence[str],
        kinds: Sequence[str],
        limit: int,
        *,
        artifacts: bool = False,
    ) -> Answer:
        nodes = [node for name in dict.fromkeys(names) if (node := await self._node(name))]
        if not nodes or limit < 1:
            return {"results": []}
        called = {one.id: one.name for one in nodes}
        is_filtered = bool(kinds) or artifacts
        found = await self._memory.search.find(
            query, k=_MOST if is_filtered else min(limit, _MOST), nodes=list(called)
        )
        results: list[Answer] = []
        for one in found:
            try:
                entry = await self._memory.nodes.entry(one.ref)
            except UnknownEntry:
                continue  # it was removed since it was found
            if kinds and entry.kind not in kinds:
                continue
            if artifacts and not entry.metadata.get("artifacts"):
                continue
            results.append(_result(one, entry, called))
            if len(results) >= limit:
                break
        return {"results": results}


def _entry(one: NodeEntry) -> Answer:
    return {
        "entry_id": one.id,
        "kind": one.kind,
        "text": one.text,
        "metadata": dict(one.metadata),
        "ts": one.created_at / 1_000,
    }


def _result(found: Found, entry: NodeEntry, called: Mapping[str, str]) -> Answer:
    return {
        "entry_id": entry.id,
        "node_id": called[entry.node_id],
        "kind": entry.kind,
        "text": entry.text,
        "metadata": dict(entry.metadata),
        "score": found.score,
    }
