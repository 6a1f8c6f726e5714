"""``dcf approvals``, ``dcf approve`` and ``dcf reject``."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from typing import Any, Literal

from control_plane import AgentStore, Store, encode_name
from dcf.cli.answer import Answer
from dcf.cli.asking import answer_to, at_terminal
from dcf.cli.board import now_ms
from dcf.cli.board_table import seconds_text
from dcf.cli.redis_access import find_redis, open_store
from dcf.cli.screen import Screen
from dcf.cli.settings import Settings
from dcf.cli.trouble import NotSo
from dcf.workflow import (
    PendingApproval,
    answer_approval,
    check_question,
    find_approval,
    in_words,
    pending_approvals,
)

_LONGEST_CALL = 200


@dataclass(frozen=True, slots=True)
class DecisionOrder:
    """The command line of ``dcf approve`` and ``dcf reject``: a question of the run ``workflow_id``
    at ``place``, a state, or of the agent ``agent_id`` with the id ``place``. ``digest`` and, of a
    run, ``question`` are those of the call that somebody saw; without them or a ``place`` somebody
    at a terminal has to be shown it and asked. With ``sure`` nobody is."""

    workflow_id: str | None
    agent_id: str | None
    place: str | None
    decision: Literal["approve", "reject"]
    name: str
    reason: str
    digest: str | None
    question: str | None
    sure: bool


async def list_approvals(workflow_id: str | None, settings: Settings, screen: Screen) -> Answer:
    """What waits for a person in one run, or in all."""
    address = await find_redis(settings, screen)
    async with open_store(address) as store:
        pending = await pending_approvals(store, workflow_id)
        now = await now_ms(store)
        calls, call_lines = ([], []) if workflow_id else await _calls(store, now)
    listed = [asked.to_json() for asked in pending] + calls
    fields = {"approvals": listed}
    if not pending and not calls:
        where = f" in {workflow_id}" if workflow_id else ""
        return Answer(fields, [f"Nothing waits for approval{where}."])
    shown = [line for asked in pending for line in _lines(asked, now)]
    return Answer(fields, [*shown, *call_lines])


async def _calls(store: Store, now: int) -> tuple[list[dict[str, Any]], list[str]]:
    """The calls of agents outside runs that wait: for scripts and for people."""
    # The agents' room is a quarter of a second, which whoever asks about a run need not wait.
    from dcf.agents.loading import pending_agent_approvals
    from dcf.cli.agent_questions import agent_lines

    calls = await pending_agent_approvals(AgentStore(store.backend))
    lines = [line for call in calls for line in agent_lines(call, now)]
    return [call.to_json() for call in calls], lines


async def decide(order: DecisionOrder, settings: Settings, screen: Screen) -> Answer:
    """Show what is asked, and answer it. Raises what ``find_approval``, ``answer_approval`` and
    ``decide_agent_approval`` do, QuestionChanged when another question is open than ``order``
    names, and NotSo where nobody can have seen it."""
    asks = not order.sure and at_terminal(screen)
    address = await find_redis(settings, screen)
    async with open_store(address) as store:
        if order.agent_id is not None:
            if not asks:
                _check_whole(order)
            return await _decide_call(AgentStore(store.backend), order, screen, asks=asks)
        # Who names a run or a state that is not there is told that, before anything is asked for.
        if not asks and order.place is None:
            await store.run(str(order.workflow_id))
            _check_whole(order)
        asked = await _find(store, order)
        if not asks:
            _check_whole(order)
        check_question(asked, order.digest, order.question)
        _show(_description(asked), order, screen, asks=asks)
        await answer_approval(
            store, asked, decision=order.decision, by=order.name, reason=order.reason, via="cli"
        )
    done = "approved" if order.decision == "approve" else "rejected"
    fields = {"decision": order.decision, "by": order.name, "approval": asked.to_json()}
    show = [f"{asked.path} of {asked.workflow_id}: {done} by {order.name}."]
    return Answer(fields, show, done)


def _check_whole(order: DecisionOrder) -> None:
    """Raise NotSo unless ``order`` says by itself which question is meant."""
    hint = "`dcf approvals` prints the whole command; without --yes a terminal is asked"
    if order.digest is None:
        message = "nobody is asked here, so --digest has to say which call is meant"
        raise NotSo("digest_required", message, hint)
    # An equal call may be asked for again, there or elsewhere: with the same digest.
    if order.agent_id is None and None in (order.place, order.question):
        message = "nobody is asked here, so the state and --question have to say which is meant"
        raise NotSo("question_required", message, hint)
    if order.agent_id is not None and order.place is None:
        message = "nobody is asked here, so the id of the approval has to say which is meant"
        raise NotSo("question_required", message, hint)


async def _decide_call(
    agents: AgentStore, order: DecisionOrder, screen: Screen, *, asks: bool
) -> Answer:
    """As ``decide``, for a call of an agent outside runs."""
    from dcf.agents.loading import decide_agent_approval
    from dcf.cli.agent_questions import agent_description, find_agent_approval

    agent_id = str(order.agent_id)
    asked = await find_agent_approval(agents, agent_id, order.place)
    _show(agent_description(asked), order, screen, asks=asks)
    decided = await decide_agent_approval(
        agents,
        agent_id,
        asked.id,
        decision=order.decision,
        by=order.name,
        reason=order.reason,
        via="cli",
        digest=order.digest or asked.request.digest,
    )
    done = "approved" if order.decision == "approve" else "rejected"
    fields = {"decision": order.decision, "by": order.name, "approval": decided.to_json()}
    return Answer(fields, [f"{asked.id} of {agent_id}: {done} by {order.name}."], done)


def _show(lines: list[str], order: DecisionOrder, screen: Screen, *, asks: bool) -> None:
    for line in lines:
        screen.say(line)
    if not asks:
        return
    given = answer_to(input, f"{order.decision} as {order.name}? [y/N] ").strip().lower()
    if given not in ("y", "yes"):
        hint = "answer y, or pass --digest and --question with --yes"
        raise NotSo("not_confirmed", "nothing was decided", hint)


async def _find(store: Store, order: DecisionOrder) -> PendingApproval:
    """The question; a state may be named as it is, or as it stands in a path."""
    workflow_id, state = str(order.workflow_id), order.place
    if state is not None and "/" not in state and "[" not in state:
        known = {asked.path for asked in await pending_approvals(store, workflow_id)}
        state = state if state in known else encode_name(state)
    return await find_approval(store, workflow_id, state)


def command_of(asked: PendingApproval) -> str:
    """The command that approves it: this very question."""
    people = asked.request.people
    as_whom = f" --as {shlex.quote(people[0])}" if people and people[0] != "operator" else ""
    seen = f" --digest {asked.request.digest} --question {asked.question}"
    return f"dcf approve {asked.workflow_id} {shlex.quote(asked.path)}{as_whom}{seen}"


def _description(asked: PendingApproval) -> list[str]:
    request = asked.request
    people = ", ".join(request.people)
    arguments = json.dumps(request.arguments, ensure_ascii=False, indent=2, sort_keys=True)
    what = "the whole Task" if asked.kind == "task" else f"{request.server_id}:{request.tool_name}"
    return [
        f"{asked.path} of {asked.workflow_id} ({asked.workflow_name}) asks for {what}",
        *(f"  {line}" for line in arguments.splitlines()),
        f"  risk {request.risk}: {request.reason}",
        f"  question {asked.question}, for {request.approver} ({people}); digest {request.digest}",
    ]


def _lines(asked: PendingApproval, now: int) -> list[str]:
    """A question, who is asked since when, and the command that approves it."""
    request = asked.request
    names = "" if request.people == (request.approver,) else f" ({', '.join(request.people)})"
    since = seconds_text((now - asked.asked_at_ms) / 1000)
    until = ""
    if asked.until_ms is not None:
        until = f", and has {seconds_text(max((asked.until_ms - now) / 1000, 0.0))} left"
    before = f", after {', '.join(asked.asked)}" if asked.asked else ""
    return [
        f"{asked.workflow_id}  {asked.path}  {_shortened(in_words(asked))}",
        f"  risk {request.risk}: {request.reason}",
        f"  {request.approver}{names} was asked {since} ago{before}{until}",
        f"  {command_of(asked)}",
    ]


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST_CALL else f"{text[:_LONGEST_CALL]}…"
