"""A random walk through the protocol: calls at and around the very moments that decide.

Runs of its own are driven by calls in any order, each at a moment of its choice; the model says
what comes of each. So limits are tried to the millisecond, and refusals that faults hardly ever
lead to.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping
from typing import Any

from control_plane import DONE, ControlPlaneError, Store
from dcf.simulation.virtual_loop import at_once
from dcf.simulation.walk_step import Step

_MOMENTS = ("deadline", "hb_due", "wait_until", "hint_at")
_FAR = 10**9


class Walk:
    """``clock`` tells and sets the server's time (ms), which only grows."""

    def __init__(
        self, store: Store, rng: random.Random, clock: Callable[[int | None], int]
    ) -> None:
        self._store, self._rng, self._clock = store, rng, clock
        self._leases: dict[str, tuple[str, int]] = {}
        self._commits: list[tuple[dict[str, Any], list[str]]] = []
        self._number = 0
        self._run = ""

    def go(self, steps: int) -> None:
        """So many calls."""
        self._begin()
        for _ in range(steps):
            if self._status() != "running" and self._rng.random() < 0.7:
                self._restart()
                continue
            names = sorted(at_once(self._store.paths(self._run)))
            control: dict[str, Any] = {}
            # Rather what is open than what is over.
            for _ in range(3):
                path = self._rng.choice([name for name in names if "@" not in name])
                control = self._control(path)
                if control["status"] in ("ready", "running", "waiting"):
                    break
            self._wait(control)
            acts = self._acts(control["status"])
            self._rng.choices(list(acts), list(acts.values()))[0](path, control)

    def _acts(self, status: str) -> dict[Callable[[str, Mapping[str, Any]], None], int]:
        """What may be done next, by weight."""
        acts: dict[Callable[[str, Mapping[str, Any]], None], int] = {
            self._acquire: 12 if status == "ready" else 2,
            self._commit: 12 if status == "running" else 1,
            self._renew: 4 if status == "running" else 1,
            self._release: 3 if status == "running" else 1,
            self._signal: 5 if status == "waiting" else 2,
            self._beat: 3 if status == "waiting" else 1,
            self._tick: 4,
            self._die: 3 if status == "ready" else 0,
            self._again: 1,
            self._move: 1,
            self._cancel: 0 if self._rng.random() < 0.8 else 1,
        }
        return acts

    def _begin(self) -> None:
        """A run of its own: three states that may follow each other."""
        self._number += 1
        self._run, first = f"walk-{self._number}", self._id()
        about: dict[str, Any] = {"call": first, "digest": "d", "protocol": 1, "pool": "default"}
        about["deaths"] = self._rng.choice((None, 1, 2))
        meta = '{"workflow_name":"walk"}'
        states = [{"path": path, "type": "Task"} for path in "ABC"]
        start: dict[str, Any] = {
            "path": self._rng.choice("AS"),
            "type": "Task",
            "timeout_ms": 900,
            "hb_ms": 300,
            "callback": True,
        }
        limit = self._rng.choice((None, 4_000))
        self._say("seed", meta, "", **about, states=states)
        self._say("seed", meta, "", **about | {"digest": "other"}, states=states)
        for act in (self._move, self._cancel):
            if self._rng.random() < 0.2:
                act("A", {})
        for call in (first, first, self._id()):
            request = about | {"start": start, "timeout_ms": limit, "pins": "p", "call": call}
            given = "{no JSON" if self._rng.random() < 0.05 else "{}"
            self._say("seed", meta, given, **request)

    def _status(self) -> str:
        return str(at_once(self._store.run_status(self._run)))

    def _restart(self) -> None:
        """From what failed, or with another run."""
        if self._status() == "succeeded" or self._rng.random() < 0.5:
            self._begin()
            return
        names = [name for name in at_once(self._store.paths(self._run)) if "@" not in name]
        plan: dict[str, list[str]] = {"again": [], "resume": [], "unseal": sorted(names)}
        for name in sorted(names):
            control = self._control(name)
            holds = "join" in control or control["kind"] == "frame"
            plan["resume" if holds else "again"].append(name)
        call, by = self._id(), self._rng.choice((None, "ada"))
        limit = self._rng.choice((None, 700))
        if self._rng.random() < 0.3:
            self._say("redrive", call=call, first=True, by=by, **plan)
            self._say("tick")
            self._say("redrive", call=call, last=True, by=by, timeout_ms=limit, **plan)
        else:
            self._say("redrive", call=call, first=True, last=True, by=by, timeout_ms=limit, **plan)

    def _cancel(self, path: str, control: Mapping[str, Any]) -> None:
        error = self._rng.choice(('{"error":null,"cause":null}', "{no JSON"))
        self._say("cancel", error, by="ada", reason="as planned", call=self._id())

    def _say(self, script: str, *texts: str, **request: Any) -> list[Any]:
        try:
            call = self._store.call(script, self._run, request, *texts, extra=[DONE])
            return list(at_once(call))
        except ControlPlaneError:
            # The witness has seen it.
            return [""]

    def _control(self, path: str) -> dict[str, Any]:
        key = self._store.keys(self._run).state(path)
        control: dict[str, Any] = json.loads(
            at_once(self._store.backend.command("JSON.GET", key, ".ctl"))
        )
        return control

    def _wait(self, control: Mapping[str, Any]) -> None:
        """Until one of the moments of a state, just before or just after it; or for a while."""
        now = self._clock(None)
        moments = [control[name] for name in _MOMENTS if name in control]
        moments += [control["lease"]["ends"]] if "lease" in control else []
        due = self._store.keys(self._run).due
        if limit := at_once(self._store.backend.command("ZSCORE", due, "")):
            moments.append(int(float(limit)))
        if moments and self._rng.random() < 0.3:
            then = self._rng.choice(moments) + self._rng.choice((-1, 0, 0, 0, 1))
        else:
            then = now + self._rng.choice((0, 0, 0, 1, 30))
        self._clock(max(now, int(then)))

    # -- calls ------------------------------------------------------------------------------------

    def _acquire(self, path: str, control: Mapping[str, Any], alone: str | None = None) -> None:
        token = f"{self._rng.getrandbits(128):032x}"
        if path in self._leases and self._rng.random() < 0.3:
            token = self._leases[path][0]
        alone = alone or self._rng.choice((None, "here", "here", "watched"))
        more = {"group": "workers", "hint": "1-1"} if self._rng.random() < 0.3 else {}
        if self._store.cluster:
            more = {}
        about = {"path": path, "token": token, "owner": "walker", "ttl": 500, "protocols": 9}
        key = self._store.keys(self._run).meta
        at_home = json.loads(at_once(self._store.backend.command("JSON.GET", key, ".ctl.pool")))
        pool = self._rng.choice((at_home,) * 6 + ("nowhere",))
        answer = self._say("acquire", **about, pool=pool, alone=alone, **more)
        if answer[0] == "ok":
            self._leases[path] = token, int(answer[1])

    def _held(self, path: str) -> dict[str, Any]:
        token, fence = self._leases.get(path, ("0" * 32, 1))
        return {"path": path, "token": token, "fence": fence - (self._rng.random() < 0.1)}

    def _renew(self, path: str, control: Mapping[str, Any]) -> None:
        limits: dict[str, int] | None = None
        if self._rng.random() < 0.7:
            limits = {
                name: self._rng.choice((0, 100, 900))
                for name in ("timeout_ms", "hb_ms")
                if self._rng.random() < 0.7
            }
        beat = self._rng.random() < 0.5
        self._say("renew", **self._held(path), ttl=700, beat=beat, limits=limits)

    def _release(self, path: str, control: Mapping[str, Any]) -> None:
        died = self._rng.choice((None, "killed", "killed"))
        held = self._held(path)
        for _ in range(self._rng.choice((1, 2))):
            self._say("release", **held, died=died)

    def _die(self, path: str, control: Mapping[str, Any]) -> None:
        """A watched process vanishes; its death is told late, to whoever has the state by then."""
        self._acquire(path, control, alone="watched")
        held = self._held(path)
        self._clock(self._clock(None) + self._rng.choice((499, 500, 501)))
        self._tick(path, control)
        if self._rng.random() < 0.5:
            self._acquire(path, control, alone="watched")
        self._say("release", **held, died="vanished")

    def _tick(self, path: str, control: Mapping[str, Any]) -> None:
        """Sometimes by one who was refused about when the lease ended."""
        now = self._clock(None)
        # Nothing is drawn for it: what else happens under a seed is the same without.
        rng = random.Random(now)
        if "lease" not in control or rng.random() < 0.6:
            self._say("tick")
            return
        ago = now - control["lease"]["ends"]
        away_from, away_to = (ago + rng.choice((-1, 0, 0, 1)) for _ in range(2))
        self._say("tick", away_from=away_from, away_to=away_to)

    def _beat(self, path: str, control: Mapping[str, Any]) -> None:
        self._say("beat", path=path, **self._visit(control))

    def _visit(self, control: Mapping[str, Any]) -> dict[str, int]:
        wrong = self._rng.choice((0,) * 8 + (1,)), self._rng.choice((0,) * 8 + (1,))
        return {"visit": control["visit"] - wrong[0], "try": control["try"] - wrong[1]}

    def _signal(self, path: str, control: Mapping[str, Any]) -> None:
        request: dict[str, Any] = {"path": path, **self._visit(control), "call": self._id()}
        texts = ['{"answer":1}', *self._rng.choice(([], [""]))]
        if control.get("wait") == "approval" or self._rng.random() < 0.2:
            request |= {"event": "approval", "ask": control.get("ask", 1)}
            told = self._rng.choice(("", '{"type":"ApprovalDecided"}'))
            texts = ['{"decision":"reject"}', told]
        else:
            request["event"] = "callback"
        if self._rng.random() < 0.05:
            texts[0] = "{no JSON"
        if self._rng.random() < 0.05:
            request["path"] = "nowhere"
        for _ in range(self._rng.choice((1, 1, 2))):
            self._say("signal", *texts, **request)

    def _again(self, path: str, control: Mapping[str, Any]) -> None:
        """A commit that was said before."""
        if self._commits:
            request, texts = self._rng.choice(self._commits)
            self._say("commit", *texts, **request)

    def _move(self, path: str, control: Mapping[str, Any]) -> None:
        self._number += 1
        pool = self._rng.choice((self._store.pool,) * 3 + ("elsewhere",))
        turn = 1000 + self._number // 2
        if pool != self._store.pool:
            turn = 1
        revoke = self._rng.random() < 0.5
        self._say("move", pool=pool, turn=turn, by="ada", reason="", revoke=revoke)

    # -- commits ----------------------------------------------------------------------------------

    def _commit(self, path: str, control: Mapping[str, Any]) -> None:
        request = self._held(path) | {"visit": control["visit"], "commit_id": self._id()}
        request |= {"owner": "walker", "ttl": 600}
        request |= {"steps_limit": self._limit("steps"), "events_limit": self._limit("events")}
        if self._rng.random() < 0.7:
            request["next_token"] = self._id()
        texts = ["", "", self._event(control), "", '{"ms":1}', "", "", "", "", ""]
        step = Step(self._rng, control["kind"] == "frame", request, texts)
        shape = self._rng.choice(("ends", *["enters"] * 3, *["waits"] * 4))
        if shape == "waits":
            step.waits(self._clock(None))
        elif shape == "ends" or step.of_frame:
            step.ends()
        else:
            step.enters(self._siblings(path))
        if self._rng.random() < 0.05:
            texts[self._rng.choice((0, 1, 3, 4, 6))] = "{no JSON"
        if self._rng.random() < 0.02:
            request["path"] = "nowhere"
        answer = self._say("commit", *texts, **request)
        self._commits.append((request, texts))
        if answer[0] == "ok" and answer[1]:
            self._leases[answer[1]] = request["next_token"], int(answer[2])

    def _siblings(self, path: str) -> list[str]:
        frame = path.rpartition("/")[0]
        return [
            name
            for name in sorted(at_once(self._store.paths(self._run)))
            if name.rpartition("/")[0] == frame and not name.endswith("]") and "@" not in name
        ]

    def _event(self, control: Mapping[str, Any]) -> str:
        # Of a kind of its own: the witness counts the steps of one kind.
        self._number += 1
        told = {"type": f"Walked{self._number}", "visit": control["visit"], "try": control["try"]}
        return json.dumps(told)

    def _limit(self, what: str) -> int:
        """Far away, or reached right now."""
        if self._rng.random() < 0.9:
            return _FAR
        chain = self._store.keys(self._run).chain
        used = at_once(self._store.backend.command("HGET", chain, what))
        return int(used or 0) + self._rng.choice((0, 1))

    def _id(self) -> str:
        return f"{self._rng.getrandbits(128):032x}"
