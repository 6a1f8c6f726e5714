"""Sessions whose past is known: an office that answers mail, where drafts fail."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from integration.knowledge.world import START, outcome, writer_of

from dcf.knowledge import (
    CompanionPatternFact,
    DelegationFact,
    GraphConnection,
    Outcome,
    PatternFact,
    SessionFact,
    SessionPatternFact,
    SkillMetricFact,
)
from dcf.knowledge.session_fact import SessionRecord

MINUTE_MS = 60_000
SEND, DRAFT = "skill.mail.send@1.0.0", "skill.mail.draft@2.0.0"


def session(name: str = "s-1", **changes: Any) -> SessionFact:
    fields: dict[str, Any] = {
        "session_id": name, "conductor_id": "boss", "objective": "answer the mail of today",
        "state": "active", "created_at": START,
        "tasks": {"delegated": 3, "succeeded": 2, "failed": 1}, "companions": 2,
    }  # fmt: skip
    return SessionFact(**{**fields, **changes})


def delegation(number: int = 0, **changes: Any) -> DelegationFact:
    """Task ``t-NUMBER`` is drafting, by ``ann``, where it is odd, and sending, by ``bob``, where it
    is not; every fourth fails. It waits a second and takes ten."""
    drafts = number % 2 == 1
    failed = number % 4 == 3
    at = START + number * MINUTE_MS
    fields: dict[str, Any] = {
        "task_id": f"t-{number}", "session_id": "s-1", "conductor_id": "boss",
        "task_type": "mail.draft" if drafts else "mail.send",
        "status": "failed" if failed else "succeeded",
        "delegated_at": at, "started_at": at + 1_000, "finished_at": at + 11_000,
        "companion_id": "ann" if drafts else "bob",
        "companion_name": "Ann" if drafts else "Bob",
        "specialization": "writing" if drafts else "post",
        "skills": (DRAFT if drafts else SEND,),
        "error_code": "Mail.Empty" if failed else None, "cost_usd": 0.5, "tokens": 10,
    }  # fmt: skip
    return DelegationFact(**{**fields, **changes})


def run_of(told: DelegationFact, **changes: Any) -> Outcome:
    """What the run of a delegated task tells."""
    started = told.started_at or told.delegated_at
    ok = told.status in ("succeeded", "partial")
    return outcome(
        0,
        **{
            "run": f"{told.run}/1", "workflow_id": told.run,
            "workflow_name": f"task:{told.task_type}", "path": told.task_type,
            "state": told.task_type, "tries": 1, "task_type": told.task_type,
            "skills": told.skills, "agent": told.companion_id,
            "status": "done" if ok else "failed", "error": told.error_code,
            "cause": None if ok else "there is no text", "started_at": started,
            "ended_at": told.finished_at, "duration_ms": told.finished_at - started,
            "cost_usd": told.cost_usd, "session": told.session_id, **changes,
        },
    )  # fmt: skip


def pattern(kind: type[PatternFact], **changes: Any) -> PatternFact:
    fields: dict[str, Any] = {
        "id": "s-1/mail.draft", "session_id": "s-1", "subject": "mail.draft",
        "observations": 6, "values": {"rate": 0.5, "mean_ms": 10_000}, "confidence": 0.9,
        "at": START + 30 * MINUTE_MS, "interval": (0.19, 0.81), "evidence": ("t-3", "t-7"),
        "statement": "Drafts fail as often as not.", "conductor_id": "boss",
        "task_type": "mail.draft",
    }  # fmt: skip
    return kind(**{**fields, **changes})


PATTERNS = [
    pattern(SessionPatternFact),
    pattern(SkillMetricFact, skill=DRAFT),
    pattern(CompanionPatternFact, companion_id="ann", specialization="writing"),
]
DELEGATIONS = [delegation(number) for number in range(12)]


async def write_records(
    graph: GraphConnection, *told: SessionRecord, revisions: Sequence[int] | None = None
) -> None:
    """Write records as one batch, as the outbox would give them one after the other, or with these
    revisions."""
    numbers = revisions if revisions is not None else range(1, len(told) + 1)
    await writer_of(graph).session_records(list(zip(told, numbers, strict=True)))
