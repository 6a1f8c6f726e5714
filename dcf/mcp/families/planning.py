"""Planning: checking a workflow, starting a run of it, and its agents."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from pydantic import Field

from control_plane import assign
from dcf.mcp.envelope import Envelope, Refused, problem_view
from dcf.mcp.help import NoEffect, Obvious, Rare
from dcf.mcp.kinds import RunId
from dcf.mcp.plan_report import exit_code_of, graph_report, import_report
from dcf.mcp.plan_text import plan_text
from dcf.mcp.platform import Platform
from dcf.mcp.tool import tool
from dcf.mcp.views import run_view
from dcf.mcp.worker_agents import AgentPlan, make_agents
from dcf.workflow import Folders, blank_warning, load, review, submit


class Validated(Envelope, total=False):
    """What is wrong with a workflow; exit_code 1 schema, 2 imports and references, 3 graph."""

    schema_errors: Annotated[list[str], Field(description='"path: message" of each.')]
    resolution: Annotated[
        dict[str, Any],
        Field(description="Imports, agents and skills found or not; state_skill_map; complexity."),
    ]
    graph: Annotated[
        dict[str, Any],
        Field(
            description="start_exists, missing_states, unreachable_states, invalid_transitions, "
            "terminal_states_ok."
        ),
    ]


class Created(Envelope, total=False):
    """A run."""

    workflow_id: Annotated[str, Field(description="Id of the run.")]
    created_keys: Annotated[list[str], Field(description="Redis keys that are new.")]
    existing_keys: Annotated[list[str], Field(description="Redis keys that were there.")]
    meta_sample: Annotated[dict[str, Any], Field(description="The run's document, in part.")]


class WorkerAgents(Envelope, total=False):
    """The agents of a run's states."""

    workflow_id: Annotated[str, Field(description="Id of the run.")]
    agents_map: Annotated[dict[str, str], Field(description="State to agent id.")]
    created: Annotated[
        list[dict[str, str]], Field(description="{state, agent_id, agent_name} that are new.")
    ]
    existing: Annotated[list[dict[str, str]], Field(description="Those that were there.")]
    model_selections: Annotated[
        dict[str, dict[str, Any]], Field(description="State to its tier, model and complexity.")
    ]


@tool("planner", legacy="ok")
async def validate_workflow(
    platform: Platform,
    workflow_json: Annotated[str, "Workflow document, or plain ASL."],
    schema_path: Annotated[str | None, NoEffect("Not needed: the schema is built in.")] = None,
    imports_base_dir: Annotated[
        str | None, Obvious("Folder of .af files, below workflows.")
    ] = None,
    skills_base_dir: Annotated[str | None, Rare("Folder of manifests, below generated.")] = None,
) -> Validated:
    """Check a workflow: form, references to skills and agents, graph. Gives every problem with line
    and hint; repair and call again until exit_code is 0."""
    folders = folders_of(platform, imports_base_dir, skills_base_dir)
    catalog = await platform.catalog()
    found = await asyncio.to_thread(review, workflow_json, catalog=catalog, folders=folders)
    errors = [one for one in found.problems if one.is_error]
    answer: Validated = {
        "status": "invalid" if errors else "valid",
        "error": f"invalid_workflow: {_counted(len(errors))}" if errors else None,
        "schema_errors": [f"{one.path}: {one.message}" for one in found.of("schema")],
        "resolution": import_report(found),
        "graph": graph_report(found.graph),
        "problems": [problem_view(one) for one in errors],
        "warnings": [problem_view(one) for one in found.problems if not one.is_error],
    }
    answer["exit_code"] = exit_code_of(found)  # type: ignore[typeddict-unknown-key]
    return answer


@tool("planner")
async def create_workflow_control_plane(
    platform: Platform,
    workflow_json: Annotated[str, "Workflow document, or plain ASL."],
    expiry_secs: Annotated[int | None, NoEffect("Runs are kept until they are removed.")] = None,
    agents_map_json: Annotated[dict[str, str] | None, "State to agent id."] = None,
    input_json: Annotated[Any, Obvious("Input of the run.")] = None,
    run_id: Annotated[RunId | None, "Id of the run; else workflow_id of the document."] = None,
) -> Created:
    """Start a run. Its first state is ready at once; workers, or you with acquire_state_lease, go
    on from there. The same call again changes nothing."""
    text, document_id = plan_text(workflow_json)
    document = load(text, file="workflow_json", catalog=await platform.catalog())
    workflow_id = run_id or document_id or f"run-{platform.new_id()[:12]}"
    store = platform.store
    value = {} if input_json is None else input_json
    new = await submit(
        store,
        document,
        value,
        workflow_id=workflow_id,
        catalog=await platform.catalog(),
    )
    blank = blank_warning(document, value)
    warnings = [str(one) for one in (*document.warnings, *filter(None, (blank,)))]
    run = await store.run(workflow_id)
    if agents_map_json:
        states = run.raw["states"]
        known = {name: agent for name, agent in agents_map_json.items() if name in states}
        await assign(store, workflow_id, known)
        warnings += [
            f"agents_map_json: there is no state {name!r}"
            for name in agents_map_json.keys() - known
        ]
    if expiry_secs:
        warnings.append("expiry_secs is ignored: what runs must not vanish")
    names = store.keys(workflow_id)
    keys = [names.meta, *(names.state(path) for path in await store.paths(workflow_id))]
    sample = await run_view(store, run)
    shown = ("workflow_id", "workflow_name", "status", "start_at", "states", "deps", "pool")
    return {
        "status": "created" if new else "exists",
        "workflow_id": workflow_id,
        "created_keys": keys if new else [],
        "existing_keys": [] if new else keys,
        "meta_sample": {name: sample[name] for name in shown},
        "warnings": warnings,
    }


@tool("planner")
async def create_worker_agents(
    platform: Platform,
    workflow_json: Annotated[str, Obvious("Workflow document.")],
    imports_base_dir: Annotated[
        str | None, Obvious("Folder of .af files, below workflows.")
    ] = None,
    agent_name_prefix: Annotated[str | None, Rare("Before each name.")] = None,
    agent_name_suffix: Annotated[str | None, Rare("After each name.")] = None,
    default_tags_json: Annotated[list[str] | None, Rare("More tags for each.")] = None,
    skip_if_exists: Annotated[bool, Obvious("Keep agents that are there.")] = True,
    enable_model_selection: Annotated[bool, Obvious("Choose models by complexity.")] = True,
    latency_requirement: Annotated[str, "critical, standard, relaxed or batch."] = "standard",
    run_id: Annotated[RunId | None, "Id of the run; else workflow_id of the document."] = None,
) -> WorkerAgents:
    """Make an agent for each Task of a workflow and assign it: it does the Task. Else DCF's workers
    make theirs when they need them."""
    text, document_id = plan_text(workflow_json)
    catalog = await platform.catalog()
    found = await asyncio.to_thread(
        review, text, catalog=catalog, folders=folders_of(platform, imports_base_dir, None)
    )
    if not found.is_valid:
        raise Refused(
            "invalid_workflow",
            "see problems; validate_workflow says more",
            problems=[problem_view(one) for one in found.problems if one.is_error],
        )
    workflow_id = run_id or document_id
    if workflow_id is None:
        raise Refused("workflow_id_missing", "the document has no workflow_id", hint="or run_id")
    plan = AgentPlan(
        workflow_id,
        {name: skills for name, skills in found.skills.items() if "/" not in name},
        _templates(found.raw),
        agent_name_prefix or "",
        agent_name_suffix or "",
        tuple(default_tags_json or ()),
        keep=skip_if_exists,
        select=enable_model_selection,
        latency=latency_requirement,
    )
    made: WorkerAgents = {"workflow_id": workflow_id, **await make_agents(platform, plan)}  # type: ignore[typeddict-item]
    return made


def _templates(raw: Any) -> dict[str, str]:
    """State of the top level to the template that its binding names."""
    states = (raw.get("asl") or raw).get("States") or {}
    found = {}
    for name, state in states.items():
        reference = (state.get("AgentBinding") or {}).get("agent_template_ref") or {}
        named = reference.get("name") or reference.get("id")
        if named:
            found[name] = str(named)
    return found


def folders_of(platform: Platform, agents: str | None, skills: str | None) -> Folders:
    """Where imports are looked for; never outside the platform's own folders."""
    config = platform.config
    return Folders(
        agents=config.workflows / agents if agents else config.workflows,
        skills=config.generated / skills if skills else config.generated / "manifests",
        allowed=(config.workflows, config.generated, config.workspace),
    )


FAMILY = (validate_workflow, create_workflow_control_plane, create_worker_agents)


def _counted(number: int) -> str:
    return f"{number} problem" if number == 1 else f"{number} problems"
