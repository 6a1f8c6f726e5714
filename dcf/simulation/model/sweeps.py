"""Calls that look after runs: time moves states, runs change their pool."""

from __future__ import annotations

from typing import Any

from control_plane import INDEX
from dcf.simulation.model.control import (
    REHINT_MAX_MS,
    REHINT_MIN_MS,
    Control,
    count_death,
    deaths_limit,
    due_at,
    is_late,
    put,
    wake,
)
from dcf.simulation.model.scratch import Scratch

Reply = list[Any]
_VANISHED = 10
_MOST_MOVED = 500


def tick(now: Scratch) -> Reply:
    """What time moves."""
    run, moved = now.load_run(), 0
    due = sorted((now.peek(now.keys.due) or {}).items(), key=lambda item: (item[1], item[0]))
    late = [path for path, at in due if at <= now.now][:100]
    for path in late if not (run or {}).get("preparing") else ():
        left = (now.peek(now.keys.due) or {}).get(path)
        if left is None or left > now.now:
            continue
        if path:
            moved += _pass(now, path)
        elif (now.load_run() or {}).get("status") == "running":
            now.end_run("timed_out", "", {"error": "States.Timeout", "cause": None})
    run = now.load_run()
    head = min((now.peek(now.keys.due) or {}).values(), default=None)
    now.enlist(run)
    if run is None:
        now.add(INDEX, {now.request["run"]: None})
    else:
        known = now.get(INDEX) or {}
        if run["status"] == "running" and now.request["run"] in known:
            at = head if head is not None else now.now + REHINT_MAX_MS
            now.add(INDEX, {now.request["run"]: at})
    status = "" if run is None else "removing" if "removing" in run else run["status"]
    return ["ok", "" if head is None else str(int(head)), str(now.now), moved, status]


def _pass(now: Scratch, path: str) -> bool:
    """Let time move one state; whether it moved."""
    ctl = now.load(path)
    if ctl is None or now.dead(path, ctl):
        now.add(now.keys.due, {path: None})
        return False
    if ctl["status"] == "ready":
        waited = min(max(now.now - ctl["ready_at"], REHINT_MIN_MS), REHINT_MAX_MS)
        ctl["hint_at"] = now.now + waited
        now.hint(path)
        now.save(path, ctl)
        return False
    at = due_at(ctl)
    if at is None or at > now.now:
        now.schedule(path, ctl)
        return False
    if ctl["status"] == "waiting":
        _fire(now, path, ctl)
    elif _expire(now, path, ctl):
        now.end_lost(path)
        return False
    wake(ctl, now.now)
    now.hint(path)
    now.save(path, ctl)
    return True


def _fire(now: Scratch, path: str, ctl: Control) -> None:
    """A moment came that the state waited for."""
    if is_late(ctl, "deadline", now.now):
        ctl["event"] = "timeout"
    elif ctl["wait"] == "callback":
        ctl["event"] = "heartbeat"
    elif ctl["wait"] in ("timer", "approval"):
        ctl["event"] = "timer"
    told = {"visit": ctl["visit"], "try": ctl["try"], "wait": ctl["wait"]}
    now.tell("TimerFired", path, told | {"event": ctl.get("event")})


def _expire(now: Scratch, path: str, ctl: Control) -> bool:
    """A lease ended without a word, or the time of its work did; whether the run ends with it."""
    before, over = ctl.get("event"), False
    late = [name for name in ("deadline", "hb_due") if is_late(ctl, name, now.now)]
    if before is None and late:
        ctl["event"] = "timeout" if late[0] == "deadline" else "heartbeat"
    else:
        over = _lose(now, ctl)
    kind = "LeaseRevoked" if ctl.get("event") != before else "LeaseExpired"
    told = {"visit": ctl["visit"], "try": ctl["try"], "fence": ctl["fence"]}
    told |= {"owner": ctl["lease"]["owner"]}
    put(told, {"alone": ctl["lease"].get("alone")})
    now.tell(kind, path, told | {"event": ctl.get("event")})
    return over


def _lose(now: Scratch, ctl: Control) -> bool:
    run, lease = now.load_run(), ctl["lease"]
    assert run is not None
    ctl["takeovers"] += 1
    alone, often = lease.get("alone"), ctl["takeovers"] > _VANISHED * deaths_limit(run)
    away = now.request.get("away_to", 0), now.request.get("away_from", -1)
    if away[0] <= now.now - lease["ends"] <= away[1] and not often:
        # Nobody could have renewed it.
        return False
    if alone == "watched" and not often and not ctl.get("overdue"):
        ctl["unheard"] = f"{lease['token']}/{ctl['fence']}"
    elif alone or "deaths" not in ctl:
        return count_death(ctl, run)
    return False


def move(now: Scratch) -> Reply:
    """What is ready is hinted there; with ``revoke`` leases end."""
    request, run = now.request, now.load_run()
    if run is None:
        return ["unknown_run"]
    last, turn = run.get("turn", 0), request["turn"]
    if turn < last or (turn == last and run["pool"] != request["pool"]):
        return ["late", last, run["pool"]]
    if run["status"] not in ("running", "pending"):
        return ["ok", 0] if turn == last else ["not_running", run["status"]]
    if turn > last:
        told = {"type": "RunMoved", "from": run["pool"], "to": request["pool"], "turn": turn}
        run |= {"pool": request["pool"], "turn": turn}
        now.save_run(run, {"pool": request["pool"]})
        now.record(told | {"by": request["by"], "reason": request["reason"]})
    due = now.peek(now.keys.due) or {}
    paths = request.get("paths", sorted(due, key=lambda path: (due[path], path))[:_MOST_MOVED])
    for path in paths:
        if path and (ctl := now.load(path)) is not None and not now.dead(path, ctl):
            _take_along(now, path, ctl, run)
    more = "paths" not in request and len(now.peek(now.keys.due) or {}) > _MOST_MOVED
    return ["ok", int(more)]


def _take_along(now: Scratch, path: str, ctl: Control, run: Control) -> None:
    """Move one state, unless it was moved in this turn."""
    if ctl.get("turn") == run["turn"]:
        return
    if ctl["status"] == "ready":
        ctl["hint_at"] = now.now + REHINT_MIN_MS
    elif ctl["status"] == "running" and now.request["revoke"] and ctl["lease"]["ends"] > now.now:
        told = {"visit": ctl["visit"], "try": ctl["try"], "fence": ctl["fence"]}
        told |= {"owner": ctl["lease"]["owner"], "event": ctl.get("event")}
        now.tell("LeaseRevoked", path, told | {"to": run["pool"]})
        wake(ctl, now.now)
    else:
        return
    put(ctl, {"turn": run["turn"]})
    now.hint(path)
    now.save(path, ctl)
