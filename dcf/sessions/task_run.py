"""A task as a run: the workflow that it is, and what its end says."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, cast

from control_plane import JSON, RunDocument, Store, encode_name
from dcf.agents import RESULT_STATUS
from dcf.asl import DefinitionError
from dcf.knowledge import SESSION_PIN, TASK_WORKFLOW
from dcf.sessions.errors import BadValue
from dcf.sessions.order import Order, type_of
from dcf.sessions.seat import inbox_of
from dcf.sessions.settling import SUMMARY_LIMIT, Ended, Settled
from dcf.sessions.task import SessionTask
from dcf.skills import SkillCatalog
from dcf.workflow import WorkflowDocument, document_of
from dcf.workflow import load as load_workflow

TEMPLATE = "companion"
_DEADLINE = "deadline_passed"


def document_for(task: SessionTask) -> WorkflowDocument:
    """The workflow of a task that was assigned. It is the same whoever gets the task later."""
    left_s = max(1, math.ceil((task.deadline_at - (task.first_at or task.delegated_at)) / 1000))
    if task.document is not None:
        return _with_deadline(task.document, left_s, task.task_type, None)
    return _one_state(task.task_type, task.description, task.skills, left_s, _thinking(task))


def document_of_order(
    order: Order, skills: Sequence[str], catalog: SkillCatalog | None
) -> WorkflowDocument:
    """The workflow that an order comes to, checked. Raises InvalidWorkflow, BadValue."""
    left_s = max(1, math.ceil(order.timeout_s)) if math.isfinite(order.timeout_s) else 1
    if order.workflow is not None:
        return _with_deadline(order.workflow, left_s, type_of(order), catalog)
    thinking = _thinking(order)
    try:
        return _one_state(type_of(order), order.description, skills, left_s, thinking)
    except DefinitionError as error:
        problem = error.problems[0]
        place = problem.path.partition("/AgentBinding/")[2] or "The order"
        raise BadValue(
            what=place.partition("/")[0],
            value=thinking.get(place.partition("/")[0], "what it is"),
            wanted=f"what it can be: {problem.message}",
            how=problem.hint,
        ) from error


def _thinking(asked: Order | SessionTask) -> dict[str, JSON]:
    """What is asked of whoever thinks about it, and what they are told."""
    names = ("tier", "model", "budget", "context")
    return {name: getattr(asked, name) for name in names if getattr(asked, name) is not None}


def _one_state(
    task_type: str,
    description: str,
    skills: Sequence[str],
    left_s: int,
    thinking: Mapping[str, JSON],
) -> WorkflowDocument:
    binding = {
        "agent_template_ref": {"name": TEMPLATE},
        "skills": list(skills),
        "task_type": task_type,
        **thinking,
    }
    state = {"Type": "Task", "Comment": description, "AgentBinding": binding, "End": True}
    definition = {"StartAt": task_type, "TimeoutSeconds": left_s, "States": {task_type: state}}
    return document_of(definition, name=f"{TASK_WORKFLOW}{task_type}")


def is_of(run: RunDocument, session_id: str) -> bool:
    """Whether the run is that of a task of this session."""
    return session_of_run(run) == session_id


def session_of_run(run: RunDocument) -> str | None:
    """The session that the run is a task of; None for any other run."""
    found: str | None = run.raw.get("pins", {}).get(SESSION_PIN)
    return found


def whose_run(run: RunDocument) -> str:
    """Whom the run belongs to, in words."""
    session_id = session_of_run(run)
    return "another workflow" if session_id is None else f"session {session_id}"


async def outcome_of(
    store: Store, session_id: str, task: SessionTask, run: RunDocument, why: str
) -> Settled:
    """How the run of a task ended; ``why`` it was not done yet, should its time have passed."""
    path = run.exit or encode_name(task.state)
    states = await store.states(run.workflow_id, [path])
    state = states.get(path)
    raw: dict[str, Any] = state.raw if state is not None else {}
    status: Ended = "succeeded"
    summary = code = message = None
    if run.status == "succeeded":
        output = (await store.outputs(run.workflow_id, [path])).get(path, {})
        summary = output.get("summary") or f"{task.description[:80]}: done"
        if (output.get("metrics") or {}).get(RESULT_STATUS) == "partial":
            status = "partial"
    elif run.status == "cancelled":
        status, code, message = "cancelled", "cancelled", str(run.error or "cancelled")
    else:
        status, code = "failed", run.error.error if run.error else "failed"
        message = (run.error.cause if run.error else None) or str(run.error or run.status)
        if run.status == "timed_out":
            code, message = _DEADLINE, _late(why)
    # A run is there before its companion begins; one that nobody began has no beginning.
    began = state.times.get("started") if state is not None else None
    return Settled(
        status,
        summary=summary[:SUMMARY_LIMIT] if summary else None,
        code=code,
        message=message,
        started_at=run.started_at if task.kind == "workflow" else began,
        finished_at=run.finished_at,
        selection=cast("dict[str, JSON] | None", raw.get("model_selection")),
        metrics=cast("dict[str, JSON] | None", raw.get("execution_metrics")),
        companion_id=_who_did(session_id, run),
    )


def _who_did(session_id: str, run: RunDocument) -> str | None:
    """The companion that did a task; None where none did, or its time ran out."""
    inbox = inbox_of(session_id, "")
    if run.status not in ("succeeded", "failed") or not run.pool.startswith(inbox):
        return None
    return run.pool.removeprefix(inbox)


def missed(task: SessionTask, why: str) -> Settled:
    """The deadline passed before anybody could do it."""
    return Settled.failed(_DEADLINE, _late(why))


def _late(why: str) -> str:
    return f"not done before its deadline: {why}"


def _with_deadline(
    raw: Mapping[str, Any], left_s: int, task_type: str, catalog: SkillCatalog | None
) -> WorkflowDocument:
    """The document of the user, with the task's deadline where that is sooner than its own."""
    plain = {"workflow_name": task_type, "asl": dict(raw)}
    envelope: dict[str, Any] = dict(raw) if "asl" in raw else plain
    if isinstance(envelope["asl"], dict):
        own = envelope["asl"].get("TimeoutSeconds")
        soonest = min(own, left_s) if isinstance(own, int) else left_s
        envelope["asl"] = {**envelope["asl"], "TimeoutSeconds": soonest}
    text = json.dumps(envelope, ensure_ascii=False)
    return load_workflow(text, file=task_type, catalog=catalog)
