"""``dcf memory scope``: trees of nodes, and what is read and written in one."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.text import Text
from rich.tree import Tree

from dcf.cli.answer import Answer
from dcf.cli.asl_graph import drawing_of, format_of, write_drawing
from dcf.cli.memory.entries import found_entry
from dcf.cli.memory.given_text import given_text
from dcf.cli.memory.opening import opened, person
from dcf.cli.memory.scope_nodes import (
    changeable_node,
    current_node,
    node_named,
    parent_node,
    parts_of,
    project_named,
    readable_node,
    tree_node,
)
from dcf.cli.memory.wording import moment, one_line
from dcf.cli.settings import Settings
from dcf.cli.trouble import NotSo
from dcf.cli.wording import counted
from dcf.diagram import Chart, Edge, Machine
from dcf.diagram import Node as ChartNode
from dcf.memory import (
    Found,
    NewEntry,
    NewNode,
    Node,
    NodeEntry,
    NodeFields,
    NotCurrentNode,
    TreeNode,
    UnknownCheckpoint,
    UnknownNode,
)
from dcf.secret_form import without_secrets

_EXCERPT = 300
_NUMBERED = re.compile(r"(.*)\[([0-9]{1,9})\]")
_MOST_NODES = 500
"""Nodes of a tree that are drawn."""


@dataclass(frozen=True, slots=True)
class Writing:
    """What is written: into ``node``, which is made below ``under`` if it is missing. Empty fields
    are left as they are."""

    node: str
    text: str = ""
    under: str | None = None
    kind: str = "note"
    title: str | None = None
    score: float | None = None


async def show_tree(
    settings: Settings, project: str | None, checkpoint: str | None, out: Path | None = None
) -> Answer:
    """The tree of a project, or of one checkpoint in it; as a picture in ``out``. Raises
    UnknownCheckpoint, BadInput, EnvironmentTrouble."""
    format_ = None if out is None else format_of(out)
    where = project_named(settings, project)
    async with opened(settings) as memory:
        try:
            root = await memory.nodes.named(where)
        except UnknownNode:
            lines = [f"{where or 'This project'} has no nodes; `dcf memory scope add` makes one."]
            return Answer({"project": where, "nodes": []}, lines)
        found = await memory.nodes.tree(root.id, by=person("by `dcf memory scope tree`"))
    shown = [one for one in _in_order(found) if checkpoint in (None, one.node.checkpoint)]
    if not shown:
        known = sorted({one.node.checkpoint for one in found} - {""})
        raise UnknownCheckpoint(where, checkpoint or "", known[-10:])
    fields = {"project": where, "nodes": [_tree_entry(one) for one in shown]}
    more = len(shown) - _MOST_NODES
    end = counted(len(shown), "node", "nodes") + (f"; {more:,} are not shown" if more > 0 else "")
    if out is None or format_ is None:
        return Answer(fields, [*_drawn(shown[:_MOST_NODES]), Text(end, "dim")])
    chart = _chart(shown[:_MOST_NODES], checkpoint or where)
    write_drawing(out, drawing_of(chart, format_, None, "down", chart.machine.title))
    return Answer({**fields, "out": str(out)}, [Text(f"{out}: {end} drawn")])


async def show_node(
    settings: Settings,
    project: str | None,
    name: str,
    *,
    own: bool,
    kinds: Sequence[str],
    limit: int,
    offset: int,
) -> Answer:
    """What is read in a node. Raises UnknownNode, BadInput."""
    async with opened(settings) as memory:
        node = await readable_node(memory, project_named(settings, project), name, settings)
        lineage = await memory.nodes.lineage(node.id)
        by = person("by `dcf memory scope show`")
        asked: dict[str, Any] = {"inherited": not own, "kinds": kinds, "by": by}
        entries = await memory.nodes.entries(node.id, limit=limit, offset=offset, **asked)
        count = await memory.nodes.count(node.id, **asked)
    names = {one.id: one.called for one in lineage}
    fields = {
        "node": asdict(node),
        "lineage": [_reference(one) for one in lineage],
        "entries": [{**asdict(one), "node": names[one.node_id]} for one in entries],
        "count": count,
    }
    reads = " > ".join(one.called for one in lineage)
    show: list[Any] = [_heading(node), Text(f"  reads {reads}", "dim")]
    for one in entries:
        show += _entry_lines(one, names)
    end = f"{len(entries)} of {counted(count, 'entry', 'entries')}"
    return Answer(fields, [*show, Text(end, "dim")])


async def search_node(
    settings: Settings, project: str | None, name: str, query: str, k: int
) -> Answer:
    """What fits best of what is read in a node. Raises UnknownNode, BadInput, InvalidEntry."""
    # As texts are kept; an answer tells the question again.
    query = without_secrets(query)
    async with opened(settings) as memory:
        node = await readable_node(memory, project_named(settings, project), name, settings)
        names = {one.id: one.called for one in await memory.nodes.lineage(node.id)}
        began = time.perf_counter()
        by = person("by `dcf memory scope search`")
        found = await memory.search.find(query, k=k, node=node.id, by=by)
        took_ms = round((time.perf_counter() - began) * 1e3, 1)
    entries = [{**found_entry(one), "node": names.get(one.node_id or "")} for one in found]
    fields = {"node": _reference(node), "query": query, "took_ms": took_ms, "found": entries}
    show = [line for one in found for line in _found_lines(one, names)]
    texts = counted(len(found), "text", "texts")
    end = f"{texts} of what {node.called} reads" if found else "Nothing was found."
    return Answer(fields, [*show, Text(end, "dim")])


async def add_entry(settings: Settings, project: str | None, order: Writing) -> Answer:
    """Write a text into a node, made with it if it is missing. Raises a MemoryProblem, BadInput;
    then nothing changed."""
    by = person("told by `dcf memory scope add`")
    where, text = project_named(settings, project), given_text(order.text)
    texts = [NewEntry(text, order.kind)] if text else []
    fields: NodeFields = {}
    if order.title is not None:
        fields["title"] = order.title
    if order.score is not None:
        fields["score"] = order.score
    async with opened(settings, make=True) as memory:
        current = await current_node(memory, where, settings)
        above = None if order.under is None else await node_named(memory, where, order.under)
        try:
            node = await tree_node(memory, where, order.node)
        except UnknownNode:
            checkpoint, name = parts_of(order.node)
            new = NewNode(where, checkpoint, name, None if above is None else above.id, **fields)
            if current is not None and texts:
                raise NotCurrentNode(node=order.node, current=current.called) from None
            node, is_new = await memory.nodes.add(new, *texts, by=by), True
            reader = by.because("by `dcf memory scope add`")
            entries = await memory.nodes.entries(node.id, inherited=False, by=reader)
        else:
            _demand_parent(node, above)
            writer = None if current is None else current.id
            entries = await memory.nodes.write(node.id, *texts, by=by, current=writer)
            node, is_new = await memory.nodes.change(node.id, by=by, **fields), False
    done = {"node": asdict(node), "made": is_new, "entries": [asdict(one) for one in entries]}
    show = [f"{node.called} {'is made' if is_new else 'is there'}."] if is_new or not text else []
    show += [f"{one.id} is in {node.called}." for one in entries]
    return Answer(done, show)


async def edit_entry(
    settings: Settings, project: str | None, name: str, entry_id: str, text: str
) -> Answer:
    """Another text for an entry, as a node reads it. Raises a MemoryProblem, BadInput."""
    where = project_named(settings, project)
    async with opened(settings) as memory:
        node, current = (
            await tree_node(memory, where, name),
            await current_node(memory, where, settings),
        )
        entry = await memory.nodes.edit(
            node.id,
            entry_id,
            by=person("told by `dcf memory scope edit`"),
            current=None if current is None else current.id,
            text=given_text(text),
        )
    is_own = entry.id == entry_id
    said = "has another text" if is_own else f"stands for {entry_id} from now on"
    return Answer({"entry": asdict(entry)}, [f"{entry.id} {said} in {node.called}."])


async def promote_entries(
    settings: Settings, project: str | None, name: str, entries: Sequence[str], to: str | None
) -> Answer:
    """Entries of a node for an ancestor too. Raises a MemoryProblem, BadInput; those before the one
    that is refused are promoted."""
    where, by = project_named(settings, project), person("told by `dcf memory scope promote`")
    async with opened(settings) as memory:
        node, current = (
            await tree_node(memory, where, name),
            await current_node(memory, where, settings),
        )
        above = None if to is None else (await node_named(memory, where, to)).id
        writer = None if current is None else current.id
        done = [
            await memory.nodes.promote(node.id, one, by=by, to=above, current=writer)
            for one in dict.fromkeys(entries)
        ]
        target = await memory.nodes.get(done[0].node_id)
    show = [f"{one.id} is in {target.called}." for one in done]
    return Answer({"node": _reference(target), "entries": [asdict(one) for one in done]}, show)


async def show_difference(settings: Settings, project: str | None, name: str, other: str) -> Answer:
    """What is read in one node and not in the other. Raises UnknownNode, BadInput."""
    where = project_named(settings, project)
    async with opened(settings) as memory:
        nodes = [await readable_node(memory, where, one, settings) for one in (name, other)]
        by = person("by `dcf memory scope diff`")
        both = await memory.nodes.difference(nodes[0].id, nodes[1].id, by=by)
        owners = {one.node_id for entries in both for one in entries}
        names = {one: (await memory.nodes.get(one)).called for one in owners}
    fields: dict[str, Any] = {}
    show: list[Any] = []
    for field, node, entries in zip(("only_first", "only_second"), nodes, both, strict=True):
        fields[field] = {"node": _reference(node), "entries": [asdict(one) for one in entries]}
        show.append(
            Text(f"only in {node.called}: {counted(len(entries), 'entry', 'entries')}", "bold")
        )
        show += [line for one in entries for line in _entry_lines(one, names)]
    return Answer(fields, show)


async def move_node(settings: Settings, project: str | None, name: str, under: str) -> Answer:
    """A node, with all below it, below another one. Raises a MemoryProblem, BadInput."""
    where = project_named(settings, project)
    async with opened(settings) as memory:
        node = await changeable_node(memory, where, name, settings)
        above = await parent_node(memory, where, under, settings)
        by = person("told by `dcf memory scope move`")
        moved = await memory.nodes.move(node.id, above.id, by=by)
    return Answer({"node": asdict(moved)}, [f"{moved.called} stands below {above.called}."])


async def prune_node(settings: Settings, project: str | None, name: str, *, sure: bool) -> Answer:
    """Remove a node and all below it; without ``sure`` say what that would be. Raises a
    MemoryProblem, BadInput."""
    async with opened(settings) as memory:
        node = await changeable_node(memory, project_named(settings, project), name, settings)
        by = person("told by `dcf memory scope prune`")
        found = await memory.nodes.tree(node.id, by=by)
        if sure:
            await memory.nodes.remove(node.id, by=by)
    entries = sum(one.entries for one in found)
    what = f"{counted(len(found), 'node', 'nodes')} with {counted(entries, 'entry', 'entries')}"
    fields = {"removed": sure, "nodes": [_tree_entry(one) for one in found], "entries": entries}
    if sure:
        return Answer(fields, [f"{what} are removed; `dcf memory history` has them."])
    return Answer(fields, [*_drawn(found[:_MOST_NODES]), f"--yes removes {what}."])


def _demand_parent(node: Node, above: Node | None) -> None:
    if above is not None and node.parent != above.id:
        message = f"{node.called} is there, and does not stand below {above.called}"
        hint = f"`dcf memory scope move {node.called} --under {above.called}` moves it"
        raise NotSo("memory_node_elsewhere", message, hint)


def _reference(node: Node) -> dict[str, str]:
    return {"id": node.id, "name": node.called}


def _tree_entry(one: TreeNode) -> dict[str, Any]:
    return {**asdict(one.node), "depth": one.depth, "entries": one.entries}


def _heading(node: Node) -> Text:
    score = "" if node.score is None else f"  score {node.score:g}"
    title = f"  {one_line(node.title)}" if node.title else ""
    return Text.assemble((node.called, "bold"), score, (title, "dim"))


def _in_order(found: Sequence[TreeNode]) -> list[TreeNode]:
    """The same with iterations and branches by their numbers, not by who wrote first."""
    keys: dict[str, tuple[int, ...]] = {}
    stems: dict[tuple[str, str], int] = {}
    for one in found:
        stem, number = one.node.name, -1
        if numbered := _NUMBERED.fullmatch(one.node.name):
            stem, number = numbered[1], int(numbered[2])
        above = one.node.parent or ""
        place = stems.setdefault((above, stem), len(stems))
        keys[one.node.id] = (*keys.get(above, ()), place, number)
    return sorted(found, key=lambda one: keys[one.node.id])


def _drawn(found: Sequence[TreeNode]) -> list[Tree]:
    """The trees of nodes, each of which stands before those below it."""
    drawn: dict[str, Tree] = {}
    tops = []
    for one in found:
        label = _heading(one.node)
        if one.entries:
            label.append(f"  {counted(one.entries, 'entry', 'entries')}", "dim")
        above = drawn.get(one.node.parent or "")
        if above is None:
            drawn[one.node.id] = Tree(label)
            tops.append(drawn[one.node.id])
        else:
            drawn[one.node.id] = above.add(label)
    return tops


def _chart(found: Sequence[TreeNode], title: str) -> Chart:
    """The same as boxes, of which those on the way to the best node are green."""
    below = {one.node.id: one.node for one in found}
    scored = [one.node for one in found if one.node.score is not None]
    at = max(scored, key=lambda node: node.score or 0.0, default=None)
    best: set[str] = set()
    while at is not None:
        best.add(at.id)
        at = below.get(at.parent or "")
    nodes, edges = [], []
    for one in found:
        score = "" if one.node.score is None else f"score {one.node.score:g}"
        entries = counted(one.entries, "entry", "entries") if one.entries else ""
        note = " · ".join(filter(None, (score, entries, one_line(one.node.title))))
        kind = "Succeed" if one.node.id in best else "Pass"
        nodes.append(ChartNode(one.node.called, kind, (one.node.called,), note))
        above = below.get(one.node.parent or "")
        if above is not None:
            edges.append(Edge(above.called, one.node.called, "next"))
    return Chart(Machine(title, None, tuple(nodes), tuple(edges)))


def _entry_lines(entry: NodeEntry, names: dict[str, str]) -> list[Text]:
    shadows = f", in place of {entry.shadows}" if entry.shadows else ""
    about = f"  {entry.kind} of {names[entry.node_id]}{shadows}, {moment(entry.created_at)}"
    return [
        Text.assemble((entry.id, "bold"), (about, "dim")),
        Text(f"  {one_line(entry.text, _EXCERPT)}"),
    ]


def _found_lines(found: Found, names: dict[str, str]) -> list[Text]:
    whose = names.get(found.node_id or "", found.project or "")
    about = f"  {found.kind} of {whose}, score {found.score:.2f}, {moment(found.at)}"
    return [
        Text.assemble((found.ref, "bold"), (about, "dim")),
        Text(f"  {one_line(found.text, _EXCERPT)}"),
    ]
