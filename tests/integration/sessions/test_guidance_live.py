"""Guidance of a session whose tasks are really done, by companions from outside."""

from __future__ import annotations

from typing import Any

from integration.sessions.hosts import ME, Hosts, hosts_on

from control_plane import Outbox, RedisBackend, Store
from dcf.knowledge import GraphSetting
from dcf.sessions import Order, Sessions
from dcf.sessions.companions import receive, report_result
from dcf.sessions.guidance import Guidance, open_guidance

GOOD, BAD = "skill.shop.refund@2.0.0", "skill.shop.refund@1.0.0"
A, B = "companion-a", "companion-b"


async def do(hosts: Hosts, number: int, companion_id: str, skill: str) -> None:
    """A task that this companion does: with the bad skill it fails."""
    task_id = f"t{number}"
    order = Order("Pay back.", ME, task_id=task_id, skills=(skill,), task_type="refund",
                  companion_id=companion_id)  # fmt: skip
    await hosts.sessions.delegate("s1", order)
    received = await receive(hosts.sessions, "s1", companion_id, wait_s=5)
    assert received is not None and received.task.task_id == task_id
    failed: dict[str, Any] = {"status": "failed", "error_code": "refused_by_bank"}
    good: dict[str, Any] = {"status": "succeeded"}
    said = failed if skill == BAD else good
    await report_result(hosts.sessions, "s1", companion_id, task_id, received.lease_token,
                        summary="that is how it ended", **said)  # fmt: skip


async def test_a_skill_that_fails_in_a_real_session_is_warned_of(redis_url: str) -> None:
    async with hosts_on(redis_url) as hosts:
        await hosts.sessions.create("s1", ME, "help")
        await hosts.employ("s1", "a", "b", external=True)
        for number in range(24):
            companion_id = A if number % 4 < 2 else B
            await do(hosts, number, companion_id, GOOD if number % 2 else BAD)
        guidance = Guidance(hosts.sessions)
        analysed = await guidance.analyse("s1", ME, by="strategist-1")
        guidelines = (await guidance.of(ME)).guidelines
        assert guidelines.skill_preferences == {"refund": GOOD}
        warned = [one.advice.subject for one in guidelines.warnings if one.advice is not None]
        assert warned == [{"skill": BAD}] or warned == [{"task_type": "refund", "skill": BAD}]
        # Both companions had the same share of it: nothing is said against either.
        assert {one.kind for one in analysed.analysis.published} == {
            "prefer_skill", "failing_skill"
        }  # fmt: skip
        activity = (await guidance.activity("s1")).to_json()
        metrics = activity["skill_metrics"][BAD]
        assert (metrics["usage_count"], metrics["success_rate"]) == (12, 0.0)
        assert metrics["failure_modes"] == [{"mode": "refused_by_bank", "count": 12}]
        assert activity["metrics"]["success_rate"] == 50.0
        assert [one["tasks_completed"] for one in activity["companions"]] == [6, 6]
        assert activity["session_context"]["session_id"] == "s1"


async def test_without_a_graph_at_its_address_an_analysis_goes_on(redis_url: str) -> None:
    backend = RedisBackend.from_url(redis_url)
    sessions = Sessions(Store(backend, outbox=True))
    try:
        await sessions.create("s1", ME, "help")
        await sessions.delegate("s1", Order("Wait.", ME))
        env = {"DCF_GRAPH_URL": "redis://127.0.0.1:1/0"}
        assert GraphSetting.from_env(env).mode == "on"
        guidance = open_guidance(sessions, env)
        analysed = await guidance.analyse("s1", ME, by="me")
        assert "other sessions are not known" in analysed.warnings[0]
        assert analysed.analysis.tasks == 1
        await guidance.close()
        assert (await Outbox(backend).lag()).refused == 0
    finally:
        await backend.close()
