"""Telling the Reflector that a run is over."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from control_plane import RunDocument, Store
from dcf.advisors.errors import NotJson, NotRegistered, RunNotOver
from dcf.advisors.reflector.desk import reflector_of
from dcf.agents import AgentRuntime
from dcf.guidelines import iso
from dcf.workflow import Tally, is_earlier

TIMEOUT_S = 3_600
_PAGE = 500


@dataclass(frozen=True, slots=True)
class ReflectionTriggered:
    """``run_id`` is the message's id, by which the answer is read; ``text`` the answer, if it was
    waited for."""

    workflow_id: str
    planner_agent_id: str
    reflector_agent_id: str
    message_sent: bool
    run_id: str
    event: Mapping[str, Any]
    text: str | None
    warnings: tuple[str, ...]


async def trigger_reflection(
    runtime: AgentRuntime,
    store: Store,
    workflow_id: str,
    planner_agent_id: str,
    *,
    final_status: str | None = None,
    execution_summary_json: str | None = None,
    async_message: bool = True,
    timeout_s: float = TIMEOUT_S,
    now: int,
) -> ReflectionTriggered:
    """Send a ``reflection_event`` about the run to the Planner's Reflector: kept and delivered at
    least once, or, without ``async_message``, answered when this returns.

    Raises as ``reflection_event`` and ``send_reflection``.
    """
    event = await reflection_event(
        store,
        workflow_id,
        planner_agent_id,
        execution_summary_json=execution_summary_json,
        now=now,
    )
    sent = await send_reflection(
        runtime, planner_agent_id, event, async_message=async_message, timeout_s=timeout_s
    )
    return replace(sent, warnings=status_warnings(event, final_status))


async def reflection_event(
    store: Store,
    workflow_id: str,
    planner_agent_id: str,
    *,
    execution_summary_json: str | None = None,
    now: int,
) -> dict[str, Any]:
    """What a Reflector is told of a run that is over, from its documents;
    ``execution_summary_json`` is added to what is counted here. Raises UnknownRun, RunNotOver,
    NotJson."""
    said = _summary(execution_summary_json)
    run = await store.run(workflow_id)
    if not run.is_over:
        raise RunNotOver(workflow_id=workflow_id, status=run.status)
    return {
        "type": "reflection_event",
        "workflow_id": workflow_id,
        "workflow_name": run.name,
        "final_status": run.status,
        "planner_agent_id": planner_agent_id,
        "summary": {**said, **await _counted(store, run)},
        "finalized_at": iso(run.finalized_at or run.finished_at or now),
        "control_plane": {"meta_key": store.keys(workflow_id).meta},
    }


async def send_reflection(
    runtime: AgentRuntime,
    planner_agent_id: str,
    event: Mapping[str, Any],
    *,
    async_message: bool = True,
    timeout_s: float = TIMEOUT_S,
) -> ReflectionTriggered:
    """Send ``event`` to the Planner's Reflector. Raises UnknownAgent, NotRegistered, and TaskError
    if the turn fails."""
    reflector = await reflector_of(runtime, planner_agent_id)
    if reflector is None:
        raise NotRegistered(planner=planner_agent_id)
    message = json.dumps(event, ensure_ascii=False)
    text = None
    if async_message:
        receipt = await runtime.send_async(
            reflector, message, sender=planner_agent_id, timeout_s=timeout_s
        )
        run_id = receipt.id
    else:
        reply = await runtime.send(reflector, message, sender=planner_agent_id)
        run_id, text = reply.correlation_id, reply.text
    workflow_id = str(event["workflow_id"])
    return ReflectionTriggered(
        workflow_id, planner_agent_id, reflector, True, run_id, event, text, ()
    )


def status_warnings(event: Mapping[str, Any], final_status: str | None) -> tuple[str, ...]:
    """What the documents say holds: an end that they do not have is a warning."""
    found = event["final_status"]
    if final_status is None or final_status == found:
        return ()
    return (f"final_status is {found}, not {final_status}",)


def _summary(text: str | None) -> dict[str, Any]:
    if text is None or not text.strip():
        return {}
    try:
        value = json.loads(text)
    except ValueError as wrong:
        raise NotJson(what="execution_summary_json", wanted="a JSON object", why=wrong) from wrong
    if not isinstance(value, dict):
        raise NotJson(what="execution_summary_json", wanted="a JSON object", why=text[:80])
    return value


async def _counted(store: Store, run: RunDocument) -> dict[str, int]:
    tally = Tally()
    paths = await store.paths(run.workflow_id)
    for at in range(0, len(paths), _PAGE):
        found = await store.states(run.workflow_id, paths[at : at + _PAGE])
        earlier = [document for path, document in found.items() if is_earlier(path)]
        tally.add(earlier, earlier=True)
        current = [document for path, document in found.items() if not is_earlier(path)]
        tally.add(current, earlier=False)
    states = tally.states
    return {
        "total": states.total(),
        "succeeded": states["done"],
        "failed": states["failed"],
        "cancelled": states["cancelled"],
        "pending": states["pending"],
        "running": states["running"],
        "skipped": states["skipped"],
    }
