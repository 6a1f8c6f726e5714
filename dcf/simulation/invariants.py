"""A user's invariants: what they see of a run that is over, and which of them it breaks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from control_plane import JSON
from dcf.asl.trial import Invariant
from dcf.simulation.evidence import Evidence
from dcf.simulation.order import EPOCH_S
from dcf.simulation.violation import Violation


def check_invariants(
    invariants: Mapping[str, Invariant], seen: Mapping[str, JSON], run: str
) -> Iterator[Violation]:
    """A violation for each of ``invariants``, by name, that ``seen`` does not fulfil."""
    for name, invariant in invariants.items():
        wrong = invariant.broken(seen)
        if wrong is not None:
            yield Violation("invariant", run, f"{name}: {wrong}")


def seen_of(evidence: Evidence, calls: list[dict[str, JSON]], *, disturbed: bool) -> dict[str, Any]:
    """The variables of an invariant."""
    meta = evidence.meta
    succeeded = meta.status == "succeeded"
    return {
        "input": evidence.order.input,
        "output": evidence.data(meta.exit or "") if succeeded else None,
        "status": meta.status,
        "error": meta.error.error if meta.error else None,
        "cause": meta.error.cause if meta.error else None,
        "events": [{"at": _seconds(entry.at), **entry.event} for entry in evidence.events],
        "calls": calls,
        "disturbed": disturbed,
    }


def told(events: list[dict[str, Any]]) -> Iterator[str]:
    """A history, a line for each of its ``events`` as invariants see them."""
    for event in events:
        known = {name: event.get(name) for name in _SHOWN if event.get(name) is not None}
        rest = " ".join(f"{name}={value}" for name, value in known.items() if value != 1)
        path = event.get("path", "")
        yield f"{event['at']:12.3f}  {event['type']:<17} {path} {rest}".rstrip()


_SHOWN = ("visit", "try", "by", "owner", "next", "error", "event", "seconds", "status")


def _seconds(at_ms: int) -> float:
    return round(at_ms / 1000 - EPOCH_S, 3)
