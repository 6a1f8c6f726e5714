"""Reflection through the tools: analysed by code on a real graph, published, told, kept."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from integration.knowledge.world import Agents, play_runs, write
from integration.mcp.platforms import Desk, desk_on
from integration.worker.crew import crew_on
from unit.advisors.advisor_samples import BAD, GOOD, NOW, outcome, shop

from control_plane import export_run, pack
from dcf.knowledge import GraphConnection
from dcf.memory import SYSTEM, NewPlaybook, project_of_runs
from dcf.planner import Planning

SECRET = "of-those-who-may-approve-0123456789abcdef"
TELL = """# Tell a team

## Objective

Tell a team something.

## Inputs

- `team` (text): Who hears of it.
- `message` (text): What they hear.

## Steps

1. Tell the team.
   Skill: office.tell_team
   Reads: `team`, `message`
"""
NOWHERE = "redis://127.0.0.1:1/0"


@asynccontextmanager
async def reflecting(
    redis_url: str, folder: Path, graph_url: str | None
) -> AsyncIterator[tuple[Desk, str]]:
    """A desk whose graph is at the URL (None: switched off), and a run that is sealed."""
    env = {"DCF_GRAPH": "off"} if graph_url is None else {"DCF_GRAPH_URL": graph_url}
    async with crew_on(redis_url) as crew:
        crew.worker(agents=Agents())
        (run,) = await play_runs(crew, 1)
    async with desk_on(redis_url, folder, env=env, approval_token=SECRET) as desk:
        yield desk, run


async def agents(desk: Desk, *names: str) -> list[str]:
    made = [await desk.good("create_agent", agent_name=name) for name in names]
    return [str(one["agent_id"]) for one in made]


async def events(desk: Desk, agent_id: str) -> list[dict[str, Any]]:
    """What a Reflector was told."""
    home = await desk.platform.home()
    found = await home.runtime.messages(agent_id)
    return [json.loads(one.content) for one in found if one.role == "user"]


async def test_a_run_is_analysed_published_and_told(
    redis_url: str, graph_url: str, tmp_path: Path
) -> None:
    later = round(time.time() * 1000) - NOW
    async with GraphConnection(graph_url) as graph:
        moved = [
            replace(one, started_at=one.started_at + later, ended_at=one.ended_at + later)
            for one in shop(1, 61)
        ]
        await write(graph, *moved)
    async with reflecting(redis_url, tmp_path, graph_url) as (desk, run):
        planner, reflector = await agents(desk, "planner", "reflector")
        await desk.good(
            "register_reflector", planner_agent_id="planner", reflector_agent_id="reflector"
        )
        memory = (await desk.platform.home()).memory
        project = project_of_runs(desk.platform.config.generated)
        known = await memory.playbooks.add(
            NewPlaybook("Bank.Refused", "Call the bank.", "ann", project), by=SYSTEM
        )
        done = await desk.good(
            "trigger_reflection", workflow_id=run, planner_agent_id="planner", async_message=False
        )
        assert (done["status"], done["planner_agent_id"]) == ("reflected", planner)
        # Two tasks of the run, and 120 that the graph had: counted apart from the code.
        assert done["outcomes"] == 122
        (version,) = (
            one
            for one in done["insights"]
            if one["category"] == "skill_effectiveness" and one["condition"]["task_type"] == "pay"
        )
        assert (version["prefer"], version["avoid"], version["published"]) == (GOOD, BAD, True)
        guidelines = await desk.good("read_memory_block", agent_id=planner,
                                     label="reflector_guidelines")  # fmt: skip
        document = json.loads(guidelines["value"])
        assert document["revision"] == done["revision"] == 1
        (advice,) = (
            one
            for one in document["guidelines"]["skill_recommendations"]
            if one["insight"] == version["id"]
        )
        assert advice["prefer"] == GOOD
        # The Reflector has the numbers, so that it need not count.
        assert (done["message_sent"], done["reflector_agent_id"]) == (True, reflector)
        (event,) = await events(desk, reflector)
        assert event["analysis"]["insights"][0]["id"] == done["insights"][0]["id"]
        # Failures that were seen before, with what to do about them.
        (seen,) = event["analysis"]["playbooks"]
        assert (seen["playbook"], seen["resolution"]) == (known.citation, "Call the bank.")
        assert done["playbooks"] == [seen] and seen["n"] > 10
        # Again it finds the same, and publishes nothing twice.
        again = await desk.good("trigger_reflection", workflow_id=run, planner_agent_id=planner)
        assert again["outcomes"] == 122
        assert [one["id"] for one in again["insights"]] == [one["id"] for one in done["insights"]]
        kept = await desk.good("read_memory_block", agent_id=planner,
                               label="reflector_guidelines")  # fmt: skip
        said = [len(one["guidelines"]["skill_recommendations"])
                for one in (document, json.loads(kept["value"]))]  # fmt: skip
        assert said[0] == said[1]


async def test_what_was_learned_stands_in_the_planning_whose_run_it_was(
    redis_url: str, tmp_path: Path
) -> None:
    async with desk_on(redis_url, tmp_path) as desk:
        plans = desk.platform.plans
        store = plans.planner().store
        run = {"workflow_id": "wf-abcd1234", "status": "succeeded"}
        approved: Any = {"workflow": {}, "permissions": {}, "shown": "sha256:1", "approval": {}}
        store.save(Planning("abcd1234", 1, 1, status="ended", run=run, **approved))
        plans.reflected("wf-abcd1234", {"status": "done"}, "12 outcomes")
        last = store.read("abcd1234").steps()[-1]
        assert (last["step"], last["done"], last["note"]) == (14, True, "12 outcomes")
        # A run of another's, under the id of a planning that never ran.
        store.save(Planning("abcd5678", 1, 1))
        for other in ("abcd5678", "wf-abcd5678", "wf-nobody", "../x"):
            plans.reflected(other, {"status": "done"}, "12 outcomes")
        assert not store.read("abcd5678").steps()[-1]["done"]


async def test_without_a_graph_it_says_what_to_do(redis_url: str, tmp_path: Path) -> None:
    async with reflecting(redis_url, tmp_path, None) as (desk, run):
        await agents(desk, "planner", "reflector")
        given = {"workflow_id": run, "planner_agent_id": "planner"}
        assert await desk.refused("trigger_reflection", **given) == "reflector_not_registered"
        await desk.good(
            "register_reflector", planner_agent_id="planner", reflector_agent_id="reflector"
        )
        done = await desk.good("trigger_reflection", **given)
        assert (done["status"], done["message_sent"]) == ("sent", True)
        assert "insights" not in done
        (warning,) = done["warnings"]
        assert "nothing was analysed" in warning and "trigger it again" in warning


async def test_an_exported_run_is_analysed_from_its_file_and_nothing_is_published(
    redis_url: str, graph_url: str, tmp_path: Path
) -> None:
    async with reflecting(redis_url, tmp_path, graph_url) as (desk, run):
        _, reflector = await agents(desk, "planner", "reflector")
        await desk.good(
            "register_reflector", planner_agent_id="planner", reflector_agent_id="reflector"
        )
        store = desk.platform.store
        data = pack(await export_run(store, run))
        (tmp_path / "workspace" / "kept.run.gz").write_bytes(data)
        (tmp_path / "workspace" / "cut.run.gz").write_bytes(data[:-9])
        (tmp_path / "kept.run.gz").write_bytes(data)
        await store.remove(run, unexported=True)
        given = {"planner_agent_id": "planner", "async_message": False}
        done = await desk.good("trigger_reflection", workflow_id="kept.run.gz", **given)
        assert (done["workflow_id"], done["outcomes"], done["message_sent"]) == (run, 2, True)
        assert "nothing is published of a file" in done["warnings"][0]
        assert "revision" not in done
        (event,) = await events(desk, reflector)
        assert (event["workflow_id"], event["final_status"]) == (run, "succeeded")
        assert event["analysis"]["outcomes"] == 2
        for file, code in (
            ("cut.run.gz", "bad_run_file"),
            ("none.run.gz", "file_unreadable"),
            ("../kept.run.gz", "outside_root"),
        ):
            assert await desk.refused("trigger_reflection", workflow_id=file, **given) == code


async def test_a_graph_that_is_away_loses_no_reflection(
    redis_url: str, graph_url: str, tmp_path: Path
) -> None:
    async with reflecting(redis_url, tmp_path, NOWHERE) as (desk, run):
        _, reflector = await agents(desk, "planner", "reflector")
        both = {"planner_agent_id": "planner", "reflector_agent_id": "reflector"}
        await desk.good("register_reflector", **both)
        given = {"workflow_id": run, "planner_agent_id": "planner", "async_message": False}
        away = await desk.call("trigger_reflection", **given)
        assert away["error"].startswith("graph_away: ")
        assert "trigger it again" in away["hint"]
        assert await events(desk, reflector) == []
    async with desk_on(redis_url, tmp_path, env={"DCF_GRAPH_URL": graph_url}) as desk:
        done = await desk.good("trigger_reflection", **given)
        assert (done["status"], done["outcomes"]) == ("reflected", 2)
        assert len(await events(desk, reflector)) == 1


async def test_a_run_that_is_not_sealed_is_not_reflected_on(
    redis_url: str, graph_url: str, tmp_path: Path
) -> None:
    async with reflecting(redis_url, tmp_path, graph_url) as (desk, _):
        await agents(desk, "planner")
        wait = {"Type": "Wait", "Seconds": 9_000, "End": True}
        text = json.dumps({"workflow_name": "w", "asl": {"StartAt": "A", "States": {"A": wait}}})
        other = await desk.good("create_workflow_control_plane", workflow_json=text)
        given = {"workflow_id": other["workflow_id"], "planner_agent_id": "planner"}
        assert await desk.refused("trigger_reflection", **given) == "run_not_over"
        await desk.good("cancel_workflow", workflow_id=other["workflow_id"])
        answer = await desk.call("trigger_reflection", **given)
        assert answer["error"].startswith("run_not_told: ")
        assert answer["hint"].startswith("finalize_workflow")


async def test_a_registered_reflector_is_not_replaced_by_anybody(
    redis_url: str, tmp_path: Path
) -> None:
    async with desk_on(redis_url, tmp_path, approval_token=SECRET) as desk:
        planner, first, second = await agents(desk, "planner", "first", "second")
        register = {"planner_agent_id": "planner", "reflector_agent_id": "first"}
        await desk.good("register_reflector", **register)
        assert (await desk.good("register_reflector", **register))["warnings"] == [
            "registered again"
        ]
        other = {**register, "reflector_agent_id": second}
        assert await desk.refused("register_reflector", **other) == "reflector_registered"
        guess = {**other, "approval_token": "a guess"}
        assert await desk.refused("register_reflector", **guess) == "reflector_registered"
        # Nor by writing to the memory that says so.
        said = json.dumps({"reflector_agent_id": second})
        block = {"agent_id": planner, "label": "reflector_registration"}
        assert await desk.refused("write_memory_block", **block, value=said) == ("memory_read_only")
        assert await desk.refused("detach_memory_block", **block) == "memory_read_only"
        moved = await desk.good("register_reflector", **other, approval_token=SECRET)
        assert moved["warnings"] == [f"registered in the place of {first}"]
        # Where the present one is gone, anybody may name the next.
        await desk.good("delete_agent", agent_name="second")
        assert (await desk.good("register_reflector", **register))["reflector_agent_id"] == first


_REFUSED: dict[str, dict[str, Any]] = {
    "no JSON": {"add_warning": "{"},
    "a choice that there is not": {"add_warning": '{"warning": "x", "severity": "nonsense"}'},
    "no confidence": {"add_user_intent_tip": '{"tip": "x", "confidence": 5}'},
    "not sure enough": {"add_user_intent_tip": '{"tip": "x", "confidence": 0.7}'},
    "no number": {"add_insight": '{"id": "i", "share": NaN}'},
    "no object": {"add_insight": "[1]"},
    "half a surrogate pair": {"add_user_intent_tip": '{"tip": "\\ud800"}'},
    "too deep": {"add_insight": '{"a":' * 20_000 + "1" + "}" * 20_000},
    "a replacement of nothing": {
        "guidelines_json": '{"guidelines": {"warnings": [{}]}}', "merge_mode": False,
    },
}  # fmt: skip


async def test_nothing_taken_is_no_update(redis_url: str, tmp_path: Path) -> None:
    async with desk_on(redis_url, tmp_path) as desk:
        await agents(desk, "planner", "reflector")
        both = {"planner_agent_id": "planner", "reflector_agent_id": "reflector"}
        await desk.good("register_reflector", **both)
        update = {"planner_agent_id": "planner"}
        kept = await desk.good(
            "update_reflector_guidelines", **update, add_user_intent_tip='{"tip": "kept"}'
        )
        assert (kept["status"], kept["revision"]) == ("updated", 1)
        assert await desk.refused("update_reflector_guidelines", **update) == "bad_arguments"
        for name, given in _REFUSED.items():
            answer: dict[str, Any] = await desk.call(
                "update_reflector_guidelines", **update, **given
            )
            assert answer["status"] is None, name
            assert str(answer["error"]).startswith("guidelines_not_taken: "), name
        empty = await desk.good("update_reflector_guidelines", **update, guidelines_json="{}")
        assert (empty["status"], empty["revision"]) == ("unchanged", 1)
        tips = empty["guidelines"]["guidelines"]["user_intent_tips"]
        assert [one["tip"] for one in tips] == ["kept"]


async def test_a_planning_is_advised_by_an_agent_that_is_named(
    redis_url: str, tmp_path: Path
) -> None:
    async with desk_on(redis_url, tmp_path, env={"DCF_GRAPH": "off"}) as desk:
        (planner,) = await agents(desk, "ann")
        sop = "# Wait\n\n## Objective\n\nWait.\n\n## Steps\n\n1. Wait 1 second.\n"
        planning = await desk.call("plan_start", sop=sop, planner_agent_id="ann")
        store = desk.platform.plans.planner().store
        assert store.read(planning["planning_id"]).advised == planner
        lost = await desk.refused("plan_start", sop=sop, planner_agent_id="anne")
        assert lost == "unknown_agent"


async def test_a_planning_reads_what_the_graph_measured(
    redis_url: str, graph_url: str, tmp_path: Path
) -> None:
    now = round(time.time() * 1000)
    versions = [f"skill.office.tell_team@{version}" for version in ("1.0.0", "1.1.0")]
    async with GraphConnection(graph_url) as graph:
        told = [
            outcome(number, number % 4 > 0 or turn == 1, task_type="office.tell_team",
                    skills=(skill,), run=f"r{turn}-{number}", ended_at=now - number * 60_000)
            for turn, skill in enumerate(versions)
            for number in range(1, 13)
        ]  # fmt: skip
        await write(graph, *told)
    env = {"DCF_GRAPH_URL": graph_url}
    generated = Path(__file__).parents[3] / "generated"
    async with desk_on(redis_url, tmp_path, env=env, generated=generated) as desk:
        planning = await desk.good("plan_start", sop=TELL)
        measured = planning["guidance"]["measured"]["office.tell_team"]
        # Nine of twelve, and all.
        assert {skill: round(one["rate"], 2) for skill, one in measured.items()} == {
            versions[0]: 0.75, versions[1]: 1.0,
        }  # fmt: skip
        assert planning["guidance"]["notes"] == []
