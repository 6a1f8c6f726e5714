"""What AWS says to a problem of ours: its code, its words, and the place as it writes places."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dcf.asl.reading.findings import Finding
from dcf.asl.reading.node import MISSING

SCHEMA = "SCHEMA_VALIDATION_FAILED"


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding of ValidateStateMachineDefinition.

    ``location`` is empty where AWS gives none; ``severity`` is ``ERROR`` or ``WARNING``.
    """

    code: str
    message: str
    location: str = ""
    severity: str = "ERROR"

    def to_dict(self) -> dict[str, str]:
        """As the API answers it: no ``location`` rather than an empty one."""
        fields = {"severity": self.severity, "code": self.code, "message": self.message}
        return fields | ({"location": self.location} if self.location else {})


@dataclass(frozen=True, slots=True)
class _Wording:
    """``message`` when the finding brings none; ``owner``: AWS points at the object around it."""

    code: str = SCHEMA
    message: str = ""
    owner: bool = False


_TARGET = "MISSING_TRANSITION_TARGET"
_PATH_VALUE = "Value must be a valid JSONPath."
_WORDINGS: dict[str, _Wording] = {
    "ASL_BAD_CHOICE_RULE": _Wording(
        message="The object must have only one of the following fields, [And, Or, Not, Variable,"
        " Condition]"
    ),
    "ASL_BAD_ERROR_EQUALS": _Wording(message="States.ALL must appear alone and at end of list"),
    "ASL_BAD_INTRINSIC": _Wording(message=_PATH_VALUE),
    "ASL_BAD_JSONATA": _Wording("INVALID_JSONATA_EXPRESSION"),
    "ASL_BAD_LABEL": _Wording("INVALID_LABEL_NAME"),
    "ASL_BAD_PATH": _Wording(message=_PATH_VALUE),
    "ASL_BAD_REFERENCE_PATH": _Wording(message="Value is not a Reference Path"),
    "ASL_BAD_STATE_NAME": _Wording("INVALID_STATE_NAME"),
    "ASL_BAD_TEMPLATE": _Wording(message=_PATH_VALUE),
    "ASL_BAD_TIMESTAMP": _Wording(message="String does not match RFC3339 timestamp"),
    "ASL_BAD_VARIABLE_NAME": _Wording("INVALID_VARIABLE_NAME"),
    "ASL_BAD_WAIT": _Wording(),
    "ASL_CONSTANT_PATH": _Wording("NO_DOLLAR"),
    "ASL_DUPLICATE_LABEL": _Wording("DUPLICATE_LABEL_NAME"),
    "ASL_DUPLICATE_STATE_NAME": _Wording("DUPLICATE_STATE_NAME"),
    "ASL_FIELD_CLASH": _Wording(owner=True),
    "ASL_JSON_SYNTAX": _Wording("INVALID_JSON_DESCRIPTION"),
    "ASL_NO_TERMINAL_STATE": _Wording("MISSING_END_STATE", "Workflow has no terminal state"),
    "ASL_NOT_DISTRIBUTED": _Wording(owner=True),
    "ASL_STATIC_RESULT": _Wording("PASS_RESULT_IS_STATIC"),
    "ASL_TOO_DEEP": _Wording("TOO_DEEPLY_NESTED"),
    "ASL_UNKNOWN_FIELD": _Wording(owner=True),
    "ASL_UNKNOWN_STATE": _Wording(_TARGET),
    "ASL_UNREACHABLE_STATE": _Wording(_TARGET),
    "ASL_UNSUPPORTED_JSONATA": _Wording("UNSUPPORTED_JSONATA_EXPRESSION"),
    "ASL_WRONG_QUERY_LANGUAGE": _Wording(owner=True),
}
_WARNINGS = ("ASL_CONSTANT_PATH", "ASL_STATIC_RESULT")
"""Our warnings that AWS gives too."""

_TIMES = ("SecondsPath", "Seconds", "TimestampPath", "Timestamp")
_PATH_CODES = ("ASL_BAD_INTRINSIC", "ASL_BAD_PATH", "ASL_BAD_REFERENCE_PATH", "ASL_BAD_TEMPLATE")


def diagnostics_of(found: Sequence[Finding], definition: Mapping[str, Any]) -> Iterator[Diagnostic]:
    """What AWS says to ``found``.

    Fields that miss in one object are named together, as AWS does.
    """
    missing: dict[str, list[str]] = {}
    for one in found:
        if _misses_fields(one):
            missing.setdefault(one.problem.path, []).extend(one.fields)
    for one in found:
        problem, words = one.problem, one.aws
        if not problem.is_error and problem.code not in _WARNINGS:
            continue
        if _misses_fields(one):
            if problem.path not in missing:
                continue
            words = _required(missing.pop(problem.path))
        yield _diagnose(one, words, definition)


def _misses_fields(one: Finding) -> bool:
    return one.problem.code == MISSING and bool(one.fields) and not one.aws


def _required(names: list[str]) -> str:
    if names == ["ItemProcessor"]:
        return "This object should have only one of the following fields: [ItemProcessor, Iterator]"
    return f"These fields are required: [{', '.join(names)}]"


def _diagnose(one: Finding, words: str, definition: Mapping[str, Any]) -> Diagnostic:
    problem = one.problem
    wording = _WORDINGS.get(problem.code, _Wording())
    code = wording.code
    owner = wording.owner or words.endswith("' is not supported")
    message = words or _told(one) or wording.message
    if problem.code in _PATH_CODES and problem.path.endswith(".$"):
        message = (
            f"The value for the field '{_unescaped(problem.path.rpartition('/')[2])}' must be a"
            " valid JSONPath or a valid intrinsic function call"
        )
        owner = True
    if problem.code == "ASL_BAD_PATH" and "/Choices/" in problem.path:
        message = "Value is not a Reference Path"
    if problem.code == "ASL_BAD_WAIT":
        start = "There should only be one" if one.fields else "This object should have only one"
        message = f"{start} of the following fields: [{', '.join(_TIMES)}]"
    if problem.code == "ASL_CONSTANT_PATH" and words.endswith("with 'Path'"):
        code = "NO_PATH"
    if problem.code == "ASL_BAD_VARIABLE_NAME" and words.startswith("Cannot assign"):
        code = "RESERVED_VARIABLE_NAME"
    path = problem.path.rpartition("/")[0] if owner else problem.path
    location = "" if problem.code == "ASL_NO_TERMINAL_STATE" else location_of(path, definition)
    severity = "ERROR" if problem.is_error else "WARNING"
    return Diagnostic(code, message or problem.message.replace("`", "'"), location, severity)


def _told(one: Finding) -> str:
    """AWS's words where they hold a name or depend on the value."""
    problem = one.problem
    if problem.code == "ASL_UNKNOWN_FIELD":
        return f"Field '{_unescaped(problem.path.rpartition('/')[2])}' is not supported"
    if problem.code == "ASL_FIELD_CLASH" and one.fields:
        names = ", ".join(sorted(one.fields))
        return f"There should only be one of the following fields: [{names}]"
    if problem.message.endswith(("is empty", "holds no rules")):
        return "Value cannot be empty"
    return ""


def location_of(pointer: str, definition: Mapping[str, Any]) -> str:
    """A JSON pointer as AWS writes it: ``/States/A/Catch[0]/Next``, the whole as ``/``."""
    value: Any = definition
    location = ""
    for part in pointer.split("/")[1:]:
        name = _unescaped(part)
        if isinstance(value, list):
            location += f"[{name}]"
            value = value[int(name)] if name.isdigit() and int(name) < len(value) else None
        else:
            location += f"/{name}"
            value = value.get(name) if isinstance(value, Mapping) else None
    return location or "/"


def _unescaped(part: str) -> str:
    return part.replace("~1", "/").replace("~0", "~")
