"""Two JSON Schemas of one thing: what changed, and whether that breaks who sends or reads it.

What is sent (arguments) may be taken more widely without harm, what is read (answers) may be given
more narrowly. So every difference is either narrower or wider, and the direction says which of
the two asks for a major version.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from dcf.skills.comparison.change import Change

Direction = Literal["arguments", "answer"]

_NOTES = frozenset(
    {"title", "description", "$comment", "examples", "$schema", "$id", "deprecated", "readOnly"}
)
_ANY = (None, True)
_FLOORS = ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties")
_CEILINGS = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties")
_NESTED = ("items", "additionalProperties", "propertyNames", "contains")
_READ = {"properties", "required", "type", "enum", "const", "default", *_FLOORS, *_CEILINGS}


def schema_changes(before: Any, after: Any, place: str, direction: Direction) -> Iterator[Change]:
    """What changed between two schemas, in order of their members. ``place`` names the whole."""
    yield from _Comparison(direction).schemas(before, after, place)


@dataclass(frozen=True, slots=True)
class _Comparison:
    direction: Direction

    def schemas(self, before: Any, after: Any, place: str) -> Iterator[Change]:
        if _same(before, after) or (before in _ANY and after in _ANY):
            return
        if not isinstance(before, Mapping) or not isinstance(after, Mapping):
            yield self._replaced(before, after, place)
            return
        yield from self._types(before, after, place)
        yield from self._values(before, after, place)
        yield from self._bounds(before, after, place)
        yield from self._members(before, after, place)
        yield from self._others(before, after, place)

    def _replaced(self, before: Any, after: Any, place: str) -> Change:
        """``true`` (or nothing), ``false`` and a schema, one in the place of another."""
        if before is False or after in _ANY:
            text = "takes any value now" if after in _ANY else f"is {_shown(after)} now"
            return self._wider("schema", place, text)
        text = "takes nothing now" if after is False else f"is {_shown(after)} now"
        return self._narrower("schema", place, text)

    def _types(
        self, before: Mapping[str, Any], after: Mapping[str, Any], place: str
    ) -> Iterator[Change]:
        old, new = _kinds(before), _kinds(after)
        if old == new:
            return
        text = f"is {_listed(new)} now, was {_listed(old)}"
        if new is None or (old is not None and old < new):
            yield self._wider("type", place, text)
        else:
            yield self._narrower("type", place, text)

    def _values(
        self, before: Mapping[str, Any], after: Mapping[str, Any], place: str
    ) -> Iterator[Change]:
        old, new = _allowed(before), _allowed(after)
        if old == new:
            return
        if old is None or new is None:
            change = self._narrower if old is None else self._wider
            text = f"is one of {_listed(new)} now" if new is not None else "takes any value now"
            yield change("enum", place, text)
            return
        gone, come = old - new, new - old
        if gone:
            yield self._narrower("enum", place, f"no longer {_listed(gone)}")
        if come:
            yield self._wider("enum", place, f"also {_listed(come)}")

    def _bounds(
        self, before: Mapping[str, Any], after: Mapping[str, Any], place: str
    ) -> Iterator[Change]:
        for key in (*_FLOORS, *_CEILINGS):
            old, new = before.get(key), after.get(key)
            if old == new or not all(isinstance(one, int | float | None) for one in (old, new)):
                continue
            text = f"{key} is {_shown(new)} now, was {_shown(old)}"
            wider = new is None or (
                old is not None and (new < old if key in _FLOORS else new > old)
            )
            yield (self._wider if wider else self._narrower)("bound", place, text)

    def _members(
        self, before: Mapping[str, Any], after: Mapping[str, Any], place: str
    ) -> Iterator[Change]:
        old, new = _properties(before), _properties(after)
        had, has = _required(before), _required(after)
        answer = self.direction == "answer"
        for name in old:
            if name not in new:
                yield _breaking("removed", f"{place}.{name}", "is gone")
        for name in [*new, *sorted((had | has) - set(new))]:
            here = f"{place}.{name}"
            fresh = name in new and name not in old
            if fresh and (answer or name not in has):
                yield _added("added", here, "is new")
            elif name in has and name not in had:
                text = "is always there now" if answer else "must be given now"
                text = "is new and must be given" if fresh else text
                yield (_added if answer else _breaking)("required", here, text)
            elif name in had and name not in has and (name in new or name not in old):
                text = "may be missing now" if answer else "need not be given any more"
                yield (_breaking if answer else _added)("required", here, text)
            if name in old and name in new:
                yield from self.schemas(old[name], new[name], here)

    def _others(
        self, before: Mapping[str, Any], after: Mapping[str, Any], place: str
    ) -> Iterator[Change]:
        for key in sorted({*before, *after} - _READ):
            old, new = before.get(key), after.get(key)
            if _same(old, new):
                continue
            if key in _NOTES:
                reason = "only words changed"
                yield Change("note", place, f"{key} changed", "patch", reason)
            elif key in _NESTED:
                yield from self.schemas(old, new, f"{place}[{key}]")
            elif new is None:
                yield self._wider("rule", place, f"{key} is not asked for any more")
            elif old is None:
                yield self._narrower("rule", place, f"{key} is new")
            else:
                reason = "what it means for others cannot be judged"
                yield Change("rule", place, f"{key} changed", "major", reason)
        if not _same(before.get("default"), after.get("default")):
            reason = "who leaves it out gets another value"
            yield Change("default", place, "another default", "minor", reason)

    def _narrower(self, code: str, place: str, text: str) -> Change:
        if self.direction == "arguments":
            return _breaking(f"{code}_narrowed", place, text, "what was accepted may be refused")
        return _added(f"{code}_narrowed", place, text, "answers stay within what was promised")

    def _wider(self, code: str, place: str, text: str) -> Change:
        if self.direction == "arguments":
            return _added(f"{code}_widened", place, text, "what was accepted still is")
        return _breaking(f"{code}_widened", place, text, "who reads it may not know the new values")


def _breaking(code: str, place: str, text: str, reason: str = "what worked may fail") -> Change:
    return Change(code, place, text, "major", reason)


def _added(code: str, place: str, text: str, reason: str = "what worked still works") -> Change:
    return Change(code, place, text, "minor", reason)


def _kinds(schema: Mapping[str, Any]) -> frozenset[str] | None:
    """The types that are accepted; None: all."""
    named = schema.get("type")
    if named is None:
        return None
    kinds = frozenset([named] if isinstance(named, str) else map(str, named))
    return kinds | {"integer"} if "number" in kinds else kinds


def _allowed(schema: Mapping[str, Any]) -> frozenset[str] | None:
    """The values that are accepted, as JSON; None: any."""
    if "const" in schema:
        return frozenset([json.dumps(schema["const"], sort_keys=True)])
    values = schema.get("enum")
    if not isinstance(values, list):
        return None
    return frozenset(json.dumps(value, sort_keys=True) for value in values)


def _properties(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    members = schema.get("properties")
    return members if isinstance(members, Mapping) else {}


def _required(schema: Mapping[str, Any]) -> frozenset[str]:
    names = schema.get("required")
    return frozenset(map(str, names)) if isinstance(names, list) else frozenset()


def _listed(values: frozenset[str] | None) -> str:
    return ", ".join(sorted(values)) if values is not None else "any type"


def _shown(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, ensure_ascii=False) if value is not None else "none"
    return text if len(text) <= 60 else f"{text[:57]}..."


def _same(one: Any, other: Any) -> bool:
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
