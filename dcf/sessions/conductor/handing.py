"""Handing out: what is ready becomes a task of the session, with somebody who can do it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePath

from control_plane import JSON, payload
from dcf.citation import Citation
from dcf.sessions import delegating, staffing
from dcf.sessions.assigning import assign, is_suitable
from dcf.sessions.companion import GENERALIST, PREFIX, Companion
from dcf.sessions.conductor.fired import Fired
from dcf.sessions.conductor.request import OVER, WELL, Item, Request
from dcf.sessions.conductor.work import Work
from dcf.sessions.errors import SessionProblem
from dcf.sessions.order import Order
from dcf.sessions.similar import similar
from dcf.sessions.staffing import NewCompanion

_INPUT_KEPT = 4 * 1024
"""Bytes of a member of the context that is given to tasks; what is larger they read there."""
_INPUTS_KEPT = 64 * 1024


class _CannotHand(Exception):
    """Nobody can get it as it was asked for; its text is what the user is asked."""


def hand_out(work: Work) -> None:
    """Delegate all that waits for nothing any more. What waited for something that is not done and
    never will be has failed."""
    again = True
    while again:
        again = False
        for request, item in list(work.book.items):
            if item.status != "held":
                continue
            before = list(_before(work, item))
            broken = [one for one in before if one.status in OVER - WELL]
            if broken:
                names = ", ".join(f"{one.number} ({one.status})" for one in broken)
                result = f"it was to follow {names}"
                work.tell(request, replace(item, status="failed", result=result))
                again = True
            elif all(one.status == "open" or one.status in WELL for one in before):
                _hand(work, request, item, before)
                again = True


def employ(work: Work, specialization: str, skills: tuple[str, ...] = ()) -> Companion:
    """Make a companion. Raises SessionProblem."""
    draft, book = work.draft, work.book
    book.made += 1
    # Whoever makes this change again makes the same one; one of another session is another.
    seed = f"{draft.session_id}/{draft.head.created_at}/{book.made}"
    new = NewCompanion(work.by, specialization, skills=skills)
    return staffing.employ(draft, new, payload.digest(seed))


def ensure_somebody(work: Work) -> None:
    """Make companions when there are none."""
    least = max(1, work.hints.guidelines.bounds.min_companions)
    if work.staff or not work.rules.companions.create:
        return
    made = [employ(work, GENERALIST).companion_id for _ in range(least)]
    work.fire(Fired("first-companions", "there were none", f"made {', '.join(made)}"))


def close_down(work: Work) -> None:
    """The session takes nothing new: what waits for an answer, or for something else, is not done
    any more."""
    for request, item in list(work.book.items):
        if item.status == "asked" and item.errors:
            # It was begun, and stays what it came to.
            work.tell(request, replace(item, status="failed", question=None))
        elif item.status in ("held", "asked"):
            work.tell(request, replace(item, status="cancelled", result="the session ends"))


def _before(work: Work, item: Item) -> Iterator[Item]:
    """What it comes after, as far as that is still known."""
    for number in item.after:
        found = work.book.item(number)
        if found is not None:
            yield found[1]


def _hand(work: Work, request: Request, item: Item, before: list[Item]) -> None:
    """Delegate one item; where that cannot be, the user is asked."""
    try:
        order = _order(work, request, item, before)
        delegating.delegate(work.draft, order, order.task_id or "")
    except _CannotHand as cannot:
        work.ask(request, item, "companion", str(cannot))
        return
    except SessionProblem as problem:
        text = f"{problem} ({problem.hint}); say it anew, or `drop it`"
        work.ask(request, item, "order", text)
        return
    # So that the next one goes to somebody else.
    assign(work.draft)
    work.delegated.append(order.task_id or "")
    work.tell(
        request,
        replace(
            item,
            status="open",
            question=None,
            task_id=order.task_id,
            given=item.given + 1,
            spent=item.spent + 1,
        ),
    )


def _order(work: Work, request: Request, item: Item, before: list[Item]) -> Order:
    """Raises _CannotHand, SessionProblem."""
    # With two digits, since of tasks that wait equally long the first by name is given away first.
    task_id = f"{request.stem}-{item.position:02d}" + (f"-r{item.given}" if item.given else "")
    limits = work.rules.limits
    document = None
    companion_id = specialization = None
    if item.workflow is not None:
        found = work.documents.get(item.workflow, "it is not at hand")
        if isinstance(found, str):
            raise _CannotHand(f"{found}; say `retry`, or `drop it`")
        document = found
    else:
        companion_id, specialization = _whom(work, item)
    seconds = limits.timeout_s if item.workflow is None else limits.workflow_timeout_s
    return Order(
        description=item.text,
        by=work.by,
        companion_id=companion_id,
        specialization=specialization,
        skills=item.skills,
        input=_input(work, item, before),
        priority=item.priority or "normal",
        timeout_s=seconds if item.timeout_s is None else item.timeout_s,
        after=[one.task_id for one in before if one.task_id in work.draft.tasks],
        task_type=item.task_type or (PurePath(item.workflow).stem if item.workflow else None),
        tier=item.tier,
        task_id=task_id,
        workflow=document,
        request=request.request_id,
        pins=item.pins,
    )


def _input(work: Work, item: Item, before: list[Item]) -> JSON:
    """What its line says, over what the session shares, and where the results are that it follows.
    A workflow gets nothing that is not meant for it: its author says what its input is."""
    context, found, size = work.draft.context, {}, 0
    for member in work.rules.inputs if item.workflow is None else ():
        for name, value in getattr(context, member).items():
            bytes_ = payload.encode(value).size
            if bytes_ <= _INPUT_KEPT and size + bytes_ <= _INPUTS_KEPT:
                found[name] = value
                size += bytes_
    results = {
        str(one.number): str(Citation("run", one.task_id))
        for one in before
        if one.task_id is not None
    }
    if results:
        found["results_before"] = results
    return {**found, **item.inputs} or (None if item.workflow is None else {})


def _whom(work: Work, item: Item) -> tuple[str | None, str | None]:
    """Companion and specialization that shall do it; None for any. Raises _CannotHand."""
    ensure_somebody(work)
    specialization = item.specialization
    if item.whom is not None:
        named = _named(work, item.whom.removeprefix("@"))
        if named is not None:
            return named.companion_id, None
        if item.whom.startswith("@"):
            there = {one.companion_id for one in work.staff}
            near = similar(PREFIX + item.whom[1:], there)
            names = ", ".join(sorted(there)) or "none"
            raise _CannotHand(
                f"There is no companion {item.whom[1:]}{near} (there are: {names}): "
                "say `@NAME`, `yes` for any, or `drop it`"
            )
        specialization = item.whom
    if specialization is not None:
        specialization = _specialized(work, item, specialization)
    return _rather(work, item, specialization), specialization


def _named(work: Work, name: str) -> Companion | None:
    known = {one.companion_id: one for one in work.draft.companions.values()}
    by_name = {one.name: one for one in known.values()}
    return known.get(name) or known.get(PREFIX + name) or by_name.get(name)


def _specialized(work: Work, item: Item, wanted: str) -> str | None:
    """The specialization as companions have it; somebody is made who has it, where nobody does and
    there is room. Raises _CannotHand when the user asked for it and there is none."""
    for one in work.staff:
        if one.specialization.lower() == wanted.lower():
            return one.specialization
    most = work.hints.guidelines.bounds.max_companions
    if work.rules.companions.create and len(work.staff) < most:
        made = employ(work, wanted, item.skills)
        why = f"nobody is specialised in {wanted}"
        work.fire(Fired("specialist", why, f"made {made.companion_id}"), item)
        return made.specialization
    why = f"nobody is specialised in {wanted}, and there are {len(work.staff)} of {most} companions"
    if item.whom is not None:
        raise _CannotHand(f"{why}: say `yes` for any, or `drop it`")
    work.fire(Fired("specialist", why, "any may do it"), item)
    return None


def _rather(work: Work, item: Item, specialization: str | None) -> str | None:
    """Somebody who is idle, in the place of one who failed at it or of whom the guidelines warn;
    None where that leaves nobody else, or nobody out."""
    idle = [
        one
        for one in work.pool
        if one.status == "idle"
        and one.companion_id in work.draft.seated
        and is_suitable(one, None, specialization)
    ]
    others = [one for one in idle if one.companion_id != item.not_companion]
    trusted = [one for one in others if not work.hints.warns_of_companion(one.companion_id)]
    rather = trusted or others
    if not rather or len(rather) == len(idle):
        return None
    chosen = min(
        rather,
        key=lambda one: (
            -len(set(one.skills) & set(item.skills)),
            one.idle_since or 0,
            one.companion_id,
        ),
    ).companion_id
    for one in others if trusted else ():
        if one not in trusted:
            work.fire(work.hints.avoided_companion(one.companion_id, chosen), item)
    return chosen
