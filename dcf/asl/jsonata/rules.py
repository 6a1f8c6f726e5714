"""What Step Functions does not let a JSONata expression read, though it is sound JSONata."""

from __future__ import annotations

from collections.abc import Iterator

from dcf.asl.checks.variable_references import evaluated_texts
from dcf.asl.errors import ExpressionError
from dcf.asl.jsonata.references import References, read_references
from dcf.asl.jsonata.syntax import expression_text, is_jsonata
from dcf.asl.reading.node import Node
from dcf.asl.reading.state_texts import Way, pointer_of

STATES_FIELDS = ("input", "result", "errorOutput", "context")
"""What ``$states`` may have."""

UNSUPPORTED = "ASL_UNSUPPORTED_JSONATA"
UNCLOSED = "ASL_UNCLOSED_JSONATA"


_WITH_RESULT = ("Task", "Parallel", "Map")


def check_jsonata(node: Node) -> None:
    """Report the expressions of a state that AWS refuses; mistakes in JSONata are not ours."""
    for way, _, text in evaluated_texts(node):
        if is_jsonata(text):
            _check(node, way, text)
        elif is_half_marked(text):
            place = pointer_of(node, way)
            message = "a JSONata expression starts with `{%` and ends with `%}`"
            hint = "close it with `%}`" if text.startswith("{%") else "write `{%` before it"
            aws = "JSONata string must start with {% and end with %}"
            node.findings.error(UNCLOSED, place, message, hint, aws)


def is_half_marked(text: str) -> bool:
    """Whether one of the marks of an expression is there and the other is not."""
    return text.startswith("{%") or (text.endswith("%}") and "{%" not in text)


def _check(node: Node, way: Way, text: str) -> None:
    try:
        references = read_references(expression_text(text))
    except ExpressionError:
        return  # reported where the field is compiled
    if not (references.context or references.root or references.of_work):
        return
    place = pointer_of(node, way)
    found = [*_unsupported(references), *_without_work(node, place, references.of_work)]
    for what, hint, aws in found:
        node.findings.error(UNSUPPORTED, place, what, hint, aws)


def _with_root(name: str) -> str:
    """What may have been meant by ``name``, which starts an expression without ``$``."""
    if name == "$":
        return "write `$states.input`"
    if name == "states":
        return "write `$states`, with the `$`"
    if name in STATES_FIELDS:
        return f"write `$states.{name}`"
    return f"write `$states.input.{name}`, or `${name}` for a variable"


def _unsupported(references: References) -> list[tuple[str, str, str]]:
    found = [
        (
            f"`{name}` is read from nothing: an expression has no context item",
            _with_root(name),
            f"Reference to '{name}' at the top level is not supported.",
        )
        for name in references.context
    ]
    if references.root:
        aws = "Reference to '$$' is not supported."
        found.append(("`$$` is not available", "write `$states.input` or `$states.context`", aws))
    return found


def _without_work(
    node: Node, place: str, fields: tuple[str, ...]
) -> Iterator[tuple[str, str, str]]:
    """Of ``fields`` of ``$states`` those that do not exist at ``place``: the result before the
    work is done, or of a state that does none, and an error that was not caught."""
    state_type = node.value.get("Type")
    own = place[len(node.pointer) + 1 :].partition("/")[0]
    for name in fields:
        aws = f"Field '$states.{name}' does not exist."
        if name == "errorOutput" and own != "Catch":
            message = "`$states.errorOutput` exists in `Catch` only"
            yield message, "read it in `Output` or `Assign` of a catcher", aws
        elif name == "result" and state_type not in _WITH_RESULT:
            message = f"a {state_type} has no result: `$states.result` does not exist here"
            yield message, "read `$states.input`", aws
        elif name == "result" and own not in ("Output", "Assign"):
            message = "`$states.result` does not exist here: there is no result yet, or none at all"
            yield message, "read it in `Output` or `Assign` of the state", aws
