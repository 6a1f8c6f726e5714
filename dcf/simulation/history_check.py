"""Checks of a run's history: the chain, the joins, and that it says what the documents say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from control_plane import StateDocument, frame_of, payload
from dcf.simulation.evidence import Evidence
from dcf.simulation.violation import Violation

_CLOSING = {"StateDone": "done", "StateFailed": "failed"}


@dataclass(slots=True)
class _Join:
    """A join as its history tells it."""

    n: int
    fail_limit: int = 0
    finished: int = 0
    failed: int = 0
    fired: bool = False

    @property
    def is_over(self) -> bool:
        return self.is_broken or self.finished == self.n

    @property
    def is_broken(self) -> bool:
        return self.failed > self.fail_limit


def check_history(evidence: Evidence, *, redriven: bool) -> Iterator[Violation]:
    """The chain holds; each join fires once and in time; events and documents agree."""
    run = evidence.run
    if evidence.problem:
        yield Violation("history", run, evidence.problem)
        return
    ends = [e.event["status"] for e in evidence.events if e.event["type"] == "RunEnded"]
    if evidence.meta.is_over and (not ends or ends[-1] != evidence.meta.status):
        yield Violation("history", run, f"the run is {evidence.meta.status}, its history: {ends}")
    yield from _check_joins(evidence)
    yield from _check_events(evidence)
    yield from _check_documents(evidence, redriven)


def _check_joins(evidence: Evidence) -> Iterator[Violation]:
    run = evidence.run
    joins: dict[str, _Join] = {}
    for number, entry in enumerate(evidence.events):
        told = entry.event
        kind, path = told["type"], told.get("path", "")
        if kind == "FannedOut":
            joins[path] = _Join(told["n"], told.get("fail_limit", 0))
        elif kind == "RunRedriven":
            for join in joins.values():
                join.finished, join.failed, join.fired = join.finished - join.failed, 0, False
        elif kind in ("Joined", "ChildFailed"):
            join = joins[path]
            ready = join.finished == join.n and not join.is_broken
            if join.fired:
                yield Violation("joins", run, f"{path} fired again (event {number}): {told}")
            elif not (ready if kind == "Joined" else join.is_broken):
                seen = f"{path} fired as {kind} with {join.finished} of {join.n} frames finished"
                yield Violation("joins", run, f"{seen}, {join.failed} failed (event {number})")
            join.fired = True
        elif frame := _finished_frame(told):
            parent = frame.rpartition("[")[0]
            join = joins[parent]
            if join.fired:
                seen = f"{path} ended {frame} after the join of {parent} had fired"
                yield Violation("joins", run, f"{seen} (event {number})")
            join.finished += 1
            join.failed += kind != "StateDone"
            due = join.is_over
            following = (
                evidence.events[number + 1].event if number + 1 < len(evidence.events) else {}
            )
            if due and following.get("path") != parent:
                yield Violation(
                    "joins", run, f"{parent} did not fire when {frame} ended: {following}"
                )


def _finished_frame(told: dict[str, Any]) -> str:
    """The frame that an event ends, or ""."""
    if told["type"] in _CLOSING and "next" not in told:
        return frame_of(told["path"])
    if told["type"] == "FrameOpened" and "error" in told:
        return str(told["path"])
    return ""


def _check_events(evidence: Evidence) -> Iterator[Violation]:
    """What the history says to be finished is so, with that output."""
    run = evidence.run
    for entry in evidence.events:
        told = entry.event
        status = _CLOSING.get(told["type"])
        if status is None:
            continue
        found = evidence.visit(told["path"], told["visit"])
        if found is None or found[1].status != status:
            is_ = found[1].status if found else "gone"
            yield Violation("history", run, f"{told}, but the document is {is_}")
        elif status == "done" and _digest(evidence, found[0]) != told["output"]:
            yield Violation("history", run, f"the output of {found[0]} is not what {told} says")


def _digest(evidence: Evidence, name: str) -> str:
    return payload.encode(evidence.data(name)).digest


def _check_documents(evidence: Evidence, redriven: bool) -> Iterator[Violation]:
    """What is finished, the history tells; and a try is raised by retries alone."""
    run = evidence.run
    told = Counter(
        (e.event["path"], e.event["visit"], _CLOSING[e.event["type"]])
        for e in evidence.events
        if e.event["type"] in _CLOSING
    )
    retries = Counter(
        (e.event["path"], e.event["visit"])
        for e in evidence.events
        if e.event["type"] == "RetryScheduled"
    )
    for name, document in evidence.documents.items():
        path = name.partition("@")[0]
        if _is_finished_state(document) and not told[path, document.visit, document.status]:
            yield Violation("history", run, f"{name} is {document.status} without an event")
        tries = 1 + retries[path, document.visit]
        if not redriven and document.try_ != tries:
            yield Violation(
                "effect", run, f"{name} is at try {document.try_} after {tries - 1} retries"
            )


def _is_finished_state(document: StateDocument) -> bool:
    return document.kind == "state" and document.status in ("done", "failed")
