"""A walk through the work of leases: tool calls and requests to models, in any order.

Calls of one name meet each other while they are open, after they were answered, under the next
lease and in the next try; budgets, numbers and times are used up to the last one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from dcf.simulation.virtual_loop import at_once
from dcf.simulation.walk import Walk

_FAR = 10**9
_ASKED_MS = 50
_WAITS = {"outcome": "wait"}
# What budgets limit, and how the chain of a run names what is used of it.
_TOTALS = {
    "tool_calls": "tool_calls",
    "model_calls": "model_calls",
    "tokens": "model_tokens",
    "nano": "model_nano",
}
Act = Callable[[str, Mapping[str, Any]], None]


class ToolWalk(Walk):
    """See ``Walk``. The one task of a run asks, is tried again, entered again, and redriven."""

    _notes: list[dict[str, Any]]
    _reserved: list[tuple[str, int]]

    def _acts(self, status: str) -> dict[Act, int]:
        return {
            self._acquire: 20 if status == "ready" else 1,
            self._work: 30 if status == "running" else 1,
            self._stop: 8 if status == "running" else 0,
            self._release: 3 if status == "running" else 0,
            self._late: 1 if status == "running" else 0,
            self._signal: 8 if status == "waiting" else 0,
            self._tick: 4,
            self._cancel: 1 if status == "running" else 0,
        }

    def _begin(self) -> None:
        self._number += 1
        self._run, self._notes, self._reserved = f"tools-{self._number}", [], []
        about: dict[str, Any] = {"call": self._id(), "digest": "d", "protocol": 1}
        about |= {"pool": "default", "pins": "p"}
        start = {"path": "A", "type": "Task", "timeout_ms": self._rng.choice((None, 2_000))}
        given = {name: part for name, part in start.items() if part is not None}
        self._say("seed", '{"workflow_name":"walk"}', "{}", **about, start=given)

    def _cancel(self, path: str, control: Mapping[str, Any]) -> None:
        """Whoever holds a lease does not know it yet."""
        super()._cancel(path, control)
        self._work(path, control)

    def _wait(self, control: Mapping[str, Any]) -> None:
        if self._rng.random() < 0.1:
            super()._wait(control)

    # -- the work of a lease ----------------------------------------------------------------------

    def _work(self, path: str, control: Mapping[str, Any]) -> None:
        """Some calls after each other, rather under a lease that has not ended."""
        if "lease" in control and control["lease"]["ends"] <= self._clock(None):
            self._tick(path, control)
            self._acquire(path, control, alone="watched")
        acts = {self._note: 6, self._recall: 2, self._settle: 3, self._reserve: 3, self._bill: 2}
        for act in self._rng.choices(list(acts), list(acts.values()), k=4):
            act(path, self._control(path))

    def _note(self, path: str, control: Mapping[str, Any]) -> None:
        called = self._called(path)
        self._pass(called)
        request = {"call": self._id(), "events_limit": self._limit("events")}
        request["calls_limit"] = self._rng.choice((_FAR, _FAR, _FAR, control.get("calls", 0)))
        request["budget"] = self._budget(control, tool_calls=1)
        kind = self._rng.choice(("call",) * 6 + ("question", "other"))
        if kind == "call":
            request |= self._tool_call(called)
            request["grant"] = self._rng.choice((None, 1, 2))
            request["open"] = self._rng.choice((None, 40, 200))
        elif kind == "question":
            request["asks"] = self._rng.choice((40, 200))
        if self._notes and self._rng.random() < 0.15:
            before = self._rng.choice(self._notes)
            request = before if kind == "call" else request | {"call": before["call"]}
        self._notes.append(request)
        for _ in range(self._rng.choice((1, 1, 2))):
            texts = '{"type":"ToolDecision","verdict":"allow"}', '{"type":"ToolDecision"}'
            self._say("note", *texts, **self._held(path), **request)

    def _tool_call(self, called: Mapping[str, Any]) -> dict[str, Any]:
        given = sorted({number for some in called.get("numbers", {}).values() for number in some})
        known = [number for number in given if self._rng.random() < 0.3]
        name = self._rng.choice((None, None, "a", "a", "b"))
        return {"digest": self._rng.choice("xxy"), "id": name, "known": known}

    def _recall(self, path: str, control: Mapping[str, Any]) -> None:
        called = self._called(path)
        self._pass(called)
        about = {"call": self._id(), **self._tool_call(called)}
        for _ in range(self._rng.choice((1, 2))):
            self._say("recall", **self._held(path), **about)

    def _settle(self, path: str, control: Mapping[str, Any]) -> None:
        number = self._rng.randint(0, max(0, control.get("calls", 0) - 1))
        answer, keep = self._rng.choice(("", '{"n":1}')), self._rng.choice((40, 2_000))
        self._say("settle", answer, **self._held(path), number=number, keep=keep)

    def _reserve(self, path: str, control: Mapping[str, Any]) -> None:
        about = {"call": self._id(), "events_limit": self._limit("events"), **self._asked()}
        budget = self._budget(
            control, model_calls=1, tokens=about["tokens"], nano=about.get("nano") or 0
        )
        self._reserved.append((about["call"], control["fence"]))
        for _ in range(self._rng.choice((1, 1, 2))):
            refused = '{"type":"ModelRefused"}'
            self._say("reserve", refused, **self._held(path), **about, budget=budget)

    def _bill(self, path: str, control: Mapping[str, Any]) -> None:
        # Nobody else knows the name of a reservation.
        mine = [call for call, fence in self._reserved if fence == control["fence"]]
        call = self._rng.choice(mine or ["none"])
        about = {"call": call, **self._asked()}
        about["events_limit"] = self._limit("events")
        self._say("bill", '{"type":"ModelCalled"}', **self._held(path), **about)

    def _asked(self) -> dict[str, Any]:
        return {"tokens": self._rng.randint(1, 9), "nano": self._rng.choice((None, 2, 3))}

    # -- limits -----------------------------------------------------------------------------------

    def _called(self, path: str) -> dict[str, Any]:
        """What the state's document keeps of tool calls."""
        key = self._store.keys(self._run).state(path)
        kept = at_once(self._store.backend.command("JSON.GET", key, "$.calls"))
        found: list[dict[str, Any]] = json.loads(kept or "[]")
        return found[0] if found else {}

    def _pass(self, called: Mapping[str, Any]) -> None:
        """Until a call is open no longer, or a question was put; or for a while."""
        lease, now = called.get("lease", {}), self._clock(None)
        moments = [*lease.get("open", {}).values(), lease.get("asking", now)]
        if self._rng.random() < 0.3:
            then = self._rng.choice((now, *moments)) + self._rng.choice((-1, 0, 0, 1))
            self._clock(max(now, then))

    def _budget(self, control: Mapping[str, Any], **asked: int) -> dict[str, dict[str, int]]:
        """Of the try and of the run: enough for what is ``asked``, just enough, or too little."""
        now, mine, run = self._clock(None), control.get("model", {}), self._store.keys(self._run)
        meta = json.loads(at_once(self._store.backend.command("JSON.GET", run.meta, ".")))
        totals = at_once(self._store.backend.command("HMGET", run.chain, *_TOTALS.values()))
        used = {
            "try": {name: mine.get(name.removeprefix("model_"), 0) for name in _TOTALS}
            | {"tool_calls": control.get("calls", 0)},
            "run": dict(zip(_TOTALS, (int(total or 0) for total in totals), strict=True)),
        }
        spans = {
            "try": control.get("worked", 0) + now - control.get("begun", now),
            "run": now - meta["ctl"].get("since", meta["started_at"]),
        }
        budget: dict[str, dict[str, int]] = {"try": {}, "run": {}}
        for whose, limits in budget.items():
            for name, more in asked.items():
                if self._rng.random() < 0.15:
                    left = more + self._rng.choice((-2, -1, 0, 0, 1))
                    limits[name] = max(0, used[whose][name] + left)
            if self._rng.random() < 0.15:
                limits["wall_ms"] = spans[whose] + self._rng.choice((0, 1, 1))
        return {whose: limits for whose, limits in budget.items() if limits}

    def _held(self, path: str) -> dict[str, Any]:
        return super()._held(path) | ({"path": "nowhere"} if self._rng.random() < 0.03 else {})

    # -- the ends of leases -----------------------------------------------------------------------

    def _stop(self, path: str, control: Mapping[str, Any]) -> None:
        """With a question, another try, another visit, or the end."""
        steps: list[tuple[dict[str, Any], int]] = [
            (_WAITS | {"wait": "approval", "wait_until": self._clock(None) + _ASKED_MS}, 4),
            (_WAITS | {"wait": "retry", "delay": 0}, 2),
            ({"outcome": "done", "next": {"path": self._rng.choice("AB"), "type": "Task"}}, 3),
            ({"outcome": "failed", "ends": "failed"}, 2),
        ]
        self._step(path, control, self._rng.choices(*zip(*steps, strict=True))[0])

    def _step(self, path: str, control: Mapping[str, Any], step: Mapping[str, Any]) -> None:
        request = {**self._held(path), "visit": control["visit"], "commit_id": self._id(), **step}
        request |= {"owner": "walker", "ttl": 600, "steps_limit": _FAR, "events_limit": _FAR}
        texts = ["", "{}", self._event(control), "", "", "", "", "", '{"asked":1}', ""]
        self._say("commit", *texts, **request)

    def _late(self, path: str, control: Mapping[str, Any]) -> None:
        """The time of whoever was asked passes; the answer comes when the work has gone on."""
        until = self._clock(None) + _ASKED_MS
        self._step(path, control, _WAITS | {"wait": "approval", "wait_until": until})
        self._clock(until)
        self._tick(path, control)
        self._acquire(path, control)
        after = {"outcome": "done", "next": {"path": "B", "type": "Task"}}
        timer = _WAITS | {"wait": "timer", "wait_until": until + _ASKED_MS}
        self._step(path, control, self._rng.choice((after, timer)))
        self._signal(path, {**self._control(path), "wait": "approval"})
