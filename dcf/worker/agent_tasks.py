"""Tasks done by agents: skills are loaded, tools go through the gate, the report comes back."""

from __future__ import annotations

import logging

from control_plane.payload import JSON
from dcf.agents import AgentRuntime, Assignment, TaskError, TurnEvent
from dcf.skills import Manifest, SkillCatalog, SkillTool, UnknownSkill
from dcf.tools import Gate, Toolbox, ToolResult
from dcf.worker.performer import Beat
from dcf.workflow import Failed, Outcome, Succeeded, Task

log = logging.getLogger(__name__)

# A call without a Task limit of its own still ends.
_TOOL_TIMEOUT_S = 60.0


class SkilledAgents:
    """Performs Tasks that carry an AgentBinding.

    The skills of the binding are loaded for this Task alone and only as the run was submitted with
    them; nothing but what they declare can be called. Tool calls carry
    ``{workflow_id}/{path}/{visit}/{try}/{call}`` as idempotency key and the fence beside it.
    """

    def __init__(self, catalog: SkillCatalog, toolbox: Toolbox, runtime: AgentRuntime) -> None:
        self._catalog = catalog
        self._toolbox = toolbox
        self._runtime = runtime

    async def perform(self, task: Task, beat: Beat) -> Outcome:
        """The outcome of ``task``."""
        binding = task.state.binding or {}
        try:
            skills = self._load(binding.get("skills", ()), task.run.pins)
        except UnknownSkill as unknown:
            return Failed("DCF.SkillUnavailable", str(unknown))
        except ChangedSkill as changed:
            return Failed("DCF.SkillUnavailable", str(changed))
        gate = Gate(
            (tool.server_id, tool.tool_name, skill.manifest_id)
            for skill in skills
            for tool in skill.tools
        )
        made = 0

        async def call_tool(tool: SkillTool, arguments: dict[str, JSON]) -> ToolResult:
            nonlocal made
            gate.check(tool.server_id, tool.tool_name)
            number, made = made, made + 1
            return await self._toolbox.call(
                tool.server_id,
                tool.tool_name,
                arguments,
                idempotency_key=f"{task.lease.idempotency_key}/{number}",
                fence=task.lease.fence,
                timeout_s=task.timeout_s or _TOOL_TIMEOUT_S,
            )

        def observe(_event: TurnEvent) -> None:
            beat()

        assignment = Assignment(
            state=task.state.name,
            instructions=task.state.comment,
            input=task.arguments,
            skills=skills,
            tool_name=binding.get("tool_name"),
        )
        try:
            report = await self._runtime.perform(assignment, call_tool, observe)
        except TaskError as error:
            return Failed(error.error, error.cause, {"tool_calls": made})
        metrics = {**report.metrics, "model": report.model}
        return Succeeded(report.data, report.summary, list(report.artifacts), metrics)

    def _load(self, refs: list[str], pins: dict[str, str]) -> tuple[Manifest, ...]:
        skills = tuple(self._catalog.resolve(ref) for ref in refs)
        for skill in skills:
            # A run that was submitted without a catalog pins nothing.
            if pins and pins.get(skill.manifest_id) != skill.digest:
                raise ChangedSkill(skill.manifest_id)
        return skills


class ChangedSkill(Exception):
    """A skill is not the one that the run was submitted with."""

    def __init__(self, manifest_id: str) -> None:
        super().__init__(
            f"{manifest_id} has changed since the run was submitted; restore it, or submit again"
        )
