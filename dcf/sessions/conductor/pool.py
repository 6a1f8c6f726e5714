"""How many companions there are: more when all are busy, fewer when they have nothing to do."""

from __future__ import annotations

from collections import Counter

from dcf.sessions import staffing
from dcf.sessions.companion import GENERALIST, Companion
from dcf.sessions.conductor.fired import Fired
from dcf.sessions.conductor.handing import employ, ensure_somebody
from dcf.sessions.conductor.rules import ConductorRules
from dcf.sessions.conductor.work import Work
from dcf.sessions.session import Session
from dcf.sessions.task import SessionTask


def may_scale(session: Session, now: int, rules: ConductorRules) -> bool:
    """Whether there is any reason to look closer."""
    if not rules.companions.scale or session.state != "active":
        return False
    working = [one for one in session.companions.values() if one.status in ("idle", "busy")]
    if any(task.status == "queued" for task in session.open_tasks):
        return not any(one.status == "idle" for one in working)
    return any(_is_long_idle(one, now, rules) for one in working)


def scale(work: Work) -> None:
    """Make a companion, or dismiss one, where the guidelines and the rules ask for it. One at a
    time: what it changes is seen before the next."""
    if not work.rules.companions.scale or work.draft.head.state != "active":
        return
    waiting = _waiting(work)
    if waiting:
        ensure_somebody(work)
    if not _up(work, waiting):
        _down(work, waiting)


def _up(work: Work, waiting: list[SessionTask]) -> bool:
    guidelines = work.hints.guidelines
    bounds = guidelines.bounds
    target = guidelines.companion_scaling.get("target_companions", 0)
    pool = work.pool
    if not pool or any(one.status == "idle" for one in pool) or len(pool) >= bounds.max_companions:
        return False
    if not waiting or not (len(waiting) > bounds.scale_up_threshold or target > len(pool)):
        return False
    wanted = Counter(task.specialization or GENERALIST for task in waiting)
    made = employ(work, max(wanted, key=lambda name: (wanted[name], name)))
    why = f"{len(waiting)} tasks wait, all {len(pool)} companions are busy"
    if target > len(pool):
        why += f", {target} are advised"
    revision = work.hints.revision or None
    work.fire(Fired("scale-up", why, f"made {made.companion_id}", revision=revision))
    return True


def _down(work: Work, waiting: list[SessionTask]) -> None:
    guidelines, rules = work.hints.guidelines, work.rules
    bounds = guidelines.bounds
    target = guidelines.companion_scaling.get("target_companions")
    pool = work.pool
    idle = [one for one in pool if _is_long_idle(one, work.draft.now, rules)]
    too_many = len(idle) > rules.companions.idle or (
        target is not None and idle and len(pool) > target
    )
    if (
        not too_many
        or len(waiting) > bounds.scale_down_threshold
        or len(pool) <= max(1, bounds.min_companions)
    ):
        return
    longest = min(idle, key=lambda one: (one.idle_since or 0, one.companion_id))
    why = f"{len(idle)} of {len(pool)} had nothing to do for {rules.companions.idle_minutes:g} min"
    staffing.dismiss(work.draft, longest.companion_id, by=work.by, reason=why)
    revision = work.hints.revision or None
    work.fire(Fired("scale-down", why, f"dismissed {longest.companion_id}", revision=revision))


def _waiting(work: Work) -> list[SessionTask]:
    """Tasks that any companion could begin, were one free."""
    tasks = work.draft.tasks
    return [
        task
        for task in tasks.values()
        if task.status == "queued"
        and task.kind == "companion"
        and task.wanted is None
        and not any(other in tasks and tasks[other].is_open for other in task.after)
    ]


def _is_long_idle(companion: Companion, now: int, rules: ConductorRules) -> bool:
    """Those that are served from outside come and go by themselves."""
    since = companion.idle_since
    return (
        companion.status == "idle"
        and not companion.external
        and since is not None
        and now - since > rules.companions.idle_ms
    )
