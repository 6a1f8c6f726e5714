"""Approvers that are rules: comparisons over the arguments of a call."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from dcf.tools.gate.glob import fits

Answer = Literal["approve", "reject", "escalate"]

_MISSING = object()
_INDEX = re.compile("[0-9]{1,9}")


@dataclass(frozen=True, slots=True)
class Condition:
    """One comparison of the value at ``pointer`` (a JSON pointer into the arguments).

    A value that is missing, or of another type than the comparison needs, fulfils nothing but
    ``exists: false``: where a rule cannot judge, it does not.
    """

    pointer: str
    comparison: str
    value: Any = field(hash=False)

    def holds(self, arguments: Any) -> bool:
        """Whether the arguments fulfil the condition."""
        found = _at(arguments, self.pointer)
        if self.comparison == "exists":
            return (found is not _MISSING) is self.value
        return found is not _MISSING and COMPARISONS[self.comparison](found, self.value)


@dataclass(frozen=True, slots=True)
class Case:
    """``decision`` where all of ``when`` hold."""

    when: tuple[Condition, ...]
    decision: Answer
    reason: str = ""


@dataclass(frozen=True, slots=True)
class RuleApprover:
    """Decides by its first case that fits, else by ``otherwise``."""

    name: str
    cases: tuple[Case, ...]
    otherwise: Answer = "escalate"

    def answer(self, arguments: Mapping[str, Any]) -> tuple[Answer, str]:
        """The decision, and the reason that the policy gives for it."""
        for case in self.cases:
            if all(condition.holds(arguments) for condition in case.when):
                return case.decision, case.reason
        return self.otherwise, ""


def _at(value: Any, pointer: str) -> Any:
    for part in pointer.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(value, Mapping):
            value = value.get(key, _MISSING)
        elif isinstance(value, list) and _INDEX.fullmatch(key):
            value = value[int(key)] if int(key) < len(value) else _MISSING
        else:
            return _MISSING
    return value


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _same(found: Any, value: Any) -> bool:
    """Equal as JSON: 1 is 1.0, but true is not 1."""
    if isinstance(found, bool) or isinstance(value, bool):
        return found is value
    return bool(found == value)


def _numbers(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    return lambda found, value: _is_number(found) and compare(found, value)


COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "equals": _same,
    "oneOf": lambda found, values: any(_same(found, value) for value in values),
    "matches": lambda found, glob: isinstance(found, str) and fits(found, glob),
    "lessThan": _numbers(lambda found, limit: found < limit),
    "atMost": _numbers(lambda found, limit: found <= limit),
    "moreThan": _numbers(lambda found, limit: found > limit),
    "atLeast": _numbers(lambda found, limit: found >= limit),
}
"""Every comparison but ``exists``, which alone speaks of missing values."""
