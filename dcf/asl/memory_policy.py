"""``memory``: which node of the memory a state works in (an extension of the language).

In the AgentBinding of a Task it says where the Task reads and writes, in a Map or Parallel whether
each iteration or branch has a node to itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from dcf.asl.reading.fields import check_fields, closest_hint
from dcf.asl.reading.node import OUT_OF_RANGE, Node

MemoryScope: TypeAlias = Literal["branch", "shared", "none"]
MEMORY_SCOPES: tuple[MemoryScope, ...] = get_args(MemoryScope)
MEMORY = "memory"
_OF_TASKS = frozenset({"scope", "gather"})
_OF_JOINS = frozenset({"scope"})


@dataclass(frozen=True, slots=True)
class MemoryPolicy:
    """``scope``: a node of its own (``branch``), that of the scope around it (``shared``), or no
    memory at all (``none``). With ``gather`` a Task is shown what the iterations and branches below
    its node wrote, side by side."""

    scope: MemoryScope = "branch"
    gather: bool = False


def read_memory(owner: Node, *, is_task: bool) -> MemoryPolicy | None:
    """The policy that stands in ``owner``, an AgentBinding, a Map or a Parallel; None without one.
    What is wrong goes to its findings."""
    node = owner.node(MEMORY)
    if node is None:
        return None
    check_fields(node, _OF_TASKS if is_task else _OF_JOINS, f"`{MEMORY}`")
    scope = _read_scope(node)
    gather = is_task and bool(node.flag("gather"))
    if gather and scope == "none":
        message = "who reads no memory cannot be shown what branches wrote"
        node.error("ASL_FIELD_CLASH", "gather", message, "leave out `gather`, or the scope `none`")
    return MemoryPolicy(scope, gather)


def _read_scope(node: Node) -> MemoryScope:
    said = node.text("scope")
    if said is None:
        return "branch"
    found = next((one for one in MEMORY_SCOPES if one == said), None)
    if found is None:
        node.error(OUT_OF_RANGE, "scope", f"`scope` is `{said}`", closest_hint(said, MEMORY_SCOPES))
    return found or "branch"
