"""Doing what waits for a person: which manual tasks are open, and who may answer them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from control_plane import JSON, Store
from dcf import asl
from dcf.workflow.approval import (
    PendingApproval,
    Surface,
    check_question,
    give_answer,
    pending_questions,
)
from dcf.workflow.asking import DONE, FAILED, MANUAL
from dcf.workflow.blanks import filled
from dcf.workflow.errors import NoManualTask, UnfitAnswer
from dcf.workflow.run import iso

_EVENTS = {DONE: "ManualTaskDone", FAILED: "ManualTaskFailed"}


@dataclass(frozen=True, slots=True)
class WaitingTask:
    """A manual task that is open; ``asked`` is how the run asks for it."""

    asked: PendingApproval

    @property
    def instruction(self) -> str:
        """What is to be done, its placeholders filled in from the input."""
        return filled(str(self.asked.request.arguments["instruction"]), self.input)

    @property
    def input(self) -> JSON:
        """What the Task was given."""
        given: JSON = self.asked.request.arguments["input"]
        return given

    @property
    def manual(self) -> asl.ManualTask:
        """Who does it, and what can be answered."""
        said = self.asked.request.arguments
        return asl.ManualTask(tuple(said["by"]), tuple(said["choices"]), said["result"])

    def is_for(self, name: str) -> bool:
        """Whether the role or person ``name`` may do it."""
        return name in self.manual.by or self.asked.request.may_decide(name)

    def to_json(self) -> dict[str, Any]:
        """As ``dcf tasks --json`` shows it."""
        asked = self.asked
        return {
            "workflow_id": asked.workflow_id,
            "workflow_name": asked.workflow_name,
            "path": asked.path,
            "question": asked.question,
            "kind": MANUAL,
            "digest": asked.request.digest,
            **asked.request.arguments,
            "instruction": self.instruction,
            "people": list(asked.request.people),
            "asked_at": iso(asked.asked_at_ms),
            "until": None if asked.until_ms is None else iso(asked.until_ms),
        }


@dataclass(frozen=True, slots=True)
class ManualAnswer:
    """What the person ``by`` says of a manual task: that it is done, with the choice ``answer`` and
    what is reported in ``result``; or that it failed, and in ``note`` why. ``via`` is where."""

    decision: Literal["done", "failed"]
    by: str
    answer: str | None = None
    result: JSON = None
    note: str = ""
    via: Surface | None = None


async def waiting_tasks(store: Store, workflow_id: str | None = None) -> list[WaitingTask]:
    """What waits for a person to do it, in one run or anywhere, the oldest first. Raises
    UnknownRun."""
    asked = await pending_questions(store, workflow_id)
    return [WaitingTask(one) for one in asked if one.kind == MANUAL]


async def find_task(store: Store, workflow_id: str, path: str) -> WaitingTask:
    """The manual task that waits at ``path``. Raises UnknownRun and NoManualTask."""
    waiting = await waiting_tasks(store, workflow_id)
    found = next((one for one in waiting if one.asked.path == path), None)
    if found is None:
        raise NoManualTask(workflow_id, path, [one.asked.path for one in waiting])
    return found


async def answer_task(
    store: Store,
    waiting: WaitingTask,
    said: ManualAnswer,
    *,
    digest: str | None = None,
    question: str | None = None,
) -> None:
    """Answer exactly the task that somebody saw: that of ``digest`` and ``question``.

    Raises QuestionChanged, UnfitAnswer for an answer that is none of the choices or does not fit
    the schema, NotAnApprover, and ApprovalSettled where somebody else, or the end of the time, was
    faster.
    """
    check_question(waiting.asked, digest, question)
    reported = {} if said.result is None else said.result
    faults = waiting.manual.faults(said.answer, reported) if said.decision == DONE else []
    if said.decision == FAILED and not said.note.strip():
        faults = ["a task that could not be done needs the reason"]
    if faults:
        raise UnfitAnswer(waiting.asked.workflow_id, waiting.asked.path, faults)
    told = {"decision": said.decision, "by": said.by, "reason": said.note, "answer": said.answer}
    await give_answer(
        store, waiting.asked, told, _EVENTS[said.decision], via=said.via, more={"result": reported}
    )
