"""Reading guidelines, and items of them, from JSON that anybody may have written."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, fields
from datetime import datetime
from math import isfinite
from typing import Any, TypeVar, get_args

from dcf.guidelines.document import Guidelines, iso
from dcf.guidelines.errors import InvalidGuidelines
from dcf.guidelines.insight import Severity
from dcf.guidelines.item import ITEMS, Action, Author, Goal, Item
from dcf.problem import Problem

SomeItem = TypeVar("SomeItem", bound=Item)

_CHOICES = {
    "severity": get_args(Severity),
    "recommended_action": get_args(Action),
    "written_by": get_args(Author),
    "goal": get_args(Goal),
}
_INTEGERS = frozenset({"current_tier"})
_NUMBERS = frozenset({"suggested_fcs_adjustment"})
_LONGEST = 2_000
"""Characters of one text: all of it stands in the Planner's context."""


def read_guidelines(text: str) -> Guidelines:
    """The document in the text of a memory block; of an empty one, guidelines that say nothing.

    Raises InvalidGuidelines with all that is wrong.
    """
    if not text.strip():
        return Guidelines()
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as wrong:
        raise InvalidGuidelines([Problem("GUIDELINE_JSON", f"not JSON: {wrong}")]) from wrong
    guidelines, problems = parse_guidelines(document)
    if problems:
        raise InvalidGuidelines(problems)
    return guidelines


def parse_guidelines(document: Any) -> tuple[Guidelines, tuple[Problem, ...]]:
    """What can be read of ``document``, and what is wrong with the rest. The lists are in
    ``guidelines``, or in the document itself."""
    if not isinstance(document, Mapping):
        return Guidelines(), (Problem("GUIDELINE_JSON", "guidelines are a JSON object"),)
    inner = document.get("guidelines", document)
    if not isinstance(inner, Mapping):
        problem = Problem("GUIDELINE_FIELD", "guidelines is not an object", "/guidelines")
        return Guidelines(), (problem,)
    root = "/guidelines" if "guidelines" in document else ""
    problems: list[Problem] = []
    lists: dict[str, tuple[Any, ...]] = {}
    for kind in ITEMS:
        read = _items(kind, inner.get(kind.LIST), f"{root}/{kind.LIST}", problems)
        lists[kind.LIST] = tuple(read)
    insights = document.get("recent_insights")
    if insights is None:
        insights = []
    if not isinstance(insights, list):
        problems.append(
            Problem("GUIDELINE_FIELD", "recent_insights is not a list", "/recent_insights")
        )
        insights = []
    revision = document.get("revision", 0)
    if not _is_integer(revision) or revision < 0:
        problems.append(
            Problem("GUIDELINE_FIELD", f"revision is {revision!r}, no count", "/revision")
        )
        revision = 0
    updated, wrong = _moment(document.get("last_updated"), "/last_updated")
    problems += wrong
    return (
        Guidelines(
            revision=revision, last_updated=updated, recent_insights=tuple(insights), **lists
        ),
        tuple(problems),
    )


def parse_item(
    kind: type[SomeItem], document: Any, path: str = ""
) -> tuple[SomeItem | None, tuple[Problem, ...]]:
    """The item in a JSON object; None with all that is wrong with it."""
    if not isinstance(document, Mapping):
        return None, (Problem("GUIDELINE_FIELD", "an item is a JSON object", path),)
    own = {field.name: field for field in fields(kind) if field.name != "more"}
    problems = [
        Problem("GUIDELINE_FIELD", f"{name} is missing", f"{path}/{name}")
        for name, field in own.items()
        if name not in document and _is_required(field)
    ]
    given: dict[str, Any] = {}
    for name in own.keys() & document.keys():
        value = document[name]
        if name == "last_evidence_at":
            value, wrong = _moment(value, f"{path}/{name}")
            problems += wrong
        else:
            problems += _value_problems(own[name], value, f"{path}/{name}")
        given[name] = value
    if problems:
        return None, tuple(sorted(problems, key=lambda problem: problem.path))
    more = {str(name): value for name, value in document.items() if name not in own}
    return kind(**given, more=more), ()


def _items(
    kind: type[SomeItem], found: Any, path: str, problems: list[Problem]
) -> Iterator[SomeItem]:
    if found is None:
        return
    if not isinstance(found, list):
        problems.append(Problem("GUIDELINE_FIELD", f"{kind.LIST} is not a list", path))
        return
    for index, document in enumerate(found):
        item, wrong = parse_item(kind, document, f"{path}/{index}")
        problems += wrong
        if item is not None:
            yield item


def _value_problems(field: Field[Any], value: Any, path: str) -> Iterator[Problem]:
    name = field.name
    if name == "evidence" or (value is None and not _is_required(field) and field.default is None):
        return
    if name == "confidence":
        if not _is_number(value) or not 0 <= value <= 1:
            yield Problem(
                "GUIDELINE_FIELD", f"confidence is {value!r}, not a number from 0 to 1", path
            )
    elif name in _INTEGERS:
        if not _is_integer(value):
            yield Problem("GUIDELINE_FIELD", f"{name} is {value!r}, not an integer", path)
    elif name in _NUMBERS:
        if not _is_number(value):
            yield Problem("GUIDELINE_FIELD", f"{name} is {value!r}, not a number", path)
    elif name in _CHOICES:
        if value not in _CHOICES[name]:
            known = ", ".join(_CHOICES[name])
            yield Problem("GUIDELINE_FIELD", f"{name} is {value!r}, not one of {known}", path)
    elif not isinstance(value, str):
        yield Problem("GUIDELINE_FIELD", f"{name} is {value!r}, not a text", path)
    elif len(value) > _LONGEST:
        long = f"{name} has {len(value):,} characters; {_LONGEST:,} are the most"
        yield Problem("GUIDELINE_FIELD", long, path)


def _moment(value: Any, path: str) -> tuple[int | None, tuple[Problem, ...]]:
    if value is None:
        return None, ()
    try:
        moment = datetime.fromisoformat(value)
        if moment.tzinfo is not None:
            at = round(moment.timestamp() * 1000)
            # At either end of the calendar there are times that only their own zone can write.
            iso(at)
            return at, ()
    except (TypeError, ValueError, OverflowError):
        pass
    return None, (Problem("GUIDELINE_FIELD", f"{value!r} is no ISO 8601 time with its zone", path),)


def _is_required(field: Field[Any]) -> bool:
    return field.default is MISSING and field.default_factory is MISSING


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
