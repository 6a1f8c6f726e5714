"""``memory``: which node of the memory a state works in (an extension of the language).

In the AgentBinding of a Task it says where the Task reads and writes, in a Map or Parallel whether
each iteration or branch has a node to itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

from dcf.asl.errors import ExpressionError
from dcf.asl.jsonpath.reference import ReferencePath
from dcf.asl.payload import JSON, is_number
from dcf.asl.reading.fields import check_fields, closest_hint
from dcf.asl.reading.node import OUT_OF_RANGE, Node

MemoryScope: TypeAlias = Literal["branch", "shared", "none"]
MEMORY_SCOPES: tuple[MemoryScope, ...] = get_args(MemoryScope)
MEMORY = "memory"
_OF_TASKS = frozenset({"scope", "gather", "note", "score"})
_OF_JOINS = frozenset({"scope"})
_KEPT = ("note", "score")
NEEDS_MEMORY = ("gather", *_KEPT)
"""The members that do nothing where there is no memory."""

Place: TypeAlias = tuple[str | int, ...]
"""The names and indexes of a reference path."""


@dataclass(frozen=True, slots=True)
class MemoryPolicy:
    """``scope``: a node of its own (``branch``), that of the scope around it (``shared``), or no
    memory at all (``none``). With ``gather`` a Task is shown what the iterations and branches below
    its node wrote, side by side. ``note`` and ``score`` are the places in a Task's result that say
    what its node keeps: a text, and how good the node is."""

    scope: MemoryScope = "branch"
    gather: bool = False
    note: Place | None = None
    score: Place | None = None

    @property
    def keeps(self) -> bool:
        """Whether the node keeps something of the result."""
        return self.note is not None or self.score is not None

    def noted(self, result: JSON) -> str:
        """The text that ``result`` has for the node; empty where it has none."""
        found = value_at(result, self.note)
        return found.strip() if isinstance(found, str) else ""

    def scored(self, result: JSON) -> float | None:
        """The score that ``result`` has for the node; None where it has none that can be kept."""
        found = value_at(result, self.score)
        try:
            return float(found) if is_number(found) else None
        except OverflowError:  # an integer beyond all floats
            return None


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
    if not is_task:
        return MemoryPolicy(scope)
    return MemoryPolicy(scope, gather, *(_read_place(node, one, scope) for one in _KEPT))


def _read_place(node: Node, field: str, scope: MemoryScope) -> Place | None:
    text = node.text(field, filled=True)
    if text is None:
        return None
    if scope == "none":
        message = f"without memory there is no node that could keep the `{field}`"
        hint = f"leave out `{field}`, or the scope `none`"
        node.error("ASL_FIELD_CLASH", field, message, hint)
    try:
        return ReferencePath(text).tokens
    except ExpressionError as error:
        node.findings.expression(error, node.place(field))
        return None


def value_at(result: JSON, place: Place | None) -> JSON:
    """What stands at ``place``; None where nothing does."""
    if place is None:
        return None
    found: Any = result
    for token in place:
        if isinstance(token, str):
            found = found.get(token) if isinstance(found, dict) else None
        else:
            found = found[token] if isinstance(found, list) and token < len(found) else None
    return found


def _read_scope(node: Node) -> MemoryScope:
    said = node.text("scope")
    if said is None:
        return "branch"
    found = next((one for one in MEMORY_SCOPES if one == said), None)
    if found is None:
        node.error(OUT_OF_RANGE, "scope", f"`scope` is `{said}`", closest_hint(said, MEMORY_SCOPES))
    return found or "branch"
