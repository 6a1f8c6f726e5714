"""The oracle: what a run must come to, by the pure interpreter."""

from __future__ import annotations

import json
from collections.abc import Iterator

from control_plane import JSON, split_path
from dcf.simulation.behaviour import REVOKED, TELLS_EVENT
from dcf.simulation.evidence import Evidence
from dcf.simulation.order import interpret
from dcf.simulation.violation import Violation
from dcf.simulation.witness import Cancelled

_STATUS = {"SUCCEEDED": "succeeded", "FAILED": "failed"}


def check_result(evidence: Evidence, changed: Cancelled) -> Iterator[Violation]:
    """The run ended as the interpreter says, unless somebody or its time limit stopped it, or the
    control plane took a Task away that was meant to answer. (Then ``refinement`` still holds each
    step against ``asl.step``.)"""
    run, meta = evidence.run, evidence.meta
    if not meta.is_over:
        return
    yield from check_stop(evidence, changed)
    if not is_comparable(evidence, changed):
        return
    expected = interpret(evidence.order)
    found = (meta.status, meta.error.error if meta.error else None, _cause(evidence))
    wanted = (_STATUS[expected.status], expected.error, expected.cause)
    if found != wanted:
        yield Violation("result", run, f"it ended as {found}; the interpreter says {wanted}")
    elif meta.status == "succeeded":
        output = evidence.data(meta.exit or "")
        if canonical(output) != canonical(expected.output):
            seen = f"its output is {output}; the interpreter says {expected.output}"
            yield Violation("result", run, seen)


def check_stop(evidence: Evidence, changed: Cancelled) -> Iterator[Violation]:
    """A run that somebody, or its limit of time, stopped was stopped by them."""
    if evidence.meta.status == "cancelled" and evidence.run not in changed.cancelled:
        yield Violation("cancelled", evidence.run, "it is cancelled and nobody cancelled it")
    if evidence.meta.status == "timed_out":
        yield from _check_timeout(evidence)


def _cause(evidence: Evidence) -> str | None:
    return evidence.meta.error.cause if evidence.meta.error else None


def _check_timeout(evidence: Evidence) -> Iterator[Violation]:
    limit, meta = evidence.order.document.machine.timeout_s, evidence.meta
    # A redrive starts the clock of the run again.
    starts = [
        event.at
        for event in evidence.events
        if event.event["type"] in ("RunStarted", "RunRedriven")
    ]
    if limit is None or meta.finished_at is None:
        yield Violation("result", evidence.run, "it timed out without a limit")
    elif meta.finished_at < starts[-1] + limit * 1000:
        seen = f"it timed out after {meta.finished_at - starts[-1]} ms of {limit} s"
        yield Violation("result", evidence.run, seen)


def is_comparable(evidence: Evidence, changed: Cancelled) -> bool:
    """Whether nothing but the definition decided how the run ended."""
    stopped = evidence.meta.status in ("cancelled", "timed_out")
    return not stopped and evidence.run not in changed.redriven and not is_disturbed(evidence)


def is_disturbed(evidence: Evidence) -> bool:
    """Whether the control plane took a Task away that was meant to answer in time, or failed a
    state because its workers died: then time decided, not the definition."""
    for event in evidence.events:
        told = event.event
        if told["type"] not in TELLS_EVENT or told.get("event") not in REVOKED:
            continue
        if not _is_state(told["path"]) or told["event"] != evidence.order.planned(told):
            return True
    return False


def _is_state(path: str) -> bool:
    return isinstance(split_path(path)[-1], str)


def canonical(value: JSON) -> str:
    """One text for equal JSON values: members have no order."""
    return json.dumps(value, sort_keys=True, allow_nan=False)
