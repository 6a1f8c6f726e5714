"""The memory of one experiment, in the shapes of the system that a tree search comes from.

Programs that search a tree of ideas call a memory by these names, with these arguments, and are
given these dictionaries. Nodes have the names that the caller gives them. Whoever writes works in a
current node; writing to another one is refused in the answer, not raised, as those callers expect.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, get_args

from dcf.memory.actor import Actor
from dcf.memory.audit.journal import Journal
from dcf.memory.database import Connection
from dcf.memory.entities import NODE_ENTRY
from dcf.memory.errors import MemoryProblem
from dcf.memory.experiment.artifacts import (
    State,
    checked,
    folder_in,
    place_in,
    recorded,
    rows_with_artifacts,
)
from dcf.memory.experiment.report import artifacts_of, entries_of, write_report
from dcf.memory.experiment.shapes import (
    Ancestors,
    Answer,
    Limit,
    Metadata,
    NodeId,
    Query,
    Text,
    entry_answer,
    found_answer,
    is_time,
    reading_answer,
)
from dcf.memory.memory import Memory
from dcf.memory.node import CONTEXT, SHARED_NODES, TRACE, NewEntry, NewNode, Node
from dcf.memory.nodes import EVENT, NodeExists, UnknownNode, shadowed_ids, statuses
from dcf.memory.nodes.changing import change_node
from dcf.memory.nodes.fields import node_entry_of, node_of
from dcf.memory.nodes.finding import known_row

CURRENT = "ARI_CURRENT_NODE_ID"
"""The variable that names the current node, for callers that set it."""
_MOST = 1_000
_IMPORTED = {"node_scope": "note", "react": "step"}
"""What can be imported, and the kind of entries that do not say theirs."""


class ExperimentMemory:
    """What the nodes of the experiment ``checkpoint`` of a ``project`` remember.

    ``environment`` names the current node until ``_set_current_node`` does. ``files`` is the folder
    out of which no ``work_dir`` and ``experiments_root`` may lead; None: any may be named.
    ``how_to_name`` tells callers without a current node how they say which it is.
    """

    def __init__(
        self,
        memory: Memory,
        project: str,
        checkpoint: str,
        *,
        by: Actor,
        environment: Mapping[str, str],
        files: Path | None = None,
        how_to_name: str = f"set {CURRENT}",
    ) -> None:
        self._memory = memory
        self._project, self._checkpoint = project, checkpoint
        self._by, self._environment, self._files = by, environment, files
        self._how_to_name = how_to_name
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
        node_id: NodeId,
        text: Text,
        metadata: Metadata = None,
        *,
        kind: Annotated[str, "What sort of text it is, in a word of small letters."] = "note",
    ) -> Answer:
        """Remember a text in the current node: its descendants find it, its siblings do not.
        Answers {ok, id}; {ok: false, error} unless node_id is the current node."""
        wrong = self._not_current(node_id)
        if wrong is not None:
            return {"ok": False, "error": wrong}
        return await self._write(node_id, NewEntry(text, kind, metadata or {}))

    async def search_memory(
        self, query: Query, ancestor_ids: Ancestors, limit: Limit = 5
    ) -> Answer:
        """Find what your ancestors remembered, by words and by meaning. Answers {results:
        [{entry_id, node_id, kind, text, metadata, score}]}, the best first; none without ancestors.
        """
        return await self._search(query, ancestor_ids, limit)

    async def search_research_memory(
        self,
        query: Query,
        ancestor_ids: Ancestors,
        kinds: Annotated[
            Sequence[str],
            "Only these: experiment_result, failure_case, procedure, reflection, note, …",
        ] = (),
        require_artifacts: Annotated[bool, "Only what names the files that show it."] = False,
        limit: Limit = 5,
    ) -> Answer:
        """Find typed entries of your ancestors, such as failures alone, or results with files.
        Answers as search_memory."""
        having = ("artifacts",) if require_artifacts else ()
        return await self._search(query, ancestor_ids, limit, entry_kinds=kinds, having=having)

    async def get_verified_context(
        self,
        ancestor_ids: Ancestors,
        purpose: Annotated[str, "What you need it for, in words."],
        limit: Limit = 5,
    ) -> Answer:
        """Find what your ancestors remembered that could be reproduced: of which the newest
        reproducibility event in these nodes says confirmed, passed, reproduced or verified. Answers
        {purpose, results}, as search_memory, each with verified_by: {entry_id, status}."""
        found = await self._search(purpose, ancestor_ids, limit, verified=True)
        ids = list((await self._named(ancestor_ids)).values())
        status = await self._memory.ledger.read(lambda it: statuses(it, ids, shadowed_ids(it, ids)))
        results = []
        for one in found["results"]:
            event, said = status.get(one["entry_id"], (None, None))
            results.append({**one, "verified_by": {"entry_id": event, "status": said}})
        return {"purpose": purpose, "results": results}

    async def get_node_memory(self, node_id: NodeId) -> Answer:
        """Read all that a node wrote, oldest first. Answers {entries: [{entry_id, kind, text,
        metadata, ts}]}; ts is in seconds since the epoch. A node without any has no entries."""
        return {"entries": (await self._own([node_id])).get(node_id, [])}

    async def bulk_get_node_memory(
        self, node_ids: Annotated[Sequence[str], "The nodes."]
    ) -> Answer:
        """Read all that several nodes wrote. Answers {by_node: {node_id: entries}}."""
        found = await self._own(node_ids)
        return {"by_node": {one: found.get(one, []) for one in dict.fromkeys(node_ids)}}

    async def list_all_nodes(self) -> Answer:
        """Read all that all nodes of the experiment wrote, for who looks at the whole tree. Answers
        {by_node: {node_id: entries}}."""
        found = await self._own(None)
        return {"by_node": {one: kept for one, kept in found.items() if not _is_ours(one)}}

    async def clear_node_memory(self, node_id: NodeId) -> Answer:
        """Remove all that the current node wrote. Answers {removed}: how many entries."""
        wrong = self._not_current(node_id)
        if wrong is not None:
            return {"removed": 0, "error": wrong}
        node = await self._node(node_id)
        if node is None:
            return {"removed": 0}
        return {"removed": await self._memory.nodes.clear(node.id, by=self._by)}

    async def purge_checkpoint(self) -> Answer:
        """Remove all nodes of the experiment with all that they remember, its trace and its
        context. Answers {removed}: how many entries."""
        nodes = self._memory.nodes
        return {"removed": await nodes.purge(self._project, self._checkpoint, by=self._by)}

    async def get_experiment_context(self) -> Answer:
        """Read what the experiment is about (goal, primary metric, hardware), without a search.
        Answers {} before it is seeded."""
        node = await self._node(CONTEXT)
        return {} if node is None else dict(node.metadata)

    async def seed_core_memory(
        self,
        persona: Annotated[str, "Who works on it."] = "",
        human: Annotated[str, "For whom."] = "",
        context: Annotated[
            Mapping[str, Any] | None, "goal, primary_metric, hardware, and any other field."
        ] = None,
    ) -> Answer:
        """Say once what the experiment is about. Answers {ok}; whoever comes later is refused with
        {ok: false, error, context}, which is what is there."""
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

    async def change_experiment_context(
        self, context: Annotated[Mapping[str, Any], "Fields to set; null removes one."]
    ) -> Answer:
        """Change what the experiment is about, once it is seeded; fields that are not named stay.
        Answers {ok, context}."""

        def change(journal: Journal) -> Node | None:
            row = known_row(journal.connection, self._project, self._checkpoint, CONTEXT)
            if row is None:
                return None
            fields = {**node_of(row).metadata, **context}
            kept = {name: value for name, value in fields.items() if value is not None}
            return change_node(journal, row["id"], {"metadata": kept})

        try:
            node = await self._memory.ledger.change(self._by, change)
        except MemoryProblem as problem:
            return {"ok": False, "error": str(problem)}
        if node is None:
            return {"ok": False, "error": "the experiment is not seeded: call seed_core_memory"}
        return {"ok": True, "context": dict(node.metadata)}

    async def bulk_import(
        self,
        entries: Annotated[
            Sequence[Mapping[str, Any]], "{node_id, text, metadata, kind, ts}; of steps {content}."
        ],
        kind: Annotated[str, "node_scope, or react for steps of the trace."] = "node_scope",
    ) -> Answer:
        """Take in entries that another memory of this kind exported, with their times (ts, in
        seconds since the epoch): of whichever nodes they are, or of the current node if there is
        one. Answers {imported}, and errors: what is wrong with the others."""
        if kind not in _IMPORTED:
            error = f"there is no kind {kind!r} of entries: one of {', '.join(_IMPORTED)}"
            return {"ok": False, "imported": 0, "error": error}
        problems: list[str] = []
        imported = 0
        for number, one in enumerate(entries):
            done = await self._imported(one, kind)
            imported += done["ok"]
            problems += [] if done["ok"] else [f"entry {number}: {done['error']}"]
        return {"imported": imported, **({"errors": problems} if problems else {})}

    async def backup(self, folder: Annotated[str | Path, "Where to."]) -> Answer:
        """Write the whole experiment, its context and trace too, into a folder, from which restore
        has it again. Answers {ok, file, nodes, entries}."""
        try:
            where = await asyncio.to_thread(self._folder, folder)
            done = await self._memory.snapshots.back_up(
                self._project, self._checkpoint, where, by=self._reader
            )
        except MemoryProblem as problem:
            return {"ok": False, "error": str(problem)}
        return {"ok": True, "file": str(done.file), "nodes": done.nodes, "entries": done.entries}

    async def restore(self, folder: Annotated[str | Path, "Where backup wrote to."]) -> Answer:
        """Put back what backup wrote, if nothing is there yet. Answers {ok, nodes, entries, new};
        not new if the same is there already, {ok: false, error} where something else is."""
        try:
            where = await asyncio.to_thread(self._folder, folder)
            done = await self._memory.snapshots.restore(
                where, self._project, by=self._by, checkpoint=self._checkpoint
            )
        except MemoryProblem as problem:
            return {"ok": False, "error": str(problem)}
        counts = {"nodes": done.nodes, "entries": done.entries}
        return {"ok": True, **counts, "new": done.is_new}

    async def react_add(
        self, content: Annotated[str, "What was done or seen."], metadata: Metadata = None
    ) -> Answer:
        """Add a step to the trace of the experiment, which is not scoped: everybody reads it.
        Answers {ok, id}."""
        return await self._write(TRACE, NewEntry(content, "step", metadata or {}))

    async def react_search(self, query: Query, limit: Limit = 10) -> Answer:
        """Find steps of the trace, of whichever node. Answers {results}, as search_memory."""
        return await self._search(query, [TRACE], limit)

    async def react_get_all(self) -> Answer:
        """Read the whole trace, oldest first. Answers {entries}, as get_node_memory."""
        return await self.get_node_memory(TRACE)

    async def list_react_entries(self, limit: Limit = 100) -> Answer:
        """Read the last steps of the trace, oldest first. Answers {entries}, as get_node_memory."""
        node = await self._node(TRACE)
        if node is None or limit < 1:
            return {"entries": []}
        kept = await self._memory.nodes.entries(
            node.id,
            inherited=False,
            limit=limit,
            newest=True,
            by=self._reader,
        )
        return {"entries": [entry_answer(one) for one in kept]}

    async def add_experiment_result(
        self, node_id: NodeId, text: Text, metadata: Metadata = None, **more: Any
    ) -> Answer:
        """Remember what an experiment gave, as add_memory does. Other arguments are metadata."""
        return await self._typed(node_id, text, "experiment_result", metadata, more)

    async def add_failure_case(
        self, node_id: NodeId, text: Text, metadata: Metadata = None, **more: Any
    ) -> Answer:
        """Remember what failed, and how, as add_memory does. Other arguments are metadata."""
        return await self._typed(node_id, text, "failure_case", metadata, more)

    async def add_procedure_memory(
        self, node_id: NodeId, text: Text, metadata: Metadata = None, **more: Any
    ) -> Answer:
        """Remember how something is done, as add_memory does. Other arguments are metadata."""
        return await self._typed(node_id, text, "procedure", metadata, more)

    async def add_reflection(
        self,
        node_id: NodeId,
        text: Text,
        confidence: Annotated[float, "From 0 to 1."],
        metadata: Metadata = None,
        **more: Any,
    ) -> Answer:
        """Remember what you think of it, and how sure you are, as add_memory does. Other arguments
        are metadata too."""
        if not 0 <= confidence <= 1:
            return {"ok": False, "error": f"confidence is {confidence}, not between 0 and 1"}
        noted = {**more, "confidence": confidence}
        return await self._typed(node_id, text, "reflection", metadata, noted)

    async def add_reproducibility_event(
        self,
        node_id: NodeId,
        target_memory_id: Annotated[str, "The entry_id of what was tried again."],
        status: Annotated[str, "confirmed, or how it went otherwise."],
        text: Annotated[str, "What was seen."] = "",
        metadata: Metadata = None,
        **more: Any,
    ) -> Answer:
        """Remember that an entry could be reproduced, or not, as add_memory does. Other arguments
        are metadata too; get_verified_context goes by the newest event about an entry."""
        noted = {**more, "target_memory_id": target_memory_id, "status": status}
        said = text or f"{target_memory_id}: {status}"
        return await self._typed(node_id, said, EVENT, metadata, noted)

    async def consolidate_node_memory(
        self,
        node_id: NodeId,
        node_report: Annotated[
            Mapping[str, Any],
            "{summary, metrics, artifacts: [PATH], failures: [TEXT], procedures: [TEXT], "
            "reflections: [{text, confidence}]}.",
        ],
        work_dir: Annotated[str, "The folder below which the artifacts are."],
        run_id: Annotated[str, "The run that it was."],
    ) -> Answer:
        """Make typed entries of a node's report when its work is over, and record the SHA-256 of
        its files. Once, however often it is called; another report of the same run replaces what
        the one before it left. Answers {ok, ids, artifacts: [{path, sha256, bytes}]}."""
        wrong = self._not_current(node_id)
        if wrong is not None:
            return {"ok": False, "error": wrong}
        try:
            paths = artifacts_of(node_report)
            made = await asyncio.to_thread(self._recorded, work_dir, paths) if paths else []
            entries = entries_of(node_report, made, work_dir, run_id)
            node = await self._node(node_id) or await self._made(node_id)
            ids = await self._memory.ledger.change(
                self._by, lambda journal: write_report(journal, node.id, entries)
            )
        except MemoryProblem as problem:
            return {"ok": False, "error": str(problem)}
        return {"ok": True, "ids": ids, "artifacts": made}

    async def audit_memory(
        self,
        experiments_root: Annotated[str, "The folder that the files are in, or a copy of it."],
        run_id: Annotated[str, "Only of this run; empty: of all."] = "",
    ) -> Answer:
        """Compare the files that entries name with the SHA-256 that was recorded; no path leads out
        of experiments_root. Answers {ok, checked, intact, problems: [{entry_id, node_id, path,
        state, expected, found}]}; a state is changed, missing, outside or unrecorded."""
        try:
            root = await asyncio.to_thread(folder_in, experiments_root, self._files)
        except MemoryProblem as problem:
            return {"ok": False, "error": str(problem)}
        rows = await self._memory.ledger.read(
            lambda it: rows_with_artifacts(it, self._project, self._checkpoint, run_id)
        )
        self._memory.access.note(
            self._reader, "audit", None, [(node, entry) for _, _, node, entry in rows]
        )
        found = await asyncio.to_thread(
            lambda: [
                {"entry_id": entry, "node_id": name, **asdict(one)}
                for name, metadata, _, entry in rows
                for one in checked(root, json.loads(metadata))
            ]
        )
        states = Counter(one["state"] for one in found)
        wrong = [one for one in found if one["state"] != "intact"]
        counts = {state: states[state] for state in get_args(State)}
        return {"ok": not wrong, "checked": len(found), **counts, "problems": wrong}

    async def access_log(
        self,
        node_id: Annotated[str | None, "Only what was read in or from this node."] = None,
        since: Annotated[float | None, "Not older than so many seconds since the epoch."] = None,
        by: Annotated[str | None, "Only what the actor with this name read."] = None,
        limit: Limit = 100,
    ) -> Answer:
        """Read who read what from which node of the experiment, and when, the newest first. Answers
        {reads: [{ts, by, reason, operation, node, source, entries, count}]}: entries of the node
        source, the first 20 of them by their ids. Nodes that were removed are left out. The
        operation lost says how many reads could not be kept, of whichever experiment."""
        found = await self._memory.access.list(
            within=(self._project, self._checkpoint),
            node=None if node_id is None else f"{self._checkpoint}/{node_id}",
            by=by,
            since=None if since is None else round(since * 1_000),
            limit=min(max(limit, 0), _MOST),
        )
        return {"reads": [reading_answer(one) for one in found]}

    async def health(
        self,
        deep: Annotated[bool, "Look at every row of the file too, which takes longer."] = False,
    ) -> Answer:
        """Say whether the memory answers. Answers {ok, nodes, entries, problems}."""
        nodes, entries = await self._memory.nodes.size(
            self._project, self._checkpoint, but=SHARED_NODES
        )
        wrong = [one.message for one in await self._memory.check()] if deep else []
        return {"ok": not wrong, "nodes": nodes, "entries": entries, "problems": wrong}

    @property
    def _reader(self) -> Actor:
        """Who reads, and in which node, for the record of reads."""
        return self._by.because(f"in {self.current_node}") if self.current_node else self._by

    def _not_current(self, node_id: str) -> str | None:
        if self.current_node is None:
            return f"there is no current node: {self._how_to_name}"
        return self._not_writable(node_id)

    def _not_writable(self, node_id: str) -> str | None:
        """Why a node is not written to, by whoever is in no node too."""
        current = self.current_node
        if current is not None and node_id != current:
            return f"{node_id!r} is not the current node, which is {current!r}"
        if _is_ours(node_id):
            return f"{node_id!r} is no node of the tree: the name is kept for what all nodes read"
        return None

    async def _typed(
        self,
        node_id: str,
        text: str,
        kind: str,
        metadata: Mapping[str, Any] | None,
        more: Mapping[str, Any],
    ) -> Answer:
        return await self.add_memory(node_id, text, {**(metadata or {}), **more}, kind=kind)

    async def _imported(self, given: Mapping[str, Any], kind: str) -> Answer:
        """``{ok, id}`` of an entry that was exported."""
        name, at, wrong = TRACE, given.get("ts"), None
        if kind != "react":
            name = str(given.get("node_id") or "")
            wrong = self._not_writable(name)
        if at is not None and not is_time(at):
            wrong = f"ts is {at!r}, which is no time in seconds since the epoch"
        if wrong is not None:
            return {"ok": False, "error": wrong}
        text = str(given.get("text") or given.get("content") or "")
        sort = str(given.get("kind") or _IMPORTED[kind])
        ms = None if at is None else round(at * 1_000)
        return await self._write(name, NewEntry(text, sort, given.get("metadata") or {}, ms))

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

    async def _named(self, names: Sequence[str]) -> dict[str, str]:
        """The ids of those that there are, by name."""

        def read(connection: Connection) -> dict[str, str]:
            rows = {
                name: known_row(connection, self._project, self._checkpoint, name)
                for name in dict.fromkeys(names)
            }
            return {name: row["id"] for name, row in rows.items() if row is not None}

        return await self._memory.ledger.read(read)

    async def _own(self, names: Sequence[str] | None) -> dict[str, list[Answer]]:
        """What these nodes wrote (None: all), by name."""
        found = await self._memory.nodes.own(
            self._project, self._checkpoint, names, by=self._reader
        )
        return {name: [entry_answer(one) for one in kept] for name, kept in found.items()}

    def _folder(self, folder: str | Path) -> Path:
        """The folder of a snapshot, which may be missing. Raises FolderRefused."""
        return Path(folder) if self._files is None else place_in(folder, self._files)

    def _recorded(self, work_dir: str, paths: Sequence[str]) -> list[dict[str, Any]]:
        return recorded(folder_in(work_dir, self._files), paths)

    async def _search(self, query: str, names: Sequence[str], limit: int, **chosen: Any) -> Answer:
        named = await self._named(names)
        if not named or limit < 1:
            return {"results": []}
        called = {node_id: name for name, node_id in named.items()}
        found = await self._memory.search.find(
            query,
            k=min(limit, _MOST),
            nodes=list(called),
            by=self._reader,
            **chosen,
        )
        rows = await self._memory.ledger.read(
            lambda it: [NODE_ENTRY.find(it, one.ref) for one in found]
        )
        # What was removed since it was found has no row.
        both = [(one, node_entry_of(row)) for one, row in zip(found, rows, strict=True) if row]
        return {"results": [found_answer(one, entry, called) for one, entry in both]}


def _is_ours(name: str) -> bool:
    """Whether a name is not that of a node of the tree."""
    return name in SHARED_NODES
