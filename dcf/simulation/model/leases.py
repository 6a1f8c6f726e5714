"""Calls about one state: its lease, and what answers it from outside."""

from __future__ import annotations

import json
from typing import Any

from dcf.simulation.model.control import (
    OPEN,
    Control,
    count_death,
    deaths_limit,
    forgive,
    grant,
    is_late,
    not_holder,
    put,
    sha1,
    wake,
)
from dcf.simulation.model.scratch import Scratch

Reply = list[Any]


def acquire(now: Scratch) -> Reply:
    """A lease, or why there is none."""
    request, path = now.request, now.request["path"]
    ctl, run = now.load(path), now.load_run()
    if ctl is None:
        return ["unknown_state"]
    if run is not None and run["pool"] != request["pool"]:
        return ["wrong_pool", run["pool"]]
    assert run is not None
    lease = ctl.get("lease")
    token = sha1(request["token"])
    if lease is None or lease["token"] != token or lease["ends"] <= now.now:
        if why := now.dead(path, ctl):
            return [why]
        if ctl["status"] == "running":
            return ["lease_held", ctl["lease"]["owner"], str(ctl["lease"]["ends"])]
        if ctl["status"] != "ready":
            return ["not_ready", ctl["status"]]
        if "deaths" in ctl and "alone" not in request:
            return ["suspect"]
        if "event" not in ctl and is_late(ctl, "deadline", now.now):
            ctl["event"] = "timeout"
        event = ctl.get("event")
        if event == "approval":
            put(ctl, {"event": None, "answered": True})
        grant(ctl, request, request["token"], now.now)
        put(ctl, {"turn": run.get("turn")})
        now.save(path, ctl, {"times.started": now.now})
        told = {"visit": ctl["visit"], "try": ctl["try"], "fence": ctl["fence"]}
        told |= {"owner": request["owner"]}
        put(told, {"alone": request.get("alone"), "event": event})
        now.tell("LeaseAcquired", path, told)
    redriven = f"/{run['redrives']}" if "redrives" in run else ""
    document = now.get(now.keys.state(path))
    born = f"{run['digest']}/{run['born']}{redriven}"
    return ["ok", str(ctl["fence"]), str(now.now), document, born]


def held(now: Scratch) -> tuple[Control, str | None]:
    """The record that the caller writes under its lease, and why it may not."""
    ctl = now.load(now.request["path"])
    if ctl is None:
        return {}, "unknown_state"
    why = now.dead(now.request["path"], ctl) or not_holder(ctl, now.request, now.now)
    return ctl, why


def renew(now: Scratch) -> Reply:
    """A lease for longer."""
    request = now.request
    ctl, why = held(now)
    if why:
        return [why]
    ends = now.now + request["ttl"]
    ctl["lease"] |= {"ts": now.now, "ttl": request["ttl"], "ends": ends}
    if request.get("beat") and "hb_ms" in ctl:
        ctl["hb_due"] = now.now + ctl["hb_ms"]
    limits = request.get("limits")
    if limits is not None:
        timeout, heartbeat = limits.get("timeout_ms"), limits.get("hb_ms")
        put(ctl, {"timeout_ms": timeout, "hb_ms": heartbeat})
        put(ctl, {"deadline": ctl["begun"] + timeout if timeout is not None else None})
        put(ctl, {"hb_due": now.now + heartbeat if heartbeat is not None else None})
    now.save(request["path"], ctl)
    if why := not_holder(ctl, request, now.now):
        return [why]
    return ["ok", str(ends), str(now.now)]


def release(now: Scratch) -> Reply:
    """A lease given back, or the death of who held it."""
    request, path = now.request, now.request["path"]
    ctl, run, died = now.load(path), now.load_run(), request.get("died")
    if ctl is None:
        return ["unknown_state"]
    token, fence = request["token"], request["fence"]
    released = sha1(f"{token}/{fence}")
    if ctl.get("released") == released:
        return ["ok"]
    unheard = ctl.get("unheard") == f"{sha1(token)}/{fence}"
    late = died is not None and unheard and ctl["status"] in OPEN
    why = now.dead(path, ctl) or (None if late else not_holder(ctl, request, now.now))
    if why:
        return [why]
    assert run is not None
    taken, over = ctl["status"] != "ready" and late, False
    if taken:
        ctl["deaths"] = min(ctl.get("deaths", 0) + 1, deaths_limit(run))
        reached = ctl["deaths"] == deaths_limit(run) and "event" not in ctl
        put(ctl, {"overdue": reached or None})
    elif died is not None:
        over = count_death(ctl, run)
    else:
        ctl["returned"] = ctl.get("returned", 0) + 1
        if ctl["returned"] >= deaths_limit(run):
            ctl.setdefault("deaths", 0)
    if not late:
        wake(ctl, now.now)
    put(ctl, {"released": released, "unheard": None, "how": died or ctl.get("how")})
    now.save(path, ctl)
    which = {"visit": ctl["visit"], "fence": fence}
    if died is None:
        now.tell("LeaseReleased", path, which)
    else:
        told = {"try": ctl["try"], "how": died, "event": ctl.get("event")}
        now.tell("WorkerDied", path, which | told)
    if over:
        now.end_lost(path)
    elif not taken:
        now.hint(path)
    return ["ok"]


def _closed(now: Scratch, ctl: Control) -> Reply | None:
    """Why nothing outside may answer the state."""
    if (ctl["visit"], ctl["try"]) != (now.request["visit"], now.request["try"]):
        return ["already_settled"]
    if "event" in ctl:
        return ["expired" if ctl["event"] in ("timeout", "heartbeat") else "already_settled"]
    wait = ctl.get("wait") if ctl["status"] == "waiting" else None
    begun = ctl["status"] == "ready" and ctl["attempts"] > 0
    working = ctl["status"] == "running" or begun or wait == "approval"
    if wait != "callback" and not (working and ctl.get("callback")):
        return ["not_waiting", ctl["status"]]
    silent = ctl["status"] != "ready" and is_late(ctl, "hb_due", now.now)
    return ["expired"] if silent or is_late(ctl, "deadline", now.now) else None


def _unasked(now: Scratch, ctl: Control) -> Reply | None:
    """Why nobody may decide the question."""
    asked = ctl["visit"], ctl["try"], ctl.get("ask")
    if asked != tuple(now.request.get(name) for name in ("visit", "try", "ask")):
        return ["already_settled"]
    if ctl.get("event") == "timer":
        return ["expired"]
    if "event" in ctl or "answered" in ctl:
        return ["already_settled"]
    if ctl["status"] != "waiting" or ctl.get("wait") != "approval":
        return ["not_waiting", ctl["status"]]
    return ["expired"] if is_late(ctl, "wait_until", now.now) else None


def beat(now: Scratch) -> Reply:
    """A sign of life from outside."""
    path = now.request["path"]
    ctl = now.load(path)
    if ctl is None:
        return ["unknown_state"]
    if why := now.dead(path, ctl):
        return [why]
    if closed := _closed(now, ctl):
        return closed
    if "hb_ms" in ctl and ctl.get("wait") != "approval":
        ctl["hb_due"] = now.now + ctl["hb_ms"]
        now.save(path, ctl)
    return ["ok"]


def signal(now: Scratch) -> Reply:
    """An answer from outside."""
    request, path = now.request, now.request["path"]
    ctl = now.load(path)
    if ctl is None:
        return ["unknown_state"]
    told = now.load_visit(path, ctl, request["visit"])
    if told and told.get("signal") == request["call"]:
        return ["ok"]
    if why := now.dead(path, ctl):
        return [why]
    closed = (_unasked if request["event"] == "approval" else _closed)(now, ctl)
    if closed:
        return closed
    if absent := now.missing_blob():
        return ["missing_blob", absent]
    holder = ctl.get("lease")
    ctl |= {"event": request["event"], "signal": request["call"]}
    forgive(ctl)
    wake(ctl, now.now)
    now.save(path, ctl, {"event": json.loads(now.text(2))})
    which = {"visit": ctl["visit"], "try": ctl["try"]}
    if now.text(3):
        now.record(json.loads(now.text(3)))
    else:
        now.tell("Signalled", path, which | {"event": request["event"]})
    if holder:
        ended = {"fence": ctl["fence"], "owner": holder["owner"], "event": request["event"]}
        now.tell("LeaseRevoked", path, which | ended)
    now.hint(path)
    return ["ok"]
