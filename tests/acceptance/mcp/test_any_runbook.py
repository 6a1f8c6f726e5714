"""An alert runbook, a rotation and a policy, as strangers write them: planned, rehearsed and run,
with the steps of people answered at the command line and over MCP."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from dcf_user import until
from mcp import Client
from mcp_site import Site
from test_mcp_planner_flow import SECRET, good

RUNBOOKS = Path(__file__).parents[1] / "runbooks"
ALERT, ROTATION, POLICY = (
    RUNBOOKS / name
    for name in ("parcel-queue-stalled.md", "rotate-mail-certificate.md", "loans-policy.md")
)


@pytest.fixture
def desk(site: Site) -> Site:
    """The same, with the runbooks and a worker."""
    for file in (ALERT, ROTATION, POLICY):
        shutil.copy(file, site.folder)
    site.env |= {"DCF_APPROVAL_TOKEN": SECRET}
    return site


def rehearse(desk: Site, file: str, mocks: Any) -> None:
    """Run ``file`` here, with the first choice of every person."""
    done = desk("asl", "run", file, "--mocks", json.dumps(mocks), "--json")
    assert done.json["execution"]["status"] == "SUCCEEDED", done.out


def answered(desk: Site, run: str, choices: dict[str, str]) -> Iterator[str]:
    """Does each task of ``run`` that waits, and approves what does, until it is over; the states
    that were asked about."""

    def waiting_or_over() -> Any:
        tasks = desk("tasks", "--run", run, "--json").json["tasks"]
        return tasks or desk("approvals", run, "--json").json["approvals"] or over(desk, run)

    while isinstance(found := until(waiting_or_over, f"the end of {run}"), list):
        for task in found:
            seen = ("--digest", task["digest"], "--question", task["question"])
            choice = ("--choice", choices[task["path"]]) if task.get("choices") else ()
            who = ("--as", task["people"][0] if task["people"] else "operator")
            says = ("tasks", "done") if "instruction" in task else ("approve",)
            done = desk(*says, run, task["path"], *who, *choice, *seen)
            assert done.code == 0, done.err
            yield task["path"]


def over(desk: Site, run: str) -> str:
    status: str = desk("explain", run, "--json").json["run_status"]
    return "" if status in ("pending", "running") else status


@pytest.mark.timeout(180)
def test_an_alert_with_a_skill_that_a_question_gives_a_step(desk: Site) -> None:
    first = desk("plan", "--from-sop", ALERT.name, "--json").json
    [asked] = first["questions"]
    assert (asked["assumed"], asked["answers"]) == ("person", ["office.tell_team", "person"])
    told = f"{asked['id']}=office.tell_team"
    planned = desk("plan", "--from-sop", ALERT.name, "--answer", told, "--out", "alert.json")
    assert planned.code == 0 and "skills found: step 2.2 office.tell_team" in planned.out
    mocks = {"states": {"SendAMessageToOurTeamOnDuty": [{"return": {"delivered": True}}]}}
    rehearse(desk, "alert.json", mocks)

    desk.worker()
    given = json.dumps({"site": "west", "team": "facilities", "message": "labels stand still"})
    assert desk("submit", "alert.json", "--id", "alert", "--input", given).code == 0
    states = [*answered(desk, "alert", {"NoPrinterIsOnline": "no", "StillStuck": "no"})]
    assert over(desk, "alert") == "succeeded"
    assert states.index("NoPrinterIsOnline") < states.index("RestartTheLabelService")
    assert "SendAMessageToOurTeamOnDuty" not in states


@pytest.mark.timeout(180)
async def test_a_policy_over_mcp_alone(desk: Site) -> None:
    assert desk("plan", "--from-sop", POLICY.name, "--out", "policy.json").code == 0
    rehearse(desk, "policy.json", {"states": {}})
    desk.worker()
    secret = {"approval_token": SECRET}
    async with Client(desk.serve()) as client:
        text = POLICY.read_text(encoding="utf-8")
        compiled = await good(client, "compile_sop", sop=text)
        assert compiled["status"] == "valid" and compiled["questions"] == []
        assert "0 % of the sentences not understood" in compiled["report"][1]
        shown = await good(client, "plan_start", sop=text)
        id_ = shown["planning_id"]
        await good(client, "plan_approve", planning_id=id_, digest=shown["digest"], **secret)
        run = (await good(client, "plan_run", planning_id=id_))["run"]["workflow_id"]
        done = []
        choices = {"ExtendALoanReplaceALostCard": "Extend a loan", "NobodyWaitsForTheTool": "yes"}
        while (await good(client, "read_workflow_control_plane", workflow_id=run))["meta"][
            "status"
        ] in ("pending", "running"):
            for task in (await good(client, "list_approvals", workflow_id=run))["approvals"]:
                choice = {"choice": choices[task["state"]]} if task["choices"] else {}
                seen = {name: task[name] for name in ("workflow_id", "state", "question", "digest")}
                await good(
                    client, "decide_approval", decision="done", by="operator", **seen, **choice,
                    **secret,
                )  # fmt: skip
                done.append(task["state"])
        assert done == [
            "ExtendALoanReplaceALostCard",
            "ExtendALoan",
            "AskForTheNumberOfTheCard",
            "NobodyWaitsForTheTool",
            "ALoanCanBeExtended",
        ]
        assert (await good(client, "plan_show", planning_id=id_))["steps"][9]["done"]


@pytest.mark.timeout(180)
def test_a_rotation_in_one_command_that_is_rolled_back(desk: Site) -> None:
    planned = desk("plan", "--from-sop", ROTATION.name, "--out", "rotation.json", "--json").json
    [asked] = planned["questions"]
    happy = {"states": {"ItDoesNotArriveIn5Minutes": [{"return": {"answer": "no"}}]}}
    rehearse(desk, "rotation.json", happy)
    desk.start("plan", "--from-sop", ROTATION.name, "--answer", f"{asked['id']}=guardrail",
               "--run", "--yes", "--no-reflect", "--json")  # fmt: skip
    [run] = until(lambda: desk("runs", "--json").json["runs"], "the run")
    kept = (desk.folder / "rotate-mail-certificate.answers.yaml").read_text()
    assert asked["id"] in kept
    states = [*answered(desk, run["workflow_id"], {"ItDoesNotArriveIn5Minutes": "yes"})]
    assert states[-2:] == ["PutTheOldCertificateBack", "ReloadTheGateway2"]
    assert "RevokeTheOldCertificate" not in states
