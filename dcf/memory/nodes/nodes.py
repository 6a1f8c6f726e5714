"""Trees of nodes: a branch reads its ancestors and itself, and writes to itself alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Unpack

from dcf.memory.access import AccessLog
from dcf.memory.actor import Actor
from dcf.memory.database import Connection
from dcf.memory.ledger import Ledger
from dcf.memory.node import (
    ROOT,
    NewEntry,
    NewNode,
    Node,
    NodeEntry,
    NodeResult,
    NodeStep,
    TreeNode,
)
from dcf.memory.nodes.changing import (
    add_node,
    change_node,
    clear_node,
    delete_entry,
    edit_entry,
    keep_result,
    move_node,
    promote_entry,
    purge_checkpoint,
    remove_node,
    write_entries,
)
from dcf.memory.nodes.fields import EntryFields, NodeFields, node_entry_of, node_of
from dcf.memory.nodes.finding import (
    checkpoint_size,
    entry_count,
    entry_row,
    entry_rows,
    lineage_rows,
    named_entries,
    named_row,
    node_row,
    tree_rows,
)
from dcf.memory.nodes.reaching import made_node, nearest_node, reach_node


class Nodes:
    """Nodes by project, checkpoint and name, in one tree for each project.

    What is read in a node is what its ancestors and itself have: never what siblings have, what
    stands below those, or below the node itself. Every read looks for the ancestors of its own
    moment, so who moves or removes nodes meanwhile shows nobody anything else. ``Search.find`` with
    ``node`` searches by the same rule.

    What is read is noted in ``access``, with who reads it (``by``; None: nobody said).

    ``current`` is the node of the one who writes: naming another one is refused. None is a person,
    or a program that stands outside of the tree.
    """

    def __init__(self, ledger: Ledger, access: AccessLog) -> None:
        self._ledger = ledger
        self._access = access

    async def add(self, new: NewNode, *entries: NewEntry, by: Actor) -> Node:
        """Make a node with its first entries, or nothing; the root of its project is made with the
        first node. Raises InvalidEntry with all that is wrong, UnknownNode (the parent),
        NodeExists, NodeShared, NodeElsewhere."""
        return await self._ledger.change(by, lambda journal: add_node(journal, new, entries))

    async def get(self, node_id: str) -> Node:
        """One node. Raises UnknownNode."""
        return await self._ledger.read(lambda connection: node_of(node_row(connection, node_id)))

    async def named(self, project: str, checkpoint: str = ROOT, name: str = ROOT) -> Node:
        """The node with this name; without one, the root of the project. Raises UnknownNode."""
        return await self._ledger.read(
            lambda connection: node_of(named_row(connection, project, checkpoint, name))
        )

    async def reach(
        self, project: str, checkpoint: str, steps: Sequence[NodeStep], *, by: Actor
    ) -> Node:
        """The node at the end of the way ``steps``, made with those before it where they are
        missing; without steps the root. Whoever comes by the same way comes to the same node.
        Raises InvalidEntry, NodeElsewhere."""
        return await self._ledger.change(
            by, lambda journal: reach_node(journal, project, checkpoint, steps)
        )

    async def nearest(
        self, project: str, checkpoint: str, steps: Sequence[NodeStep]
    ) -> Node | None:
        """The last node on the way ``steps`` that is there, which is what can be read at its end
        before anything is written there; None where not even the root is."""
        return await self._ledger.read(
            lambda connection: nearest_node(connection, project, checkpoint, steps)
        )

    async def made(self, project: str, checkpoint: str, step: NodeStep) -> Node | None:
        """The node that was made for a step of a way, wherever it stands; None where there is
        none."""
        return await self._ledger.read(
            lambda connection: made_node(connection, project, checkpoint, step)
        )

    async def change(self, node_id: str, *, by: Actor, **given: Unpack[NodeFields]) -> Node:
        """The node with fields changed. Raises UnknownNode, InvalidEntry."""
        return await self._ledger.change(by, lambda journal: change_node(journal, node_id, given))

    async def keep(self, node_id: str, result: NodeResult, *, by: Actor) -> bool:
        """Keep what a piece of work gave in a node, once, whoever does it again. False where
        somebody with a higher fence did the same work. Raises UnknownNode, InvalidEntry."""
        return await self._ledger.change(by, lambda journal: keep_result(journal, node_id, result))

    async def move(self, node_id: str, parent_id: str, *, by: Actor) -> Node:
        """Move a node, with all below it, below another parent of the same checkpoint, or below the
        root. That is one row, however much is moved: places are looked for when they are read.

        Raises UnknownNode, RootFixed, NodeShared, NodeOfItself, NodeElsewhere.
        """
        return await self._ledger.change(by, lambda journal: move_node(journal, node_id, parent_id))

    async def remove(self, node_id: str, *, by: Actor) -> int:
        """Remove a node and all below it, with their entries; how many nodes it was. Raises
        UnknownNode, RootFixed."""
        return await self._ledger.change(by, lambda journal: remove_node(journal, node_id))

    async def purge(self, project: str, checkpoint: str, *, by: Actor) -> int:
        """Remove all nodes of a checkpoint, with their entries; how many entries it was."""
        return await self._ledger.change(
            by, lambda journal: purge_checkpoint(journal, project, checkpoint)
        )

    async def clear(self, node_id: str, *, by: Actor) -> int:
        """Remove all that a node wrote itself; how many entries it was. Raises UnknownNode."""
        return await self._ledger.change(by, lambda journal: clear_node(journal, node_id))

    async def lineage(self, node_id: str) -> tuple[Node, ...]:
        """A node's ancestors from the root on, and the node itself. Raises UnknownNode."""
        rows = await self._ledger.read(lambda connection: lineage_rows(connection, node_id))
        return tuple(map(node_of, rows))

    async def tree(self, node_id: str, *, by: Actor | None = None) -> tuple[TreeNode, ...]:
        """A node and all below it, each before its children. That is who looks at a whole tree, not
        what a branch reads. Raises UnknownNode."""
        rows = await self._ledger.read(lambda connection: tree_rows(connection, node_id))
        self._access.note(by, "tree", node_id, (), sum(row["entries"] for row in rows))
        return tuple(TreeNode(node_of(row), row["depth"], row["entries"]) for row in rows)

    async def write(
        self, node_id: str, *new: NewEntry, by: Actor, current: str | None = None
    ) -> tuple[NodeEntry, ...]:
        """Write entries into a node, all or none. Raises UnknownNode, NotCurrentNode, InvalidEntry
        with all that is wrong."""
        return await self._ledger.change(
            by, lambda journal: write_entries(journal, node_id, new, current=current)
        )

    async def edit(
        self,
        node_id: str,
        entry_id: str,
        *,
        by: Actor,
        current: str | None = None,
        **given: Unpack[EntryFields],
    ) -> NodeEntry:
        """An entry with fields changed, as the node reads it. Of an ancestor's entry the node gets
        a version of its own, which shadows it there and below; the ancestor keeps what it has.

        Raises UnknownNode, NotCurrentNode, UnknownEntry, EntryShadowed, InvalidEntry.
        """
        return await self._ledger.change(
            by, lambda journal: edit_entry(journal, node_id, entry_id, given, current=current)
        )

    async def delete(
        self, node_id: str, entry_id: str, *, by: Actor, current: str | None = None
    ) -> None:
        """Remove an entry of the node itself; one that it shadowed is read again. Raises
        UnknownNode, NotCurrentNode, UnknownEntry, EntryShadowed, EntryInherited."""
        await self._ledger.change(
            by, lambda journal: delete_entry(journal, node_id, entry_id, current=current)
        )

    async def promote(
        self,
        node_id: str,
        entry_id: str,
        *,
        by: Actor,
        to: str | None = None,
        current: str | None = None,
    ) -> NodeEntry:
        """An entry of the node for one of its ancestors too (None: its parent), whose other
        branches read it from then on; what that ancestor has of it. Promoting an entry that stands
        in place of one of that ancestor gives this one its text. Once, however often it is called.

        Raises UnknownNode, NotCurrentNode, UnknownEntry, EntryShadowed, EntryInherited, RootFixed,
        NotAbove.
        """
        return await self._ledger.change(
            by, lambda journal: promote_entry(journal, node_id, entry_id, to, current=current)
        )

    async def difference(
        self, node_id: str, other_id: str, *, by: Actor | None = None
    ) -> tuple[tuple[NodeEntry, ...], tuple[NodeEntry, ...]]:
        """What is read in the first node and not in the other, and the other way round. Raises
        UnknownNode."""

        def read(connection: Connection) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
            return entry_rows(connection, node_id), entry_rows(connection, other_id)

        one, other = await self._ledger.read(read)
        ids = [{row["id"] for row in rows} for rows in (one, other)]
        for node, rows in ((node_id, one), (other_id, other)):
            self._access.note(by, "difference", node, _read(rows))
        return (
            tuple(node_entry_of(row) for row in one if row["id"] not in ids[1]),
            tuple(node_entry_of(row) for row in other if row["id"] not in ids[0]),
        )

    async def entry(self, entry_id: str, *, by: Actor | None = None) -> NodeEntry:
        """One entry, for who looks at a whole tree. Raises UnknownEntry."""
        row = await self._ledger.read(lambda connection: entry_row(connection, entry_id))
        self._access.note(by, "entry", None, _read([row]))
        return node_entry_of(row)

    async def entries(
        self,
        node_id: str,
        *,
        inherited: bool = True,
        kinds: Sequence[str] = (),
        limit: int = 100,
        offset: int = 0,
        newest: bool = False,
        by: Actor | None = None,
    ) -> tuple[NodeEntry, ...]:
        """What can be read in a node, oldest first: at most ``limit``, ``offset`` left out; with
        ``newest`` counted from the newest on. Without ``inherited`` its own entries alone. Raises
        UnknownNode."""
        asked: dict[str, Any] = {"inherited": inherited, "kinds": kinds, "newest": newest}
        rows = await self._ledger.read(
            lambda connection: entry_rows(connection, node_id, limit=limit, offset=offset, **asked)
        )
        self._access.note(by, "entries", node_id, _read(rows))
        return tuple(map(node_entry_of, rows))

    async def own(
        self,
        project: str,
        checkpoint: str,
        names: Sequence[str] | None = None,
        *,
        by: Actor | None = None,
    ) -> dict[str, tuple[NodeEntry, ...]]:
        """What nodes of a checkpoint wrote themselves, oldest first, by their names (None: of all):
        for who looks at a whole tree. Nodes that are not there are left out."""
        found = await self._ledger.read(
            lambda connection: named_entries(connection, project, checkpoint, names)
        )
        self._access.note(by, "own", None, [one for rows in found.values() for one in _read(rows)])
        return {name: tuple(map(node_entry_of, rows)) for name, rows in found.items()}

    async def size(
        self, project: str, checkpoint: str, *, but: Sequence[str] = ()
    ) -> tuple[int, int]:
        """How many nodes a checkpoint has, and how many entries; those called ``but`` left out."""
        return await self._ledger.read(
            lambda connection: checkpoint_size(connection, project, checkpoint, but)
        )

    async def count(
        self,
        node_id: str,
        *,
        inherited: bool = True,
        kinds: Sequence[str] = (),
        by: Actor | None = None,
    ) -> int:
        """How many entries can be read in a node. Raises UnknownNode."""
        count = await self._ledger.read(
            lambda connection: entry_count(connection, node_id, inherited=inherited, kinds=kinds)
        )
        self._access.note(by, "count", node_id, (), count)
        return count


def _read(rows: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """Node and id of each entry."""
    return [(row["node_id"], row["id"]) for row in rows]
