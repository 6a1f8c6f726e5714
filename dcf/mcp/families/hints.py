"""Telling workers what is ready. Documents are the truth: whoever misses a hint loses nothing."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from control_plane import StateDocument, assigned, split_path
from dcf.mcp.envelope import Envelope, Refused
from dcf.mcp.external_work import external_of
from dcf.mcp.help import NoEffect, Obvious, Rare
from dcf.mcp.kinds import RunId, StatePath
from dcf.mcp.platform import Platform
from dcf.mcp.tool import tool
from dcf.workflow import External, needs_work

_SKIPPED = ("running", "succeeded", "done", "failed", "skipped")
_BY = "dcf-mcp"


class Notified(Envelope, total=False):
    """Which states workers were told about."""

    workflow_id: Annotated[str, Field(description="Id of the run.")]
    source_state: Annotated[str | None, Field(description="The state that was named.")]
    targets: Annotated[
        list[dict[str, Any]],
        Field(
            description="{state, agent_id, sent, skipped_not_ready, reason, message_id, run_id, "
            "error} of each state."
        ),
    ]


class NotifiedOne(Envelope, total=False):
    """Whether workers were told about a state."""

    workflow_id: Annotated[str, Field(description="Id of the run.")]
    state: Annotated[str, Field(description="The state's path.")]
    ready: Annotated[bool, Field(description="Whether it can be leased.")]
    skipped: Annotated[bool, Field(description="Whether nobody was told.")]
    skip_reason: Annotated[str | None, Field(description="Why not.")]
    agent_id: Annotated[str | None, Field(description="The agent it is assigned to.")]
    message_id: Annotated[str | None, Field(description="Always null: a hint has no id.")]
    run_id: Annotated[str | None, Field(description="Always null.")]


@tool("planner", "worker")
async def notify_next_worker_agent(
    platform: Platform,
    workflow_id: RunId,
    source_state: Annotated[StatePath | None, "Tell those after it; else all."] = None,
    reason: Annotated[str | None, NoEffect("Not needed.")] = None,
    payload_json: Annotated[Any, NoEffect("Not needed: input stands in the documents.")] = None,
    include_only_ready: Annotated[bool, Rare("Leave out what is not ready.")] = True,
    message_role: Annotated[str, NoEffect("Not needed.")] = "system",
    async_message: Annotated[bool, NoEffect("Always so.")] = False,
    max_steps: Annotated[int | None, NoEffect("Not needed.")] = None,
) -> Notified:
    """Hint workers at the states that are ready, and list them. Never required: workers find them
    by themselves."""
    external = await external_of(platform, workflow_id)
    run = await external.store.run(workflow_id)
    ready = {one.path: one for one in await external.nudge(workflow_id, owner=_BY)}
    named = await _targets(external, workflow_id, source_state, list(ready))
    agents = {**run.raw["agents"], **await assigned(external.store, workflow_id)}
    targets = []
    for path in named:
        is_ready = path in ready
        if is_ready:
            await external.hint(workflow_id, path)
        elif include_only_ready and source_state is None:
            continue
        targets.append(
            {
                "state": path,
                "agent_id": agents.get(str(split_path(path)[-1])),
                "sent": is_ready,
                "skipped_not_ready": not is_ready,
                "reason": None if is_ready else "not_ready",
                "message_id": None,
                "run_id": None,
                "error": None,
            }
        )
    return {
        "status": "notified",
        "workflow_id": workflow_id,
        "source_state": source_state,
        "targets": targets,
    }


@tool("planner", "worker")
async def notify_if_ready(
    platform: Platform,
    workflow_id: RunId,
    state: StatePath,
    reason: Annotated[str | None, NoEffect("Not needed.")] = None,
    payload_json: Annotated[Any, NoEffect("Not needed.")] = None,
    require_ready: Annotated[bool, NoEffect("Always so.")] = True,
    skip_if_status_in_json: Annotated[list[str] | None, Obvious("Statuses to leave alone.")] = None,
    message_role: Annotated[str, NoEffect("Not needed.")] = "system",
    async_message: Annotated[bool, NoEffect("Always so.")] = False,
    max_steps: Annotated[int | None, NoEffect("Not needed.")] = None,
) -> NotifiedOne:
    """Hint workers at one state if it is ready."""
    external = await external_of(platform, workflow_id)
    await external.nudge(workflow_id, owner=_BY)
    document = (await external.store.states(workflow_id, [state])).get(state)
    agents = await assigned(external.store, workflow_id)
    echo: dict[str, Any] = {
        "workflow_id": workflow_id,
        "state": state,
        "agent_id": agents.get(state),
        "message_id": None,
        "run_id": None,
    }
    if document is None:
        raise Refused(
            "unknown_state", "the run has no such state",
            **echo, ready=False, skipped=True, skip_reason="state_missing",
        )  # fmt: skip
    skipped = skip_if_status_in_json if skip_if_status_in_json is not None else list(_SKIPPED)
    why = _why_not(document, skipped)
    if why is None:
        await external.hint(workflow_id, state)
    answer: NotifiedOne = {
        "status": _status(why),
        **echo,  # type: ignore[typeddict-item]
        "ready": document.status == "ready",
        "skipped": why is not None,
        "skip_reason": why,
    }
    return answer


def _why_not(document: StateDocument, skipped: list[str]) -> str | None:
    if document.status in skipped:
        return f"status_in_skip_list:{document.status}"
    return None if document.status == "ready" and needs_work(document) else "upstream_incomplete"


def _status(why: str | None) -> str:
    if why is None:
        return "notified"
    return "not_ready" if why == "upstream_incomplete" else "skipped"


async def _targets(
    external: External, workflow_id: str, source: str | None, ready: list[str]
) -> list[str]:
    if source is None:
        return ready
    deps = (await external.store.run(workflow_id)).raw["deps"]
    return list(deps.get(source, {}).get("downstream", []))


FAMILY = (notify_next_worker_agent, notify_if_ready)
