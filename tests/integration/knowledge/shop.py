"""A shop whose past is known: a payment skill that got worse with its second version, and mail."""

from __future__ import annotations

import asyncio
from typing import Any

from integration.knowledge.world import START, outcome, run_fact, write, writer_of

from dcf.knowledge import GraphConnection, InsightFact, Outcome, RunFact

HOUR_MS = 3_600_000
CHARGE = "orders.charge_payment"
OLD, NEW = "skill.orders.charge_payment@1.0.0", "skill.orders.charge_payment@2.0.0"
SWITCH = 60
"""The first run with the new version."""


def charge(number: int, **changes: Any) -> Outcome:
    """Run ``order-NUMBER`` charges: 1 in 10 fails with the old version, 3 in 4 with the new one."""
    new = number >= SWITCH
    ok = number % 4 == 0 if new else number % 10 != 9
    ended = START + number * HOUR_MS
    return outcome(
        0,
        **{
            "run": f"order-{number}/1",
            "workflow_id": f"order-{number}",
            "workflow_name": "orders",
            "path": "Charge",
            "state": "Charge",
            "tries": 1,
            "task_type": CHARGE,
            "skills": (NEW if new else OLD,),
            "agent": "cashier",
            "status": "done" if ok else "failed",
            "error": None if ok else "Payments.Timeout",
            "cause": None if ok else f"no answer from gateway 'g{number}' after {number} ms",
            "started_at": ended - 100,
            "ended_at": ended,
            "duration_ms": 100,
            "escalated": False,
            **changes,
        },
    )


def mail(number: int) -> Outcome:
    """Run ``mail-NUMBER`` sends mail; every sixth bounces."""
    ok = number % 6 != 0
    return charge(
        number,
        run=f"mail-{number}/1",
        workflow_id=f"mail-{number}",
        workflow_name="letters",
        path="Send",
        state="Send",
        task_type="mail.send",
        skills=("skill.mail.send@1.0.0",),
        agent="postman",
        status="done" if ok else "failed",
        error=None if ok else "Mail.Bounced",
        cause=None if ok else "the mailbox is full",
    )


def end(one: Outcome) -> RunFact:
    return run_fact(
        run=one.run, workflow_id=one.workflow_id, workflow_name=one.workflow_name,
        status="succeeded" if one.ok else "failed", started_at=one.started_at,
        ended_at=one.ended_at + 1, duration_ms=101, error=one.error, cause=one.cause,
        digest="b" * 64 if NEW in one.skills else "a" * 64,
        version="2" if NEW in one.skills else "1",
        states={"total": 1, "done" if one.ok else "failed": 1},
    )  # fmt: skip


CHARGES = [charge(number) for number in range(100)]
# The old version, visited again after the new one had failed.
SECOND = [
    charge(number, visit=2, skills=(OLD,), status="done", error=None, cause=None,
           ended_at=START + number * HOUR_MS + 50)
    for number in (61, 62, 63, 65)
]  # fmt: skip
MAILS = [mail(number) for number in range(40)]
OUTCOMES = [*CHARGES, *SECOND, *MAILS]
INSIGHT = InsightFact(
    id="ins-1", category="skill_preference", confidence=0.97, created_at=START + 100 * HOUR_MS,
    statement="orders.charge_payment does better with version 1.0.0 than with 2.0.0.",
    task_types=(CHARGE,), skills=(OLD,), evidence_runs=("order-61",),
)  # fmt: skip


def fill(url: str) -> None:
    """Write all of it to an empty graph, in an event loop of its own."""
    asyncio.run(fill_in_loop(url))


async def fill_in_loop(url: str) -> None:
    async with GraphConnection(url) as graph:
        await write(graph, *OUTCOMES, *map(end, [*CHARGES, *MAILS]))
        await writer_of(graph).insights([(INSIGHT, 1)])
