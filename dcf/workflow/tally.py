"""Counting what a run did: states by status, and cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from control_plane import StateDocument, keys

_SUMS = {
    "prompt_tokens": "total_prompt_tokens",
    "completion_tokens": "total_completion_tokens",
    "total_tokens": "total_tokens",
    "llm_calls": "total_llm_calls",
    "tool_calls": "total_tool_calls",
    "duration_ms": "total_duration_ms",
    "estimated_cost_usd": "total_cost_usd",
}


@dataclass(slots=True)
class Tally:
    """``states`` counts state instances by status (frame tickets and earlier visits are apart)."""

    states: Counter[str] = field(default_factory=Counter)
    frames: int = 0
    earlier_visits: int = 0
    leases: int = 0
    takeovers: int = 0
    deaths: int = 0
    retries: int = 0
    cost: dict[str, float] = field(default_factory=lambda: dict.fromkeys(_SUMS.values(), 0))

    def add(self, documents: Iterable[StateDocument], *, earlier: bool) -> None:
        """Count ``documents``; ``earlier`` says that they are visits which a later one replaced."""
        for document in documents:
            self._add_cost(document.metrics)
            self.leases += document.attempts
            self.takeovers += document.takeovers
            self.deaths += document.deaths
            self.retries += sum(document.retries.values())
            if earlier:
                self.earlier_visits += 1
            elif document.kind == "frame":
                self.frames += 1
            else:
                self.states[document.status] += 1

    def _add_cost(self, metrics: dict[str, Any] | None) -> None:
        if not metrics:
            return
        for name, total in _SUMS.items():
            self.cost[total] += metrics.get(name) or 0

    @property
    def documents(self) -> int:
        """How many were counted."""
        return sum(self.states.values()) + self.frames + self.earlier_visits

    @property
    def open(self) -> int:
        """How many states can still be moved."""
        return sum(self.states[name] for name in ("pending", "ready", "running", "waiting"))

    def to_json(self) -> dict[str, Any]:
        """The counts as the audit record holds them."""
        return {
            "total_states": sum(self.states.values()),
            "by_status": dict(sorted(self.states.items())),
            "succeeded": self.states["done"],
            "failed": self.states["failed"],
            "cancelled": self.states["cancelled"],
            "skipped": self.states["skipped"],
            "open": self.open,
            "frames": self.frames,
            "earlier_visits": self.earlier_visits,
            "leases": self.leases,
            "takeovers": self.takeovers,
            "deaths": self.deaths,
            "retries": self.retries,
        }


def add_metrics(before: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """The metrics of two tries together: what is counted is added, of the rest the later holds."""
    total = {**before, **more}
    for name in _SUMS:
        known = [part[name] for part in (before, more) if part.get(name) is not None]
        if known:
            total[name] = sum(known)
    return total


def is_tolerated(path: str, documents: Mapping[str, StateDocument]) -> bool:
    """Whether a Map or Parallel above ``path`` went on all the same: what failed below it was
    tolerated, or caught there."""
    return any(
        parent in documents and documents[parent].status == "done"
        for parent, _ in keys.enclosing_joins(path)
    )


def is_earlier(path: str) -> bool:
    """Whether ``path`` names an earlier visit (``Review@1``)."""
    return "@" in path
