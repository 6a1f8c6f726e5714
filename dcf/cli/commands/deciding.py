"""``approvals``, ``approve`` and ``reject``: what waits for a person, and the answer."""

from __future__ import annotations

import asyncio
import os
from typing import Annotated, Literal

import typer

from dcf.cli.answer import Answer
from dcf.cli.commands.command import JsonOption, command

FirstArgument = Annotated[
    str | None,
    typer.Argument(metavar="[ID]", help="Id of the run; with --agent, of the agent's approval."),
]
StateArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="[STATE]", help="The state, where several of the run wait: Pay, Fan[2]/Pay."
    ),
]
AgentOption = Annotated[
    str | None, typer.Option("--agent", metavar="ID", help="Decide on a call of this agent.")
]
NameOption = Annotated[
    str, typer.Option("--as", metavar="NAME", help="Who decides: a name that the policy asks.")
]
ReasonOption = Annotated[str, typer.Option("--reason", help="Why, for the history.")]
DigestOption = Annotated[
    str | None,
    typer.Option(
        "--digest", metavar="SHA256", help="The call that is meant; at a terminal it is shown."
    ),
]
QuestionOption = Annotated[
    str | None,
    typer.Option(
        "--question", metavar="ID", help="The question of the run, as dcf approvals shows it."
    ),
]
SureOption = Annotated[
    bool,
    typer.Option("--yes", help="Do not ask at a terminal; needs STATE, --digest and --question."),
]


def register(app: typer.Typer) -> None:
    """Add the commands of this family."""
    command(app, "approvals", example=["dcf approvals", "dcf approvals hello-1 --json"])(approvals)
    command(
        app,
        "approve",
        example=[
            "dcf approve hello-1",
            "dcf approve hello-1 Refund --as finance --reason 'the parcel is lost'",
            "dcf approve --agent clerk-1 --as finance",
        ],
    )(approve)
    command(app, "reject", example="dcf reject hello-1 Refund --reason 'paid already'")(reject)


def approvals(
    workflow_id: Annotated[
        str | None, typer.Argument(metavar="[ID]", help="Id of a run; without it, all runs.")
    ] = None,
    as_json: JsonOption = False,
) -> Answer:
    """List what waits for a person's approval: in runs, and calls of agents outside runs."""
    from dcf.cli.approvals import list_approvals
    from dcf.cli.screen import Screen
    from dcf.cli.settings import Settings

    screen = Screen(as_json=as_json)
    return asyncio.run(list_approvals(workflow_id, Settings.from_env(os.environ), screen))


def approve(
    first: FirstArgument = None,
    state: StateArgument = None,
    agent: AgentOption = None,
    name: NameOption = "operator",
    reason: ReasonOption = "",
    digest: DigestOption = None,
    question: QuestionOption = None,
    sure: SureOption = False,
    as_json: JsonOption = False,
) -> Answer:
    """Approve the call (or the Task) that a run waits with, or a call of an agent.

    It counts for exactly that call, once; the first answer counts.
    """
    return _decide("approve", first, state, agent, name, reason, digest, question, sure, as_json)


def reject(
    first: FirstArgument = None,
    state: StateArgument = None,
    agent: AgentOption = None,
    name: NameOption = "operator",
    reason: ReasonOption = "",
    digest: DigestOption = None,
    question: QuestionOption = None,
    sure: SureOption = False,
    as_json: JsonOption = False,
) -> Answer:
    """Reject the call (or the Task) that a run waits with, or a call of an agent.

    The Task fails with DCF.ApprovalRejected, which Retry and Catch can match.
    """
    return _decide("reject", first, state, agent, name, reason, digest, question, sure, as_json)


def _decide(
    decision: Literal["approve", "reject"],
    first: str | None,
    state: str | None,
    agent: str | None,
    name: str,
    reason: str,
    digest: str | None,
    question: str | None,
    sure: bool,
    as_json: bool,
) -> Answer:
    from dcf.cli.approvals import DecisionOrder, decide
    from dcf.cli.screen import Screen
    from dcf.cli.settings import Settings

    if agent is None and first is None:
        raise typer.BadParameter("name a run, or an agent with --agent", param_hint="[ID]")
    if agent is not None and state is not None:
        raise typer.BadParameter("a call of an agent has no state", param_hint="[STATE]")
    if agent is not None and question is not None:
        hint = "--question"
        raise typer.BadParameter("the id of an agent's approval says it", param_hint=hint)
    run, place = (first, state) if agent is None else (None, first)
    order = DecisionOrder(run, agent, place, decision, name, reason, digest, question, sure)
    return asyncio.run(decide(order, Settings.from_env(os.environ), Screen(as_json=as_json)))
