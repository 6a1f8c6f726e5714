"""JSONata fields compiled once into functions of the scope."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dcf.asl.errors import QUERY_EVALUATION_ERROR, EvaluationError, ExpressionError
from dcf.asl.jsonata.engine import Failed, Undefined, evaluate
from dcf.asl.jsonata.functions import NotData
from dcf.asl.jsonata.program import Program, read_program
from dcf.asl.jsonata.shortcut import Shortcut, read_picks, read_shortcut
from dcf.asl.jsonata.syntax import expression_text, is_jsonata, parse_jsonata
from dcf.asl.payload import JSON, MAX_DEPTH, excerpt, is_integer, kind
from dcf.asl.reading.findings import Findings, child
from dcf.asl.scope import Expression, Scope, constant
from dcf.asl.timestamp import parse_timestamp

__all__ = ["compile_jsonata", "compile_jsonata_template", "expect", "is_jsonata"]

SHOWN = 16_384
"""Most characters of a value that a cause repeats."""


def compile_jsonata(text: str, field: str) -> Expression:
    """``text``, ``{% … %}``, as a function of the scope; ``field`` names the place for causes.

    Raises ExpressionError for text that is not JSONata. At run time whatever goes wrong, an
    undefined result included, is ``States.QueryEvaluationError``.
    """
    inner = expression_text(text)
    _, words = parse_jsonata(inner)
    evaluator = _evaluator(inner, field)
    shortcut = read_shortcut(words, lambda part: _read_index(inner[part]))
    return evaluator if shortcut is None else _try_shortcut(shortcut, evaluator)


def compile_jsonata_template(
    value: JSON, pointer: str, findings: Findings, field: str
) -> Expression:
    """Any JSON whose JSONata strings are evaluated and whose rest stays as it is.

    What is wrong goes to ``findings`` at ``pointer``; ``field`` names the place for causes.
    """
    part = _compile(value, pointer, findings, field, MAX_DEPTH)
    return part if part is not None else constant(value)


def expect(expression: Expression, text: str, field: str, *kinds: str) -> Expression:
    """``expression`` whose value must be one of ``kinds``.

    Kinds are the names of JSON types, ``integer`` and ``timestamp``; the first names what was
    expected. Another value is ``States.QueryEvaluationError``.
    """
    accepts = tuple(_KINDS[name] for name in kinds)
    inner = expression_text(text)

    def read(scope: Scope) -> JSON:
        value = expression(scope)
        if any(accept(value) for accept in accepts):
            return value
        raise EvaluationError(
            QUERY_EVALUATION_ERROR,
            f"{_named(inner, field)} returned an unexpected result type. Expected '{kinds[0]}', "
            f"but was '{kind(value)}' for value: {excerpt(value, SHOWN)}",
        )

    return read


_KINDS: dict[str, Callable[[JSON], bool]] = {
    "array": lambda value: isinstance(value, list),
    "boolean": lambda value: isinstance(value, bool),
    "integer": is_integer,
    "null": lambda value: value is None,
    "number": lambda value: kind(value) == "number",
    "object": lambda value: isinstance(value, dict),
    "string": lambda value: isinstance(value, str),
    "timestamp": lambda value: parse_timestamp(value) is not None,
}


def _try_shortcut(shortcut: Shortcut, evaluate: Expression) -> Expression:
    def read(scope: Scope) -> JSON:
        found, value = shortcut(scope)
        return value if found else evaluate(scope)

    return read


def _read_index(text: str) -> Shortcut:
    """An index that no item changes, evaluated without the array that it is used on."""
    evaluator = _evaluator(text, "")

    def read(scope: Scope) -> tuple[bool, JSON]:
        try:
            return True, evaluator(scope)
        except EvaluationError:  # the evaluator of the whole expression will say it
            return False, None

    return read


def _evaluator(text: str, field: str) -> Expression:
    program: Program | None = None  # most shortcuts need none
    picking: _Picking | None = None

    def read(scope: Scope) -> JSON:
        nonlocal program, picking
        if program is None:
            program = read_program(text)
            picking = _read_picking(text)
        hidden = frozenset(program.functions & scope.variables.keys())
        fitting = read_program(text, hidden) if hidden else program
        picked: dict[str, JSON] | None = None
        if picking is not None and not hidden:
            picked = picking.values(scope)
            if picked is not None:
                fitting = picking.program
        try:
            return evaluate(fitting, scope, picked or {})
        except Undefined:
            raise _failed(text, field, "returned nothing (undefined).") from None
        except NotData:
            raise _failed(text, field, "returned an unsupported result type.") from None
        except Failed as error:
            # So AWS writes it: a coded error is a sentence of its own (floci-io/floci#2736).
            end = "." if error.code else ":"
            raise _failed(text, field, f"threw an error during evaluation{end} {error}") from error

    return read


@dataclass(frozen=True, slots=True)
class _Picking:
    """An expression whose picks are variables."""

    program: Program
    picks: dict[str, Shortcut]

    def values(self, scope: Scope) -> dict[str, JSON] | None:
        """What is picked; None where a pick needs the engine."""
        values: dict[str, JSON] = {}
        for name, pick in self.picks.items():
            found, values[name] = pick(scope)
            if not found:
                return None
        return values


def _read_picking(text: str) -> _Picking | None:
    _, words = parse_jsonata(text)
    picks: dict[str, Shortcut] = {}
    parts: list[str] = []
    position = 0
    for part, pick in read_picks(words, lambda part: _read_index(text[part])):
        name = f"dcf_pick{len(picks)}"
        picks[name] = pick
        parts += [text[position : part.start], f"${name}"]
        position = part.stop
    if not picks:
        return None
    return _Picking(read_program("".join([*parts, text[position:]])), picks)


def _named(text: str, field: str) -> str:
    return f"The JSONata expression '{text}' specified for the field '{field}'"


def _failed(text: str, field: str, what: str) -> EvaluationError:
    return EvaluationError(QUERY_EVALUATION_ERROR, f"{_named(text, field)} {what}")


def _compile(
    value: JSON, pointer: str, findings: Findings, field: str, depth: int
) -> Expression | None:
    """None for what is the same in every evaluation."""
    if isinstance(value, str):
        return _compile_text(value, pointer, findings, field)
    if not isinstance(value, (dict, list)):
        return None
    if depth == 0:
        message = f"the value nests deeper than {MAX_DEPTH}"
        findings.error("ASL_TOO_DEEP", pointer, message, "nest less: at most 100 levels")
        return None
    if isinstance(value, dict):
        return _compile_object(value, pointer, findings, field, depth)
    return _compile_array(value, pointer, findings, field, depth)


def _compile_text(value: str, pointer: str, findings: Findings, field: str) -> Expression | None:
    if not is_jsonata(value):
        return None
    try:
        return compile_jsonata(value, field)
    except ExpressionError as error:
        findings.expression(error, pointer)
        return None


def _compile_object(
    value: dict[str, JSON], pointer: str, findings: Findings, field: str, depth: int
) -> Expression | None:
    readers: list[tuple[str, Expression]] = []
    for key, item in value.items():
        part = _compile(item, child(pointer, key), findings, f"{field}/{key}", depth - 1)
        if part is not None:
            readers.append((key, part))
    if not readers:
        return None
    fixed = tuple(readers)

    def build(scope: Scope) -> JSON:
        filled = dict(value)
        for key, read in fixed:
            filled[key] = read(scope)
        return filled

    return build


def _compile_array(
    value: list[JSON], pointer: str, findings: Findings, field: str, depth: int
) -> Expression | None:
    parts = [
        _compile(item, child(pointer, index), findings, f"{field}[{index}]", depth - 1)
        for index, item in enumerate(value)
    ]
    if not any(parts):
        return None
    readers = tuple(
        part if part is not None else constant(item)
        for part, item in zip(parts, value, strict=True)
    )
    return lambda scope: [read(scope) for read in readers]
