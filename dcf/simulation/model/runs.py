"""Calls about a run: it is submitted, cancelled, finalized, closed, redriven."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from control_plane import DONE, INDEX
from dcf.simulation.model.control import (
    OPEN,
    REHINT_MAX_MS,
    Control,
    forget_try,
    forgive,
    fresh,
    put,
    wake,
)
from dcf.simulation.model.outside import wait_for_graph
from dcf.simulation.model.scratch import Scratch

Reply = list[Any]
_ALIVE = ("running", "pending")
_USED = ("tool_calls", "model_calls", "model_tokens", "model_nano", "model_unpriced")


def seed(now: Scratch) -> Reply:
    """A new run, or more of one."""
    request, run = now.request, now.load_run()
    if run is not None and (run["digest"] != request["digest"] or "removing" in run):
        return ["exists", run["digest"]]
    if run is not None and run["status"] != "pending":
        return ["ok", "created" if run["said"].get("seed") == request["call"] else "present"]
    if absent := now.missing_blob():
        return ["missing_blob", absent]
    if run is None:
        run = {"status": "pending", "born": str(now.now), "said": {}}
        run |= {name: request[name] for name in ("protocol", "digest", "pool")}
        put(run, {"deaths": request.get("deaths")})
        document = json.loads(now.text(2))
        document |= {"ctl": run, "status": "pending", "created_at": now.now}
        now.set(now.keys.meta, document)
        now.enlist(run)
        now.look_at(now.now + REHINT_MAX_MS)
    for state in request.get("states", ()):
        if now.load(state["path"]) is None:
            ctl = fresh("state", 0, {}, None, now.now)
            put(ctl, {"status": "pending", "visit": 0, "ready_at": None, "hint_at": None})
            now.document(state["path"], ctl, state["type"], None)
    if "start" in request:
        _start(now, run, request["start"])
    return ["ok", "created"]


def _start(now: Scratch, run: Control, start: dict[str, Any]) -> None:
    request = now.request
    ctl = fresh("state", 0, start, None, now.now)
    now.document(start["path"], ctl, start["type"], json.loads(now.text(3)))
    run["status"] = "running"
    run["said"]["seed"] = request["call"]
    now.save_run(run, {"status": "running", "started_at": now.now})
    now.enlist(run)
    told = {"type": "RunStarted", "digest": request["digest"]}
    put(told, {"pins": request.get("pins")})
    now.record(told)
    if (limit := request.get("timeout_ms")) is not None:
        now.add(now.keys.due, {"": now.now + limit})
        now.look_at(now.now + limit)
    now.schedule(start["path"], ctl)
    now.hint(start["path"])


def store_blob(now: Scratch) -> Reply:
    """A large value, for a run that keeps it, and takes it along when it goes."""
    run, digest = now.load_run(), now.request["blob"]
    if "removing" in run if run is not None else not now.request.get("new"):
        return ["unknown_run"]
    now.add(now.keys.blobs, {digest: True})
    now.set(now.keys.blob(digest), now.text(2))
    return ["ok"]


def cancel(now: Scratch) -> Reply:
    """No more of it."""
    request, run = now.request, now.load_run()
    if run is None:
        return ["unknown_run"]
    if run["said"].get("cancel") == request["call"]:
        return ["ok"]
    if run["status"] not in _ALIVE:
        return ["not_running", run["status"]]
    now.record({"type": "RunCancelled", "by": request["by"], "reason": request["reason"]})
    now.end_run("cancelled", "", json.loads(now.text(2)), "cancel")
    return ["ok"]


def finalize(now: Scratch) -> Reply:
    """Sealed."""
    request, run = now.request, now.load_run()
    if run is None:
        return ["unknown_run"]
    if run["status"] in _ALIVE:
        return ["still_running", run["status"]]
    if run["said"].get("finalize") == request["call"]:
        return ["ok"]
    if "finalized" in run:
        return ["already_finalized"]
    if (now.get(now.keys.chain) or {}).get("digest", "") != request["digest"]:
        return ["history_moved"]
    if run.get("closed", 0) < request.get("paths", 0):
        return ["not_closed", run.get("closed", 0)]
    now.set(now.keys.audit, json.loads(now.text(2)) | {"finalized_at": now.now})
    run["finalized"] = True
    run["said"]["finalize"] = request["call"]
    if "outbox" in request:
        run["outbox"] = "waiting"
        if not now.keys.cluster:
            wait_for_graph(now, request["run"], request["outbox"])
    now.save_run(run, {"cost_summary": json.loads(now.text(3)), "finalized_at": now.now})
    now.record({"type": "RunFinalized", "by": request["by"]})
    return ["ok"]


def told(now: Scratch) -> Reply:
    """The graph has this very end of it, or cannot have it."""
    request, run = now.request, now.load_run()
    if run is None:
        return ["unknown_run"]
    meant = request["born"], request["redrives"]
    if "finalized" not in run or (run["born"], run.get("redrives", 0)) != meant:
        return ["moved"]
    now.save_run(run | {"outbox": request["as"]})
    return ["ok"]


def close(now: Scratch) -> Reply:
    """What is open is closed; with the last call the run leaves the index."""
    request, run = now.request, now.load_run()
    if run is None:
        now.add(INDEX, {request["run"]: None})
        return ["unknown_run"]
    if "removing" in run:
        return ["unknown_run"]
    if run["status"] in _ALIVE:
        return ["still_running", run["status"]]
    if request.get("last") and "finalized" not in run:
        return ["not_finalized"]
    at = request.get("at", 0)
    if run.get("closed", 0) < at:
        return ["not_closed", run.get("closed", 0)]
    put(run, dict.fromkeys(("preparing", "prepared")))
    if request["paths"]:
        run["closed"] = max(run.get("closed", 0), at + len(request["paths"]))
    now.save_run(run)
    closed = 0
    for path in request["paths"]:
        ctl = now.load(path)
        if ctl is None or ctl["status"] not in OPEN:
            continue
        ctl["status"] = "skipped" if ctl["status"] == "pending" else "cancelled"
        put(ctl, dict.fromkeys(("lease", "wait", "wait_until")))
        if "join" in ctl:
            ctl["join"]["open"] = False
        now.save(path, ctl, {"times.finished": now.now})
        closed += 1
    if request.get("last"):
        now.set(now.keys.due, None)
        now.enlist(run)
        now.add(DONE, {request["run"]: now.now})
        now.add(INDEX, {request["run"]: None})
    return ["ok", closed]


def redrive(now: Scratch) -> Reply:
    """From what failed on."""
    request, run = now.request, now.load_run()
    if run is None:
        return ["unknown_run"]
    if run["said"].get("redrive") == request["call"]:
        return ["ok"]
    if "removing" in run:
        return ["not_failed", "removing"]
    if run["status"] not in ("failed", "timed_out", "cancelled"):
        return ["not_failed", run["status"]]
    ended = request.get("ended")
    if ended is not None and now.get(now.keys.meta)["finished_at"] != ended:
        return ["interrupted"]
    batch = request.get("batch", 0)
    if request.get("first"):
        run.pop("closed", None)
        if not request.get("last"):
            run["preparing"] = request["call"]
    elif run.get("preparing") != request["call"] or run["prepared"] < batch:
        return ["interrupted"]
    now.quiet = True
    for path in request["resume"]:
        _revisit(now, path, _resume)
    for path in request["again"]:
        _revisit(now, path, _at_once)
    for path in request["unseal"]:
        ctl = now.load(path)
        if ctl is not None and (ctl["status"], ctl["visit"]) == ("skipped", 0):
            ctl["status"] = "pending"
            now.save(path, ctl, {"times.finished": None})
    if request.get("last"):
        _go_on(now, run)
    else:
        now.save_run(run | {"prepared": batch + 1})
    return ["ok"]


def _revisit(now: Scratch, path: str, change: Callable[[Control, int], None]) -> None:
    """A new visit that starts from a copy of the one before."""
    ctl = now.load(path)
    if ctl is None or ctl["status"] in OPEN or ctl["status"] == "done":
        return
    now.move(path, f"{path}@{ctl['visit']}", copy_state=True)
    ctl |= {"visit": ctl["visit"] + 1, "try": ctl["try"] + 1, "attempts": 0}
    forgive(ctl)
    put(ctl, dict.fromkeys(("event", "retries", "commit_id", "result")))
    forget_try(ctl)
    change(ctl, now.now)
    times = {"entered": now.now, "started": None, "finished": None}
    more = dict.fromkeys(("error", "event", "execution_metrics"))
    now.save(path, ctl, {"visit": ctl["visit"], "times": times, **more})


def _at_once(ctl: Control, now: int) -> None:
    wake(ctl, now)
    ctl["hint_at"] = now


def _resume(ctl: Control, now: int) -> None:
    join = ctl.get("join")
    ctl |= {"status": "waiting", "wait": "join" if join else "frame"}
    if not join:
        return
    join["finished"] -= join["failed"]
    join["failed"] = 0
    join["open"] = join["finished"] < join["n"]
    if not join["open"]:
        _at_once(ctl, now)
        ctl["event"] = "joined"


def _go_on(now: Scratch, run: Control) -> None:
    request = now.request
    run["said"]["redrive"] = request["call"]
    put(run, dict.fromkeys(("finalized", "preparing", "prepared", "outbox")))
    run |= {"status": "running", "redrives": run.get("redrives", 0) + 1, "since": now.now}
    now.add(now.keys.chain, dict.fromkeys(_USED))
    names = ("error", "exit", "finished_at", "finalized_at")
    now.save_run(run, {"status": "running", **dict.fromkeys(names)})
    now.enlist(run)
    told = {"type": "RunRedriven"}
    put(told, {"by": request.get("by")})
    now.record(told)
    if (limit := request.get("timeout_ms")) is not None:
        now.add(now.keys.due, {"": now.now + limit})
    now.add(DONE, {request["run"]: None})
    now.add(INDEX, {request["run"]: now.now})
