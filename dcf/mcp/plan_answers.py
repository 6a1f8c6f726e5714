"""What the tools of the planner answer."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from dcf.mcp.envelope import Envelope


class PlanShown(Envelope, total=False):
    """A planning as it stands."""

    planning_id: Annotated[str, Field(description="Its id.")]
    revision: Annotated[int, Field(description="Grows with every change.")]
    objective: Annotated[str, Field(description="What is to be achieved.")]
    questions: Annotated[
        list[dict[str, Any]],
        Field(description="{name, text, required, type, default, example, choices} still open."),
    ]
    nearest: Annotated[
        list[dict[str, Any]], Field(description="Stored {id, kind, title, score}, best first.")
    ]
    source: Annotated[
        dict[str, Any] | None,
        Field(description="{kind, id, title}: procedure, workflow, or draft of a model."),
    ]
    guidance: Annotated[
        dict[str, Any], Field(description="Guidelines, measures, runs like this one, notes.")
    ]
    plan: Annotated[
        dict[str, Any] | None,
        Field(description="steps with skills, why and runners-up; gaps with a draft; risk."),
    ]
    permissions: Annotated[
        dict[str, Any] | None,
        Field(description="Skills, risk, egress, secrets, tools, approvals, tier, tokens, budget."),
    ]
    workflow: Annotated[dict[str, Any] | None, Field(description="The workflow that would run.")]
    input: Annotated[dict[str, Any], Field(description="The input of its run.")]
    picture: Annotated[str | None, Field(description="The workflow as Mermaid text.")]
    digest: Annotated[str | None, Field(description="Of what is shown: what an approval names.")]
    approval: Annotated[dict[str, Any] | None, Field(description="{digest, by, at}.")]
    run: Annotated[dict[str, Any] | None, Field(description="{workflow_id, file, status, output}.")]
    steps: Annotated[
        list[dict[str, Any]], Field(description="The fourteen steps: {step, name, done, note}.")
    ]
    next: Annotated[str, Field(description="What comes next.")]


class Plannings(Envelope, total=False):
    """Plannings, the newest first."""

    plannings: Annotated[
        list[dict[str, Any]],
        Field(description="{planning_id, status, objective, revision, workflow_id}."),
    ]


class Checked(Envelope, total=False):
    """A procedure that was read."""

    title: Annotated[str | None, Field(description="Its title; null with errors.")]
    steps: Annotated[list[dict[str, Any]], Field(description="{step, title, kind, line} of each.")]


class CompiledShown(Envelope, total=False):
    """A procedure as a workflow."""

    workflow: Annotated[
        dict[str, Any] | None, Field(description="Validated; null where problems have an error.")
    ]
    steps: Annotated[
        list[dict[str, Any]],
        Field(description="Each with states, skills, why, runners-up, reads, writes, tier, risk."),
    ]
    gaps: Annotated[
        list[dict[str, Any]],
        Field(description="Steps that no skill covers, with the nearest and a draft of a skill."),
    ]
    risk: Annotated[dict[str, Any], Field(description="Of all steps together.")]
    questions: Annotated[
        list[dict[str, Any]],
        Field(description="{id, line, text, asks, assumed, answers} still open."),
    ]
    report: Annotated[list[str], Field(description="How much of it runs by itself.")]


class Told(Envelope, total=False):
    """A workflow as a procedure."""

    sop: Annotated[str, Field(description="The procedure.")]
    origin: Annotated[str, Field(description="What it was told from.")]
