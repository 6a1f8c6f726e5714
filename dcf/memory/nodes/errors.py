"""What can go wrong with nodes and their entries."""

from __future__ import annotations

from collections.abc import Sequence

from dcf.memory.errors import MemoryProblem


class UnknownNode(MemoryProblem):
    """There is no node {node!r}.{near}"""

    code = "memory_unknown_node"
    hint = "`dcf memory scope tree` shows those that there are"

    def __init__(self, node: str, closest: Sequence[str] = ()) -> None:
        self.closest = tuple(closest)
        near = f" Close to it: {', '.join(closest)}." if closest else ""
        super().__init__(node=node, near=near)


class NodeExists(MemoryProblem):
    """There is a node {node!r} already, below {parent!r}."""

    code = "memory_node_exists"
    hint = "use that node, or give the new one another name"


class NotCurrentNode(MemoryProblem):
    """{node!r} is not the current node, which is {current!r}: a branch writes to its own node."""

    code = "memory_not_current_node"
    hint = "write to the current node; what is to reach another one is promoted there"


class NodeOfItself(MemoryProblem):
    """{node!r} cannot be moved below {parent!r}, which is {node!r} or stands below it."""

    code = "memory_node_of_itself"
    hint = "choose a parent outside of what is moved"


class NotAbove(MemoryProblem):
    """{target!r} does not stand above {node!r}."""

    code = "memory_node_not_above"
    hint = "what a node found is promoted to one of its ancestors: its parent, if none is named"


class NodeElsewhere(MemoryProblem):
    """{node!r} is in another {what} than {parent!r}: {found!r}, not {expected!r}."""

    code = "memory_node_elsewhere"
    hint = "a node and the one above it are in one project, and in one checkpoint below the root"


class NodeShared(MemoryProblem):
    """{node!r} is no node of the tree: the name is kept for what all nodes read."""

    code = "memory_node_shared"
    hint = (
        "`dcf memory scope context` changes what an experiment is about, the operation `react_add`"
        " adds to its trace; give another node another name"
    )


class RootFixed(MemoryProblem):
    """{node!r} is the root of its project, which cannot be {what}."""

    code = "memory_root_fixed"


class UnknownEntry(MemoryProblem):
    """There is no entry {entry!r}{where}."""

    code = "memory_unknown_entry"
    hint = "`dcf memory scope show` lists those that are read in a node"

    def __init__(self, entry: str, node: str | None = None) -> None:
        where = "" if node is None else f" in {node!r} and the nodes above it"
        super().__init__(entry=entry, where=where)


class EntryShadowed(MemoryProblem):
    """The entry {entry!r} is shadowed by {by!r} in {node!r}."""

    code = "memory_entry_shadowed"
    hint = "edit the entry that stands for it there"


class EntryInherited(MemoryProblem):
    """The entry {entry!r} is of {owner!r}, not of {node!r}, which only reads it."""

    code = "memory_entry_inherited"
    hint = "edit it: the node gets a version of its own, and its ancestor keeps what it has"
