"""Ids inside a file: ``agent-0``, ``block-3``; the earlier system takes no others."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class Numbering:
    """Gives each thing of one kind its id, once. An id that a thing had in the file it came from is
    given again, if nothing else has it."""

    kind: str
    _of: dict[Hashable, str] = field(default_factory=dict)
    _taken: set[str] = field(default_factory=set)
    _next: int = 0

    def id_of(self, thing: Hashable, wanted: object = None) -> tuple[str, bool]:
        """The id of ``thing``, and whether it is new."""
        if thing in self._of:
            return self._of[thing], False
        fits = isinstance(wanted, str) and re.fullmatch(rf"{self.kind}-\d{{1,9}}", wanted)
        if not fits or wanted in self._taken:
            while (wanted := f"{self.kind}-{self._next}") in self._taken:
                self._next += 1
        self._of[thing] = str(wanted)
        self._taken.add(str(wanted))
        return str(wanted), True


def renamed(value: Any, names: Mapping[str, str]) -> Any:
    """``value`` with other ids in its members ``id``, ``…_id`` and ``…_ids``."""
    if isinstance(value, Mapping):
        return {
            name: _renamed_ids(item, names)
            if name == "id" or name.endswith(("_id", "_ids"))
            else renamed(item, names)
            for name, item in value.items()
        }
    if isinstance(value, list):
        return [renamed(item, names) for item in value]
    return value


def _renamed_ids(value: Any, names: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return names.get(value, value)
    return [_renamed_ids(item, names) for item in value] if isinstance(value, list) else value
