"""What one session taught is known to the next: through the outbox into a real graph, and back."""

from __future__ import annotations

from typing import Any

from control_plane import RedisBackend, Store
from dcf.knowledge import Knowledge, drain
from dcf.sessions import NewCompanion, Order, Sessions
from dcf.sessions.companions import receive, report_result
from dcf.sessions.guidance import open_guidance

ME = "conductor-1"
GOOD, BAD = "skill.shop.refund@2.0.0", "skill.shop.refund@1.0.0"


async def begin(sessions: Sessions, session_id: str) -> None:
    await sessions.create(session_id, ME, "help")
    new = NewCompanion(ME, "billing", name=session_id, external=True)
    await sessions.employ(session_id, new)


async def do(sessions: Sessions, session_id: str, number: int, skill: str) -> None:
    companion_id, task_id = f"companion-{session_id}", f"{session_id}-t{number}"
    order = Order("Pay back.", ME, task_id=task_id, skills=(skill,), task_type="refund")
    await sessions.delegate(session_id, order)
    received = await receive(sessions, session_id, companion_id, wait_s=5)
    assert received is not None
    failed: dict[str, Any] = {"status": "failed", "error_code": "refused_by_bank"}
    said = failed if skill == BAD else {"status": "succeeded"}
    await report_result(sessions, session_id, companion_id, task_id, received.lease_token,
                        summary="that is how it ended", **said)  # fmt: skip


async def test_the_next_session_knows_what_this_one_taught(redis_url: str, graph_url: str) -> None:
    backend = RedisBackend.from_url(redis_url)
    store = Store(backend, outbox=True)
    sessions = Sessions(store)
    env = {"DCF_GRAPH_URL": graph_url}
    guidance = open_guidance(sessions, env)
    try:
        await begin(sessions, "s1")
        for number in range(12):
            await do(sessions, "s1", number, GOOD if number % 2 else BAD)
        first = await guidance.analyse("s1", ME, by="me")
        assert first.warnings == ()
        await sessions.tick("s1")
        await sessions.end("s1", by=ME)
        await sessions.tick("s1")
        async with Knowledge.open(graph_url) as knowledge:
            written = await drain(knowledge, store, env)
            assert written.refused == 0
            assert written.runs == 12
            labels = {row[0] for row in await knowledge.graph.read(
                "MATCH (n) UNWIND labels(n) AS label RETURN DISTINCT label"
            )}  # fmt: skip
        assert {"Delegation", "Session"} <= labels
        await begin(sessions, "s2")
        await do(sessions, "s2", 1, GOOD)
        second = await guidance.activity("s2")
        known = await guidance._with_past(second)
        assert known.warnings == ()
        skills = {one.skill: one.record for one in known.history.skills}
        assert set(skills) == {GOOD, BAD}
        # So soon after, an outcome counts nearly whole.
        assert skills[GOOD].successes > 5.9
        assert skills[GOOD].failures == skills[BAD].successes == 0
        assert skills[BAD].failures > 5.9
        [billing] = known.history.companions
        assert (billing.task_type, billing.specialization) == ("refund", "billing")
        analysed = await guidance.analyse("s2", ME, by="me")
        [track] = [one for one in analysed.analysis.skills if one.skill == GOOD]
        # Of one success alone nobody would expect more than two thirds.
        assert track.expected > 0.8
    finally:
        await guidance.close()
        await backend.close()
