"""One answer of a mocked task, as a mocks file writes it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from dcf.asl.payload import JSON, kind
from dcf.asl.reading.fields import closest_hint
from dcf.asl.reading.findings import Findings, child
from dcf.asl.trial.execution import Answer
from dcf.asl.visit import TaskFailed, TaskSucceeded

_OUTCOMES = ("return", "error", "never", "echo")
_FIELDS = frozenset({*_OUTCOMES, "cause", "after", "heartbeats", "when", "expect", "times"})
_EXAMPLE = 'write {"return": …}, {"error": "Name", "cause": "…"}, {"never": true} or {"echo": true}'

LONGEST_S = 100 * 365 * 24 * 3600
"""Longest that a mocked answer takes, in seconds; on AWS no execution lasts longer than a year."""


@dataclass(frozen=True, slots=True)
class MockedAnswer:
    """``times`` is for how many calls it is (infinite: for all). ``when`` and ``expect`` are parts
    of the arguments, in lists of none or one so that null can be asked for."""

    outcome: str
    value: JSON = None
    cause: str | None = None
    after_s: float = 0.0
    heartbeats_s: tuple[float, ...] = ()
    when: tuple[JSON, ...] = ()
    expect: tuple[JSON, ...] = ()
    times: float = 1

    def to(self, arguments: JSON) -> Answer:
        """The answer to a call with ``arguments``."""
        if self.outcome == "never":
            return Answer(None, heartbeats_s=self.heartbeats_s)
        if self.outcome == "error":
            return Answer(TaskFailed(str(self.value), self.cause), self.after_s)
        result = arguments if self.outcome == "echo" else self.value
        return Answer(TaskSucceeded(result), self.after_s)


def read_answer(
    value: JSON, pointer: str, findings: Findings, times: float = 1
) -> MockedAnswer | None:
    """The answer written as ``value``; ``times`` where it does not say itself. None with errors,
    which are in ``findings``."""
    if not isinstance(value, dict):
        message = f"an answer is an object, found {kind(value)}"
        findings.error("ASL_MOCK_ANSWER", pointer, message, _EXAMPLE)
        return None
    before = len(findings.problems)
    for field in value:
        if field not in _FIELDS:
            hint = closest_hint(field, _FIELDS)
            message = f"an answer has no field `{field}`"
            findings.error("ASL_MOCK_FIELD", child(pointer, field), message, hint)
    outcome = _outcome(value, pointer, findings)
    after_s = _seconds(value, "after", pointer, findings)
    heartbeats_s = _heartbeats(value, pointer, findings)
    times = _times(value, times, pointer, findings)
    if outcome is None or len(findings.problems) > before:
        return None
    return MockedAnswer(
        outcome,
        value[outcome],
        value.get("cause"),
        after_s or 0.0,
        heartbeats_s,
        (value["when"],) if "when" in value else (),
        (value["expect"],) if "expect" in value else (),
        times,
    )


def _outcome(value: dict[str, Any], pointer: str, findings: Findings) -> str | None:
    """Which of the outcomes it is; exactly one must stand there."""
    present = [name for name in _OUTCOMES if name in value]
    if len(present) != 1:
        found = " and ".join(f"`{name}`" for name in present) or "none"
        message = f"an answer has one of {', '.join(f'`{o}`' for o in _OUTCOMES)}; found {found}"
        findings.error("ASL_MOCK_ANSWER", pointer, message, _EXAMPLE)
        return None
    name = present[0]
    if name == "error" and not (isinstance(value[name], str) and value[name]):
        message = f"`error` is the name of an error, found {kind(value[name])}"
        findings.error("ASL_MOCK_VALUE", child(pointer, name), message, 'write "States.TaskFailed"')
    if name in ("never", "echo") and value[name] is not True:
        message = f"`{name}` can only be true"
        findings.error("ASL_MOCK_VALUE", child(pointer, name), message, "leave it out otherwise")
    if "cause" in value and (name != "error" or not isinstance(value["cause"], str)):
        message = "`cause` is a text beside `error`"
        findings.error("ASL_MOCK_VALUE", child(pointer, "cause"), message, "leave it out otherwise")
    return name


def _seconds(value: dict[str, Any], field: str, pointer: str, findings: Findings) -> float | None:
    if field not in value:
        return None
    given = value[field]
    if _is_seconds(given):
        return float(given)
    message = f"`{field}` is a number of seconds from 0 to {LONGEST_S} (100 years)"
    findings.error("ASL_MOCK_VALUE", child(pointer, field), message, "write 1.5, for example")
    return None


def _heartbeats(value: dict[str, Any], pointer: str, findings: Findings) -> tuple[float, ...]:
    given = value.get("heartbeats", [])
    fits = isinstance(given, list) and all(_is_seconds(one) for one in given)
    if fits and ("never" in value or "heartbeats" not in value):
        return tuple(float(one) for one in given)
    message = (
        f"`heartbeats` are seconds after the call (0 to {LONGEST_S}), in an array, beside `never`"
    )
    hint = 'write {"never": true, "heartbeats": [5, 10]}; who answers sends heartbeats until then'
    findings.error("ASL_MOCK_VALUE", child(pointer, "heartbeats"), message, hint)
    return ()


def _is_seconds(value: JSON) -> bool:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return number and 0 <= value <= LONGEST_S


def _times(value: dict[str, Any], default: float, pointer: str, findings: Findings) -> float:
    given = value.get("times", default)
    if given == "always":
        return math.inf
    if given == default and "times" not in value:
        return default
    if isinstance(given, int) and not isinstance(given, bool) and given > 0:
        return given
    message = "`times` is a whole number above 0, or `always`"
    findings.error("ASL_MOCK_VALUE", child(pointer, "times"), message, "write 3, for example")
    return default
