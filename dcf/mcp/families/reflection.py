"""The Reflector: who advises a planner, what it may read, what it publishes, when it is asked."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from dcf import advisors
from dcf.mcp.envelope import Envelope
from dcf.mcp.kinds import RunId
from dcf.mcp.platform import Platform
from dcf.mcp.tool import tool
from dcf.workflow import iso

PlannerId = Annotated[str, "The planner."]
Item = Annotated[str | None, "JSON object."]


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


class ReflectionSent(Envelope, total=False):
    """A reflection that was asked for."""

    workflow_id: Annotated[str, Field(description="The run.")]
    planner_agent_id: Annotated[str, Field(description="The planner.")]
    reflector_agent_id: Annotated[str, Field(description="Who reflects.")]
    message_sent: Annotated[bool, Field(description="Whether the message is on its way.")]
    run_id: Annotated[str, Field(description="Id of the message, by which its answer is read.")]
    event: Annotated[dict[str, Any], Field(description="What was sent.")]
    text: Annotated[str | None, Field(description="The answer, where it was waited for.")]


@tool("planner", "reflector")
async def register_reflector(
    platform: Platform,
    planner_agent_id: PlannerId,
    reflector_agent_id: Annotated[str, "The Reflector."],
    initial_guidelines_json: Annotated[str | None, "Guidelines to begin with."] = None,
) -> ReflectorRegistered:
    """Let an agent advise a planner."""
    home = await platform.home()
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
    reflector_agent_id: Annotated[str | None, "Who reads."] = None,
    include_labels_json: Annotated[str | None, "JSON list."] = None,
    exclude_labels_json: Annotated[str | None, "JSON list."] = None,
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
    guidelines_json: Annotated[str | None, "Whole guidelines."] = None,
    add_skill_recommendation: Item = None,
    add_workflow_pattern: Item = None,
    add_user_intent_tip: Item = None,
    add_warning: Item = None,
    add_model_selection: Item = None,
    add_insight: Item = None,
    merge_mode: Annotated[bool, "Beside what is there; else in its place."] = True,
    expected_revision: Annotated[int | None, "Revision that you saw."] = None,
) -> GuidelinesWritten:
    """Publish what planners should act on: more than 0.7 sure, shown by three workflows."""
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
    return {
        "status": "updated",
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
    workflow_id: RunId,
    planner_agent_id: PlannerId,
    final_status: Annotated[str | None, "The documents hold."] = None,
    execution_summary_json: Annotated[str | None, "JSON object."] = None,
    async_message: Annotated[bool, "Without waiting."] = True,
    max_steps: Annotated[int | None, "Not needed."] = None,
) -> ReflectionSent:
    """Hand a run that is over to the planner's Reflector."""
    home = await platform.home()
    found = await advisors.trigger_reflection(
        home.runtime,
        await platform.store_for(workflow_id),
        workflow_id,
        planner_agent_id,
        final_status=final_status,
        execution_summary_json=execution_summary_json,
        async_message=async_message,
        now=_now(platform),
    )
    warnings = list(found.warnings)
    if max_steps is not None:
        warnings.append("max_steps is ignored: the agent's own limits hold")
    return {
        "status": "sent",
        "workflow_id": found.workflow_id,
        "planner_agent_id": found.planner_agent_id,
        "reflector_agent_id": found.reflector_agent_id,
        "message_sent": found.message_sent,
        "run_id": found.run_id,
        "event": dict(found.event),
        "text": found.text,
        "warnings": warnings,
    }


def _now(platform: Platform) -> int:
    return round(platform.clock() * 1000)


FAMILY = (
    register_reflector,
    read_shared_memory_blocks,
    update_reflector_guidelines,
    trigger_reflection,
)
