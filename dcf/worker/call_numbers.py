"""Which number a call gets, as far as it is known before the script gives it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

from control_plane import Lease, call_name
from control_plane.payload import JSON


class CallNumbers:
    """The numbers of one try's calls: those of the ``journal`` are answered from there, the others
    that are known are repeated in their order."""

    def __init__(self, lease: Lease, journal: Sequence[dict[str, JSON]]) -> None:
        calls: dict[str, Any] = lease.calls or {"numbers": {}, "used": {}, "lease": {}}
        self._numbers = {name: list(numbers) for name, numbers in calls["numbers"].items()}
        self._used = dict[str, int](calls["used"])
        self._seen = Counter[str](calls["lease"].get("seen", {}))
        self._journal: dict[str, list[int]] = defaultdict(list)
        for entry in journal:
            self._journal[entry["digest"]].append(int(entry["number"]))

    def answered(self, digest: str) -> list[int]:
        """The numbers of calls with this digest whose answers are in the journal."""
        return self._journal.get(digest, [])

    def repeated(self, digest: str) -> int | None:
        """The number of the call that the next one with this digest repeats; None for a new one."""
        name = call_name("d", digest)
        known = self.answered(digest)
        left = [number for number in self._numbers.get(name, []) if number not in known]
        seen = self._seen[name]
        return left[seen] if seen < len(left) else None

    def use_of(self, ask: int) -> int | None:
        """The number of the call that the answer to this question was used for."""
        return self._used.get(f"q{ask}")

    def given(self, digest: str, number: int, ask: int | None) -> None:
        """The next call with this digest got ``number``, allowed by the answer to ``ask``."""
        name = call_name("d", digest)
        numbers = self._numbers.setdefault(name, [])
        if number not in numbers:
            numbers.append(number)
        self._seen[name] += 1
        if ask is not None and number not in self._used.values():
            self._used[f"q{ask}"] = number
