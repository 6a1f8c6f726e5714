"""What the tool server counted: each effect once, however often its call was repeated."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Effect:
    """The calls under one idempotency key: ``done`` had an effect, ``replayed`` were recognised."""

    key: str
    tool: str
    done: int
    replayed: int

    def to_json(self) -> dict[str, Any]:
        return {"key": self.key, "tool": self.tool, "done": self.done, "replayed": self.replayed}


def effects_of(calls: Iterable[Mapping[str, Any]], prefix: str) -> list[Effect]:
    """The effects whose keys begin with ``prefix``, in the order of their first call.

    ``calls`` are those of the stub's ``GET /calls``.
    """
    counts: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0])
    for call in calls:
        key = call.get("idempotency_key") or ""
        if key.startswith(prefix):
            counts[key, f"{call['server']}:{call['tool']}"][bool(call["replayed"])] += 1
    return [Effect(key, tool, done, replayed) for (key, tool), (done, replayed) in counts.items()]


def all_once(effects: Iterable[Effect]) -> bool:
    """Whether every key had exactly one effect."""
    return all(effect.done == 1 for effect in effects)
