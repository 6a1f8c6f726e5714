"""Payload templates: JSON whose ``.$`` fields are filled from paths and intrinsics."""

from __future__ import annotations

from typing import TypeAlias

from dcf.asl.errors import ExpressionError
from dcf.asl.intrinsics.catalogue import compile_intrinsic
from dcf.asl.intrinsics.syntax import BAD_INTRINSIC
from dcf.asl.jsonpath.path import compile_path
from dcf.asl.payload import JSON, MAX_DEPTH, excerpt
from dcf.asl.reading.findings import Findings, child
from dcf.asl.scope import Expression, Scope, constant

_Part: TypeAlias = Expression | None  # None: a constant, the same in every evaluation


def compile_template(template: JSON, pointer: str, findings: Findings) -> Expression:
    """``template`` as a function of the scope; what is wrong in it goes to ``findings``."""
    part = _compile(template, pointer, findings, MAX_DEPTH)
    return part if part is not None else constant(template)


def compile_value(text: str, field: str) -> Expression:
    """A ``.$`` value: an intrinsic call when it starts with ``States.``, otherwise a path.

    Blanks may follow a call and not precede it, as AWS's linters have it. Raises ExpressionError.
    """
    if text.startswith("States."):
        return compile_intrinsic(text.rstrip(), field)
    if text.lstrip().startswith("States."):
        message = f"{excerpt(text)} begins with a blank"
        raise ExpressionError(BAD_INTRINSIC, message, "remove what stands before `States.`")
    return compile_path(text, field, past_end=True)


def _compile(template: JSON, pointer: str, findings: Findings, depth: int) -> _Part:
    if depth == 0:
        findings.error(
            "ASL_TOO_DEEP",
            pointer,
            f"the template nests deeper than {MAX_DEPTH}",
            hint="nest less: at most 100 levels",
        )
        return None
    if isinstance(template, dict):
        return _compile_object(template, pointer, findings, depth)
    if isinstance(template, list):
        return _compile_array(template, pointer, findings, depth)
    return None


def _compile_object(
    template: dict[str, JSON], pointer: str, findings: Findings, depth: int
) -> _Part:
    constants: dict[str, JSON] = {}
    readers: list[tuple[str, Expression]] = []
    for key, value in template.items():
        place = child(pointer, key)
        name = key[:-2] if key.endswith(".$") else key
        if name != key and name in template:
            findings.error(
                "ASL_TEMPLATE_KEY_CLASH",
                place,
                f"`{key}` and `{name}` would both become `{name}`",
                "keep one of the two",
            )
            continue
        part = (
            _compile_dynamic(value, key, place, findings)
            if name != key
            else _compile(value, place, findings, depth - 1)
        )
        constants[name] = value  # keeps the order of the template; readers overwrite
        if part is not None:
            readers.append((name, part))
    if not readers:
        return None
    fixed = tuple(readers)

    def build(scope: Scope) -> JSON:
        filled = dict(constants)
        for name, read in fixed:
            filled[name] = read(scope)
        return filled

    return build


def _compile_array(template: list[JSON], pointer: str, findings: Findings, depth: int) -> _Part:
    parts = [
        _compile(value, child(pointer, index), findings, depth - 1)
        for index, value in enumerate(template)
    ]
    if not any(parts):
        return None
    readers = tuple(
        part if part is not None else constant(value)
        for part, value in zip(parts, template, strict=True)
    )
    return lambda scope: [read(scope) for read in readers]


def _compile_dynamic(value: JSON, key: str, pointer: str, findings: Findings) -> _Part:
    if not isinstance(value, str):
        findings.error(
            "ASL_BAD_TEMPLATE",
            pointer,
            f"`{key}` ends in `.$`, so its value must be a path or an intrinsic call",
            f"write a string such as `$.id`, or name the field `{key[:-2]}`",
        )
        return None
    try:
        return compile_value(value, key)
    except ExpressionError as error:
        findings.expression(error, pointer)
        return None
