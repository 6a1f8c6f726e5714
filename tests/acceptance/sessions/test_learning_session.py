"""A skill that fails again and again: the analysis finds it, and the next delegation avoids it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support_desk import Desk, good, open_session, rules, until

CUSTOMER = "skill.support.know_customer@1.0.0"
HANDED = "skill.support.escalate_ticket@1.0.0"
ADVISED = "learning-lead"
SESSION: dict[str, Any] = {"session_id": "learning-1"}
ASKED = "Find out who the customer is and what they bought customer_id=CUST-1003"
TIMES = 12


@pytest.mark.timeout(120)
async def test_what_an_analysis_finds_changes_the_next_delegation(desk: Desk) -> None:
    async with desk.client("conductor") as conductor:
        await open_session(
            conductor, "learning-1", {"dora": "tickets", "emil": "tickets"}, by=ADVISED
        )
        before = await good(
            conductor,
            "send_session_message",
            message=ASKED,
            request_id="before",
            wait_s=60,
            **SESSION,
        )
        assert CUSTOMER in rules(before)["discover"]["did"]
        for number in range(TIMES):
            await good(
                conductor,
                "delegate_task",
                conductor_id=ADVISED,
                task_description="who is it",
                required_skills_json=json.dumps(["support.know_customer"]),
                input_data_json=json.dumps({"customer_id": "CUST-9999"}),
                task_id=f"learning-bad-{number}",
                **SESSION,
            )
            await good(
                conductor,
                "delegate_task",
                conductor_id=ADVISED,
                task_description="hand it over",
                required_skills_json=json.dumps(["support.escalate_ticket"]),
                input_data_json=json.dumps({"ticket_id": "TCK-101", "category": "legal"}),
                task_id=f"learning-good-{number}",
                **SESSION,
            )
        listed = await until(
            conductor,
            "list_session_tasks",
            lambda answer: not [one for one in answer["tasks"] if one.get("why")],
            **SESSION,
        )
        assert {one["task_id"]: one["status"] for one in listed["tasks"]} == {
            **dict.fromkeys(before["task_ids"], "succeeded"),
            **{f"learning-bad-{number}": "failed" for number in range(TIMES)},
            **{f"learning-good-{number}": "succeeded" for number in range(TIMES)},
        }
        analysed = await good(
            conductor, "trigger_strategist_analysis", conductor_agent_id=ADVISED, **SESSION
        )
        [found] = analysed["findings"]
        assert (found["kind"], found["subject"]["skill"]) == ("failing_skill", CUSTOMER)
        assert found["observations"] == TIMES + 1 and found["low"] > 0.5
        assert [change["what"] for change in analysed["changes"]] == ["published"]
        after = await good(
            conductor, "send_session_message", message=ASKED, request_id="after", **SESSION
        )
        avoided = rules(after)["guidelines.warnings"]
        assert avoided["revision"] == analysed["revision"] == 1
        assert "CustomerNotFound (12)" in avoided["why"]
        # No other skill does nearly the same, so the user decides.
        assert after["task_ids"] == [] and avoided["did"] == "asked the user"
        assert f"skill:{CUSTOMER.removeprefix('skill.')}" in after["questions"][0]
        ended = await good(conductor, "finalize_session", cancel=True, **SESSION)
        assert ended["state"] == "completed"
    assert desk("graph", "sync", "--json").code == 0
    known = desk("graph", "patterns", "--session", "learning-1", "--json")
    assert CUSTOMER in known.out, known.err
    counted = desk(
        "graph", "delegations", "--by", "skill", "--session", "learning-1", "--json"
    ).json
    by = {one["skill"]: (one["n"], one["ok"]) for one in counted["delegations"]}
    assert by[CUSTOMER] == (TIMES + 1, 1) and by[HANDED] == (TIMES, TIMES)
