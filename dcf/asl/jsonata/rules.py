"""What Step Functions does not let a JSONata expression read, though it is sound JSONata."""

from __future__ import annotations

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


def check_jsonata(node: Node) -> None:
    """Report the expressions of a state that AWS refuses; mistakes in JSONata are not ours."""
    for way, _, text in evaluated_texts(node):
        if is_jsonata(text):
            _check(node, way, text)
        elif text.startswith("{%"):
            place = pointer_of(node, way)
            message = "a JSONata expression starts with `{%` and ends with `%}`"
            aws = "JSONata string must start with {% and end with %}"
            node.findings.error(UNCLOSED, place, message, "close it with `%}`", aws)


def _check(node: Node, way: Way, text: str) -> None:
    try:
        references = read_references(expression_text(text))
    except ExpressionError:
        return  # reported where the field is compiled
    if not (references.context or references.root or references.error_output):
        return
    place = pointer_of(node, way)
    in_catch = place.startswith(f"{node.place('Catch')}/")
    for what, hint, aws in _unsupported(references, in_catch):
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


def _unsupported(references: References, in_catch: bool) -> list[tuple[str, str, str]]:
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
    if references.error_output and not in_catch:
        aws = "Field '$states.errorOutput' does not exist."
        message = "`$states.errorOutput` exists in `Catch` only"
        found.append((message, "read it in `Output` or `Assign` of a catcher", aws))
    return found
