"""How a thing of DCF and an object of an agent file become one another without loss.

A form says what the file's own members mean (``fields``) and which members say it (``members``).
What members cannot say stands in the object under ``dcf``, at ``home``. What fields cannot say
(members that DCF does not know, and those it reads only a part of) is kept as ``extra`` and written
back, as long as it does not contradict a field that was changed meanwhile.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

OWN = "dcf"


@dataclass(frozen=True, slots=True)
class Form:
    """``names`` are all fields; ``reads`` the members that ``fields`` looks at. ``home`` is the
    member that holds ``dcf``, None for the object itself."""

    names: frozenset[str]
    reads: frozenset[str]
    fields: Callable[[Mapping[str, Any]], dict[str, Any]]
    members: Callable[[Mapping[str, Any]], dict[str, Any]]
    home: str | None = None

    def read(self, raw: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """The fields of an object, and what is extra in it."""
        fields = self._fields(raw)
        fresh = self._fresh(fields)
        extra = {
            name: value
            for name, value in raw.items()
            if name not in fresh or not same(fresh[name], value)
        }
        return fields, extra

    def write(self, fields: Mapping[str, Any], extra: Mapping[str, Any]) -> dict[str, Any]:
        """The object: reading it gives ``fields``, and ``extra`` but for what contradicts them."""
        raw = self._fresh(fields)
        if self._fields({**raw, **extra}) == fields:
            return {**raw, **extra}
        for name, value in extra.items():
            if name not in self.reads and name != self._member:
                raw[name] = value
                continue
            choices = [value]
            if isinstance(value, dict) and isinstance(raw.get(name), dict):
                choices.append({**value, **raw[name]})
            for choice in choices:
                if self._fields({**raw, name: choice}) == fields:
                    raw[name] = choice
                    break
        return raw

    @property
    def _member(self) -> str:
        return self.home or OWN

    def _fields(self, raw: Mapping[str, Any]) -> dict[str, Any]:
        said = self._own(raw)
        return {
            **self.fields(raw),
            **{name: value for name, value in said.items() if name in self.names},
        }

    def _own(self, raw: Mapping[str, Any]) -> Mapping[str, Any]:
        holder: Any = raw if self.home is None else raw.get(self.home) or {}
        return holder.get(OWN) or {}

    def _fresh(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        raw = self.members(fields)
        told = self.fields(raw)
        unsaid = {name: fields[name] for name in sorted(self.names) if told[name] != fields[name]}
        if unsaid:
            holder = raw if self.home is None else raw.setdefault(self.home, {})
            holder[OWN] = unsaid
        return raw


def same(one: object, other: object) -> bool:
    """Whether two JSON values are the same: 1, 1.0 and true are three."""
    return type(one) is type(other) and json.dumps(one, sort_keys=True) == json.dumps(
        other, sort_keys=True
    )
