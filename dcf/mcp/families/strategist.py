"""The Strategist: who advises a conductor, what it reads, what it publishes, when it is asked."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from dcf.advisors.strategist import LABEL, InvalidStrategistGuidelines
from dcf.agents import TaskError
from dcf.mcp.envelope import BadArguments, Envelope, Refused
from dcf.mcp.help import NoEffect, Obvious, Rare
from dcf.mcp.kinds import SessionId
from dcf.mcp.platform import Platform
from dcf.mcp.strategist_desk import block_ids, check_known, check_place, tell_strategist
from dcf.mcp.tool import tool
from dcf.sessions.guidance import REASONS, Reason, analysis_event
from dcf.sessions.guidance import REGISTRATION as REGISTRATION_BLOCK

ConductorAgentId = Annotated[str, Obvious("Who conducts the session.")]
_BY = "mcp"
_LOG = "delegation_log"


def _reason(given: Any) -> Any:
    if isinstance(given, str) and given not in REASONS:
        near = get_close_matches(given, REASONS, n=1, cutoff=0.5)
        nearest = f"; nearest: {near[0]}" if near else ""
        raise ValueError(f"is none of {', '.join(REASONS)}{nearest}")
    return given


class StrategistRegistered(Envelope, total=False):
    """A conductor and its Strategist."""

    conductor_agent_id: Annotated[str, Field(description="The conductor.")]
    strategist_agent_id: Annotated[str, Field(description="Its Strategist.")]
    registration_block_id: Annotated[str | None, Field(description="Block that says so.")]
    guidelines_block_id: Annotated[str | None, Field(description="Block of the guidelines.")]
    delegation_log_block_id: Annotated[str | None, Field(description="Block of delegations.")]
    revision: Annotated[int, Field(description="That of the guidelines.")]


class Analysis(Envelope, total=False):
    """What a session shows; status is analysed, or unchanged: nothing ended since."""

    session_id: Annotated[str, Field(description="Id of the session.")]
    conductor_agent_id: Annotated[str, Field(description="Its conductor.")]
    strategist_agent_id: Annotated[str | None, Field(description="Who was told, if anybody.")]
    message_sent: Annotated[bool, Field(description="Whether the message is on its way.")]
    run_id: Annotated[str | None, Field(description="Id of the message, for its answer.")]
    text: Annotated[str | None, Field(description="The answer, where it was waited for.")]
    outcomes: Annotated[int, Field(description="Tasks that were worked at to their end.")]
    findings: Annotated[
        list[dict[str, Any]],
        Field(
            description="What is sure: {id, kind, subject, value, text, observations, confidence, "
            "low, high, tasks}."
        ),
    ]
    changes: Annotated[
        list[dict[str, Any]], Field(description="Of the guidelines: {what, text, why, id}.")
    ]
    revision: Annotated[int, Field(description="That of the guidelines.")]
    health: Annotated[dict[str, Any], Field(description="State, counts, oldest wait (ms).")]
    load: Annotated[dict[str, Any], Field(description="Companions, and how many are needed.")]
    patterns: Annotated[int, Field(description="How many are kept in the graph.")]


class Activity(Envelope, total=False):
    """What happened in a session; a partial result is no success."""

    session_id: Annotated[str, Field(description="Id of the session.")]
    revision: Annotated[int, Field(description="Of the session.")]
    session_state: Annotated[str, Field(description="active, paused, completing, …")]
    session_context: Annotated[dict[str, Any], Field(description="What all share.")]
    delegations: Annotated[list[dict[str, Any]], Field(description="The last 50.")]
    left_out: Annotated[int, Field(description="Delegations before those.")]
    companions: Annotated[
        list[dict[str, Any]],
        Field(
            description="{companion_id, companion_name, specialization, status, current_task, "
            "tasks_completed, tasks_failed, tasks_partial, skills_used, task_history, "
            "loaded_skills}."
        ),
    ]
    skill_metrics: Annotated[
        dict[str, Any],
        Field(
            description="By skill: {usage_count, success_count, failure_count, partial_count, "
            "cancelled_count, pending_count, avg_duration_s, success_rate (%), failure_modes}."
        ),
    ]
    metrics: Annotated[
        dict[str, Any],
        Field(
            description="{companion_count, idle_companions, busy_companions, error_companions, "
            "total_delegations, completed_tasks, failed_tasks, partial_tasks, cancelled_tasks, "
            "pending_tasks, success_rate (%), avg_task_duration_s, unique_skills_used, top_skills}."
        ),
    ]


class ConductorGuided(Envelope, total=False):
    """Guidelines as they are now; status is updated, or unchanged."""

    conductor_id: Annotated[str, Field(description="The conductor.")]
    guidelines_block_id: Annotated[str | None, Field(description="Block that shows them.")]
    updated_fields: Annotated[list[str], Field(description="What was written.")]
    revision: Annotated[int, Field(description="Grows with every change.")]
    guidelines: Annotated[dict[str, Any], Field(description="The whole document.")]


@tool("conductor", strict=True)
async def register_strategist(
    platform: Platform,
    conductor_agent_id: ConductorAgentId,
    strategist_agent_id: Annotated[str, Obvious("The Strategist.")],
    initial_guidelines_json: Annotated[str | None, Obvious("Guidelines to begin with.")] = None,
    approval_token: Annotated[str | None, "Replaces another."] = None,
) -> StrategistRegistered:
    """Let an agent advise a conductor."""
    guidance = platform.guidance
    present = (await guidance.of(conductor_agent_id)).strategist_id
    await check_place(platform, conductor_agent_id, present, strategist_agent_id, approval_token)
    try:
        found = await guidance.register(
            conductor_agent_id, strategist_agent_id, initial_json=initial_guidelines_json
        )
    except InvalidStrategistGuidelines as invalid:
        raise BadArguments(invalid.problems) from invalid
    labels = (REGISTRATION_BLOCK, LABEL, _LOG)
    ids, warnings = await block_ids(platform, conductor_agent_id, labels)
    return {
        "status": "registered",
        "conductor_agent_id": conductor_agent_id,
        "strategist_agent_id": strategist_agent_id,
        "registration_block_id": ids[REGISTRATION_BLOCK],
        "guidelines_block_id": ids[LABEL],
        "delegation_log_block_id": ids[_LOG],
        "revision": found.revision,
        "warnings": [*found.warnings, *warnings],
    }


@tool("conductor", "strategist")
async def trigger_strategist_analysis(
    platform: Platform,
    session_id: SessionId,
    conductor_agent_id: ConductorAgentId,
    trigger_reason: Annotated[Reason, Obvious("Why."), BeforeValidator(_reason)] = "periodic",
    tasks_since_last_analysis: Annotated[int | None, NoEffect("The session knows.")] = None,
    recent_failures: Annotated[int | None, NoEffect("The session knows.")] = None,
    include_full_history: Annotated[bool, "Send it the last delegations too."] = False,
    async_message: Annotated[bool, Obvious("Without waiting.")] = True,
    max_steps: Annotated[int | None, NoEffect("The agent's own limits hold.")] = None,
) -> Analysis:
    """Analyse a session, publish guidelines, tell the Strategist."""
    guidance = platform.guidance
    before = await guidance.activity(session_id)
    analysed = await guidance.analyse(session_id, conductor_agent_id, reason=trigger_reason, by=_BY)
    event = analysis_event(
        before, analysed, conductor_agent_id, trigger_reason, full=include_full_history
    )
    fields = analysed.to_json()
    is_new = fields.pop("is_new")
    sent, warnings = await _told(
        platform, conductor_agent_id, event if is_new else None, async_message=async_message
    )
    return {
        **fields,  # type: ignore[typeddict-item]
        **sent,
        "status": "analysed" if is_new else "unchanged",
        "conductor_agent_id": conductor_agent_id,
        "warnings": [*analysed.warnings, *warnings],
    }


@tool("conductor", "strategist")
async def read_session_activity(
    platform: Platform,
    session_id: SessionId,
    conductor_id: Annotated[str | None, NoEffect("The session knows.")] = None,
    session_context_block_id: Annotated[str | None, NoEffect("The session knows.")] = None,
    include_companion_details: Annotated[bool, Rare("The companions.")] = True,
    include_task_history: Annotated[bool, Rare("The delegations.")] = True,
    include_skill_metrics: Annotated[bool, Rare("The skills.")] = True,
) -> Activity:
    """Read what happened in a session, with what was counted."""
    activity = await platform.guidance.activity(session_id)
    found = activity.to_json(
        include_companion_details=include_companion_details,
        include_task_history=include_task_history,
        include_skill_metrics=include_skill_metrics,
    )
    return {"status": "read", **found}  # type: ignore[typeddict-item]


@tool("strategist", strict=True)
async def update_conductor_guidelines(
    platform: Platform,
    conductor_id: ConductorAgentId,
    guidelines_json: Annotated[str | None, "Replaces all."] = None,
    recommendation: Annotated[str | None, Obvious("One more.")] = None,
    skill_preferences_json: Annotated[str | None, "Task type to skill; merged."] = None,
    companion_scaling_json: Annotated[str | None, Obvious("Merged.")] = None,
    clear_guidelines: Annotated[bool, Obvious("Begin anew.")] = False,
    model_selection_json: Annotated[str | None, Obvious("Merged.")] = None,
    companion_preferences_json: Annotated[
        str | None, "Task type to specialization; merged."
    ] = None,
) -> ConductorGuided:
    """Tell a conductor what to heed, as your word: analyses measure."""
    await check_known(platform, conductor_id)
    try:
        updated = await platform.guidance.update(
            conductor_id,
            by=_BY,
            guidelines_json=guidelines_json,
            recommendation=recommendation,
            skill_preferences_json=skill_preferences_json,
            companion_preferences_json=companion_preferences_json,
            companion_scaling_json=companion_scaling_json,
            model_selection_json=model_selection_json,
            clear_guidelines=clear_guidelines,
        )
    except InvalidStrategistGuidelines as invalid:
        raise BadArguments(invalid.problems) from invalid
    if not updated.fields:
        raise Refused("bad_arguments", "there is nothing to publish", hint="say a recommendation")
    ids, _ = await block_ids(platform, conductor_id, (LABEL,))
    return {
        "status": "updated",
        "conductor_id": conductor_id,
        "guidelines_block_id": ids[LABEL],
        "updated_fields": list(updated.fields),
        "revision": updated.guidelines.revision,
        "guidelines": updated.guidelines.to_json(),
        "warnings": [
            *(f"no room for {one}" for one in updated.dropped),
            *(f"{one} is ignored beside a stronger argument" for one in updated.ignored),
        ],
    }


async def _told(
    platform: Platform, conductor_id: str, event: dict[str, Any] | None, *, async_message: bool
) -> tuple[dict[str, Any], list[str]]:
    """What became of the message, and what is doubtful about it: that nobody was told takes nothing
    away from what was found. Without an ``event`` nobody is."""
    strategist_id = (await platform.guidance.of(conductor_id)).strategist_id
    sent: dict[str, Any] = {
        "strategist_agent_id": strategist_id,
        "message_sent": False,
        "run_id": None,
        "text": None,
    }
    if strategist_id is None or event is None:
        return sent, []
    try:
        told = await tell_strategist(
            platform, strategist_id, conductor_id, event, async_message=async_message
        )
    except TaskError as failed:
        return sent, [f"the Strategist was not told: {failed}"]
    if told is None:
        return sent, [f"{strategist_id} is no agent here: nobody was told"]
    run_id, text = told
    return {**sent, "message_sent": True, "run_id": run_id, "text": text}, []


FAMILY = (
    register_strategist,
    trigger_strategist_analysis,
    read_session_activity,
    update_conductor_guidelines,
)
