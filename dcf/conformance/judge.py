"""How good a result is: at which level it is what was recorded."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, get_args

from dcf.conformance.case import Case
from dcf.conformance.likeness import alike
from dcf.conformance.result import Result

Level: TypeAlias = Literal["status", "value", "exact"]
LEVELS: Final[tuple[Level, ...]] = get_args(Level)
Required: TypeAlias = Literal["status", "value", "exact", "details"]
"""What can be asked of a case: a level, or ``details``: exact, and what Tasks were given and the
stages of a tested state are as recorded too."""
_VERDICTS = frozenset({"INVALID", "VALID", "REJECTED"})
# What the client that recorded wrote before the answer of AWS,
_CLIENTS_WORDS = re.compile(r"An error occurred \(\w+\) when calling the \w+ operation: ")
# and what an emulator wrote where it stood in for AWS.
_EMULATORS_WORDS = re.compile(r"Error=\w+ Args=(?P<args>\[.*?\]) in definition '.*'\.", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Judgement:
    """The levels that hold; each includes the one before.

    ``status``: it ended as recorded. ``value``: with that output and that error name. ``exact``:
    with that cause, or, for a definition or request that AWS refused, with its message in ours.
    """

    status: bool
    value: bool
    exact: bool

    def holds(self, level: Level) -> bool:
        return bool(getattr(self, level))


def judge(case: Case, result: Result) -> Judgement:
    """How ``result`` stands to what ``case`` expects."""
    if result.status != case.expected["status"]:
        return Judgement(False, False, False)
    if case.op == "variable_references":
        same = alike(case.expected["variableReferences"], result.output, case.placeholders)
        return Judgement(True, same, same)
    if result.status in _VERDICTS:
        return Judgement(True, True, _is_said(case, result))
    value = _is_value(case, result)
    return Judgement(True, value, value and _is_cause(case, result))


def _is_said(case: Case, result: Result) -> bool:
    """Whether the result contains what AWS said, or one of the things it said."""
    if "diagnostics" in case.expected:
        messages = [diagnostic["message"] for diagnostic in case.expected["diagnostics"]]
    else:
        messages = [case.expected["cause"]] if "cause" in case.expected else []
    said = result.cause or ""
    return not messages or any(
        alike(text, said, case.placeholders) or _refusal(text) in said for text in messages
    )


def _refusal(recorded: str) -> str:
    """The message in ``recorded``, without what the recording program put around it."""
    text = _CLIENTS_WORDS.sub("", recorded, count=1)
    local = _EMULATORS_WORDS.fullmatch(text)
    if local is None:
        return text
    try:
        return str(ast.literal_eval(local["args"])[0])
    except (ValueError, SyntaxError, IndexError):
        return text


def _is_value(case: Case, result: Result) -> bool:
    expected = case.expected
    if "output" in expected and not alike(expected["output"], result.output, case.placeholders):
        return False
    if "error" in expected:
        return alike(expected["error"], result.error or "", case.placeholders)
    return not (result.status == "FAILED" and result.error)


def _is_cause(case: Case, result: Result) -> bool:
    if "cause" not in case.expected:
        return not result.cause
    return alike(case.expected["cause"], result.cause or "", case.placeholders)
