"""The keys of the twin: values, times of expiry and the moment the current command runs at."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol, Self, TypeVar

from control_plane.errors import ServerError

WRONG_TYPE = "WRONGTYPE Operation against a key holding the wrong kind of value"


class Value(Protocol):
    """What a key holds. ``kind`` is the answer to TYPE."""

    kind: str

    def copy(self) -> Self:
        """A copy that shares nothing mutable."""

    def plain(self) -> Any:
        """The value as lists, dictionaries, strings and numbers, for comparing states."""


V = TypeVar("V", bound=Value)


class Keyspace:
    """Keys with their values. Expired keys vanish when they are looked at."""

    def __init__(self) -> None:
        self.now_us = 0
        # Insertion-ordered, so that one seed wakes readers in one order.
        self.woken: dict[str, None] = {}
        self._values: dict[str, Value] = {}
        self._expiries: dict[str, int] = {}

    @property
    def now_ms(self) -> int:
        """The moment of the current command or script, milliseconds since the epoch."""
        return self.now_us // 1000

    def find(self, key: str) -> Value | None:
        """The value of ``key``, whatever its type."""
        expiry = self._expiries.get(key) if self._expiries else None
        if expiry is not None and self.now_us // 1000 > expiry:
            self.delete(key)
        return self._values.get(key)

    def typed(self, key: str, kind: type[V]) -> V | None:
        """The value of ``key``; raises ServerError when it is of another type."""
        value = self.find(key)
        if value is None or isinstance(value, kind):
            return value
        raise ServerError(WRONG_TYPE)

    def put(self, key: str, value: Value) -> None:
        """Set ``key``; a time of expiry stays."""
        self._values[key] = value

    def delete(self, key: str) -> bool:
        """Remove ``key``; whether it was there."""
        self._expiries.pop(key, None)
        self.wake(key)
        return self._values.pop(key, None) is not None

    def delete_if_empty(self, key: str, value: Any) -> None:
        """Redis keeps no empty hash, set or sorted set."""
        if not value:
            self.delete(key)

    def expiry(self, key: str) -> int | None:
        """When ``key`` expires, milliseconds since the epoch."""
        return self._expiries.get(key)

    def expire(self, key: str, at_ms: int | None) -> None:
        """Let ``key`` expire at ``at_ms``, or never."""
        if at_ms is None:
            self._expiries.pop(key, None)
        elif at_ms <= self.now_ms:
            self.delete(key)
        else:
            self._expiries[key] = at_ms

    def wake(self, key: str) -> None:
        """Let readers that block on ``key`` look again once this command is over."""
        self.woken[key] = None

    def live_keys(self) -> Iterator[str]:
        """Every live key, in no particular order."""
        for key in list(self._values):
            if self.find(key) is not None:
                yield key

    def clear(self) -> None:
        """Forget everything."""
        self.woken.update(dict.fromkeys(self._values))
        self._values.clear()
        self._expiries.clear()

    def copy(self) -> Keyspace:
        """A deep copy."""
        other = Keyspace()
        other._values = {key: value.copy() for key, value in self._values.items()}
        other._expiries = dict(self._expiries)
        return other

    def replace_by(self, other: Keyspace) -> None:
        """Take over the content of ``other``, which must not be used any more."""
        self.woken.update(dict.fromkeys([*self._values, *other._values]))
        self._values, self._expiries = other._values, other._expiries
