"""Which number a call gets, as far as it is known before the script gives it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from control_plane import JSON, Lease, call_name


class CallNumbers:
    """The numbers of one try's calls: those of the ``journal`` are answered from there, the others
    that are known are repeated in their order."""

    def __init__(self, lease: Lease, journal: Sequence[dict[str, JSON]]) -> None:
        calls: dict[str, Any] = lease.calls or {"numbers": {}, "used": {}, "lease": {}}
        self._numbers = {name: list(numbers) for name, numbers in calls["numbers"].items()}
        self._used = dict[str, int](calls["used"])
        self._seen = Counter[str](calls["lease"].get("seen", {}))
        self._asking = Counter[str]()
        self._taken = Counter[int | None]()
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
        seen = self._seen[name] + self._asking[name]
        return left[seen] if seen < len(left) else None

    @contextmanager
    def asking(self, digest: str, ask: int | None) -> Iterator[None]:
        """While the script is asked for the number of a call: another call at the same time is the
        next one, and does not rest on the answer to the same question."""
        name = call_name("d", digest)
        self._asking[name] += 1
        self._taken[ask] += 1
        try:
            yield
        finally:
            self._asking[name] -= 1
            self._taken[ask] -= 1

    def is_taken(self, ask: int) -> bool:
        """Whether a call that has no number yet rests on the answer to this question."""
        return self._taken[ask] > 0

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
