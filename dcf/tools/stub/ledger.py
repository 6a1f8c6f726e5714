"""What was called and what came of it: the call log and the ledger of effects."""

from __future__ import annotations

import hashlib
from collections import OrderedDict, deque
from dataclasses import asdict, dataclass
from typing import Any

from dcf.tools.stub.answer import Answer
from dcf.tools.stub.matching import json_text

CALLS_KEPT = 1_000
EFFECTS_KEPT = 100_000


@dataclass(frozen=True, slots=True)
class CallRecord:
    """One line of ``GET /calls``; ``at`` in seconds since the epoch."""

    server: str
    tool: str
    arguments: dict[str, Any]
    idempotency_key: str | None
    fence: int | None
    case: str | None
    error: str | None
    replayed: bool
    at: float


class CallLog:
    """The last 1,000 calls, oldest first."""

    def __init__(self) -> None:
        self._calls: deque[CallRecord] = deque(maxlen=CALLS_KEPT)

    def add(self, record: CallRecord) -> None:
        self._calls.append(record)

    def clear(self) -> None:
        self._calls.clear()

    def case_of(self, key: str) -> str | None:
        """The case that answered the last call with this idempotency key."""
        calls = (call for call in reversed(self._calls) if call.idempotency_key == key)
        return next((call.case for call in calls), None)

    def to_list(self) -> list[dict[str, Any]]:
        return [asdict(record) for record in self._calls]


class KeyReused(Exception):
    """An idempotency key came back with other arguments than the first time."""


class EffectLedger:
    """The first answer given under each idempotency key, for the last 100,000 keys.

    A key counts for one tool of one server.
    """

    def __init__(self) -> None:
        self._effects: OrderedDict[tuple[str, str], tuple[bytes, Answer]] = OrderedDict()

    def find(self, tool: str, key: str, arguments: dict[str, Any]) -> Answer | None:
        """The recorded answer; raises ``KeyReused`` when the arguments differ."""
        found = self._effects.get((tool, key))
        if found is None:
            return None
        digest, answer = found
        if digest != _digest(arguments):
            raise KeyReused(key)
        return answer

    def record(self, tool: str, key: str, arguments: dict[str, Any], answer: Answer) -> None:
        self._effects[tool, key] = (_digest(arguments), answer)
        while len(self._effects) > EFFECTS_KEPT:
            self._effects.popitem(last=False)


def _digest(arguments: dict[str, Any]) -> bytes:
    return hashlib.sha256(json_text(arguments).encode()).digest()
