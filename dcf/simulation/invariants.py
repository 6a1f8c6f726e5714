"""A user's invariants: what they see of a run that is over, and which of them it breaks."""

from __future__ import annotations

import json
import math
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
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


def told(seen: Mapping[str, Any], crashes: Iterable[tuple[float, str]]) -> list[str]:
    """A history in the order of time, a line for each event and each call of work, as invariants
    see them, and for each of the ``crashes`` of workers."""
    events = seen["events"]
    moments = [_milliseconds(event["at"]) for event in events]
    # By the number of the event before which it stands: of one millisecond, a call comes before
    # all but the lease that it is made under.
    lines = [
        (number, math.inf, _line(event["at"], event["type"], event))
        for number, event in enumerate(events)
    ]
    leases: dict[str, list[int]] = defaultdict(list)
    for number, event in enumerate(events):
        if event["type"] == "LeaseAcquired":
            leases[event["path"]].append(number)
    for call in seen["calls"]:
        made = _milliseconds(call["at"])
        leased = [number + 1 for number in leases[call["path"]] if moments[number] <= made]
        line = _line(call["at"], CALLED, {**call, "by": call["worker"], "error": None})
        before = max(bisect_left(moments, made), *leased[-1:], 0)
        lines.append((before, call["at"], f"{line} -> {_answer(call)}"))
    for at, worker in crashes:
        before = bisect_right(moments, _milliseconds(at))
        lines.append((before, at, _line(at, CRASHED, {"by": worker})))
    return [line for *_, line in sorted(lines, key=lambda one: one[:2])]


def _milliseconds(at: float) -> int:
    # Events have whole ones.
    return int(at * 1000 + 1e-6)


CALLED, CRASHED = "work called", "worker crashed"
_LONGEST = 60


def _line(at: float, what: str, about: Mapping[str, Any]) -> str:
    known = {name: about.get(name) for name in _SHOWN if about.get(name) is not None}
    rest = " ".join(f"{name}={value}" for name, value in known.items() if value != 1)
    return f"{_milliseconds(at) / 1000:12.3f}  {what:<17} {about.get('path', '')} {rest}".rstrip()


def _answer(call: Mapping[str, Any]) -> str:
    if call.get("error") is not None:
        return str(call["error"])
    if "result" not in call:
        return "no answer"
    text = json.dumps(call["result"], ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


_SHOWN = ("visit", "try", "by", "owner", "next", "error", "event", "seconds", "status")


def _seconds(at_ms: int) -> float:
    return round(at_ms / 1000 - EPOCH_S, 3)
