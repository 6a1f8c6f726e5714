"""Calls that an agent makes at the same time, on a real Redis: each has a number and an approval of
its own."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from integration.tools.conftest import serving_app
from integration.worker.crew import Crew, crew_on
from integration.worker.mortal_worker import BINDING, CATALOG, LOOK, ORDER, PAY
from unit.workflow.stage import document_of, flow

from dcf.agents import Assignment, Report
from dcf.skills import SkillTool
from dcf.tools import Registry, ServerConfig, Toolbox
from dcf.tools.stub import create_stub_app
from dcf.worker import SkilledAgents
from dcf.workflow import PendingApproval, Result, decide_approval, pending_approvals, submit


class Hasty:
    """An agent that makes all its calls at once."""

    def __init__(self, *tools: SkillTool) -> None:
        self._tools = tools

    async def perform(self, _assignment: Assignment, call_tool: Any, _observe: Any) -> Report:
        got = await asyncio.gather(*(call_tool(tool, ORDER) for tool in self._tools))
        return Report(data=[result.data for result in got], summary="done")


async def question(crew: Crew, number: int) -> PendingApproval:
    """The question with this number, once it is put."""
    while True:
        for pending in await pending_approvals(crew.store, "r"):
            if pending.ask == number:
                return pending
        await asyncio.sleep(0.02)


async def run_hasty(
    redis_url: str, tmp_path: Path, *tools: SkillTool
) -> tuple[Result, list[PendingApproval], list[dict[str, Any]]]:
    """The result of a run whose two questions are approved, the questions, and what was called."""
    slow = {
        "caseId": "slow",
        "match": {"strategy": "exact", "expr": "$.order", "value": "o-1"},
        "response": "{{uuid}}",
        "latencyMsOverride": 400,
    }
    entry = {"defaultResponse": None, "cases": [slow]}
    config = tmp_path / "stub_config.json"
    servers = {"shop": {"tools": {"look": entry, "pay": entry}}}
    config.write_text(json.dumps({"seed": 1, "servers": servers}))
    app = create_stub_app(config)
    definition = flow(A={"Type": "Task", "AgentBinding": BINDING})
    async with crew_on(redis_url) as crew, serving_app(app) as url, asyncio.timeout(60):
        registry = Registry([ServerConfig("shop", url=f"{url}/mcp/shop")])
        async with Toolbox(registry) as toolbox:
            crew.worker(agents=SkilledAgents(CATALOG, toolbox, Hasty(*tools), crew.store))
            document = document_of(definition, catalog=CATALOG)
            await submit(crew.store, document, ORDER, workflow_id="r", catalog=CATALOG)
            asked = []
            for number in range(1, tools.count(PAY) + 1):
                asked.append(await question(crew, number))
                await decide_approval(crew.store, "r", decision="approve", by="operator")
            return await crew.end("r"), asked, app.state.desk.calls.to_list()


async def test_of_two_equal_calls_at_once_each_needs_its_own_approval_and_is_made_once(
    redis_url: str, tmp_path: Path
) -> None:
    result, asked, calls = await run_hasty(redis_url, tmp_path, PAY, PAY)
    assert (result.status, len(set(result.output))) == ("succeeded", 2)
    assert [pending.request.digest for pending in asked] == [asked[0].request.digest] * 2
    assert [pending.calls_made for pending in asked] == [0, 1]
    keys = [(call["idempotency_key"], call["replayed"]) for call in calls]
    assert keys == [("r/A/1/1/0", False), ("r/A/1/1/1", False)]


async def test_a_call_under_way_beside_a_question_is_not_made_again(
    redis_url: str, tmp_path: Path
) -> None:
    result, asked, calls = await run_hasty(redis_url, tmp_path, LOOK, PAY)
    assert result.status == "succeeded"
    assert [pending.calls_made for pending in asked] == [1]
    assert [(call["tool"], call["replayed"]) for call in calls] == [("look", False), ("pay", False)]
