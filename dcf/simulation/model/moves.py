"""Calls that give a run to the workers of another pool."""

from __future__ import annotations

from typing import Any

from dcf.simulation.model.control import REHINT_MIN_MS, Control, put, wake
from dcf.simulation.model.scratch import Scratch

_MOST = 500


def move(now: Scratch) -> list[Any]:
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
    paths = request.get("paths", sorted(due, key=lambda path: (due[path], path))[:_MOST])
    for path in paths:
        if path and (ctl := now.load(path)) is not None and not now.dead(path, ctl):
            _take_along(now, path, ctl, run)
    more = "paths" not in request and len(now.peek(now.keys.due) or {}) > _MOST
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
