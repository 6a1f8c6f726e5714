"""From outcomes and runs to episodes: which entities they mention and which facts they support."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dcf.knowledge.episode import Entity, Episode, Fact, Tally, iso
from dcf.knowledge.outcome import Outcome, RunFact
from dcf.knowledge.schema import EPISODE_FIELDS

_STATES = ("total", "done", "failed", "cancelled", "skipped")


def tell_outcome(outcome: Outcome) -> Episode:
    """The episode of one finished visit of a Task."""
    task = task_type(outcome.task_type)
    versions = tuple(skill_version(manifest_id) for manifest_id in outcome.skills)
    agent = Entity("Agent", outcome.agent) if outcome.agent else None
    error = error_kind(outcome.error) if outcome.error and not outcome.ok else None
    workflow = Entity("Workflow", outcome.workflow_name)
    properties: dict[str, Any] = {
        name: getattr(outcome, name)
        for name in EPISODE_FIELDS["StateOutcome"]
        if hasattr(outcome, name)
    }
    return Episode(
        uuid=outcome.id,
        label="StateOutcome",
        name=f"{outcome.workflow_id}/{outcome.path}#{outcome.visit}",
        content=_sentence(outcome),
        at=outcome.ended_at,
        properties={
            **properties,
            "skills": list(outcome.skills),
            **_deeds(outcome),
            "day": iso(outcome.ended_at)[:10],
        },
        mentions=tuple(
            entity
            for entity in (*versions, task, workflow, agent, error, *_doers(outcome))
            if entity is not None
        ),
        facts=tuple(_facts(outcome, task, versions, agent, error)),
        versions=versions,
        task=task,
        tally=Tally(
            ok=int(outcome.ok),
            duration_ms=outcome.duration_ms,
            cost_usd=outcome.cost_usd or 0.0,
            tokens=outcome.tokens or 0,
            tries=outcome.tries,
            escalated=int(outcome.escalated),
        ),
    )


def tell_run(run: RunFact) -> Episode:
    """The episode of one end of a run; it takes the place of the run's earlier ends."""
    workflow = Entity("Workflow", run.workflow_name)
    error = error_kind(run.error) if run.error else None
    facts = []
    if error is not None:
        text = f"Workflow {workflow.name} ended with {error.name}."
        facts.append(Fact("ENDED_WITH", workflow, error, text))
    cause = f": {run.error or ''} {run.cause or ''}".rstrip() if run.error or run.cause else ""
    return Episode(
        uuid=run.id,
        label="WorkflowRun",
        name=f"{run.workflow_id}#{run.redrives}" if run.redrives else run.workflow_id,
        content=f"Run {run.workflow_id} of workflow {run.workflow_name} {run.status}{cause}.",
        at=run.ended_at,
        properties={
            **{
                name: getattr(run, name)
                for name in EPISODE_FIELDS["WorkflowRun"]
                if hasattr(run, name)
            },
            **{f"states_{name}": run.states.get(name, 0) for name in _STATES},
        },
        mentions=(workflow, error) if error is not None else (workflow,),
        facts=tuple(facts),
        replaces=(run.run, run.redrives),
    )


def _deeds(outcome: Outcome) -> dict[str, Any]:
    """Tools and approvals as lists that go together; without any there are no such properties."""
    tools, approvals = outcome.tools, outcome.approvals
    lists = {
        "tools": [one.tool for one in tools],
        "tool_calls_made": [one.calls for one in tools],
        "tool_failures": [one.failures for one in tools],
        "approvers": [one.by for one in approvals],
        "decisions": [one.decision for one in approvals],
        "decided_at": [one.at for one in approvals],
        "decision_ms": [one.waited_ms for one in approvals],
    }
    return {name: found or None for name, found in lists.items()}


def _doers(outcome: Outcome) -> Iterator[Entity]:
    yield from (Entity("Tool", one.tool) for one in outcome.tools)
    yield from (Entity("Approver", one) for one in {one.by for one in outcome.approvals})


def skill_version(manifest_id: str) -> Entity:
    """The version of a skill, by its manifest id."""
    skill, _, version = manifest_id.partition("@")
    properties = {"skill": skill, "version": version}
    return Entity("SkillVersion", manifest_id, f"Version {version} of {skill}", properties)


def skill_named(name: str) -> Entity:
    """A version, or a skill where ``name`` says none."""
    return skill_version(name) if "@" in name else Entity("Skill", name)


def skill_of(version: Entity) -> Entity:
    """The skill that a version is of."""
    return Entity("Skill", str(version.properties["skill"]))


def task_type(name: str) -> Entity:
    return Entity("TaskType", name)


def error_kind(name: str) -> Entity:
    return Entity("ErrorKind", name)


def _facts(
    outcome: Outcome,
    task: Entity,
    versions: tuple[Entity, ...],
    agent: Entity | None,
    error: Entity | None,
) -> Iterator[Fact]:
    workflow = Entity("Workflow", outcome.workflow_name)
    yield Fact("PART_OF", task, workflow, f"Workflow {workflow.name} has the task {task.name}.")
    for version in versions:
        skill = skill_of(version)
        text = f"{version.name} is version {version.properties['version']} of {skill.name}."
        yield Fact("VERSION_OF", version, skill, text)
        yield Fact(
            "USED_BY", version, workflow, f"Workflow {workflow.name} has run with {version.name}."
        )
        if outcome.ok:
            text = f"{version.name} succeeded at the task {task.name}."
            yield Fact("SUCCEEDED_AT", version, task, text)
        else:
            text = f"{version.name} failed at the task {task.name}."
            yield Fact("FAILED_AT", version, task, text)
        if error is not None:
            text = f"{version.name} failed with {error.name}."
            yield Fact("FAILED_WITH", version, error, text)
    if error is not None:
        yield Fact("RAISES", task, error, f"The task {task.name} failed with {error.name}.")
    if agent is not None:
        text = f"Agent {agent.name} has worked on the task {task.name}."
        yield Fact("WORKED_ON", agent, task, text)


def _sentence(outcome: Outcome) -> str:
    skills = f" with {', '.join(outcome.skills)}" if outcome.skills else ""
    end = "was done" if outcome.ok else f"failed: {outcome.error or ''} {outcome.cause or ''}"
    return (
        f"Task {outcome.task_type} ({outcome.path}) of workflow {outcome.workflow_name} "
        f"{end.rstrip()}{skills}, after {outcome.duration_ms} ms."
    )
