"""The JSON document a key holds, and the changes RedisJSON makes to it."""

from __future__ import annotations

from enum import Enum
from typing import Any

from control_plane.errors import ServerError
from control_plane.twin import json_text
from control_plane.twin.json_path import MISSING, Step, find

Steps = tuple[Step, ...]


class Condition(Enum):
    """When JSON.SET writes."""

    ALWAYS = "always"
    IF_MISSING = "NX"
    IF_PRESENT = "XX"


class Document:
    """A JSON value. Texts are kept until the next change, since scripts read far more often."""

    kind = "ReJSON-RL"
    __slots__ = ("_texts", "root")

    def __init__(self, root: Any) -> None:
        self.root = root
        self._texts: dict[Steps, str] = {}

    def find(self, steps: Steps) -> Any:
        """The value at ``steps`` (not to be changed), or MISSING."""
        return find(self.root, steps) if steps else self.root

    def text(self, steps: Steps) -> str | None:
        """The JSON text of the value at ``steps``."""
        kept = self._texts.get(steps)
        if kept is None:
            value = self.find(steps)
            if value is MISSING:
                return None
            kept = self._texts[steps] = json_text.dump(value)
        return kept

    def changed(self) -> None:
        """Forget the texts: the value was changed in place."""
        self._texts.clear()

    def check(self, steps: Steps) -> None:
        """Raises ServerError for an array element that does not exist: arrays do not grow so."""
        if steps and type(steps[-1]) is int and self.find(steps) is MISSING:
            raise ServerError("ERR array index out of range")

    def set(self, steps: Steps, value: Any, condition: Condition = Condition.ALWAYS) -> bool:
        """Put ``value`` at ``steps``; whether it was written. A missing parent is no error.

        Raises ServerError for an array element that does not exist.
        """
        present = self.find(steps) is not MISSING
        if condition is (Condition.IF_MISSING if present else Condition.IF_PRESENT):
            return False
        self.check(steps)
        if not steps:
            self.root = value
            self.changed()
            return True
        parent = self.find(steps[:-1])
        if not present and type(parent) is not dict:
            return False
        parent[_place(parent, steps[-1])] = value
        self.changed()
        return True

    def remove(self, steps: Steps) -> bool:
        """Remove the value at ``steps`` (not the root); whether it was there."""
        if self.find(steps) is MISSING:
            return False
        parent, last = self.find(steps[:-1]), steps[-1]
        if type(parent) is dict:
            _swap_out(parent, str(last))
        else:
            del parent[_place(parent, last)]
        self.changed()
        return True

    def copy(self) -> Document:
        """A deep copy."""
        other = Document(_copied(self.root))
        other._texts = dict(self._texts)
        return other

    def plain(self) -> Any:
        """The JSON value, copied."""
        return _copied(self.root)


def _place(parent: Any, step: Step) -> Step:
    """``step`` as Python indexes; before the first element stands the first one again."""
    return step if isinstance(step, str) else max(step, -len(parent))


def _swap_out(members: dict[str, Any], name: str) -> None:
    """Remove ``name``; the last member takes its place, as the module's objects do it."""
    order = list(members.items())
    place = list(members).index(name)
    last = order.pop()
    if place < len(order):
        order[place] = last
    members.clear()
    members.update(order)


def _copied(value: Any) -> Any:
    if type(value) is dict:
        return {key: _copied(item) for key, item in value.items()}
    if type(value) is list:
        return [_copied(item) for item in value]
    return value
