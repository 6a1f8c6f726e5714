"""The Reflector: who advises a planner, what it may read, what it publishes, when it is asked."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from dcf import advisors
from dcf.agents import TaskError
from dcf.mcp.agent_life import agent_of
from dcf.mcp.approval_token import check_approval_token
from dcf.mcp.envelope import Envelope, Refused
from dcf.mcp.help import NoEffect, Obvious, Rare
from dcf.mcp.platform import Platform
from dcf.mcp.run_reflection import learn_from, run_or_file
from dcf.mcp.tool import tool
from dcf.workflow import iso

PlannerId = Annotated[str, Obvious("The planner.")]
Item = Annotated[str | None, Obvious("JSON object.")]


class ReflectorRegistered(Envelope, total=False):
    """A planner and its Reflector."""

    planner_agent_id: Annotated[str, Field(description="The planner.")]
    reflector_agent_id: Annotated[str, Field(description="Its Reflector.")]
    registration_block_id: Annotated[str, Field(description="Block that says so.")]
    guidelines_block_id: Annotated[str, Field(description="Block that both share.")]


class SharedBlocks(Envelope, total=False):
    """What a Reflector may read of its planner."""

    planner_agent_id: Annotated[str, Field(description="The planner.")]
    blocks: Annotated[
        list[dict[str, Any]], Field(description="{block_id, label, value, created_at, char_count}.")
    ]
    block_count: Annotated[int, Field(description="How many.")]


class GuidelinesWritten(Envelope, total=False):
    """Guidelines as they are now."""

    planner_agent_id: Annotated[str, Field(description="The planner.")]
    guidelines_block_id: Annotated[str, Field(description="Block that holds them.")]
    revision: Annotated[int, Field(description="Grows with every change.")]
    guidelines: Annotated[dict[str, Any], Field(description="The whole document.")]
    conflicts: Annotated[list[str], Field(description="Advice that contradicts other advice.")]


class Reflected(Envelope, total=False):
    """What a run taught; status is reflected, or sent where nothing was analysed."""

    workflow_id: Annotated[str, Field(description="The run.")]
    planner_agent_id: Annotated[str, Field(description="The planner.")]
    summary: Annotated[list[str], Field(description="What ended, and how it went.")]
    insights: Annotated[
        list[dict[str, Any]],
        Field(
            description="The surest: {id, category, condition, prefer, avoid, reason, confidence, "
            "severity, outcomes, workflows, runs, conflicts_with, published}."
        ),
    ]
    followed: Annotated[
        list[dict[str, Any]],
        Field(
            description="What became of earlier advice: {id, condition, prefer, offered, taken, "
            "succeeded, difference, low, high, verdict}."
        ),
    ]
    playbooks: Annotated[
        list[dict[str, Any]],
        Field(
            description="Failures seen before: {error, n, runs, playbook, pattern, resolution, "
            "owner, helped, failed, stale, score, why}."
        ),
    ]
    retracted: Annotated[list[str], Field(description="Ids of insights that hold no longer.")]
    conflicts: Annotated[list[str], Field(description="Advice that contradicts other advice.")]
    revision: Annotated[int, Field(description="That of the planner's guidelines.")]
    outcomes: Annotated[int, Field(description="How many finished tasks were analysed.")]
    reflector_agent_id: Annotated[str, Field(description="Who was told; may put it in words.")]
    message_sent: Annotated[bool, Field(description="Whether the message is on its way.")]
    run_id: Annotated[str, Field(description="Id of the message, by which its answer is read.")]
    event: Annotated[dict[str, Any], Field(description="What was sent, beside all this.")]
    text: Annotated[str | None, Field(description="The answer, where it was waited for.")]


@tool("planner", "reflector")
async def register_reflector(
    platform: Platform,
    planner_agent_id: PlannerId,
    reflector_agent_id: Annotated[str, Obvious("The Reflector.")],
    initial_guidelines_json: Annotated[str | None, Obvious("Guidelines to begin with.")] = None,
    approval_token: Annotated[str | None, "Replaces another."] = None,
) -> ReflectorRegistered:
    """Let an agent advise a planner."""
    home = await platform.home()
    await _check_place(platform, planner_agent_id, reflector_agent_id, approval_token)
    found = await advisors.register_reflector(
        home.runtime,
        planner_agent_id,
        reflector_agent_id,
        initial_guidelines_json=initial_guidelines_json,
        now=_now(platform),
    )
    return {
        "status": "registered",
        "planner_agent_id": found.planner_agent_id,
        "reflector_agent_id": found.reflector_agent_id,
        "registration_block_id": found.registration_block_id,
        "guidelines_block_id": found.guidelines_block_id,
        "warnings": list(found.warnings),
    }


@tool("reflector")
async def read_shared_memory_blocks(
    platform: Platform,
    planner_agent_id: PlannerId,
    reflector_agent_id: Annotated[str | None, Obvious("Who reads.")] = None,
    include_labels_json: Annotated[str | None, Obvious("JSON list.")] = None,
    exclude_labels_json: Annotated[str | None, Obvious("JSON list.")] = None,
    include_all: Annotated[bool, "All but what holds secrets."] = False,
) -> SharedBlocks:
    """Read what a planner shares with its Reflector."""
    home = await platform.home()
    found = await advisors.read_shared_memory_blocks(
        home.runtime,
        planner_agent_id,
        reflector_agent_id=reflector_agent_id,
        include_labels_json=include_labels_json,
        exclude_labels_json=exclude_labels_json,
        include_all=include_all,
    )
    blocks = [
        {
            "block_id": one.id,
            "label": one.label,
            "value": one.value,
            "created_at": iso(one.created_at),
            "char_count": len(one.value),
        }
        for one in found.blocks
    ]
    return {
        "status": "read",
        "planner_agent_id": found.planner_agent_id,
        "blocks": blocks,
        "block_count": len(blocks),
        "warnings": list(found.warnings),
    }


@tool("reflector", strict=True)
async def update_reflector_guidelines(
    platform: Platform,
    planner_agent_id: PlannerId,
    guidelines_json: Annotated[str | None, Obvious("Whole guidelines.")] = None,
    add_skill_recommendation: Item = None,
    add_workflow_pattern: Item = None,
    add_user_intent_tip: Item = None,
    add_warning: Item = None,
    add_model_selection: Item = None,
    add_insight: Item = None,
    merge_mode: Annotated[bool, "Beside what is there; else in its place."] = True,
    expected_revision: Annotated[int | None, Obvious("Revision that you saw.")] = None,
) -> GuidelinesWritten:
    """Tell planners what to heed, as your word: reflections measure. Above 0.7 sure, if you say how
    sure. Each add_ takes a JSON object."""
    given = (guidelines_json, add_skill_recommendation, add_workflow_pattern, add_user_intent_tip,
             add_warning, add_model_selection, add_insight)  # fmt: skip
    if not any(text and text.strip() for text in given):
        hint = "a JSON object in guidelines_json or in one that begins with add_"
        raise Refused("bad_arguments", "there is nothing to publish", hint=hint)
    home = await platform.home()
    found = await advisors.update_reflector_guidelines(
        home.runtime,
        planner_agent_id,
        guidelines_json=guidelines_json,
        add_skill_recommendation=add_skill_recommendation,
        add_workflow_pattern=add_workflow_pattern,
        add_user_intent_tip=add_user_intent_tip,
        add_warning=add_warning,
        add_model_selection=add_model_selection,
        add_insight=add_insight,
        merge_mode=merge_mode,
        expected_revision=expected_revision,
        now=_now(platform),
    )
    if not found.taken and found.warnings:
        raise Refused(
            "guidelines_not_taken",
            f"nothing of it was taken: {'; '.join(found.warnings)}",
            hint="mend what it says; the guidelines are as they were",
            revision=found.revision,
        )
    return {
        "status": "updated" if found.is_changed else "unchanged",
        "planner_agent_id": found.planner_agent_id,
        "guidelines_block_id": found.guidelines_block_id,
        "revision": found.revision,
        "guidelines": found.guidelines.to_json(),
        "conflicts": [one.words for one in found.conflicts],
        "warnings": list(found.warnings),
    }


@tool("planner")
async def trigger_reflection(
    platform: Platform,
    workflow_id: Annotated[str, "Run or file."],
    planner_agent_id: PlannerId,
    final_status: Annotated[str | None, NoEffect("The documents hold.")] = None,
    execution_summary_json: Annotated[str | None, Rare("JSON object.")] = None,
    async_message: Annotated[bool, Obvious("Without waiting.")] = True,
    max_steps: Annotated[int | None, NoEffect("Not needed.")] = None,
) -> Reflected:
    """Analyse an ended run and those before it, publish guidelines, tell the Reflector."""
    home = await platform.home()
    run = await run_or_file(platform, workflow_id, "workflow_id")
    workflow_id = run.document.workflow_id
    event = await advisors.reflection_event(
        run.store,
        workflow_id,
        planner_agent_id,
        execution_summary_json=execution_summary_json,
        now=_now(platform),
    )
    learned = await learn_from(platform, run, planner_agent_id)
    warnings = [*advisors.status_warnings(event, final_status), *learned.warnings]
    if max_steps is not None:
        warnings.append("max_steps is ignored: the agent's own limits hold")
    sent: dict[str, Any] = {"message_sent": False}
    try:
        done = await advisors.send_reflection(
            home.runtime,
            planner_agent_id,
            {**event, "analysis": learned.fields} if learned.fields else event,
            async_message=async_message,
        )
        sent = {
            "reflector_agent_id": done.reflector_agent_id,
            "message_sent": done.message_sent,
            "run_id": done.run_id,
            "text": done.text,
        }
    except (advisors.NotRegistered, TaskError) as untold:
        if not learned.fields:
            raise
        # What was learned is published and kept: that nobody was told of it takes nothing away.
        warnings.append(f"the Reflector was not told: {untold}")
    answer: Reflected = {
        "status": "reflected" if learned.fields else "sent",
        "workflow_id": workflow_id,
        "planner_agent_id": planner_agent_id,
        **learned.fields,  # type: ignore[typeddict-item]
        **sent,
        "event": event,
        "warnings": warnings,
    }
    return answer


async def _check_place(
    platform: Platform, planner_agent_id: str, wanted: str, token: str | None
) -> None:
    """The first Reflector of a planner is anybody's to name. Another one in its place decides what
    future plans are told: that takes the approval token, unless the present one is gone."""
    home = await platform.home()
    present = await advisors.reflector_of(home.runtime, planner_agent_id)
    if present is None or present == wanted or await agent_of(platform, present) is None:
        return
    try:
        check_approval_token(platform, token)
    except Refused as refused:
        message = f"{planner_agent_id} has the Reflector {present}: to replace it takes the token"
        raise Refused("reflector_registered", message, hint=refused.hint) from None


def _now(platform: Platform) -> int:
    return round(platform.clock() * 1000)


FAMILY = (
    register_reflector,
    read_shared_memory_blocks,
    update_reflector_guidelines,
    trigger_reflection,
)
