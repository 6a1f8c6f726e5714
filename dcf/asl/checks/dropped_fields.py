"""Fields that a state drops and the next one reads: found where both are certain."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dcf.asl.errors import ExpressionError
from dcf.asl.jsonpath.syntax import parse_path
from dcf.asl.payload import JSON
from dcf.asl.reading.findings import child
from dcf.asl.reading.node import Node
from dcf.asl.reading.state_tree import inner_machines, speaks_jsonata, states_of

_LAMBDA = "states:::lambda:invoke"
_LAMBDA_FIELDS = frozenset(
    {"ExecutedVersion", "Payload", "SdkHttpMetadata", "SdkResponseMetadata", "StatusCode"}
)
_PATH_FIELDS = ("ItemsPath", "SecondsPath", "TimestampPath", "TimeoutSecondsPath")


def warn_dropped(root: Node) -> None:
    """Warn of each field that a state reads and the one before it has dropped."""
    waiting = [root]
    while waiting:
        states = states_of(waiting.pop())
        for name, state in states.items():
            following = states.get(str(state.value.get("Next")))
            if following is not None and not speaks_jsonata(state, root):
                _compare(name, state, following, speaks_jsonata(following, root))
            waiting.extend(inner_machines(state))


def _compare(name: str, state: Node, following: Node, jsonata: bool) -> None:
    fields = _output_fields(state.value)
    if fields is None or jsonata:
        return
    for place, field in _reads(following):
        if field not in fields:
            message = f"`{field}` is not there when `{name}` comes before: its output replaced it"
            hint = f"give `{name}` a `ResultPath` such as `$.result`, which keeps its input"
            state.findings.warning("ASL_DROPPED_FIELD", place, message, hint)


def _output_fields(state: dict[str, Any]) -> frozenset[str] | None:
    """All fields of the output of a state; None where they are not known for certain."""
    if state.get("ResultPath", "$") != "$" or state.get("OutputPath", "$") != "$":
        return None
    made: JSON = None
    if state.get("Type") == "Pass":
        made = state.get("Result", state.get("Parameters"))
    elif "ResultSelector" in state:
        made = state["ResultSelector"]
    elif state.get("Type") == "Task" and str(state.get("Resource")).endswith(_LAMBDA):
        return _LAMBDA_FIELDS
    if not isinstance(made, dict):
        return None
    taken_as_is = "Result" in state
    return frozenset(key if taken_as_is else key.removesuffix(".$") for key in made)


def _reads(state: Node) -> Iterator[tuple[str, str]]:
    """(pointer, field of the input) of what a state reads whatever happens in it."""
    input_path = state.value.get("InputPath", "$")
    if input_path != "$":
        yield from _field(state.place("InputPath"), input_path)
        return
    for name in _PATH_FIELDS:
        yield from _field(state.place(name), state.value.get(name))
    if state.value.get("Type") != "Map":  # whose parameters read items, and only if there are any
        yield from _template_reads(state.value.get("Parameters"), state.place("Parameters"))


def _template_reads(template: JSON, pointer: str) -> Iterator[tuple[str, str]]:
    if isinstance(template, list):
        for index, inner in enumerate(template):
            yield from _template_reads(inner, child(pointer, index))
    elif isinstance(template, dict):
        for key, inner in template.items():
            if key.endswith(".$"):
                yield from _field(child(pointer, key), inner)
            else:
                yield from _template_reads(inner, child(pointer, key))


def _field(pointer: str, text: JSON) -> Iterator[tuple[str, str]]:
    if not isinstance(text, str) or not text.startswith("$."):
        return
    try:
        syntax = parse_path(text)
    except ExpressionError:
        return
    if syntax.tokens and isinstance(syntax.tokens[0], str):
        yield pointer, syntax.tokens[0]
