"""Deciding what waits for a person: which approvals are pending, and who may answer them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from control_plane import APPROVALS, JSON, StateDocument, Store, UnknownRun
from dcf.secret_form import without_secrets
from dcf.workflow.aliveness import alive
from dcf.workflow.errors import (
    ApprovalSettled,
    NoApprovalPending,
    NotAnApprover,
    QuestionChanged,
    SeveralPending,
)
from dcf.workflow.run import iso

if TYPE_CHECKING:
    from dcf.tools import ApprovalRequest

Decision = Literal["approve", "reject"]
Surface = Literal["cli", "mcp"]
# An entry of the index is written before the wait it stands for: it is not stale at once.
_SETTLING_MS = 60_000


@dataclass(frozen=True, slots=True)
class PendingApproval:
    """A question that is open. ``kind`` is ``tool``, ``task`` for a Task before any work, or
    ``manual`` for one that a person does (see ``dcf.workflow.manual_tasks``);
    ``asked`` are those who did not answer in time, ``until_ms`` is when whoever is asked now loses
    the word (None: never); times are milliseconds since the epoch. ``question`` tells it from every
    other that the run ever asks at ``path``, also from one about an equal call."""

    workflow_id: str
    workflow_name: str
    path: str
    visit: int
    try_: int
    ask: int
    kind: Literal["tool", "task", "manual"]
    request: ApprovalRequest
    asked: tuple[str, ...]
    asked_at_ms: int
    until_ms: int | None
    calls_made: int

    @property
    def question(self) -> str:
        """``visit.try.ask``."""
        return _question(self.visit, self.try_, self.ask)

    def to_json(self) -> dict[str, Any]:
        """As ``dcf approvals --json`` shows it."""
        return {
            "workflow_id": self.workflow_id,
            "workflow_name": self.workflow_name,
            "path": self.path,
            "question": self.question,
            "visit": self.visit,
            "try": self.try_,
            "ask": self.ask,
            "kind": self.kind,
            **self.request.to_document(),
            "asked_before": list(self.asked),
            "asked_at": iso(self.asked_at_ms),
            "until": None if self.until_ms is None else iso(self.until_ms),
            "calls_made": self.calls_made,
        }


async def pending_approvals(store: Store, workflow_id: str | None = None) -> list[PendingApproval]:
    """What waits for a person's approval in one run, or anywhere, the oldest question first. Raises
    UnknownRun."""
    asked = await pending_questions(store, workflow_id)
    return [one for one in asked if one.kind != "manual"]


async def pending_questions(store: Store, workflow_id: str | None = None) -> list[PendingApproval]:
    """What waits for a person, to approve it or to do it, in one run or anywhere, the oldest
    question first.

    Raises UnknownRun. Entries of the index whose state does not wait any more are dropped.
    """
    if workflow_id is not None:
        await store.run(workflow_id)
        found = await _pending_of(store, workflow_id, await store.paths(workflow_id))
        return sorted(found, key=_age)
    entries = await store.backend.command("ZRANGE", APPROVALS, 0, -1, "WITHSCORES")
    wanted: dict[str, dict[str, int]] = {}
    for member, score in zip(entries[::2], entries[1::2], strict=True):
        parts = str(member).split("\t")
        if len(parts) == 2:  # the others belong to agents outside runs
            wanted.setdefault(parts[0], {})[parts[1]] = int(float(score))
    pending: list[PendingApproval] = []
    now_ms = await store.now_ms()
    for run, paths in wanted.items():
        try:
            here = await _pending_of(store, run, paths)
        except UnknownRun:
            here = []
        pending += here
        open_ = {approval.path for approval in here}
        for path, since in paths.items():
            if path not in open_ and now_ms - since > _SETTLING_MS:
                await store.unlist_approval(run, path)
    return sorted(pending, key=_age)


async def decide_approval(
    store: Store,
    workflow_id: str,
    path: str | None = None,
    *,
    decision: Decision,
    by: str,
    reason: str = "",
    via: Surface | None = None,
    digest: str | None = None,
    question: str | None = None,
) -> PendingApproval:
    """Answer what is asked at ``path`` (None: the only question of the run) as ``by``; what it was.
    ``digest`` and ``question`` are those of what somebody saw.

    Raises UnknownRun, NoApprovalPending, SeveralPending, QuestionChanged, and as
    ``answer_approval``.
    """
    asked = await find_approval(store, workflow_id, path)
    check_question(asked, digest, question)
    await answer_approval(store, asked, decision=decision, by=by, reason=reason, via=via)
    return asked


def check_question(asked: PendingApproval, digest: str | None, question: str | None) -> None:
    """Raise QuestionChanged when ``asked`` is not the ``question`` that somebody saw, about the
    call of this ``digest``; what is None is not compared."""
    if digest in (None, asked.request.digest) and question in (None, asked.question):
        return
    where = f"{asked.path} of {asked.workflow_id}"
    raise QuestionChanged(where, asked.question, asked.request.digest, in_words(asked))


def is_manual(document: StateDocument) -> bool:
    """Whether a state that waits for a person waits for one who does it."""
    asked = document.approval if document.wait == "approval" else None
    return asked is not None and asked["kind"] == "manual"


def question_of(document: StateDocument) -> str:
    """The question that a state waits with, as ``PendingApproval.question``."""
    return _question(document.visit, document.try_, document.ask)


def _question(visit: int, try_: int, ask: int) -> str:
    return f"{visit}.{try_}.{ask}"


async def find_approval(store: Store, workflow_id: str, path: str | None) -> PendingApproval:
    """The question at ``path``, or the only one of the run. Raises UnknownRun, NoApprovalPending
    and SeveralPending."""
    pending = await pending_approvals(store, workflow_id)
    here = [asked for asked in pending if path is None or asked.path == path]
    if not here:
        raise NoApprovalPending(workflow_id, path, [asked.path for asked in pending])
    if len(here) > 1:
        raise SeveralPending(workflow_id, [asked.path for asked in here])
    return here[0]


async def answer_approval(
    store: Store,
    asked: PendingApproval,
    *,
    decision: Decision,
    by: str,
    reason: str = "",
    via: Surface | None = None,
) -> None:
    """Decide exactly the question ``asked``, as somebody saw it; ``via`` is where they said so, for
    the history.

    Raises NotAnApprover, and ApprovalSettled when somebody else, or the end of the time, was
    faster.
    """
    told = {"decision": decision, "by": by, "reason": reason}
    await give_answer(store, asked, told, "ApprovalDecided", via=via)


async def give_answer(
    store: Store,
    asked: PendingApproval,
    said: Mapping[str, Any],
    event: str,
    *,
    via: Surface | None = None,
    more: Mapping[str, JSON] = MappingProxyType({}),
) -> None:
    """Answer the question ``asked`` with ``said``, whose ``by`` is who does; its ``reason`` is kept
    without secrets. The history tells it
    as an ``event``, but for what is ``more``. Raises as ``answer_approval``."""
    workflow_id, by = asked.workflow_id, str(said["by"])
    if not asked.request.may_decide(by):
        raise NotAnApprover(by, asked.request.approver, asked.request.people)
    at = await store.now_ms()
    # People paste what they did, with the passwords in it, and history is read by many.
    reason = without_secrets(str(said["reason"]))
    told = {**said, "reason": reason, "digest": asked.request.digest, "ask": asked.ask}
    if via is not None:
        told["via"] = via
    place = {"path": asked.path, "visit": asked.visit, "try": asked.try_}
    refusal = await store.signal(
        workflow_id,
        asked.path,
        visit=asked.visit,
        try_=asked.try_,
        event="approval",
        value={**told, **more, "at": at},
        ask=asked.ask,
        recorded={"type": event, **place, **told},
    )
    if refusal is not None:
        raise ApprovalSettled(_why(refusal.code, asked))
    await store.unlist_approval(workflow_id, asked.path)


async def _pending_of(
    store: Store, workflow_id: str, paths: Iterable[str]
) -> list[PendingApproval]:
    run = await store.run(workflow_id)
    if run.is_over:
        return []
    documents = (await store.states(workflow_id, paths)).values()
    # A branch whose join is closed waits for nobody any more.
    waiting = await alive(store, workflow_id, filter(_waits, documents))
    return [await _read(store, workflow_id, run.name, document) for document in waiting]


def _waits(document: StateDocument) -> bool:
    return (
        document.status == "waiting"
        and document.wait == "approval"
        and document.approval is not None
    )


async def _read(
    store: Store, workflow_id: str, name: str, document: StateDocument
) -> PendingApproval:
    from dcf.tools import ApprovalRequest

    record = document.approval or {}
    arguments: JSON = await store.value(workflow_id, record["request"]["arguments"])
    journal = await store.value(workflow_id, record["journal"])
    return PendingApproval(
        workflow_id=workflow_id,
        workflow_name=name,
        path=document.path,
        visit=document.visit,
        try_=document.try_,
        ask=document.ask,
        kind=record["kind"],
        request=ApprovalRequest.from_document({**record["request"], "arguments": arguments}),
        asked=tuple(entry["approver"] for entry in record["asked"]),
        asked_at_ms=document.asked_at or 0,
        until_ms=None if document.wait_until is None else int(document.wait_until),
        calls_made=len(journal),
    )


def _why(code: str, asked: PendingApproval) -> str:
    where = f"{asked.path} of {asked.workflow_id}"
    if code == "expired":
        return f"the time of {asked.request.approver!r} to decide on {where} has passed"
    if code in ("cancelled", "closed", "unknown_state"):
        return f"{where} waits for nobody any more: its run, or the join above it, ended"
    return f"{where} was decided by somebody else just now"


def _age(asked: PendingApproval) -> tuple[int, str, str]:
    return asked.asked_at_ms, asked.workflow_id, asked.path


def in_words(asked: PendingApproval) -> str:
    """``bank:pay {"amount": 5}``; of a Task its name and input."""
    request = asked.request
    what = f"{request.server_id}:{request.tool_name}" if request.server_id else request.tool_name
    return f"{what} {json.dumps(request.arguments, ensure_ascii=False, sort_keys=True)}"
