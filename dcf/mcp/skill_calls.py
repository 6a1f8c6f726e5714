"""Tool calls of those outside: of an agent by itself, or under a lease that it holds. Both go
through the one gate."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from control_plane import AgentStore, BadName, Lease, Refusal
from dcf.agents.loading import (
    CallUnderWay,
    NamedCallLedger,
    NamedOtherwise,
    agent_grants,
    loaded_skills,
)
from dcf.mcp.envelope import Refused
from dcf.mcp.external_work import external_of, refused
from dcf.mcp.platform import Platform
from dcf.mcp.rules import Rules
from dcf.mcp.task_notes import call_notes
from dcf.skills import Manifest, UnknownSkill
from dcf.tools import (
    ApprovalRequest,
    ApprovalRequired,
    Budget,
    Dispatcher,
    Grant,
    ToolResult,
)
from dcf.worker import (
    CallsOpen,
    ChangedSkill,
    ExternalLedger,
    LeaseLost,
    OtherCall,
    SkillGates,
    budgets_of,
    keep_in,
)
from dcf.workflow import AwaitingApproval, External

DEFAULT_TIMEOUT_S = 60.0
_AGAIN = "calls are open, ask again when they are answered"


@dataclass(frozen=True, slots=True)
class Order:
    """One call: ``tool`` as ``server:tool``, or by its name alone where that is clear. The same
    ``call_id`` again (of an agent, or under one lease) is the same call, with the same answer."""

    agent_id: str
    tool: str
    arguments: dict[str, Any]
    timeout_s: float
    call_id: str


async def call_for_agent(platform: Platform, order: Order) -> ToolResult:
    """A call of an agent outside runs.

    Raises UnknownAgent, ToolsError, Refused.
    """
    agents = AgentStore(platform.backend)
    rules = await platform.skills.rules()
    grants = await agent_grants(agents, order.agent_id)
    budget = rules.policy.budgets.get("agent", Budget())
    ledger = await NamedCallLedger.open(
        agents,
        order.agent_id,
        session=order.call_id,
        budget=budget,
        timeout_s=order.timeout_s,
    )
    server, tool = _named(order.tool, _names_of(grants), rules)
    dispatcher = Dispatcher(rules.gate(grants), await platform.toolbox(), ledger)
    try:
        return await dispatcher.call(server, tool, order.arguments, timeout_s=order.timeout_s)
    except ApprovalRequired as asked:
        hint = "call again with this call_id when it is decided"
        raise _asks(asked.request, hint, call_id=order.call_id) from None
    except NamedOtherwise as error:
        raise Refused("bad_arguments", f"call_id: {error}") from None
    except CallUnderWay as error:
        raise Refused("calls_open", str(error), hint=_AGAIN) from None
    finally:
        await ledger.close()


async def call_under_lease(
    platform: Platform, order: Order, workflow_id: str, path: str, token: str
) -> ToolResult:
    """A call under a lease: skills of the Task that the agent has loaded, and the tools for the
    memory of the Task, if it has one. When somebody has to approve it the lease ends, and the state
    waits.

    Raises Refused, LeaseLost, ToolsError.
    """
    external = await external_of(platform, workflow_id)
    found = await external.work_on(workflow_id, path, token)
    if isinstance(found, Refusal):
        document = (await external.store.states(workflow_id, [path])).get(path)
        raise await refused(external.store, found, document, workflow_id=workflow_id, state=path)
    task = found.task
    if order.agent_id != task.lease.owner:
        raise Refused(
            "owner_mismatch",
            f"{path} is held by {task.lease.owner}: only the skills that it has loaded count",
            workflow_id=workflow_id,
            state=path,
        )
    rules = await platform.skills.rules()
    binding = task.state.binding or {}
    skills = _skills(rules.skills, binding.get("skills", ()), task.run.pins)
    names = _tools_of(skills)
    if order.tool not in names:
        noted = await call_notes(
            platform, external.store, task, order.tool, order.arguments, order.call_id
        )
        if noted is not None:
            return noted
    active = await _loaded(platform, order.agent_id)
    # By digest: what an agent loaded under the name of another skill is not that skill.
    loaded = [skill for skill in skills if active.get(skill.manifest_id) == skill.digest]
    of_try, of_run = budgets_of(binding, task.run.budget, rules.policy)
    timeout_s = min(order.timeout_s, task.timeout_s or order.timeout_s)
    ledger = await ExternalLedger.open(
        external.store,
        task.lease,
        of_try=of_try,
        of_run=of_run,
        name=order.call_id,
        timeout_s=timeout_s,
    )
    server, tool = _named(order.tool, names, rules)
    dispatcher = Dispatcher(
        rules.skills.gate(loaded),
        await platform.toolbox(),
        ledger,
        keep=keep_in(external.store, workflow_id),
    )
    try:
        return await dispatcher.call(server, tool, order.arguments, timeout_s=timeout_s)
    except ApprovalRequired as asked:
        await _wait(external, task.lease, asked.request, ledger)
        raise _asks(
            asked.request,
            "acquire the state again when it is ready; calls made before are answered as before",
        ) from None
    except OtherCall as error:
        raise Refused("bad_arguments", f"call_id: {error}") from None
    except CallsOpen as error:
        raise Refused("calls_open", str(error), hint=_AGAIN) from None
    finally:
        await ledger.close()


async def _wait(
    external: External, lease: Lease, request: ApprovalRequest, ledger: ExternalLedger
) -> None:
    """End the lease: the state waits until somebody decides."""
    journal, granted = await ledger.whole()
    outcome = AwaitingApproval(request, journal=journal, granted=granted)
    answer = await external.finish(lease.workflow_id, lease.path, lease.token, outcome)
    if isinstance(answer, Refusal):
        raise LeaseLost(answer.code)


def _asks(request: ApprovalRequest, hint: str, **more: Any) -> Refused:
    tool = f"{request.server_id}:{request.tool_name}"
    return Refused(
        "approval_required",
        f"{request.approver} is asked whether {tool} may be called: {request.reason}",
        hint=hint,
        approval=request.to_document(),
        **more,
    )


def _skills(gates: SkillGates, refs: Iterable[str], pins: dict[str, str]) -> tuple[Manifest, ...]:
    try:
        skills = gates.load(list(refs), pins)
        return (*skills, *gates.needed_by(skills, pins))
    except (UnknownSkill, ChangedSkill) as error:
        raise Refused("skill_unavailable", str(error)) from error


async def _loaded(platform: Platform, agent_id: str) -> dict[str, str]:
    """What an agent has loaded: manifest id to digest; nothing for one without a record."""
    agents = AgentStore(platform.backend)
    try:
        if await agents.get(agent_id, ()) is None:
            return {}
    except BadName as error:
        raise Refused("bad_arguments", f"agent_id: {error}") from error
    active = await loaded_skills(agents, agent_id)
    return {name: entry["digest"] for name, entry in active.items()}


def _tools_of(skills: Iterable[Manifest]) -> dict[str, set[tuple[str, str]]]:
    """What declared and real names of tools may mean."""
    names: dict[str, set[tuple[str, str]]] = {}
    for skill in skills:
        for tool in skill.tools:
            target = tool.server_id, tool.tool_name
            for name in (tool.name, tool.tool_name):
                names.setdefault(name, set()).add(target)
    return names


def _names_of(grants: Iterable[Grant]) -> dict[str, set[tuple[str, str]]]:
    names: dict[str, set[tuple[str, str]]] = {}
    for grant in grants:
        names.setdefault(grant.tool_name, set()).add((grant.server_id, grant.tool_name))
    return names


def _named(tool: str, names: dict[str, set[tuple[str, str]]], rules: Rules) -> tuple[str, str]:
    """Server and tool that ``tool`` means. Raises Refused when it may mean several. What is not
    known goes to the gate, which refuses it on record."""
    found = names.get(tool, set())
    if len(found) == 1:
        return next(iter(found))
    if len(found) > 1:
        listed = " or ".join(sorted(":".join(one) for one in found))
        raise Refused("ambiguous_tool", f"{tool!r} is {listed}", hint="name server:tool")
    server, mark, name = tool.partition(":")
    if mark:
        return server, name
    known = [one.partition(":") for one in rules.declared if one.partition(":")[2] == tool]
    return (known[0][0], tool) if len(known) == 1 else ("", tool)
