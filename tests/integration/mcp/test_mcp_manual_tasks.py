"""Manual tasks over MCP: listed with all that a person needs, answered only with the secret."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from integration.mcp.platforms import Desk, desk_on

SECRET = "a-secret-of-those-who-approve"
MANUAL = {"by": ["dba"], "choices": ["yes", "no"]}
FLOW = {
    "StartAt": "A",
    "States": {
        "A": {
            "Type": "Task",
            "Comment": "Restart <node>.",
            "AgentBinding": {"manual": MANUAL},
            "End": True,
        }
    },
}


async def waiting(desk: Desk) -> dict[str, Any]:
    """The task, in a run that nobody but a conductor over MCP advances."""
    flow = json.dumps(FLOW)
    await desk.good(
        "create_workflow_control_plane", workflow_json=flow, run_id="r", input_json='{"node": "n1"}'
    )
    # It is no work for whoever asks for it.
    taken = {"workflow_id": "r", "state": "A", "owner_agent_id": "me"}
    assert await desk.refused("acquire_state_lease", **taken) == "not_ready"
    (found,) = (await desk.good("list_approvals", workflow_id="r"))["approvals"]
    return dict(found)


async def test_it_is_listed_and_answered_with_the_secret(redis_url: str, tmp_path: Path) -> None:
    async with desk_on(redis_url, tmp_path, approval_token=SECRET) as desk:
        task = await waiting(desk)
        assert (task["kind"], task["state"], task["instruction"]) == ("manual", "A", "Restart n1.")
        assert (task["people"], task["choices"]) == (["dba"], ["yes", "no"])

        seen = {name: task[name] for name in ("workflow_id", "state", "digest", "question")}
        answer = {"decision": "done", "by": "dba", "choice": "yes", **seen}
        assert await desk.refused("decide_approval", **answer) == "approval_forbidden"
        known = {"approval_token": SECRET}
        wrong = {**answer, **known}
        assert await desk.refused("decide_approval", **{**wrong, "choice": "x"}) == "unfit_answer"
        assert await desk.refused("decide_approval", **{**wrong, "by": "me"}) == "not_an_approver"
        other = {**wrong, "question": "1.2.1"}
        assert await desk.refused("decide_approval", **other) == "question_changed"
        approve = {**wrong, "decision": "approve"}
        assert await desk.refused("decide_approval", **approve) == "bad_arguments"

        done = await desk.good("decide_approval", **wrong, reason="twice")
        assert (done["status"], done["approval"]["question"]) == ("done", "1.1.1")
        assert await desk.refused("decide_approval", **wrong) == "no_manual_task"
        (told,) = [
            one
            for one in (await desk.good("read_history", workflow_id="r"))["events"]
            if one["type"] == "ManualTaskDone"
        ]
        assert (told["answer"], told["via"]) == ("yes", "mcp")


async def test_without_a_secret_nobody_answers(redis_url: str, tmp_path: Path) -> None:
    async with desk_on(redis_url, tmp_path) as desk:
        task = await waiting(desk)
        seen = {name: task[name] for name in ("workflow_id", "state", "digest", "question")}
        for decision in ("done", "failed"):
            answer = {"decision": decision, "by": "dba", "choice": "yes", "reason": "r", **seen}
            assert await desk.refused("decide_approval", **answer) == "approval_forbidden"
