"""Commits: one step of a state, what it enters, the join that it counts in, and its run's end."""

from __future__ import annotations

import json
from typing import Any

from dcf.simulation.model.control import (
    Control,
    forget_limits,
    forget_try,
    forgive,
    fresh,
    grant,
    not_holder,
    put,
    wake,
)
from dcf.simulation.model.scratch import Scratch, parent_of

_APPROVAL_PROTOCOL = 3
_EXTRAS = {5: "error", 6: "execution_metrics", 7: "fan", 8: "effective_input", 10: "approval"}
_EXTRAS |= {11: "model_selection"}


def commit(now: Scratch) -> list[Any]:
    """See ``commit.lua``."""
    request, path = now.request, now.request["path"]
    ctl = now.load(path)
    said = now.load_visit(path, ctl, request["visit"])
    if said and said.get("commit_id") == request["commit_id"]:
        return ["ok", *(said["result"][name] for name in ("path", "fence", "visit", "run", "at"))]
    if ctl is None:
        return ["unknown_state"]
    if why := now.dead(path, ctl) or not_holder(ctl, request, now.now):
        return [why]
    if absent := now.missing_blob():
        return ["missing_blob", absent]
    if full := _full(now):
        return ["limit_exceeded", full]
    return _Commit(now, ctl).take()


def _full(now: Scratch) -> str:
    """What the run may have no more of."""
    chain = now.get(now.keys.chain) or {}
    if "next" in now.request or "wait" in now.request:
        for what in ("steps", "events"):
            if int(chain.get(what, 0)) >= now.request[f"{what}_limit"]:
                return what
    return ""


class _Commit:
    """A commit that is taken: ``leased`` is what its caller goes on with."""

    def __init__(self, now: Scratch, ctl: Control) -> None:
        self.now, self.ctl = now, ctl
        self.turn = (now.load_run() or {}).get("turn")
        # Who holds a state of a run that was moved since goes on with nothing else of it.
        self.goes_on = "next_token" in now.request and ctl.get("turn") == self.turn
        self.leased = {"path": "", "fence": "", "visit": 0, "run": "", "at": str(now.now)}
        self.woken: list[str] = []

    def take(self) -> list[Any]:
        now, request, path = self.now, self.now.request, self.now.request["path"]
        entered, before = self._enter()
        if now.text(2):
            now.set(now.keys.output(path), json.loads(now.text(2)))
        texts = {name: now.text(number) for number, name in _EXTRAS.items()}
        more = {name: json.loads(text) for name, text in texts.items() if text}
        now.steps = 1
        now.record(json.loads(now.text(4)))
        more |= self._move()
        if "join" in request:
            self._spawn(path, self.ctl)
        if "ends" in request:
            self._end(more.get("error"))
        self.ctl |= {"commit_id": request["commit_id"], "result": self.leased}
        now.save(path, self.ctl, more)
        if entered is not None:
            following = request["next"]
            if before is not None:
                now.set_aside(following["path"], self.ctl if following["path"] == path else before)
            variables = json.loads(now.text(9)) if now.text(9) else None
            given = json.loads(now.text(3))
            now.document(following["path"], entered, following["type"], given, variables)
            now.schedule(following["path"], entered)
        for target in self.woken:
            now.hint(target)
        return ["ok", *(self.leased[name] for name in ("path", "fence", "visit", "run", "at"))]

    def _offer(self, target: str, ctl: Control) -> None:
        """Lease it to the caller, if that takes one; else hint it."""
        request = self.now.request
        if self.goes_on and not self.leased["path"] and "deaths" not in ctl:
            grant(ctl, request, request["next_token"], self.now.now)
            put(ctl, {"turn": self.turn})
            self.leased |= {"path": target, "fence": str(ctl["fence"]), "visit": ctl["visit"]}
        else:
            self.woken.append(target)

    def _enter(self) -> tuple[Control | None, Control | None]:
        """The record of the sibling that is entered, and that of its visit before."""
        following = self.now.request.get("next")
        if following is None:
            return None, None
        itself = following["path"] == self.now.request["path"]
        before = self.ctl if itself else self.now.load(following["path"])
        if before is not None and before["visit"] == 0:
            before = None
        entered = fresh("state", self.ctl["pv"], following, before, self.now.now)
        self._offer(following["path"], entered)
        return entered, before

    def _move(self) -> dict[str, Any]:
        """The state itself; what else its document says then."""
        now, ctl, request = self.now, self.ctl, self.now.request
        put(ctl, {"lease": None, "event": None})
        if request["outcome"] not in ("wait", "open"):
            ctl["status"] = request["outcome"]
            return {"times.finished": now.now}
        ctl["status"] = "waiting"
        if request["outcome"] == "open":
            ctl["wait"] = "frame"
            return {}
        delay = request.get("delay")
        until = request.get("wait_until", now.now + delay if delay is not None else None)
        put(ctl, {"wait": request["wait"], "wait_until": until})
        if request["wait"] == "retry":
            ctl["try"] += 1
            put(ctl, {"retries": request.get("retries")})
            forgive(ctl)
            forget_try(ctl)
        elif request["wait"] == "join":
            self._join(request["join"])
        elif request["wait"] == "approval":
            self._ask()
        return {}

    def _join(self, shape: dict[str, Any]) -> None:
        self.ctl["rounds"] = max(self.ctl["rounds"] + 1, self.now.now)
        counts = {"spawned": 0, "finished": 0, "failed": 0}
        self.ctl["join"] = {"open": True, "visit": self.ctl["rounds"], **shape, **counts}
        forget_limits(self.ctl)

    def _ask(self) -> None:
        now, ctl = self.now, self.ctl
        ctl["worked"] = ctl.get("worked", 0) + now.now - ctl["begun"]
        forget_limits(ctl)
        forgive(ctl)
        put(ctl, {"answered": None, "asked_at": now.now, "ask": ctl.get("ask", 0) + 1})
        run = now.load_run()
        assert run is not None
        if run["protocol"] < _APPROVAL_PROTOCOL:
            run["protocol"] = _APPROVAL_PROTOCOL
            now.save_run(run)

    def _spawn(self, owner_path: str, owner: Control) -> None:
        """As many frames as there is room for."""
        now, join = self.now, owner["join"]
        while join["spawned"] < min(join["n"], join["finished"] + join["window"]):
            target = f"{owner_path}[{join['spawned']}]"
            if (old := now.load(target)) is not None:
                now.set_aside(target, old)
            ticket = fresh("frame", join["visit"], {}, old, now.now)
            join["spawned"] += 1
            self._offer(target, ticket)
            now.document(target, ticket, "Frame", None)
            now.schedule(target, ticket)

    def _end(self, failure: Any) -> None:
        """The frame around it, with the join above; or the run."""
        now, path, ends = self.now, self.now.request["path"], self.now.request["ends"]
        frame_path = path if self.ctl["kind"] == "frame" else path.rpartition("/")[0]
        if not frame_path:
            self.leased["run"] = "succeeded" if ends == "done" else "failed"
            now.end_run(str(self.leased["run"]), path, failure)
            return
        if frame_path != path:
            frame = now.load(frame_path)
            assert frame is not None
            put(frame, {"status": ends, "wait": None})
            more = {"times.finished": now.now, "exit": path, "error": failure}
            now.save(frame_path, frame, more)
        parent_path = parent_of(frame_path, "frame")
        parent = now.load(parent_path)
        assert parent is not None
        join = parent["join"]
        join["finished"] += 1
        join["failed"] += ends == "failed"
        failed = join["failed"] > join["fail_limit"]
        if not failed and join["finished"] < join["n"]:
            self._spawn(parent_path, parent)
            now.save(parent_path, parent)
            return
        join["open"] = False
        wake(parent, now.now)
        parent["event"] = "child_failed" if failed else "joined"
        self._offer(parent_path, parent)
        now.tell("ChildFailed" if failed else "Joined", parent_path, {"by": frame_path})
        now.save(parent_path, parent, {"event": failure if failed else None})
