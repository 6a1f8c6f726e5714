"""Control records, as the protocol has them: what decides about a state, as a JSON object.

A field that is nil in a script is missing here.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from typing import Any

Control = dict[str, Any]

REHINT_MIN_MS, REHINT_MAX_MS = 15_000, 60_000
OPEN = frozenset({"pending", "ready", "running", "waiting"})
_DEATHS_LIMIT = 3
_ANSWERS = ("callback", "approval")
_OF_LIMITS = ("begun", "deadline", "hb_due")
_OF_TRY = ("calls", "worked", "noted", "ask", "asked_at", "answered", "made", "model")


def put(record: Control, fields: Mapping[str, Any]) -> None:
    """Set ``fields``; None removes one."""
    for name, value in fields.items():
        if value is None:
            record.pop(name, None)
        else:
            record[name] = value


def copied(value: Any) -> Any:
    """A JSON value of its own; ``copy.deepcopy`` takes ten times as long."""
    if isinstance(value, dict):
        return {name: copied(part) for name, part in value.items()}
    return [copied(part) for part in value] if isinstance(value, list) else value


def is_json(text: str) -> bool:
    """Whether a server takes it."""
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def sha1(text: str) -> str:
    """As scripts hash."""
    return hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()


def public_lease(ctl: Control) -> dict[str, Any]:
    """What a document shows of the lease."""
    lease = ctl.get("lease")
    if lease is None:
        return dict.fromkeys(("token", "owner_agent_id", "ts", "ttl_s"))
    return {
        "token": lease["token"],
        "owner_agent_id": lease["owner"],
        "ts": lease["ts"],
        "ttl_s": math.ceil(lease["ttl"] / 1000),
    }


def due_at(ctl: Control) -> int | None:
    """When time can move the state next (ms)."""
    names: tuple[str, ...] = ()
    if ctl["status"] == "ready":
        names = ("hint_at",)
    elif ctl["status"] == "waiting":
        names = ("wait_until", "deadline")
        names += ("hb_due",) if ctl.get("wait") == "callback" else ()
    elif ctl["status"] == "running":
        limits = [
            ctl[name] for name in ("deadline", "hb_due") if name in ctl and "event" not in ctl
        ]
        return int(min([ctl["lease"]["ends"], *limits]))
    return min((ctl[name] for name in names if name in ctl), default=None)


def wake(ctl: Control, now: int) -> None:
    """Ready again."""
    put(ctl, {"status": "ready", "lease": None, "wait": None, "wait_until": None})
    put(ctl, {"ready_at": now, "hint_at": now + REHINT_MIN_MS})


def grant(ctl: Control, request: Mapping[str, Any], token: str, now: int) -> None:
    """Leased to whoever asks."""
    ctl["fence"] = max(ctl["fence"] + 1, now)
    ctl["attempts"] += 1
    put(ctl, {"status": "running", "ready_at": None, "hint_at": None})
    ctl["lease"] = {
        "token": sha1(token),
        "owner": request["owner"],
        "ts": now,
        "ttl": request["ttl"],
        "ends": now + request["ttl"],
    }
    put(ctl["lease"], {"alone": request.get("alone")})
    ctl.setdefault("begun", now)
    if "timeout_ms" in ctl:
        ctl.setdefault("deadline", ctl["begun"] + ctl["timeout_ms"])
    if "hb_ms" in ctl:
        ctl["hb_due"] = now + ctl["hb_ms"]


def fresh(kind: str, pv: int, spec: Mapping[str, Any], before: Control | None, now: int) -> Control:
    """The record of a new visit."""
    ctl: Control = {"kind": kind, "pv": pv, "visit": 1, "try": 1, "attempts": 0}
    ctl |= {"takeovers": 0, "fence": 0, "rounds": 0}
    put(ctl, {name: spec.get(name) for name in ("timeout_ms", "hb_ms", "callback")})
    if before is not None:
        ctl |= {"visit": before["visit"] + 1}
        ctl |= {"fence": before["fence"], "rounds": before["rounds"]}
        innocent = before["status"] in ("done", "running") and before.get("deaths", 0) <= 1
        if "deaths" in before and not innocent:
            ctl["deaths"] = min(before["deaths"], 1)
    wake(ctl, now)
    return ctl


def forget_limits(ctl: Control) -> None:
    """Its limits of time begin anew."""
    put(ctl, dict.fromkeys(_OF_LIMITS))


def forget_try(ctl: Control) -> None:
    """Nothing of the try before is left."""
    put(ctl, dict.fromkeys(_OF_LIMITS + _OF_TRY))


def forgive(ctl: Control) -> None:
    """A suspect at most."""
    put(ctl, {"takeovers": 0, "returned": None, "unheard": None, "overdue": None})
    if "deaths" in ctl:
        ctl["deaths"] = min(ctl["deaths"], 1)


def deaths_limit(run: Control) -> int:
    """How many workers may die over a state of the run."""
    return int(run.get("deaths", _DEATHS_LIMIT))


def count_death(ctl: Control, run: Control) -> bool:
    """One more worker died over it; whether the run ends with it."""
    put(ctl, {"deaths": ctl.get("deaths", 0) + 1, "overdue": None})
    limit = deaths_limit(run)
    if ctl["deaths"] >= limit and ctl.get("event") not in _ANSWERS:
        ctl["event"] = "worker_lost"
    return bool(ctl["deaths"] > 2 * limit)


def is_late(ctl: Control, name: str, now: int) -> bool:
    """Whether the moment called ``name`` has passed."""
    return name in ctl and ctl[name] <= now


def not_holder(ctl: Control, request: Mapping[str, Any], now: int) -> str | None:
    """Why the caller may not write."""
    lease = ctl.get("lease")
    if ctl["status"] != "running" or lease is None:
        return "lease_lost"
    if lease["token"] != sha1(request["token"]) or ctl["fence"] != request["fence"]:
        return "lease_lost"
    if lease["ends"] <= now:
        return "lease_expired"
    if "event" not in ctl and (is_late(ctl, "deadline", now) or is_late(ctl, "hb_due", now)):
        return "timed_out"
    return None
