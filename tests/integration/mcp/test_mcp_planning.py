"""Planning and steering runs through the tools: check, start, read, cancel, redrive, finalize."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from integration.mcp.platforms import Desk, desk_on
from integration.mcp.test_mcp_skill_calls import author

WORK = {"Type": "Task", "AgentBinding": {"skills": ["bank.look@1.0.0"]}, "End": True}


def document(**more: Any) -> dict[str, Any]:
    return {
        "workflow_name": "bank",
        "workflow_id": "bank-1",
        "asl": {"StartAt": "A", "States": {"A": WORK}},
        **more,
    }


async def create(desk: Desk, value: Any = None, **more: Any) -> dict[str, Any]:
    text = json.dumps(document())
    given = {} if value is None else {"input_json": json.dumps(value)}
    return await desk.good("create_workflow_control_plane", workflow_json=text, **given, **more)


async def test_a_valid_workflow_has_exit_code_zero_and_its_skills_are_named(
    redis_url: str, tmp_path: Path
) -> None:
    generated = author(tmp_path)
    async with desk_on(redis_url, tmp_path, generated=generated) as desk:
        answer = await desk.good("validate_workflow", workflow_json=json.dumps(document()))
    assert answer["ok"] and answer["exit_code"] == 0 and answer["status"] == "valid"
    resolution = answer["resolution"]
    assert resolution["state_skill_map"] == {
        "A": [{"skill": "bank.look@1.0.0", "manifestId": "skill.bank.look@1.0.0"}]
    }
    assert resolution["complexity"]["skills_without_profiles"] == ["skill.bank.look@1.0.0"]
    assert answer["graph"] == {
        "start_exists": True,
        "missing_states": [],
        "unreachable_states": [],
        "invalid_transitions": [],
        "terminal_states_ok": True,
    }


async def test_every_problem_of_a_workflow_is_named_at_once(redis_url: str, tmp_path: Path) -> None:
    broken = document(
        asl={
            "StartAt": "A",
            "States": {
                "A": {**WORK, "AgentBinding": {"skills": ["bank.lok@1.0.0"]}},
                "B": {"Type": "Pass", "Next": "Nowhere"},
            },
        },
        unknown_member=1,
    )
    async with desk_on(redis_url, tmp_path, generated=author(tmp_path)) as desk:
        answer = await desk.call("validate_workflow", workflow_json=json.dumps(broken, indent=1))
    assert answer["error"].startswith("invalid_workflow") and not answer["ok"]
    assert answer["exit_code"] == 1 and answer["schema_errors"]
    codes = {one["code"] for one in answer["problems"]}
    assert {"WF_SCHEMA", "WF_UNKNOWN_SKILL", "ASL_UNKNOWN_STATE"} <= codes
    assert all(one["line"] for one in answer["problems"])
    assert answer["resolution"]["unresolved_skill_ids"] == ["bank.lok@1.0.0"]
    assert answer["graph"]["unreachable_states"] == ["B"]
    assert answer["graph"]["invalid_transitions"] == [{"state": "B", "to": "Nowhere"}]


async def test_exit_codes_tell_references_from_the_graph(redis_url: str, tmp_path: Path) -> None:
    unknown = document(asl={"StartAt": "A", "States": {"A": {**WORK, "AgentBinding": {
        "skills": ["nobody@1.0.0"]}}}})  # fmt: skip
    dangling = document(asl={"StartAt": "A", "States": {"A": {"Type": "Pass", "Next": "B"}}})
    async with desk_on(redis_url, tmp_path, generated=author(tmp_path)) as desk:
        codes = [
            (await desk.call("validate_workflow", workflow_json=text))["exit_code"]
            for text in (json.dumps(unknown), json.dumps(dangling), "no json")
        ]
    assert codes == [2, 3, 1]


async def test_imports_are_read_below_their_folders_and_their_digests_checked(
    redis_url: str, tmp_path: Path
) -> None:
    folder = tmp_path / "workflows"
    folder.mkdir()
    bundle = json.dumps({"agents": [{"id": "agent-1", "name": "clerk"}], "tools": [{"name": "t"}]})
    (folder / "team.af").write_text(bundle)
    (tmp_path / "secret.af").write_text(bundle)
    good = hashlib.sha256(bundle.encode()).hexdigest()
    text = document(
        af_imports=[
            {"uri": "team.af", "integrity": f"sha256:{good}"},
            {"uri": "team.af", "integrity": f"sha256:{'0' * 64}"},
            {"uri": "../secret.af"},
            {"uri": f"file://{tmp_path}/secret.af"},
            {"uri": "https://example.org/a.af"},
        ],
        asl={
            "StartAt": "A",
            "States": {
                "A": {**WORK, "AgentBinding": {"agent_ref": {"name": "clerk"}}, "Next": "B"},
                "B": {**WORK, "AgentBinding": {"agent_ref": {"name": "ghost"}}},
            },
        },
    )
    del text["asl"]["States"]["A"]["End"]
    async with desk_on(redis_url, tmp_path, generated=author(tmp_path)) as desk:
        answer = await desk.call("validate_workflow", workflow_json=json.dumps(text))
    loaded = answer["resolution"]["af_imports_loaded"]
    assert [one["status"] for one in loaded] == ["ok", "error", "error", "error", "error"]
    assert (loaded[0]["agents"], loaded[0]["tools"]) == (1, 1)
    assert "outside" in loaded[2]["error"] and "outside" in loaded[3]["error"]
    [missing] = answer["resolution"]["unresolved_agent_refs"]
    assert missing["ref"] == {"name": "ghost"}
    assert answer["exit_code"] == 2


async def test_a_run_starts_with_its_input_and_once(redis_url: str, tmp_path: Path) -> None:
    async with desk_on(redis_url, tmp_path, generated=author(tmp_path)) as desk:
        first = await create(desk, {"account": "a"})
        assert first["status"] == "created" and first["workflow_id"] == "bank-1"
        assert "cp:wf:bank-1:meta" in first["created_keys"]
        again = await create(desk, {"account": "a"})
        assert again["status"] == "exists" and again["created_keys"] == []
        text = json.dumps(document())
        other = {"workflow_json": text, "input_json": '{"account": "b"}'}
        assert await desk.refused("create_workflow_control_plane", **other) == "run_exists"
        await desk.good("create_workflow_control_plane", **other, run_id="bank-2")
        read = await desk.good(
            "read_workflow_control_plane", workflow_id="bank-1", compute_readiness=True
        )
        assert read["meta"]["input"] == {"account": "a"}
        assert read["meta"]["skills"] == {"A": ["bank.look@1.0.0"]}
        assert read["readiness"] == {"A": True} and read["outputs"] == {"A": None}
        listed = await desk.good("list_runs")
        assert [run["workflow_id"] for run in listed["runs"]] == ["bank-2", "bank-1"]


async def test_steps_of_the_earlier_version_become_a_chain(redis_url: str, tmp_path: Path) -> None:
    steps = {"workflow_id": "old", "steps": [{"step_id": "one"}, {"step_id": "two"}]}
    async with desk_on(redis_url, tmp_path) as desk:
        answer = await desk.good("create_workflow_control_plane", workflow_json=json.dumps(steps))
    assert answer["meta_sample"]["states"] == ["one", "two"]
    assert answer["meta_sample"]["deps"]["two"]["upstream"] == ["one"]


async def test_agents_are_made_once_and_a_state_is_kept_for_its_agent(
    redis_url: str, tmp_path: Path
) -> None:
    async with desk_on(redis_url, tmp_path, generated=author(tmp_path)) as desk:
        await create(desk)
        text = json.dumps(document())
        made = await desk.good("create_worker_agents", workflow_json=text)
        [row] = made["created"]
        assert row["agent_name"] == "wf-bank-1-A" and made["agents_map"] == {"A": row["agent_id"]}
        assert made["model_selections"]["A"]["tier"] == 1
        again = await desk.good("create_worker_agents", workflow_json=text)
        assert again["created"] == [] and again["agents_map"] == made["agents_map"]
        read = await desk.good("read_workflow_control_plane", workflow_id="bank-1")
        assert read["meta"]["agents"]["A"] == row["agent_id"]
        take = {"workflow_id": "bank-1", "state": "A", "owner_agent_id": "stranger"}
        assert await desk.refused("acquire_state_lease", **take) == "owner_mismatch"
        take["owner_agent_id"] = row["agent_id"]
        assert (await desk.good("acquire_state_lease", **take))["status"] == "lease_acquired"
        ended = await desk.good("finalize_workflow", workflow_id="bank-1")
        assert ended["agents"] == [
            {"state": "A", "agent_id": row["agent_id"], "deleted": True, "error": None}
        ]


async def test_a_run_that_is_cut_off_is_never_a_success(redis_url: str, tmp_path: Path) -> None:
    async with desk_on(redis_url, tmp_path, generated=author(tmp_path)) as desk:
        await create(desk)
        keep = {"workflow_id": "bank-1", "close_open_states": False}
        assert await desk.refused("finalize_workflow", **keep) == "still_running"
        ended = await desk.good(
            "finalize_workflow", workflow_id="bank-1", overall_status="succeeded"
        )
        assert ended["summary"]["final_status"] == "cancelled"
        assert ended["summary"]["states"]["cancelled"] == 1
        assert any("overall_status" in warning for warning in ended["warnings"])
        trail = Path(ended["audit_trail_path"])
        assert (trail / "summary.json").is_file()
        assert json.loads((trail / "data_plane" / "audit" / "finalize.json").read_text())


async def test_a_cancelled_run_goes_on_after_a_redrive(redis_url: str, tmp_path: Path) -> None:
    async with desk_on(redis_url, tmp_path, generated=author(tmp_path)) as desk:
        await create(desk)
        await desk.good("cancel_workflow", workflow_id="bank-1", reason="wrong input")
        explained = await desk.good("explain_workflow", workflow_id="bank-1")
        assert explained["run_status"] == "cancelled" and "wrong input" in explained["summary"]
        assert await desk.refused("cancel_workflow", workflow_id="bank-1") != "internal_error"
        again = await desk.good("redrive_workflow", workflow_id="bank-1")
        assert again["again"] == ["A"]
        assert await desk.refused("redrive_workflow", workflow_id="bank-1") == "not_redrivable"
        events = await desk.good("read_history", workflow_id="bank-1", limit=2)
        rest = await desk.good(
            "read_history", workflow_id="bank-1", after=events["next_after"], limit=500
        )
    kinds = [event["type"] for event in [*events["events"], *rest["events"]]]
    assert kinds[0] == "RunStarted" or kinds[0]
    assert rest["next_after"] is None and len(events["events"]) == 2


async def test_runs_that_do_not_exist_are_named(redis_url: str, tmp_path: Path) -> None:
    async with desk_on(redis_url, tmp_path) as desk:
        for name in (
            "read_workflow_control_plane",
            "explain_workflow",
            "read_history",
            "cancel_workflow",
            "redrive_workflow",
            "finalize_workflow",
            "notify_next_worker_agent",
        ):
            assert await desk.refused(name, workflow_id="nowhere") == "unknown_run"
