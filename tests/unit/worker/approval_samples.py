"""Skills, agents and questions for the tests of approvals."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from unit.worker.test_worker_agent_tasks import Tools, a_skill
from unit.workflow.stage import Stage, document_of, flow

from control_plane import StateDocument, history
from dcf.agents import Assignment, Report, TaskError, TaskPerformer
from dcf.skills import Manifest, Permissions, SkillCatalog, SkillTool
from dcf.tools import Policy, ToolsError
from dcf.worker import SkilledAgents
from dcf.workflow import decide_approval, submit

SCHEMA = {"type": "object", "properties": {"order": {"type": "string"}}, "required": ["order"]}
LOOK = SkillTool("web", "look", "look", "", True, SCHEMA)
PAY = SkillTool("bank", "pay", "pay", "", True, SCHEMA)
PAY_2 = SkillTool("bank", "refund", "refund", "", True, SCHEMA)
RUN = "run-1"


def risky(*tools: SkillTool, risk: str = "high") -> Manifest:
    from dataclasses import replace

    return replace(a_skill("pay", *tools), permissions=Permissions(risk_level=risk))


CATALOG = SkillCatalog([a_skill("look", LOOK), risky(PAY, PAY_2)])
VALUE = {"order": "o-1"}


class Script:
    """An agent that makes the same calls each time; what it got back is its result."""

    def __init__(self, *calls: tuple[SkillTool, dict[str, Any]]) -> None:
        self._calls = calls
        self.begun = 0

    async def perform(self, _assignment: Assignment, call_tool: Any, _observe: Any) -> Report:
        self.begun += 1
        got = []
        for tool, arguments in self._calls:
            try:
                got.append((await call_tool(tool, arguments)).data)
            except ToolsError as error:
                raise TaskError(error.code, str(error)) from error
        return Report(data=got, summary="done", metrics={"llm_calls": 1})


PLAIN = [(LOOK, VALUE), (PAY, VALUE)]


def bound(**more: Any) -> dict[str, Any]:
    names = {"agent_template_ref": {"name": "any"}, "skills": ["look", "pay"]}
    binding = {**names, **more.pop("binding", {})}
    return {"Type": "Task", "AgentBinding": binding, **more}


async def begin(
    stage: Stage,
    definition: dict[str, Any] | None = None,
    *,
    calls: Sequence[tuple[SkillTool, dict[str, Any]]] = tuple(PLAIN),
    runtime: TaskPerformer | None = None,
    policy: Policy | None = None,
    workers: int = 1,
) -> Tools:
    """Start a run on ``workers``; its toolbox."""
    tools = Tools()
    for number in range(workers):
        agents = SkilledAgents(
            CATALOG,
            tools,  # type: ignore[arg-type]
            runtime or Script(*calls),
            stage.store,
            policy=policy,
        )
        stage.worker(agents=agents, name=f"w{number}")
    document = document_of(definition or flow(A=bound()), catalog=CATALOG)
    await submit(stage.store, document, VALUE, workflow_id=RUN, catalog=CATALOG)
    return tools


async def waits(stage: Stage, path: str = "A") -> StateDocument:
    """The state, once it waits for approval."""
    async with asyncio.timeout(60):
        while True:
            found = (await stage.store.states(RUN, [path])).get(path)
            if found is not None and found.status == "waiting" and found.wait == "approval":
                return found
            await asyncio.sleep(0.05)


async def decide(stage: Stage, decision: Any = "approve", **more: Any) -> None:
    await decide_approval(stage.store, RUN, decision=decision, **{"by": "operator", **more})


async def told(stage: Stage, *types: str) -> list[dict[str, Any]]:
    events = [event.event async for event in history.read(stage.store, RUN)]
    return [event for event in events if event["type"] in types]


def keys(tools: Tools) -> list[str]:
    return [f"{call['tool']} {call['idempotency_key']}" for call in tools.calls]
