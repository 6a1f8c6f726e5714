"""``context``: what the agent of a Task is told of its project (an extension of the language).

It stands in the AgentBinding of a Task. Without it an agent is told nothing of the project's files:
finding what fits takes time, and every request to a model pays for the tokens.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from dcf.asl.errors import ExpressionError
from dcf.asl.jsonpath.reference import ReferencePath
from dcf.asl.memory_policy import Place, value_at
from dcf.asl.payload import JSON, excerpt
from dcf.asl.reading.fields import check_fields, closest_hint
from dcf.asl.reading.findings import child
from dcf.asl.reading.node import OUT_OF_RANGE, WRONG_TYPE, Node
from dcf.context_form import KINDS, LEAST_BUDGET, MOST_BUDGET, Kind

_CONTEXT = "context"
_FIELDS = frozenset({"budget", "kinds", "query"})


@dataclass(frozen=True, slots=True)
class ContextPolicy:
    """At most ``budget`` tokens of text of these ``kinds``. What is looked for is the text
    ``query``, or what stands at this place in the Task's input; None: what the Task is told."""

    budget: int = 2_000
    kinds: tuple[Kind, ...] = KINDS
    query: str | Place | None = None

    def question(self, state: str, comment: str, given: JSON) -> str:
        """What is looked for, for the Task ``state`` with the input ``given``. Where the place of
        the query has nothing, it is what the Task is told: its name, its comment and all texts of
        its input."""
        if isinstance(self.query, str):
            return self.query
        found = value_at(given, self.query)
        if found is not None:
            return found if isinstance(found, str) else json.dumps(found, ensure_ascii=False)
        return "\n".join(part for part in (state, comment, *_texts(given)) if part)


def read_context(binding: Node) -> ContextPolicy | None:
    """The policy that stands in an AgentBinding; None without one. What is wrong goes to its
    findings."""
    node = binding.node(_CONTEXT)
    if node is None:
        return None
    check_fields(node, _FIELDS, f"`{_CONTEXT}`")
    budget = node.integer("budget", LEAST_BUDGET, MOST_BUDGET)
    kinds, query = _read_kinds(node), _read_query(node)
    return ContextPolicy(budget or ContextPolicy().budget, kinds, query)


def _read_kinds(node: Node) -> tuple[Kind, ...]:
    said = node.array("kinds")
    if said is None:
        return KINDS
    if not said:
        message = "`kinds` is empty, and nothing would be looked for"
        node.error(OUT_OF_RANGE, "kinds", message, f"name some of: {', '.join(KINDS)}")
    for index, one in enumerate(said):
        place = child(node.place("kinds"), index)
        if not isinstance(one, str):
            message = f"a kind is a name, found {excerpt(one)}"
            node.findings.error(WRONG_TYPE, place, message, f"use one of: {', '.join(KINDS)}")
        elif one not in KINDS:
            message = f"there is no kind `{one}`"
            node.findings.error(OUT_OF_RANGE, place, message, closest_hint(one, KINDS))
    return tuple(kind for kind in KINDS if kind in said)


def _read_query(node: Node) -> str | Place | None:
    text = node.text("query", filled=True)
    if text is None or not text.startswith("$"):
        return text
    try:
        return ReferencePath(text).tokens
    except ExpressionError as error:
        node.findings.expression(error, node.place("query"))
        return None


def _texts(value: JSON) -> Iterator[str]:
    """All texts in ``value``, as they come."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _texts(one)
