"""Companions: who comes, who goes, who is there."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from dcf.sessions.companion import (
    GENERALIST,
    PREFIX,
    Companion,
    CompanionStatus,
    companion_id_of,
)
from dcf.sessions.draft import Draft
from dcf.sessions.errors import BadValue, CompanionExists, TooLarge, TooMany
from dcf.sessions.finding import check_conductor, check_taking, find_companion
from dcf.sessions.settling import take_away
from dcf.sessions.task import SessionTask

COMPANIONS_LIMIT = 100
"""Companions of one session."""

FORMER_LIMIT = 200
"""So many dismissed companions are kept, the newest; the history tells of all."""

LOSSES_LIMIT = 3
"""How often a task goes on elsewhere when its companion is lost; then it fails."""

_FREE_STATUSES = ("idle", "error")
PERSONA_LIMIT = 8 * 1024
"""Bytes of a persona."""
_LONGEST_MODEL = 256
_LONGEST_NAME = 100
# With the longest session id it is still an agent id.
_LONGEST_ID = 50
_ID = re.compile(r"[A-Za-z0-9_.-]+")


@dataclass(frozen=True, slots=True)
class NewCompanion:
    """A companion to be made. ``by`` is its conductor; with ``name`` its id is
    ``companion-{name}``."""

    by: str
    specialization: str = GENERALIST
    skills: Sequence[str] = ()
    tier: int | None = None
    model: str | None = None
    persona: str | None = None
    shared_blocks: Sequence[str] = ()
    name: str | None = None
    external: bool = False


def employ(draft: Draft, new: NewCompanion, unique: str) -> Companion:
    """Add a companion. Raises SessionProblem."""
    check_conductor(draft, new.by)
    check_taking(draft, "making a companion")
    if len(draft.companions) >= COMPANIONS_LIMIT:
        raise TooMany(
            session_id=draft.session_id,
            count=len(draft.companions),
            what="companions",
            limit=COMPANIONS_LIMIT,
            how="dismiss some",
        )
    if new.tier is not None and not 0 <= new.tier <= 3:
        raise BadValue(what="model_tier", value=new.tier, wanted="0 to 3", how="leave it away")
    if new.model is not None and not 0 < len(new.model) <= _LONGEST_MODEL:
        wanted = f"1 to {_LONGEST_MODEL} characters"
        raise BadValue(what="model", value=repr(new.model[:40]), wanted=wanted, how="leave it away")
    size = len((new.persona or "").encode("utf-8", "surrogatepass"))
    if size > PERSONA_LIMIT:
        raise TooLarge(what="The persona", size=size, limit=PERSONA_LIMIT)
    specialization = _specialization(new.specialization)
    companion_id = _id(draft, new, unique)
    if companion_id in draft.companions or companion_id in draft.former:
        raise CompanionExists(companion_id=companion_id, session_id=draft.session_id)
    draft.head = replace(draft.head, employed=draft.head.employed + 1)
    draft.tell(
        "CompanionCreated",
        companion_id=companion_id,
        specialization=specialization,
        by=new.by,
        skills=list(new.skills) or None,
    )
    return draft.seat(
        Companion(
            companion_id=companion_id,
            name=new.name or companion_id,
            created_at=draft.now,
            created_by=new.by,
            specialization=specialization,
            skills=tuple(new.skills),
            tier=new.tier,
            model=new.model,
            persona=new.persona,
            shared_blocks=tuple(new.shared_blocks),
            external=new.external,
            idle_since=draft.now,
        )
    )


def dismiss(draft: Draft, companion_id: str, *, by: str, reason: str | None = None) -> Companion:
    """Take the companion out of the session. What it is doing goes on elsewhere. Raises
    UnknownCompanion."""
    companion = find_companion(draft, companion_id)
    companion_id = companion.companion_id
    task = draft.tasks.get(companion.task_id or "")
    if task is not None:
        _hand_on(draft, companion, task, f"{companion_id} was dismissed")
    for waiting in draft.open_tasks():
        if waiting.wanted == companion_id:
            draft.put(replace(waiting, wanted=None, specialization=companion.specialization))
    # As it is after its task was taken away.
    companion = draft.companions.pop(companion_id)
    gone = replace(
        companion, status="dismissing", task_id=None, reason=reason, dismissed_at=draft.now
    )
    draft.former[companion_id] = gone
    while len(draft.former) > FORMER_LIMIT:
        first = min(draft.former.values(), key=lambda one: (one.dismissed_at or 0, one.created_at))
        del draft.former[first.companion_id]
    draft.tell("CompanionDismissed", companion_id=companion_id, by=by, reason=reason)
    return gone


def take_seat(draft: Draft, companion_id: str) -> Companion | None:
    """Somebody serves the companion from now on; None when it is in the session no more."""
    companion = draft.companions.get(companion_id)
    if companion is None:
        return None
    draft.seated = draft.seated | {companion_id}
    if companion.status != "lost" and companion.seated_at is not None:
        return companion
    draft.tell("CompanionSeated", companion_id=companion_id)
    status: CompanionStatus = "busy" if companion.task_id else "idle"
    idle_since = companion.idle_since or draft.now
    return draft.seat(
        replace(companion, status=status, seated_at=draft.now, idle_since=idle_since, reason=None)
    )


def lose(draft: Draft, companion_id: str, why: str) -> None:
    """Nobody serves the companion any more: its task goes to another that is suitable."""
    companion = draft.companions[companion_id]
    task = draft.tasks.get(companion.task_id or "")
    if task is not None and sum(one.lost for one in task.attempts) >= LOSSES_LIMIT:
        message = f"{LOSSES_LIMIT + 1} companions were lost over it, the last: {why}"
        verdict = {"code": "companions_lost", "message": message}
        draft.put(replace(task, cancelled_by="dcf", reason=message, verdict=verdict))
    elif task is not None and task.cancelled_by is None:
        _hand_on(draft, companion, task, why, lost=True)
    companion = draft.companions[companion_id]
    draft.seat(replace(companion, status="lost", task_id=None, reason=why))
    draft.tell("CompanionLost", companion_id=companion_id, reason=why)


def describe(
    draft: Draft,
    companion_id: str,
    *,
    status: str | None = None,
    specialization: str | None = None,
    reason: str | None = None,
) -> Companion:
    """What a companion, or its conductor, says of it: ``error`` takes it out of service, ``idle``
    back in; ``busy`` is what its task makes it. Raises SessionProblem."""
    companion = find_companion(draft, companion_id)
    companion_id = companion.companion_id
    if specialization is not None:
        companion = replace(companion, specialization=_specialization(specialization))
    if status is not None and status != companion.status:
        if status not in _FREE_STATUSES:
            raise BadValue(
                what="status",
                value=status,
                wanted="idle or error",
                how="a companion is busy while it has a task",
            )
        if companion.task_id is not None and status == "idle":
            raise BadValue(
                what="status",
                value="idle",
                wanted=f"busy: it has task {companion.task_id}",
                how="report the task's result first",
            )
        task = draft.tasks.get(companion.task_id or "")
        if task is not None:
            had = draft.companions[companion_id]
            _hand_on(draft, had, task, f"{companion_id} is out of order")
            companion = replace(companion, task_id=None)
        companion = replace(
            companion, status="idle" if status == "idle" else "error", reason=reason,
            idle_since=draft.now,
        )  # fmt: skip
    if companion != draft.companions[companion_id]:
        draft.tell(
            "CompanionChanged",
            companion_id=companion_id,
            status=companion.status,
            specialization=companion.specialization,
            reason=reason,
        )
    return draft.seat(companion)


def _hand_on(
    draft: Draft, companion: Companion, task: SessionTask, why: str, *, lost: bool = False
) -> None:
    """Let another do the task of a companion that can do nothing more; where it was meant for that
    one, another of its specialization."""
    wanted = task.wanted
    taken = take_away(draft, task, why, lost=lost)
    if wanted is not None:
        draft.put(replace(taken, specialization=companion.specialization))


def _id(draft: Draft, new: NewCompanion, unique: str) -> str:
    if new.name is None:
        return companion_id_of(new.specialization, unique)
    name = new.name.removeprefix(PREFIX)
    if len(name) > _LONGEST_ID or not _ID.fullmatch(name):
        raise BadValue(
            what="companion_name",
            value=repr(new.name[:_LONGEST_NAME]),
            wanted=f"1 to {_LONGEST_ID} of A-Z a-z 0-9 _ . -",
            how="say billing-1, for example",
        )
    return PREFIX + name


def _specialization(given: str) -> str:
    said = " ".join(given.split())
    if not said or len(said) > _LONGEST_NAME or not said.isprintable():
        raise BadValue(
            what="specialization",
            value=repr(given[:_LONGEST_NAME]),
            wanted=f"1 to {_LONGEST_NAME} printable characters",
            how=f"say {GENERALIST}",
        )
    return said
