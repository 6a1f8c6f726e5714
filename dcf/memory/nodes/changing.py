"""Making, moving and removing nodes, and writing into them: each writes to its own node alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from dcf.memory.audit.clean_text import clean
from dcf.memory.audit.entity import Row
from dcf.memory.audit.journal import Journal
from dcf.memory.checking import refuse
from dcf.memory.entities import NODE, NODE_ENTRY
from dcf.memory.node import ROOT, NewEntry, NewNode, Node, NodeEntry, NodeResult
from dcf.memory.nodes.errors import (
    EntryInherited,
    EntryShadowed,
    NodeElsewhere,
    NodeExists,
    NodeOfItself,
    NodeShared,
    NotAbove,
    NotCurrentNode,
    RootFixed,
    UnknownEntry,
)
from dcf.memory.nodes.fields import (
    EntryFields,
    NodeFields,
    address_of,
    entry_columns,
    entry_problems,
    fields_of,
    new_columns,
    node_columns,
    node_entry_of,
    node_of,
    time_problems,
)
from dcf.memory.nodes.finding import (
    checkpoint_rows,
    checkpoint_size,
    known_row,
    lineage_rows,
    node_row,
    shadowing_row,
    tree_rows,
)
from dcf.problem import Problem

RESULT = "result"
"""The kind of an entry that a node keeps of a piece of work."""
_OF, _FENCES = "of", "fences"
_TITLE = 80
"""Characters of a node's title that is the beginning of a result."""


def add_node(journal: Journal, new: NewNode, entries: Sequence[NewEntry]) -> Node:
    """Make a node with its first entries. Raises InvalidEntry with all that is wrong, UnknownNode
    (the parent), NodeExists, NodeShared, NodeElsewhere."""
    columns = new_columns(new)
    known = known_row(journal.connection, new.project, new.checkpoint, new.name)
    if known is not None:
        above = node_of(node_row(journal.connection, known["parent"]))
        raise NodeExists(node=node_of(known).called, parent=above.called)
    root = root_row(journal, new.project)
    parent = root if new.parent is None else node_row(journal.connection, new.parent)
    node = node_of(made_under(journal, new, columns, parent))
    write_entries(journal, node.id, entries, current=None)
    return node


def root_row(journal: Journal, project: str) -> dict[str, Any]:
    """The row of a project's root, made if it is missing."""
    known = known_row(journal.connection, project)
    if known is not None:
        return known
    columns = {"checkpoint": ROOT, "name": ROOT, "address": address_of(project, ROOT, ROOT)}
    unset = node_columns({"title": "", "score": None, "metadata": {}})
    return _created(journal, {"project": project, **columns, **unset, "parent": None})


def change_node(journal: Journal, node_id: str, given: NodeFields) -> Node:
    """The node with fields changed. Raises UnknownNode, InvalidEntry."""
    row = node_row(journal.connection, node_id)
    return node_of(_written(journal, row, node_columns(given)))


def move_node(journal: Journal, node_id: str, parent_id: str) -> Node:
    """The node, with all below it, below another parent: one row is written. Raises UnknownNode,
    RootFixed, NodeShared, NodeOfItself, NodeElsewhere."""
    row = node_row(journal.connection, node_id)
    node = node_of(row)
    _refuse_root(node, "moved")
    above = lineage_rows(journal.connection, parent_id)
    parent = node_of(above[-1])
    _refuse_shared(node)
    _refuse_shared(parent)
    if any(one["id"] == node_id for one in above):
        raise NodeOfItself(node=node.called, parent=parent.called)
    _refuse_elsewhere(node.called, node.project, node.checkpoint, parent)
    return node_of(_written(journal, row, {"parent": parent_id}))


def remove_node(journal: Journal, node_id: str) -> int:
    """Remove a node and all below it, with their entries; how many nodes it was. Raises
    UnknownNode, RootFixed."""
    rows = tree_rows(journal.connection, node_id)
    _refuse_root(node_of(rows[0]), "removed")
    for row in reversed(rows):
        # What a tree's rows have besides is not the nodes' own.
        own = {name: row[name] for name in row.keys() - {"depth", "entries"}}
        for entry in _own_entries(journal, own["id"]):
            journal.delete(NODE_ENTRY, entry)
        journal.delete(NODE, own)
    return len(rows)


def purge_checkpoint(journal: Journal, project: str, checkpoint: str) -> int:
    """Remove all nodes of a checkpoint; how many entries they had."""
    rows = checkpoint_rows(journal.connection, project, checkpoint)
    _, entries = checkpoint_size(journal.connection, project, checkpoint, ())
    for row in rows:
        # What stands below a node goes with it.
        if NODE.find(journal.connection, row["id"]) is not None:
            remove_node(journal, row["id"])
    return entries


def clear_node(journal: Journal, node_id: str) -> int:
    """Remove all that a node wrote; how many entries. Raises UnknownNode."""
    rows = _own_entries(journal, node_row(journal.connection, node_id)["id"])
    for row in rows:
        journal.delete(NODE_ENTRY, row)
    return len(rows)


def write_entries(
    journal: Journal, node_id: str, new: Sequence[NewEntry], *, current: str | None
) -> tuple[NodeEntry, ...]:
    """Write entries into a node, all or none.

    Raises UnknownNode, NotCurrentNode, InvalidEntry with all that is wrong.
    """
    _writable(journal, node_id, current)
    refuse("the entry", _new_problems(new))
    return tuple(
        _entered(journal, node_id, entry_columns(fields_of(one)), None, one.at) for one in new
    )


def keep_result(journal: Journal, node_id: str, result: NodeResult) -> bool:
    """Keep a result in a node: a text once for each work, its beginning as the title, and a score.
    False where somebody with a higher fence did the same work. Raises UnknownNode, InvalidEntry."""
    node = node_of(node_row(journal.connection, node_id))
    fences = dict(node.metadata.get(_FENCES, {}))
    if fences.get(result.of, -1) > result.fence:
        return False
    fields: NodeFields = {
        "metadata": {**node.metadata, _FENCES: {**fences, result.of: result.fence}}
    }
    if result.score is not None:
        fields["score"] = result.score
    if result.text:
        # Of a secret that is cut nobody could tell that it was one.
        fields["title"] = clean(result.text).splitlines()[0][:_TITLE]
        known = (node_entry_of(row) for row in _own_entries(journal, node_id))
        of_work = [one for one in known if (one.kind, one.metadata.get(_OF)) == (RESULT, result.of)]
        if of_work:
            edit_entry(journal, node_id, of_work[0].id, {"text": result.text}, current=None)
        else:
            entry = NewEntry(result.text, RESULT, {_OF: result.of})
            write_entries(journal, node_id, [entry], current=None)
    change_node(journal, node_id, fields)
    return True


def edit_entry(
    journal: Journal, node_id: str, entry_id: str, given: EntryFields, *, current: str | None
) -> NodeEntry:
    """An entry with fields changed, as the node reads it: its own is changed; of an ancestor's it
    gets a version of its own, and the ancestor keeps what it has.

    Raises UnknownNode, NotCurrentNode, UnknownEntry, EntryShadowed, InvalidEntry.
    """
    node = _writable(journal, node_id, current)
    row = _read_entry(journal, node, entry_id)
    columns = entry_columns(given)
    if row["node_id"] != node_id:
        kept = {name: row[name] for name in ("kind", "text", "metadata")}
        return _entered(journal, node_id, {**kept, **columns}, entry_id)
    return node_entry_of(_rewritten(journal, row, columns))


def delete_entry(journal: Journal, node_id: str, entry_id: str, *, current: str | None) -> None:
    """Remove an entry of the node itself; one that it shadowed is read again.

    Raises UnknownNode, NotCurrentNode, UnknownEntry, EntryShadowed, EntryInherited.
    """
    node = _writable(journal, node_id, current)
    row = _read_entry(journal, node, entry_id)
    if row["node_id"] != node_id:
        owner = node_of(node_row(journal.connection, row["node_id"]))
        raise EntryInherited(entry=entry_id, owner=owner.called, node=node.called)
    journal.delete(NODE_ENTRY, row)


def promote_entry(
    journal: Journal, node_id: str, entry_id: str, to: str | None, *, current: str | None
) -> NodeEntry:
    """An entry of the node for one of its ancestors too (None: its parent), whose other branches
    read it from then on; what that ancestor has of it. Once, however often it is called.

    Raises UnknownNode, NotCurrentNode, UnknownEntry, EntryShadowed, EntryInherited, RootFixed,
    NotAbove.
    """
    node = _writable(journal, node_id, current)
    _refuse_root(node, "promoted from")
    row = _read_entry(journal, node, entry_id)
    if row["node_id"] != node_id:
        owner = node_of(node_row(journal.connection, row["node_id"]))
        raise EntryInherited(entry=entry_id, owner=owner.called, node=node.called)
    target = node_of(node_row(journal.connection, to or str(node.parent)))
    lineage = [one["id"] for one in lineage_rows(journal.connection, node_id)]
    if target.id not in lineage[:-1]:
        raise NotAbove(node=node.called, target=target.called)
    last, shadowed = _stands_for(journal, row, lineage, lineage[: lineage.index(target.id) + 1])
    columns = {name: row[name] for name in ("kind", "text", "metadata")}
    if shadowed is not None and shadowed["node_id"] == target.id:
        return node_entry_of(_rewritten(journal, shadowed, columns))
    copy = _entered(journal, target.id, columns, _free_shadow(journal, shadowed, target.id))
    # Who reads the entry reads it in place of the copy, not both.
    _rewritten(journal, last, {"shadows": copy.id})
    return copy


def _stands_for(
    journal: Journal, row: Row, lineage: Sequence[str], above: Sequence[str]
) -> tuple[Row, Row | None]:
    """The entry of the nodes ``above`` that ``row`` stands for, by others of the ``lineage`` in
    between, and the last of these; None where it stands for none."""
    while row["shadows"] is not None:
        shadowed = NODE_ENTRY.find(journal.connection, row["shadows"])
        # What it once stood for may be gone, or in another branch, or below it, since a move.
        nearer = lineage[: lineage.index(row["node_id"])]
        if shadowed is None or shadowed["node_id"] not in nearer:
            break
        if shadowed["node_id"] in above:
            return row, shadowed
        row = shadowed
    return row, None


def _free_shadow(journal: Journal, row: Row | None, node_id: str) -> str | None:
    """What a new entry of the node is to shadow: ``row``, unless another one there does."""
    if row is None:
        return None
    taken = journal.connection.execute(
        "SELECT 1 FROM node_entries WHERE shadows = ? AND node_id = ?", (row["id"], node_id)
    ).fetchone()
    return None if taken else str(row["id"])


def _rewritten(journal: Journal, row: Row, columns: Row) -> Row:
    if all(row[name] == value for name, value in columns.items()):
        return row
    revision = {"revision": row["revision"] + 1, "updated_at": journal.at}
    return journal.update(NODE_ENTRY, row, {**row, **columns, **revision}) or row


def made_under(journal: Journal, new: NewNode, columns: Row, parent: Row) -> dict[str, Any]:
    """The row of a node with these ``columns`` that is made below that of ``parent``. Raises
    NodeShared, NodeElsewhere."""
    called, above = f"{new.checkpoint}/{new.name}", node_of(parent)
    _refuse_shared(above)
    _refuse_elsewhere(called, new.project, new.checkpoint, above)
    return _created(journal, {**columns, "parent": parent["id"]})


def _created(journal: Journal, columns: Row) -> dict[str, Any]:
    row = {
        "id": journal.new_id("node"),
        **columns,
        "revision": 1,
        "created_at": journal.at,
        "updated_at": journal.at,
    }
    return journal.create(NODE, row)


def _written(journal: Journal, row: Row, columns: Row) -> Row:
    if all(row[name] == value for name, value in columns.items()):
        return row
    revision = {"revision": row["revision"] + 1, "updated_at": journal.at}
    return journal.update(NODE, row, {**row, **columns, **revision}) or row


def _new_problems(new: Sequence[NewEntry]) -> Iterator[Problem]:
    for number, one in enumerate(new):
        yield from entry_problems(fields_of(one), f"/{number}")
        yield from time_problems(one.at, f"/{number}")


def _entered(
    journal: Journal, node_id: str, columns: Row, shadows: str | None, at: int | None = None
) -> NodeEntry:
    row = {
        "id": journal.new_id("entry"),
        "node_id": node_id,
        **columns,
        "shadows": shadows,
        "revision": 1,
        "created_at": journal.at if at is None else at,
        "updated_at": journal.at,
    }
    return node_entry_of(journal.create(NODE_ENTRY, row))


def _writable(journal: Journal, node_id: str, current: str | None) -> Node:
    """The node, if whoever works in ``current`` may write to it (None: anybody may)."""
    node = node_of(node_row(journal.connection, node_id))
    if current is not None and current != node_id:
        here = node_of(node_row(journal.connection, current))
        raise NotCurrentNode(node=node.called, current=here.called)
    return node


def _read_entry(journal: Journal, node: Node, entry_id: str) -> dict[str, Any]:
    """The row of an entry that is read in a node."""
    row = NODE_ENTRY.find(journal.connection, entry_id)
    above = {one["id"] for one in lineage_rows(journal.connection, node.id)}
    if row is None or row["node_id"] not in above:
        raise UnknownEntry(node=node.called, entry=entry_id)
    shadow = shadowing_row(journal.connection, node.id, entry_id)
    if shadow is not None:
        raise EntryShadowed(entry=entry_id, by=shadow["id"], node=node.called)
    return row


def _own_entries(journal: Journal, node_id: str) -> list[dict[str, Any]]:
    rows = journal.connection.execute(
        "SELECT * FROM node_entries WHERE node_id = ? ORDER BY rowid DESC", (node_id,)
    )
    return [dict(row) for row in rows]


def _refuse_root(node: Node, what: str) -> None:
    if node.is_root:
        raise RootFixed(node=node.called, what=what)


def _refuse_shared(node: Node) -> None:
    if node.is_shared:
        raise NodeShared(node=node.called)


def _refuse_elsewhere(called: str, project: str, checkpoint: str, parent: Node) -> None:
    """Raises NodeElsewhere unless a node can stand below ``parent``."""
    pairs = [("project", project, parent.project)]
    if not parent.is_root:
        pairs.append(("checkpoint", checkpoint, parent.checkpoint))
    for what, found, expected in pairs:
        if found != expected:
            raise NodeElsewhere(
                node=called, what=what, parent=parent.called, found=found, expected=expected
            )
