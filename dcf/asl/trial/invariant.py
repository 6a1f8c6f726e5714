"""An invariant: a JSONata expression over an execution that is over, which must be true."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

from dcf.asl.errors import EvaluationError, ExpressionError
from dcf.asl.jsonata.expression import compile_jsonata
from dcf.asl.jsonata.functions import FUNCTION_NAMES
from dcf.asl.jsonata.syntax import expression_text, parse_jsonata
from dcf.asl.payload import JSON, excerpt
from dcf.asl.reading.fields import nearest
from dcf.asl.scope import Scope

SEES = ("input", "output", "status", "error", "cause", "events", "calls", "disturbed")
"""The variables of an invariant."""

_SHOWN = 300
_CODE = "ASL_INVARIANT"
_EXAMPLE = "write for example `$status = 'succeeded' and $output.total > 10`"


class Invariant:
    """``text`` is JSONata, with ``{% … %}`` around it or without. Raises ExpressionError for what
    is none, and for variables that there are not."""

    def __init__(self, text: str) -> None:
        self.text = expression_text(text.strip())
        _check(self.text)
        self._value = compile_jsonata(f"{{% {self.text} %}}", "invariant")

    def broken(self, seen: Mapping[str, JSON]) -> str | None:
        """What is wrong where ``seen``, a value for each of ``SEES``, does not fulfil it."""
        try:
            value = self._value(Scope(None, {}, seen, rng=Random(0)))
        except EvaluationError as error:
            return error.cause.partition("specified for the field 'invariant' ")[2] or error.cause
        if value is True:
            return None
        return "it is false" if value is False else f"it is {excerpt(value, _SHOWN)}, and not true"


def _check(text: str) -> None:
    """Raises ExpressionError unless ``text`` is JSONata that reads nothing but what there is."""
    try:
        expression, _ = parse_jsonata(text)
    except ExpressionError as error:
        raise ExpressionError(_CODE, error.message, _EXAMPLE) from error
    reads = expression.reads({})
    fields = reads.get("input") or {}
    if isinstance(fields, dict) and fields:
        name = next(iter(fields))
        hint = f"write `${name}`" if name in SEES else _near(name)
        message = f"`{name}` is a field of nothing: what an invariant sees are variables"
        raise ExpressionError(_CODE, message, hint)
    unknown = [name for name in reads.get("bindings") or {} if name not in {*SEES, *FUNCTION_NAMES}]
    if unknown:
        message = f"an invariant has no variable `${unknown[0]}`"
        raise ExpressionError(_CODE, message, _near(unknown[0]))


def _near(name: str) -> str:
    near = nearest(name, SEES)
    if near is not None:
        return f"did you mean `${near}`?"
    return "there are " + ", ".join(f"`${one}`" for one in SEES)
