"""What is done when tasks that were delegated for requests are over."""

from __future__ import annotations

from dataclasses import replace

from dcf.sessions.conductor.fired import Fired
from dcf.sessions.conductor.request import Item, ItemStatus, Request
from dcf.sessions.conductor.trace import Trace
from dcf.sessions.conductor.work import Work
from dcf.sessions.task import DONE, SessionTask

_TOP_TIER = 3
_FOLLOWED = "dependency_failed"
_RESULT_KEPT = 1_000


def settle_items(work: Work) -> None:
    """Write how the tasks of items ended; what failed is given away again, or asked about, as the
    rules say. Nothing is delegated here."""
    for request, item in list(work.book.items):
        if item.status != "open":
            continue
        task = work.task(item.task_id)
        if task is None or task.is_open:
            continue
        trace = work.traces.get(task.task_id)
        if trace is None:
            # It ended a moment ago: what it did is read the next time.
            continue
        item = _with_end(item, task, trace)
        if task.status in DONE:
            status: ItemStatus = "partial" if task.status == "partial" else "succeeded"
            work.tell(request, replace(item, status=status))
        elif task.status == "cancelled":
            work.tell(request, replace(item, status="cancelled"))
        else:
            _failed(work, request, item, task, trace)


def _failed(work: Work, request: Request, item: Item, task: SessionTask, trace: Trace) -> None:
    code = (task.error or {}).get("code", "failed")
    if not work.takes:
        work.fire(Fired("session-ends", f"{code}", "nothing is given away any more"), item)
        work.tell(request, replace(item, status="failed"))
        return
    if code == _FOLLOWED and item.after:
        # It was never begun: it goes out again when what it follows does.
        spent = max(0, item.spent - 1)
        work.book.write(request, replace(item, status="held", spent=spent, result=None))
        return
    item = replace(item, errors=(*item.errors, code), not_companion=task.companion_id)
    rule, do = _decide(work, item, trace)
    tier = (task.selection or {}).get("tier")
    if do == "escalate":
        now = max([one for one in (item.tier, tier) if isinstance(one, int)], default=0)
        if now >= _TOP_TIER:
            rule, do = Fired(rule.rule, rule.why, "asked: there is no higher tier"), "ask"
        else:
            item = replace(item, tier=now + 1)
            rule = replace(rule, did=f"given again, with tier {now + 1}")
    work.fire(rule, item)
    if do == "give_up":
        work.tell(request, replace(item, status="failed"))
    elif do == "ask":
        work.ask(request, item, "failed", _question(item.result or code, trace))
    else:
        work.tell(request, replace(item, status="held"))


def _decide(work: Work, item: Item, trace: Trace) -> tuple[Fired, str]:
    """Which rule applies, and what it says; never more tries than there are."""
    code, times = item.errors[-1], item.errors.count(item.errors[-1])
    why = f"{code}, {times} times" if times > 1 else code
    for rule in work.rules.about("failure"):
        if not rule.fits_failure(item.kind, item.errors, item.spent, trace):
            continue
        if rule.do in ("retry", "escalate") and item.spent >= work.rules.limits.tries:
            return Fired("tries", f"{why}; {item.spent} tries are the most", "asked"), "ask"
        did = {"ask": "asked the user", "give_up": "gave up"}.get(rule.do, "given again")
        return Fired(rule.name, why, did), rule.do
    return Fired("no-rule", f"no rule is about {why}", "asked the user"), "ask"


def _question(why: str, trace: Trace) -> str:
    """What the user has to know to decide whether it shall be tried again."""
    if trace.effects:
        did = ", ".join(trace.effects)
        why = f"{why}. Before that it called {did}, and may have changed something. Again, with"
        return f"{why} `retry`, which may do that once more, or `drop it`?"
    if trace.awaited is not None:
        why = f"{why}. Nobody decided on its call of {trace.awaited}, see `dcf approvals`"
    return f"{why}: `retry` or `drop it`?"


def _with_end(item: Item, task: SessionTask, trace: Trace) -> Item:
    """The item with what its task came to."""
    error = task.error or {}
    said = task.summary
    if task.error is not None:
        said = f"{error.get('code', 'failed')}: {error.get('message', '')}"
    seconds = None
    if task.started_at is not None and task.finished_at is not None:
        seconds = round((task.finished_at - task.started_at) / 1000, 3)
    return replace(
        item,
        companion_id=task.companion_id,
        result=said[:_RESULT_KEPT] if said else None,
        data=trace.data,
        seconds=seconds,
        reference=task.reference,
    )
