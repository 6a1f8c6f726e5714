"""Skills of an agent: loaded, unloaded, listed. Finding them is the family ``discovery``."""

from __future__ import annotations

from typing import Annotated, Any, cast

from pydantic import Field

from dcf.agents.loading import LoadChecks, attach_loaded, loaded_skills
from dcf.agents.loading import load_skill as load
from dcf.agents.loading import unload_skill as unload
from dcf.mcp.agent_life import by_tool, record_of
from dcf.mcp.arguments import Alias
from dcf.mcp.envelope import Envelope
from dcf.mcp.help import Obvious
from dcf.mcp.platform import Platform
from dcf.mcp.tool import tool

AgentId = Annotated[str, Obvious("Id of the agent.")]


class SkillLoaded(Envelope, total=False):
    """A skill that an agent has."""

    agent_id: Annotated[str, Field(description="The agent.")]
    manifest_id: Annotated[str, Field(description="The skill.")]
    revision: Annotated[int, Field(description="Revision of the agent's record.")]
    skills: Annotated[list[str], Field(description="What came with it, dependencies too.")]
    added: Annotated[
        dict[str, list[str]],
        Field(description="{memory_block_ids, tool_ids, data_block_ids} that are new."),
    ]
    trusted: Annotated[bool, Field(description="Whether it is as the catalog has it.")]
    directives: Annotated[str, Field(description="What the skill says how to do it.")]
    tools: Annotated[
        list[dict[str, Any]],
        Field(description="{tool, description, input_schema}, for call_skill_tool."),
    ]


class SkillUnloaded(Envelope, total=False):
    """A skill that an agent has no more."""

    agent_id: Annotated[str, Field(description="The agent.")]
    manifest_id: Annotated[str, Field(description="The skill.")]
    revision: Annotated[int, Field(description="Revision of the agent's record.")]
    skills: Annotated[list[str], Field(description="Skills that went.")]
    needed_by: Annotated[list[str], Field(description="Skills that keep it.")]
    removed_tool_ids: Annotated[list[str], Field(description="Tools that went.")]
    kept_tool_ids: Annotated[list[str], Field(description="Tools that others hold.")]
    removed_block_ids: Annotated[list[str], Field(description="Blocks that went.")]


class LoadedSkills(Envelope, total=False):
    """What an agent has loaded."""

    agent_id: Annotated[str, Field(description="The agent.")]
    active_skills: Annotated[
        dict[str, Any],
        Field(
            description="Manifest id to {skillName, skillVersion, digest, toolIds, requested,"
            " trusted…}."
        ),
    ]


@tool("worker", "companion", legacy="ok")
async def load_skill(
    platform: Platform,
    agent_id: AgentId,
    skill_json: Annotated[
        str,
        "Skill: id, name@version or @range, skill://…, manifest JSON or path.",
        # Prompts of the earlier system used all three.
        Alias("skill_manifest"),
        Alias("skill_manifest_id"),
    ],
    integrity: Annotated[str | None, "sha256:… that the manifest must have."] = None,
    replace_changed: Annotated[bool, "Replace the same version of other content."] = False,
    check_tools: Annotated[bool, "Ask the servers for the tools first."] = False,
) -> SkillLoaded:
    """Load a skill and what it needs into an agent: wholly or not at all. Gives its directives and
    tools; an agent with a memory has them in its conversations, too."""
    if await platform.agents.get(agent_id, ()) is None:
        # An agent that nobody loaded anything into may have no record yet.
        await record_of(platform, agent_id)
    toolbox = await platform.toolbox() if check_tools else None
    library, policy = await platform.library(), await platform.policy()
    done = await load(
        platform.agents,
        library,
        agent_id,
        skill_json,
        integrity=integrity,
        replace_changed=replace_changed,
        checks=LoadChecks(
            environment=platform.config.env,
            toolbox=toolbox,
            untrusted=policy.untrusted_skills,
        ),
    )
    home = await platform.home()
    by = by_tool("load_skill")
    await attach_loaded(home.runtime, platform.agents, agent_id, by=by)
    manifest = library.find(skill_json).manifest
    tools = [
        {
            "tool": f"{one.server_id}:{one.tool_name}",
            "description": one.description,
            "input_schema": dict(one.input_schema),
        }
        for one in manifest.tools
    ]
    told = {"directives": manifest.directives, "tools": tools}
    return cast(SkillLoaded, {**done.to_json(), **told})


@tool("worker", "companion", legacy="ok")
async def unload_skill(
    platform: Platform,
    manifest_id: Annotated[str, "Skill: manifest id, name@version or name."],
    agent_id: AgentId,
) -> SkillUnloaded:
    """Unload a skill from an agent; what other skills hold stays."""
    done = await unload(platform.agents, agent_id, manifest_id)
    home = await platform.home()
    by = by_tool("unload_skill")
    await attach_loaded(home.runtime, platform.agents, agent_id, by=by)
    return cast(SkillUnloaded, done.to_json())


@tool("worker", "companion")
async def list_loaded_skills(platform: Platform, agent_id: AgentId) -> LoadedSkills:
    """List what an agent has loaded."""
    return {"agent_id": agent_id, "active_skills": await loaded_skills(platform.agents, agent_id)}


FAMILY = (load_skill, unload_skill, list_loaded_skills)
