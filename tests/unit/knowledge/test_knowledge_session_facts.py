"""The records of sessions: their form, and what is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dcf.knowledge.session_fact import (
    SESSION_RECORDS,
    CompanionPatternFact,
    DelegationFact,
    PatternFact,
    SessionFact,
    SessionPatternFact,
    SessionRecord,
    SkillMetricFact,
)

SESSION = SessionFact(
    "s-1", "conductor-1", "answer mail", "completed", 1, ended_at=9,
    tasks={"delegated": 3, "succeeded": 2, "failed": 1}, companions=2, workflows=("t-3",),
)  # fmt: skip
DELEGATION = DelegationFact(
    "t-1", "s-1", "conductor-1", "mail.send", "failed", 2, 5, companion_id="c-1",
    specialization="mail", skills=("skill.mail.send@1.0.0",), error_code="States.Timeout",
    started_at=3, cost_usd=0.25, tokens=10,
)  # fmt: skip


def pattern(kind: type[PatternFact]) -> PatternFact:
    return kind(
        "s-1/mail.send@1.0.0", "s-1", "mail.send", 5, {"rate": 0.8}, 0.9, 7,
        interval=(0.3, 0.95), evidence=("t-1",), skill="skill.mail.send@1.0.0",
    )  # fmt: skip


RECORDS = [
    SESSION, DELEGATION,
    *map(pattern, (SessionPatternFact, SkillMetricFact, CompanionPatternFact)),
]  # fmt: skip


@pytest.mark.parametrize("record", RECORDS, ids=lambda one: one.KIND)
def test_a_record_comes_back_from_json_as_it_was(record: SessionRecord) -> None:
    told = {**json.loads(json.dumps(record.to_json())), "unknown": 1}
    assert SESSION_RECORDS[record.KIND].from_json(told) == record


@pytest.mark.parametrize(
    ("record", "field", "value", "reason"),
    [
        (SESSION, "session_id", "ann@mail.example", "no id"),
        (SESSION, "state", "over", "none of active"),
        (SESSION, "tasks", {"lost": 1}, "counts something else"),
        (SESSION, "tasks", {"failed": -1}, "no count"),
        (SESSION, "created_at", "now", "no time"),
        (DELEGATION, "status", "queued", "none of succeeded"),
        (DELEGATION, "task_type", "", "empty"),
        (DELEGATION, "skills", "skill.mail.send@1.0.0", "no list"),
        (DELEGATION, "companion_name", "half \ud800", "half a character"),
        (DELEGATION, "cost_usd", float("inf"), "no number"),
        (DELEGATION, "attempts", True, "no count"),
        (RECORDS[2], "confidence", 1.5, "between 0 and 1"),
        (RECORDS[2], "interval", [0.9, 0.1], "ends before it begins"),
        (RECORDS[2], "interval", [0.9], "no pair"),
        (RECORDS[2], "values", {"rate": "high"}, "no number"),
        (RECORDS[2], "id", "", "empty"),
    ],
)
def test_what_is_not_as_it_should_be_is_refused_with_the_reason(
    record: SessionRecord, field: str, value: Any, reason: str
) -> None:
    with pytest.raises(TypeError, match=reason):
        type(record).from_json({**record.to_json(), field: value})


def test_what_is_missing_is_named() -> None:
    told = DELEGATION.to_json()
    del told["session_id"]
    with pytest.raises(TypeError, match="session_id"):
        DelegationFact.from_json(told)
