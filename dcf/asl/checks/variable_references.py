"""Which variables each state reads, seen without running anything."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from dcf.asl.errors import ExpressionError
from dcf.asl.intrinsics.syntax import Argument, Call, PathArgument, parse_call
from dcf.asl.jsonata.references import read_references
from dcf.asl.jsonata.syntax import expression_text, is_jsonata
from dcf.asl.jsonpath.syntax import parse_path
from dcf.asl.payload import depth_exceeds
from dcf.asl.reading.findings import Findings
from dcf.asl.reading.node import Node
from dcf.asl.reading.state_texts import Way, pointer_of, texts
from dcf.asl.reading.state_tree import all_states, speaks_jsonata

NOT_EVALUATED = frozenset(
    {"Type", "Comment", "Next", "Default", "Resource", "ErrorEquals", "Retry", "QueryLanguage"}
    | {"ItemProcessor", "Iterator", "Branches", "AgentBinding", "memory", "CSVHeaders"}
    | {"Result"}
)
"""Fields of the language whose texts are never expressions; in a payload their names are free."""

_PAYLOADS = frozenset(
    {"Parameters", "Arguments", "ItemSelector", "ResultSelector", "Assign", "Output", "BatchInput"}
)
_READS_VARIABLE = re.compile(r"\$[^\W\d]")


def variable_references(definition: Mapping[str, Any]) -> dict[str, list[str]]:
    """Names of the variables that each state reads, in order of first use.

    States that read none are left out, as AWS leaves them out. Never raises: what is no
    expression reads nothing.
    """
    if not isinstance(definition, Mapping) or depth_exceeds(dict(definition)):
        return {}
    root = Node(dict(definition), "", Findings())
    found = {
        name: list(dict.fromkeys(read for _, read in reads(state, speaks_jsonata(state, root))))
        for name, state in all_states(root)
    }
    return {name: names for name, names in found.items() if names}


def reads(state: Node, jsonata: bool) -> Iterator[tuple[str, str]]:
    """(pointer, variable) of every read in a state, machines inside it left out."""
    for way, key, text in evaluated_texts(state):
        for name in reads_of(way, key, text, jsonata):
            yield pointer_of(state, way), name


def reads_of(way: Way, key: str, text: str, jsonata: bool) -> tuple[str, ...]:
    """The variables that one text of a state reads; ``way`` and ``key`` say where it stands."""
    if jsonata:
        return _jsonata_reads(text) if is_jsonata(text) else ()
    if _READS_VARIABLE.search(text) and _is_path_field(way, key):
        return _jsonpath_reads(text)
    return ()


def evaluated_texts(state: Node) -> Iterator[tuple[Way, str, str]]:
    """(way, key, text) of all texts in a state that its query language may evaluate."""
    for field, content in state.value.items():
        if field in NOT_EVALUATED:
            continue
        for way, key, text in texts(content, field):
            if field in _PAYLOADS or not _is_fixed(way):
                yield way, key, text


def _is_fixed(way: Way) -> bool:
    """Whether a name on ``way``, before any payload, says that its texts are no expressions."""
    steps: list[str | int] = []
    at: Way | None = way
    while at is not None:
        at, step = at
        steps.append(step)
    for step in reversed(steps):
        if step in _PAYLOADS:
            return False
        if step in NOT_EVALUATED:
            return True
    return False


def _is_path_field(way: Way, key: str) -> bool:
    if key.endswith(".$"):
        return True
    if not (key.endswith("Path") or key == "Variable"):
        return False
    at: Way | None = way[0]
    while at is not None:
        at, step = at
        if step in _PAYLOADS:
            return False
    return True


def _jsonata_reads(text: str) -> tuple[str, ...]:
    try:
        return read_references(expression_text(text)).variables
    except ExpressionError:
        return ()


def _jsonpath_reads(text: str) -> tuple[str, ...]:
    try:
        if text.lstrip().startswith("States."):
            return tuple(_argument_reads(parse_call(text.strip())))
        return _path_reads(text)
    except ExpressionError:
        return ()


def _argument_reads(argument: Argument) -> Iterator[str]:
    if isinstance(argument, PathArgument):
        yield from _path_reads(argument.text)
    elif isinstance(argument, Call):
        for inner in argument.arguments:
            yield from _argument_reads(inner)


def _path_reads(text: str) -> tuple[str, ...]:
    name = parse_path(text).variable
    return () if name is None else (name,)
