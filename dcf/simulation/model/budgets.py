"""Calls about requests to models: reserved before they are sent, billed after."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from dcf.simulation.model.control import Control
from dcf.simulation.model.leases import held
from dcf.simulation.model.scratch import Scratch

_USED = ("calls", "tokens", "nano")
_HELD = "model_held:"
Broken = tuple[str, str, str]
"""What of a budget has not enough left, how much is used, and the limit."""


def chain_of(fields: Mapping[str, str]) -> dict[str, Any]:
    """The fields of a run's chain as the model has them: reservations are JSON objects."""
    return {
        name: json.loads(text) if name.startswith(_HELD) else text for name, text in fields.items()
    }


def reserve(now: Scratch) -> list[Any]:
    """The most that a request can use is taken from the budgets, if it fits."""
    request = now.request
    ctl, why = held(now)
    if why:
        return [why]
    chain = now.get(now.keys.chain) or {}
    if f"{_HELD}{request['call']}" in chain:
        return ["ok"]
    if int(chain.get("events", 0)) >= request["events_limit"]:
        return ["limit_exceeded", "events"]
    budget = request.get("budget", {})
    for whose in ("try", "run"):
        if "nano" not in request and "nano" in budget.get(whose, {}):
            return ["price_unknown", whose]
    asked = {"calls": 1, "tokens": request["tokens"], "nano": request.get("nano", 0)}
    mine = ctl.get("model", dict.fromkeys(_USED, 0))
    used = {name: int(chain.get(f"model_{name}", 0)) for name in _USED}
    spans = {"try": lambda: worked(now, ctl), "run": lambda: passed(now)}
    for whose, so_far in (("try", mine), ("run", used)):
        if broken := _broken(budget.get(whose, {}), so_far, asked, spans[whose]):
            now.record(json.loads(now.text(2)) | refusal(whose, broken))
            return ["over_budget", whose, *broken]
    ctl["model"] = {name: mine[name] + asked[name] for name in _USED}
    now.note_control(request["path"], ctl)
    kept = {"tokens": asked["tokens"], "nano": asked["nano"]}
    total = {f"model_{name}": str(used[name] + asked[name]) for name in _USED}
    now.add(now.keys.chain, {**total, f"{_HELD}{request['call']}": kept})
    return ["ok"]


def worked(now: Scratch, ctl: Control) -> int:
    """How long the try has worked (ms), without what it waited for approvals."""
    return int(ctl.get("worked", 0) + now.now - ctl["begun"])


def passed(now: Scratch) -> int:
    """How long ago the run was started, or redriven (ms)."""
    meta = now.peek(now.keys.meta)
    return int(now.now - meta["ctl"].get("since", meta["started_at"]))


def _broken(
    limits: Mapping[str, int],
    used: Mapping[str, int],
    asked: Mapping[str, int],
    span: Callable[[], int],
) -> Broken | None:
    for name, what in (("model_calls", "calls"), ("tokens", "tokens"), ("nano", "nano")):
        if name in limits and used[what] + asked[what] > limits[name]:
            if name != "nano":
                return name, str(used[what]), str(limits[name])
            return "cost_usd", f"{used[what] / 1e9:.9f}", f"{limits[name] / 1e9:.9f}"
    return too_long(limits, span)


def too_long(limits: Mapping[str, int], span: Callable[[], int]) -> Broken | None:
    """Whether the time is used up."""
    if "wall_ms" in limits and span() >= limits["wall_ms"]:
        return "wall_time_s", f"{span() / 1000:.3f}", f"{limits['wall_ms'] / 1000:.3f}"
    return None


def refusal(whose: str, broken: Broken) -> dict[str, Any]:
    """What the event of a refusal says of the budget."""
    what, used, limit = broken
    told = {"used": json.loads(used), "limit": json.loads(limit)}
    return {"rule": f"budget.{what}", "budget": whose, **told}


def bill(now: Scratch) -> list[Any]:
    """What a request used takes the place of what was reserved."""
    request = now.request
    ctl, why = held(now)
    if why:
        return [why]
    chain = now.get(now.keys.chain) or {}
    reserved = chain.get(f"{_HELD}{request['call']}")
    if reserved is None:
        return ["ok"]
    more = {"calls": 0, "tokens": request["tokens"] - reserved["tokens"]}
    more["nano"] = request.get("nano", 0) - reserved["nano"]
    ctl["model"] = {name: ctl["model"][name] + more[name] for name in _USED}
    now.note_control(request["path"], ctl)
    total = {f"model_{name}": str(int(chain[f"model_{name}"]) + more[name]) for name in _USED}
    now.add(now.keys.chain, {**total, f"{_HELD}{request['call']}": None})
    if "nano" not in request:
        now.add(now.keys.chain, {"model_unpriced": str(int(chain.get("model_unpriced", 0)) + 1)})
    if int(chain.get("events", 0)) >= request["events_limit"]:
        return ["limit_exceeded", "events"]
    now.record(json.loads(now.text(2)))
    return ["ok"]
