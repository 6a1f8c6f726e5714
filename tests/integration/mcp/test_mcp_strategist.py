"""The Strategist through the tools: registered, asked, told, and what it says is heeded."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from integration.mcp.platforms import Desk, desk_on

from dcf.sessions import NewCompanion, Order

ME = "boss"
SECRET = "of-those-who-may-approve-0123456789abcdef"
OFF = {"DCF_GRAPH": "off"}


@asynccontextmanager
async def advised(
    redis_url: str, folder: Path, **config: Any
) -> AsyncIterator[tuple[Desk, str, str]]:
    """A desk with a session, its conductor and a Strategist; both are agents."""
    async with desk_on(redis_url, folder, env=OFF, **config) as desk:
        made = [await desk.good("create_agent", agent_name=name) for name in (ME, "advisor")]
        conductor, strategist = (str(one["agent_id"]) for one in made)
        await desk.platform.sessions.create("s1", conductor, "help people")
        yield desk, conductor, strategist


async def messages(desk: Desk, agent_id: str) -> list[dict[str, Any]]:
    home = await desk.platform.home()
    found = await home.runtime.messages(agent_id)
    return [json.loads(one.content) for one in found if one.role == "user"]


async def test_a_strategist_is_registered_asked_and_told(redis_url: str, tmp_path: Path) -> None:
    async with advised(redis_url, tmp_path) as (desk, conductor, strategist):
        registered = await desk.good(
            "register_strategist",
            conductor_agent_id=conductor,
            strategist_agent_id=strategist,
            initial_guidelines_json='{"companion_scaling": {"max_companions": 3}}',
        )
        assert (registered["status"], registered["revision"]) == ("registered", 1)
        block = await desk.good(
            "read_memory_block", agent_id=conductor, label="strategist_registration"
        )
        assert json.loads(block["value"])["strategist_agent_id"] == strategist
        assert registered["registration_block_id"] == block["block_id"]
        shown = await desk.good(
            "read_memory_block", agent_id=conductor, label="strategist_guidelines"
        )
        assert registered["guidelines_block_id"] == shown["block_id"]
        assert json.loads(shown["value"])["companion_scaling"]["max_companions"] == 3
        known = await desk.good(
            "read_memory_block", agent_id=strategist, label="conductor_reference"
        )
        assert json.loads(known["value"])["conductor_agent_id"] == conductor
        done = await desk.good(
            "trigger_strategist_analysis",
            session_id="s1",
            conductor_agent_id=conductor,
            include_full_history=True,
            async_message=False,
        )
        assert (done["status"], done["message_sent"]) == ("analysed", True)
        assert done["strategist_agent_id"] == strategist
        assert (done["findings"], done["outcomes"]) == ([], 0)
        [event] = await messages(desk, strategist)
        assert (event["type"], event["session_id"]) == ("analysis_event", "s1")
        assert event["trigger_reason"] == "periodic"
        assert event["session_context"]["objective"] == "help people"
        assert event["amsp_metrics"]["delegations_analyzed"] == 0
        again = await desk.good(
            "trigger_strategist_analysis", session_id="s1", conductor_agent_id=conductor
        )
        assert (again["status"], again["message_sent"]) == ("unchanged", False)


async def test_guidelines_are_written_and_shown(redis_url: str, tmp_path: Path) -> None:
    async with advised(redis_url, tmp_path) as (desk, conductor, strategist):
        await desk.good(
            "register_strategist", conductor_agent_id=conductor, strategist_agent_id=strategist
        )
        written = await desk.good(
            "update_conductor_guidelines",
            conductor_id=conductor,
            recommendation="Ask for the order first.",
            skill_preferences_json='{"refund": "skill.shop.refund@2.0.0"}',
            model_selection_json='{"default_tier": 2}',
        )
        assert written["updated_fields"] == [
            "recommendations", "skill_preferences", "model_selection"
        ]  # fmt: skip
        assert written["revision"] == 1
        block = await desk.good(
            "read_memory_block", agent_id=conductor, label="strategist_guidelines"
        )
        document = json.loads(block["value"])
        assert document["recommendations"][0]["text"] == "Ask for the order first."
        assert document["model_selection"]["default_tier"] == 2
        cleared = await desk.good(
            "update_conductor_guidelines",
            conductor_id=conductor,
            clear_guidelines=True,
            recommendation="Never mind.",
        )
        assert (cleared["updated_fields"], cleared["revision"]) == (["all"], 2)
        assert "recommendation is ignored" in cleared["warnings"][0]
        # What is always there is there again.
        assert cleared["guidelines"]["model_selection"]["default_tier"] == 0


async def test_what_is_wrong_is_said_all_at_once(redis_url: str, tmp_path: Path) -> None:
    async with advised(redis_url, tmp_path) as (desk, conductor, strategist):
        answer = await desk.call(
            "update_conductor_guidelines",
            conductor_id=conductor,
            skill_preferences_json="[1]",
            companion_scaling_json='{"max_companions": -1}',
        )
        assert answer["error"].startswith("bad_arguments")
        assert len(answer["problems"]) == 2
        assert await desk.refused("update_conductor_guidelines", conductor_id=conductor) == (
            "bad_arguments"
        )
        assert (
            await desk.refused(
                "update_conductor_guidelines", conductor_id="bos", recommendation="Go."
            )
            == "unknown_conductor"
        )
        answer = await desk.call(
            "trigger_strategist_analysis",
            session_id="s1",
            conductor_agent_id=conductor,
            trigger_reason="on-demand",
        )
        assert "nearest: on_demand" in answer["error"]
        code = await desk.refused(
            "trigger_strategist_analysis", session_id="s1", conductor_agent_id=strategist
        )
        assert code == "not_the_conductor"
        assert await desk.refused("read_session_activity", session_id="s2") == "unknown_session"
        code = await desk.refused(
            "register_strategist", conductor_agent_id=conductor, strategist_agent_id=conductor
        )
        assert code == "one_agent_twice"


async def test_another_strategist_takes_the_token(redis_url: str, tmp_path: Path) -> None:
    async with advised(redis_url, tmp_path, approval_token=SECRET) as (desk, conductor, first):
        other = (await desk.good("create_agent", agent_name="other"))["agent_id"]
        said = {"conductor_agent_id": conductor, "strategist_agent_id": other}
        await desk.good("register_strategist", **{**said, "strategist_agent_id": first})
        assert await desk.refused("register_strategist", **said) == "strategist_registered"
        done = await desk.good("register_strategist", **said, approval_token=SECRET)
        assert done["strategist_agent_id"] == other
        block = await desk.good(
            "read_memory_block", agent_id=conductor, label="strategist_registration"
        )
        assert json.loads(block["value"])["strategist_agent_id"] == other


async def test_conductor_and_strategist_need_be_no_agents(redis_url: str, tmp_path: Path) -> None:
    async with desk_on(redis_url, tmp_path, env=OFF) as desk:
        await desk.platform.sessions.create("s1", "conductor-1", "help")
        done = await desk.good(
            "register_strategist",
            conductor_agent_id="conductor-1",
            strategist_agent_id="strategist-1",
        )
        assert done["guidelines_block_id"] is None
        assert "is no agent here" in done["warnings"][0]
        asked = await desk.good(
            "trigger_strategist_analysis", session_id="s1", conductor_agent_id="conductor-1"
        )
        assert (asked["status"], asked["message_sent"]) == ("analysed", False)
        assert "nobody was told" in asked["warnings"][0]
        written = await desk.good(
            "update_conductor_guidelines", conductor_id="conductor-1", recommendation="Go on."
        )
        assert written["revision"] == 1


async def test_the_activity_of_a_session_is_read_in_parts(redis_url: str, tmp_path: Path) -> None:
    async with advised(redis_url, tmp_path) as (desk, conductor, _):
        await desk.platform.sessions.employ("s1", NewCompanion(conductor, "billing", name="a"))
        await desk.platform.sessions.delegate("s1", Order("Look.", conductor, task_type="look"))
        whole = await desk.good("read_session_activity", session_id="s1")
        assert whole["session_state"] == "active"
        assert [one["task_type"] for one in whole["delegations"]] == ["look"]
        [companion] = whole["companions"]
        assert (companion["companion_id"], companion["specialization"]) == (
            "companion-a", "billing"
        )  # fmt: skip
        assert whole["metrics"]["pending_tasks"] == 1
        assert whole["metrics"]["success_rate"] is None
        part = await desk.good(
            "read_session_activity",
            session_id="s1",
            include_companion_details=False,
            include_task_history=False,
            include_skill_metrics=False,
        )
        assert (part["companions"], part["delegations"], part["skill_metrics"]) == ([], [], {})
        # Totals are always there.
        assert part["metrics"] == whole["metrics"]
