"""Texts of a JSONata state that are not evaluated, or evaluated to nothing: warnings."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dcf.asl.checks.variable_references import evaluated_texts
from dcf.asl.errors import ExpressionError
from dcf.asl.jsonata.functions import FUNCTION_NAMES
from dcf.asl.jsonata.references import read_references
from dcf.asl.jsonata.rules import STATES_FIELDS, is_half_marked
from dcf.asl.jsonata.syntax import expression_text, is_jsonata
from dcf.asl.payload import excerpt
from dcf.asl.reading.fields import closest_hint
from dcf.asl.reading.node import Node
from dcf.asl.reading.state_texts import pointer_of

_UNMARKED = re.compile(r"\$states\.[A-Za-z]")
_MOST_ODD = 3
"""Most letters that a misspelt name has too many or too few."""

_OTHERWISE = "use a function of JSONata or of Step Functions, or define it in the expression"
_INSTEAD = {"eval": "Step Functions has no `$eval`; `$parse` reads JSON text"}


def warn_jsonata(node: Node) -> None:
    """Warn of what in a JSONata state looks like a slip; what is an error is reported elsewhere."""
    for way, key, text in evaluated_texts(node):
        if is_jsonata(text):
            if "$" in text:
                place = pointer_of(node, way)
                for code, message, hint in _in_expression(node, text):
                    node.findings.warning(code, place, message, hint)
        elif "$" in text or "{%" in text or "%}" in text:
            found = _in_text(key, text)
            if found is not None:
                node.findings.warning("ASL_NOT_EVALUATED", pointer_of(node, way), *found)


def _in_text(key: str, text: str) -> tuple[str, str] | None:
    """(message, hint) for a text that is taken as it is and hardly meant so."""
    if is_half_marked(text):
        return None  # reported as an error
    start = text.find("{%")
    if start >= 0 and text.find("%}", start) >= 0:
        message = f"{excerpt(text)} is taken as it is: only a text that is all `{{% … %}}` counts"
        if is_jsonata(text.strip()):
            return message, "remove what stands around it"
        return message, "join the parts in one expression: `{% 'order ' & $states.input.id %}`"
    if _UNMARKED.match(text):
        return f"{excerpt(text)} is taken as it is", "write `{% … %}` around it to evaluate it"
    if key.endswith(".$") and text.startswith("$"):
        message = f"`{key}` is an ordinary field here: this state speaks JSONata"
        return message, f"name it `{key[:-2]}` and write `{{% $states.input… %}}`"
    return None


def _in_expression(node: Node, text: str) -> Iterator[tuple[str, str, str]]:
    """(code, message, hint) for what an expression calls or reads and nothing gives."""
    try:
        references = read_references(expression_text(text))
    except ExpressionError:
        return  # reported where the field is compiled
    for name in references.unknown_functions:
        hint = _INSTEAD.get(name) or (
            _OTHERWISE if node.findings.are_many else closest_function(name)
        )
        yield "ASL_UNKNOWN_FUNCTION", f"there is no function `${name}`", hint
    for name in references.members:
        if name not in STATES_FIELDS:
            hint = closest_hint(name, STATES_FIELDS)
            yield "ASL_NOT_IN_STATES", f"`$states` has no `{name}`", hint


def closest_function(name: str) -> str:
    """``did you mean `$uppercase`?``, or where functions are listed."""
    similar = [known for known in FUNCTION_NAMES if _may_be_meant(name, known)]
    hint = closest_hint(name, similar)
    if hint.startswith("did you mean `"):
        return hint.replace("`", "`$", 1)
    return _OTHERWISE


def _may_be_meant(name: str, known: str) -> bool:
    """Sorts out most functions at once: the comparison letter by letter is slow."""
    ends_alike = name[:1].lower() == known[:1].lower() or name[-2:] == known[-2:]
    return ends_alike and abs(len(name) - len(known)) <= _MOST_ODD
