"""What a JSONata expression reads: variables, and what Step Functions does not offer it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from dcf.asl.jsonata.functions import FUNCTION_NAMES
from dcf.asl.jsonata.syntax import parse_jsonata

_OWN_CONTEXT = ("stages", "predicate", "group")
"""Parts of a node that are evaluated for each value that the node selects."""

_SAME_CONTEXT = (
    "lhs", "rhs", "expression", "expressions", "lhs_object", "condition", "then", "_else",
    "arguments", "body",
)  # fmt: skip


_PLAIN = re.compile(r"\$([A-Za-z_]\w*)(?:\.([A-Za-z_]\w*)(?:\.[A-Za-z_]\w*)*)?", re.ASCII)
"""``$name.field.field``, the commonest expression, needs no tree to see what it reads."""


@dataclass(frozen=True, slots=True)
class References:
    """``variables`` in order of first use, without ``$``, ``states`` and functions.

    ``context`` are names read from the context item, of which there is none: ``phone`` in
    ``{% phone %}``. ``root`` says that ``$$`` is read. ``members`` are the fields read from
    ``$states``, ``unknown_functions`` the names called that no function has.
    """

    variables: tuple[str, ...] = ()
    context: tuple[str, ...] = ()
    root: bool = False
    members: tuple[str, ...] = ()
    unknown_functions: tuple[str, ...] = ()

    @property
    def error_output(self) -> bool:
        """Whether ``$states.errorOutput`` is read."""
        return "errorOutput" in self.members


@lru_cache(maxsize=16_384)
def read_references(text: str) -> References:
    """What ``text``, without its ``{% %}``, reads; raises ExpressionError.

    Nothing is known of an expression that nests deeper than can be walked.
    """
    plain = _PLAIN.fullmatch(text)
    if plain is not None:
        return _plain_references(*plain.groups())
    tree = parse_jsonata(text)
    walk = _Walk()
    try:
        walk.visit(tree, True)
    except RecursionError:
        return References()
    local = walk.bound
    variables = dict.fromkeys(name for name in walk.variables if name not in local)
    return References(
        tuple(name for name in variables if name not in FUNCTION_NAMES and name != "states"),
        tuple(dict.fromkeys(walk.context)),
        walk.root,
        () if "states" in local else tuple(dict.fromkeys(walk.members)),
        tuple(
            name
            for name in dict.fromkeys(walk.called)
            if name not in local and name not in FUNCTION_NAMES
        ),
    )


def _plain_references(name: str, field: str | None) -> References:
    if name == "states":
        return References(members=() if field is None else (field,))
    return References() if name in FUNCTION_NAMES else References((name,))


class _Walk:
    """One walk over a tree; a name bound anywhere in the expression counts as its own."""

    def __init__(self) -> None:
        self.variables: list[str] = []
        self.context: list[str] = []
        self.bound: set[str] = set()
        self.root = False
        self.members: list[str] = []
        self.called: list[str] = []

    def visit(self, node: Any, top: bool) -> None:
        """``top``: the context of ``node`` is the one that the whole expression starts with."""
        self._bind(getattr(node, "focus", None), getattr(node, "index", None))
        if node.type == "variable":
            self._variable(node.value)
        elif node.type == "name" and top:
            self.context.append(str(node.value))
        elif node.type == "path":
            self._path(node.steps, top)
        elif node.type == "bind":
            self._bind(node.lhs.value)
            self.visit(node.rhs, top)
        elif node.type == "lambda":
            self._bind(*(argument.value for argument in node.arguments))
            self.visit(node.body, top)
        elif node.type == "transform":
            for part in (node.pattern, node.update, node.delete):
                self._visit_all(_nodes(part), False)
        elif node.type == "sort":
            self._visit_all((term.expression for term in node.terms), False)
        else:
            procedure = getattr(node, "procedure", None)
            if procedure is not None and procedure.type == "variable":
                self.called.append(procedure.value)  # it names a function: no data
            elif procedure is not None:
                self.visit(procedure, top)
            for name in _SAME_CONTEXT:
                self._visit_all(_nodes(getattr(node, name, None)), top)
        for name in _OWN_CONTEXT:
            self._visit_all(_filters(getattr(node, name, None)), False)

    def _path(self, steps: list[Any], top: bool) -> None:
        first = steps[0]
        is_states = first.type == "variable" and first.value == "states"
        if is_states and len(steps) > 1 and steps[1].type == "name":
            self.members.append(str(steps[1].value))
        for number, step in enumerate(steps):
            self.visit(step, top and number == 0)

    def _variable(self, name: str) -> None:
        if name == "$":
            self.root = True
        elif name:  # an empty name is `$`, the context of the moment
            self.variables.append(name)

    def _bind(self, *names: object) -> None:
        self.bound.update(name for name in names if isinstance(name, str))

    def _visit_all(self, nodes: Iterable[Any], top: bool) -> None:
        for node in nodes:
            self.visit(node, top)


def _nodes(value: Any) -> Iterator[Any]:
    """The nodes in an attribute of a node: one, a list, a list of pairs, or none."""
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from _nodes(item)
    elif hasattr(value, "type") and hasattr(value, "value"):
        yield value


def _filters(value: Any) -> Iterator[Any]:
    """The expressions of predicates and groupings."""
    for node in _nodes(value):
        inner = getattr(node, "expr", None)
        if inner is not None:
            yield inner
        else:
            yield node
