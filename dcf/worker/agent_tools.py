"""Tool calls of agents in their own conversations, through the gate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from control_plane import AgentStore, BadName
from dcf.agents import ToolUse
from dcf.agents.loading import AgentLedger, recorded_grants, tool_names
from dcf.tools import (
    ApprovalRequired,
    Budget,
    Call,
    Dispatcher,
    PermissionDenied,
    ToolResult,
    ToolsError,
)
from dcf.worker.working_skills import WorkingSkills

JSON = Any

_TOOLS = "tools"
_TIMEOUT_S = 60.0


class ApprovalPending(ToolsError):
    """Somebody was asked whether a call may be made; the same call may be tried again later."""

    code = "DCF.ApprovalRequired"


class ToolFailed(ToolsError):
    """The tool itself reports an error. ``code`` is its name of it."""

    def __init__(self, result: ToolResult) -> None:
        super().__init__(result.text or "the tool reports an error")
        self.code = result.error or "DCF.ToolError"  # type: ignore[misc]


class AgentTools:
    """What agents call when they talk: the tools of the skills that they have loaded, out of what
    ``skills`` are at that moment, on the record of the agent and within its budget."""

    def __init__(self, agents: AgentStore, skills: WorkingSkills) -> None:
        self._agents = agents
        self._skills = skills

    async def use_of(self, agent_id: str) -> ToolUse | None:
        """How the agent calls its tools in the turn that begins; None if it has loaded none."""
        try:
            document = await self._agents.get(agent_id, (_TOOLS,))
        except BadName:
            return None
        if document is None or not document.record.get(_TOOLS):
            return None
        return _Turn(self._agents, self._skills, agent_id, self._agents.new_id()).use


@dataclass(slots=True)
class _Turn:
    """The calls of one turn; ``name`` is unguessable."""

    agents: AgentStore
    skills: WorkingSkills
    agent_id: str
    name: str
    made: int = 0

    async def use(self, tool: str, arguments: dict[str, JSON]) -> JSON:
        """The data of the tool's answer. Raises ToolsError."""
        document = await self.agents.get(self.agent_id, (_TOOLS,))
        tools = {} if document is None else document.record.get(_TOOLS) or {}
        place = tool_names(tools).get(tool)
        if place is None:
            raise PermissionDenied(
                "skill", tool, "no loaded skill declares it", sorted(tool_names(tools))
            )
        self.made += 1
        async with self.skills.in_use() as in_use:
            call = Call(*place, arguments)
            ledger = await _ledger(self, call, in_use.policy.budgets.get("agent", Budget()))
            gate = in_use.gates.gate_of(recorded_grants(tools))
            dispatcher = Dispatcher(gate, in_use.toolbox, ledger)
            try:
                result = await dispatcher.call(*place, arguments, timeout_s=_TIMEOUT_S)
            except ApprovalRequired as asked:
                raise ApprovalPending(
                    f"{asked.request.approver} is asked whether {tool} may be called with these "
                    "arguments; say so, and call it again when it is approved"
                ) from None
            finally:
                await ledger.close()
        if result.is_error:
            raise ToolFailed(result)
        return result.data if result.data is not None else result.text


class _CallLedger(AgentLedger):
    """The ledger of one call. Its session is what is called, so that an approval is found by the
    same call in a later turn; the key is of this very call."""

    key: str

    def idempotency_key(self, number: int) -> str:
        return self.key


async def _ledger(turn: _Turn, call: Call, budget: Budget) -> _CallLedger:
    ledger = await _CallLedger.open(
        turn.agents, turn.agent_id, session=f"conversation-{call.digest}", budget=budget
    )
    ledger.key = f"agent/{turn.agent_id}/{turn.name}/{turn.made}"
    # Nothing was done before the question that is to be done again after the answer.
    return ledger
