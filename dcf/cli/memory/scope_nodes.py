"""The nodes that commands name, and which of them a program that works in a node may name.

Such a program has the variable ``DCF_NODE``. Commands without it are a person's, who may all.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from dcf.cli.settings import Settings
from dcf.cli.trouble import BadInput, NotSo
from dcf.memory import SHARED_NODES, Memory, Node, NodeShared, UnknownNode, project_of_runs
from dcf.problem import Problem

CURRENT = "DCF_NODE"
"""The variable that names the node in which a program works: it writes to no other one, and reads
that one and those above it."""


def project_named(settings: Settings, project: str | None) -> str:
    """The project that is meant: the folder that was named, else that of runs here."""
    return project_of_runs(settings.generated) if project is None else str(Path(project).absolute())


async def node_named(memory: Memory, project: str, name: str) -> Node:
    """The node with this id or name. Raises UnknownNode, BadInput."""
    if "/" not in name:
        with suppress(UnknownNode):
            return await memory.nodes.get(name)
        if name in await memory.snapshots.checkpoints(project):
            message = f"{name!r} is a checkpoint, not a node"
            hint = f"`dcf memory scope tree {name}` shows its nodes"
            raise BadInput([Problem("CLI_NODE", message, hint=hint, file="NODE")])
    checkpoint, rest = parts_of(name)
    return await memory.nodes.named(project, checkpoint, rest)


async def tree_node(memory: Memory, project: str, name: str) -> Node:
    """The node with this id or name, if it is one of the tree, which the commands write to. Raises
    UnknownNode, NodeShared, BadInput."""
    if name.partition("/")[2] in SHARED_NODES:
        raise NodeShared(node=name)
    node = await node_named(memory, project, name)
    if node.is_shared:
        raise NodeShared(node=node.called)
    return node


def parts_of(name: str) -> tuple[str, str]:
    """Checkpoint and name. Raises BadInput."""
    checkpoint, slash, rest = name.partition("/")
    if not (checkpoint and slash and rest):
        hint = "write CHECKPOINT/NAME, as in `exp-1/first-idea`; `dcf memory scope tree` has them"
        problem = Problem("CLI_NODE", f"{name!r} names no node", hint=hint, file="NODE")
        raise BadInput([problem])
    return checkpoint, rest


async def current_node(memory: Memory, project: str, settings: Settings) -> Node | None:
    """The node in which this program works. Raises UnknownNode, BadInput."""
    name = settings.env.get(CURRENT)
    return await node_named(memory, project, name) if name else None


async def readable_node(memory: Memory, project: str, name: str, settings: Settings) -> Node:
    """The node with this id or name, if this program may read it: it is the current node, or above
    it. Raises UnknownNode, BadInput, NotSo."""
    node, current = await _both(memory, project, name, settings)
    if current is not None and not await _stands_below(memory, current, node):
        message = f"{node.called!r} is not the current node, which is {current.called!r}, or above"
        hint = f"a branch reads its ancestors and itself; {CURRENT} names the current node"
        raise NotSo("memory_not_in_lineage", f"{message} it", hint)
    return node


async def changeable_node(memory: Memory, project: str, name: str, settings: Settings) -> Node:
    """The node with this id or name, if this program may move and remove it: it is the current
    node, or below it. Raises UnknownNode, BadInput, NotSo."""
    node, current = await _both(memory, project, name, settings)
    if current is not None and not await _stands_below(memory, node, current):
        message = f"{node.called!r} is not the current node, which is {current.called!r}, or below"
        hint = f"a branch moves and removes what is its own; {CURRENT} names the current node"
        raise NotSo("memory_not_below_current", f"{message} it", hint)
    return node


async def parent_node(memory: Memory, project: str, name: str, settings: Settings) -> Node:
    """The node with this id or name, if this program may move its own nodes below it: whoever
    stands below another branch reads that one. Raises UnknownNode, BadInput, NotSo."""
    with suppress(NotSo):
        return await readable_node(memory, project, name, settings)
    return await changeable_node(memory, project, name, settings)


async def demand_checkpoint(
    memory: Memory, project: str, checkpoint: str, settings: Settings
) -> None:
    """Raises NotSo if this program works in a node of another checkpoint; UnknownNode, BadInput."""
    current = await current_node(memory, project, settings)
    if current is None or current.is_root or current.checkpoint == checkpoint:
        return
    message = f"{checkpoint!r} is not the checkpoint of the current node, which is"
    hint = f"{CURRENT} names the current node"
    raise NotSo("memory_not_current_checkpoint", f"{message} {current.called!r}", hint)


async def _both(
    memory: Memory, project: str, name: str, settings: Settings
) -> tuple[Node, Node | None]:
    """The node of this name, and the current one."""
    node = await node_named(memory, project, name)
    return node, await current_node(memory, project, settings)


async def _stands_below(memory: Memory, node: Node, above: Node) -> bool:
    """Whether a node is ``above``, or stands below it."""
    return above.id in [one.id for one in await memory.nodes.lineage(node.id)]
