"""What a worker remembers of its runs: what was used lately, within a bound of bytes."""

from __future__ import annotations

from collections import OrderedDict
from typing import Generic, TypeVar

V = TypeVar("V")
Key = tuple[str, str, str, int]
"""Workflow id, incarnation of the run, path, round."""


class Kept(Generic[V]):
    """At most ``count`` values of ``bytes_`` together, by key; the newest is always kept."""

    def __init__(self, count: int, bytes_: int) -> None:
        self._count = count
        self._bytes = bytes_
        self._values: OrderedDict[Key, tuple[V, int]] = OrderedDict()
        self.bytes = 0

    def get(self, key: Key) -> V | None:
        """The value of ``key``, which counts as used."""
        found = self._values.get(key)
        if found is None:
            return None
        self._values.move_to_end(key)
        return found[0]

    def put(self, key: Key, value: V, size: int) -> None:
        """Keep ``value``, which takes about ``size`` bytes; drop what is not used for longest."""
        self._drop(key)
        self._values[key] = value, size
        self.bytes += size
        while len(self._values) > 1 and (
            len(self._values) > self._count or self.bytes > self._bytes
        ):
            self._drop(next(iter(self._values)))

    def forget(self, workflow_id: str) -> None:
        """Drop everything of a run."""
        for key in [key for key in self._values if key[0] == workflow_id]:
            self._drop(key)

    def __len__(self) -> int:
        return len(self._values)

    def _drop(self, key: Key) -> None:
        _, size = self._values.pop(key, (None, 0))
        self.bytes -= size
