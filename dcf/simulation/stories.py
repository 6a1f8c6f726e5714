"""Stories of runs: what takes long, or many, or things in one order that no random walk comes by.

Before each simulation one of them is drawn and told. The model says what comes of each call.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

from control_plane import DONE, ControlPlaneError, Store
from dcf.simulation.virtual_loop import at_once

_FAR = 10**9
_FAILED = '{"error":"Sim.Broken","cause":null}'
_META, _NO_JSON = '{"workflow_name":"story"}', "{no JSON"
# As many as one call moves, so that one more is too many.
_CROWD = 500


class Stories:
    """``clock`` tells and sets the server's time (ms), which only grows."""

    def __init__(
        self, store: Store, rng: random.Random, clock: Callable[[int | None], int]
    ) -> None:
        self._store, self._rng, self._clock = store, rng, clock
        self._run = "story"
        self._tokens: dict[str, tuple[str, int]] = {}

    def go(self, steps: int) -> None:
        """So many stories."""
        stories: dict[Callable[[], None], int] = {
            self._vanishing: 6,
            self._last_death: 6,
            self._slow_heart: 6,
            self._orphans: 6,
            self._suspects: 6,
            self._joined_in_vain: 9,
            self._late_news: 4,
            self._no_json: 4,
            self._cut_off: 4,
            self._forgotten: 4,
            self._crowd: 1,
        }
        for number in range(steps):
            self._run = f"story-{number}"
            self._tokens.clear()
            self._rng.choices(list(stories), list(stories.values()))[0]()

    # -- calls ------------------------------------------------------------------------------------

    def _say(self, script: str, *texts: str, **about: Any) -> list[Any]:
        extra = [DONE] if script in ("redrive", "close") else []
        try:
            return list(at_once(self._store.call(script, self._run, about, *texts, extra=extra)))
        except ControlPlaneError:
            # The witness has seen it.
            return [""]

    def _id(self) -> str:
        return f"{self._rng.getrandbits(128):032x}"

    def _after(self, ms: int) -> None:
        self._clock(self._clock(None) + ms)

    def _begin(
        self,
        *texts: str,
        timeout_ms: int | None = None,
        deaths: int | None = None,
        blobs: list[str] | None = None,
        **s: Any,
    ) -> None:
        """A run whose first state, S, is ready; ``texts`` are its own document and S's input."""
        about: dict[str, Any] = {
            "call": self._id(),
            "digest": "d",
            "protocol": 1,
            "pool": "default",
        }
        about |= {"states": [{"path": path, "type": "Task"} for path in "AB"], "deaths": deaths}
        about |= {"start": {"path": "S", "type": "Task", **s}, "timeout_ms": timeout_ms}
        about |= {"blobs": blobs}
        self._say("seed", *(texts or (_META, "{}")), **about)

    def _lease(self, path: str, *, ttl: int = 500, alone: str | None = None) -> list[Any]:
        token = self._id()
        about = {"path": path, "owner": "teller", "ttl": ttl, "protocols": 9, "pool": "default"}
        answer = self._say("acquire", **about, token=token, alone=alone)
        if answer[0] == "ok":
            self._tokens[path] = token, int(answer[1])
        return answer

    def _held(self, path: str) -> dict[str, Any]:
        token, fence = self._tokens.get(path, ("0" * 32, 1))
        return {"path": path, "token": token, "fence": fence}

    def _commit(
        self, path: str, *, output: str = "", given: str = "{}", error: str = "", **about: Any
    ) -> None:
        key = self._store.keys(self._run).state(path)
        text = at_once(self._store.backend.command("JSON.GET", key, ".ctl"))
        visit = json.loads(text)["visit"]
        about |= {"visit": visit, "commit_id": self._id(), "owner": "teller", "ttl": 500}
        about |= {"steps_limit": _FAR, "events_limit": _FAR}
        told = json.dumps({"type": f"Told{self._rng.getrandbits(32)}", "visit": visit, "try": 1})
        self._say("commit", output, given, told, error, **self._held(path), **about)

    def _join(self, path: str, n: int, *, fail_limit: int = 0) -> None:
        """It fans out, to all at once."""
        shape = {"n": n, "window": n, "fail_limit": fail_limit}
        self._commit(path, outcome="wait", wait="join", join=shape)

    def _enter(self, frame: str) -> str:
        """A ticket is leased and enters its first state."""
        self._lease(frame)
        inner = f"{frame}/A"
        self._commit(frame, outcome="open", next={"path": inner, "type": "Task"})
        return inner

    def _end(self, path: str, how: str) -> None:
        """A state ends its frame, or the run."""
        self._lease(path, alone="here")
        self._commit(path, outcome=how, ends=how, error=_FAILED if how == "failed" else "")

    # -- stories ----------------------------------------------------------------------------------

    def _vanishing(self) -> None:
        """A watched process vanishes again and again, or a server that refuses ends its leases; in
        the end so often that it counts."""
        self._begin(deaths=1)
        # Nothing is drawn for it: what else happens under a seed is the same without.
        away = random.Random(self._clock(None)).choice(({}, {"away_from": 0, "away_to": 0}))
        for _ in range(12):
            self._lease("S", ttl=100, alone="watched")
            self._after(100)
            self._say("tick", **away)
        self._say("release", **self._held("S"), died="vanished")

    def _last_death(self) -> None:
        """A run ends with a state that everybody died over, just when its time is up."""
        self._begin(timeout_ms=1_000, deaths=1)
        for pause in (100, 100, 800):
            self._lease("S", ttl=100, alone="here")
            self._after(pause)
            self._say("tick")

    def _slow_heart(self) -> None:
        """A lease is shorter than the time in which its holder must show progress; somebody has the
        right fence, and not the token."""
        self._begin(hb_ms=3_000)
        self._lease("S", ttl=1_001)
        forged = self._held("S") | {"token": self._id()}
        self._say("renew", **forged, ttl=700)
        self._say("release", **forged)
        self._after(1_001)
        self._say("tick")
        self._lease("S", ttl=2_001)
        self._say("renew", **self._held("S"), ttl=1_001, beat=True, limits={"hb_ms": 2_000})
        self._after(self._rng.choice((1_000, 1_001, 2_000)))
        self._say("tick")

    def _orphans(self) -> None:
        """A join is over before its children, and its state is entered anew: with fewer of them."""
        self._begin(timeout_ms=60_000)
        self._lease("S")
        self._join("S", 3)
        inner = self._enter("S[0]")
        self._lease("S[1]", ttl=100_000)
        self._end(inner, "failed")
        self._lease("S")
        self._commit("S", outcome="done", next={"path": "S", "type": "Task"})
        for orphan in ("S[1]", "S[2]"):
            self._lease(orphan)
        self._lease("S")
        self._join("S", 1)
        for orphan in ("S[1]", "S[2]"):
            self._lease(orphan)
            self._say("renew", **self._held(orphan), ttl=700)
        self._after(20_000)
        self._say("tick")
        self._say("cancel", _FAILED, by="ada", reason="", call=self._id())
        self._say("close", paths=at_once(self._store.paths(self._run)))

    def _suspects(self) -> None:
        """One that a worker died over is left behind by its join, which begins anew with it."""
        self._begin()
        self._lease("S")
        self._join("S", 2)
        suspect, other = self._enter("S[1]"), self._enter("S[0]")
        self._lease(suspect, ttl=100, alone="here")
        self._after(100)
        self._say("tick")
        self._end(other, "failed")
        self._lease("S")
        self._commit("S", outcome="wait", wait="retry", delay=0, retries={"0": 1})
        self._say("tick")
        self._lease("S")
        self._join("S", 2)
        self._enter("S[1]")
        self._end(suspect, "done")

    def _joined_in_vain(self) -> None:
        """A state fails with its children, or after they are done, and the run is redriven."""
        self._begin()
        self._lease("S")
        self._join("S", 2, fail_limit=self._rng.randint(0, 1))
        how = self._rng.choice(("done", "done", "failed"))
        for inner, ends in ((self._enter("S[0]"), "done"), (self._enter("S[1]"), how)):
            self._end(inner, ends)
        self._end("S", "failed")
        paths = at_once(self._store.paths(self._run))
        if self._rng.random() < 0.5:
            self._say("close", paths=[*paths, "nowhere"])
        plan = {"again": [path for path in paths if "/" in path], "unseal": ["A", "B", "S"]}
        plan |= {"resume": ["S", "S[0]", "S[1]", "nowhere"]}
        self._say("redrive", call=self._id(), first=True, last=True, **plan)
        self._lease("S")

    def _late_news(self) -> None:
        """A watched process vanished. It is heard of again, and told to be dead while another holds
        the state, which then is tried anew; and the next one once another has done its work."""
        self._begin(deaths=1)
        for held in (True, False):
            self._lease("S", ttl=100, alone="watched")
            gone = self._held("S")
            self._after(100)
            self._say("tick")
            self._say("release", **gone)
            self._lease("S", alone="watched")
            if held:
                self._say("release", **gone, died="vanished")
                self._commit("S", outcome="wait", wait="retry", delay=0, retries={"0": 1})
                self._say("tick")
        self._commit("S", outcome="done", next={"path": "A", "type": "Task"})
        self._say("release", **gone, died="vanished")

    def _forgotten(self) -> None:
        """The server has forgotten a blob when the call comes that refers to it, or one of two."""
        for known in ((), ("beef",), ("cafe",), ("beef", "cafe")):
            for blob in known:
                self._say("blob", '"large"', blob=blob, new=True)
            self._begin(blobs=["beef", "cafe"])
        self._lease("S")
        for blobs in (["dead"], ["beef", "dead"], ["cafe"]):
            self._commit("S", blobs=blobs, outcome="done", next={"path": "A", "type": "Task"})
        self._lease("A")
        self._commit("A", outcome="wait", wait="callback")
        about = {"path": "A", "visit": 1, "try": 1, "event": "callback"}
        for blobs in (["dead"], ["beef", "dead"], ["cafe"]):
            self._say("signal", '{"answer":1}', **about, call=self._id(), blobs=blobs)

    def _no_json(self) -> None:
        """One text of a call is refused, and with it the whole call."""
        self._begin(_NO_JSON, "{}")
        self._begin(_META, _NO_JSON)
        self._begin()
        self._lease("S")
        for broken in ("output", "given", "error"):
            enters = {"path": "A", "type": "Task"}
            texts = {"output": '{"data":1}', broken: _NO_JSON}
            self._commit("S", outcome="done", next=enters, **texts)

    def _cut_off(self) -> None:
        """A run is cancelled just when a later try of its state had no time left, and redriven."""
        self._begin(timeout_ms=60_000)
        self._lease("S")
        self._commit("S", outcome="wait", wait="retry", delay=0, retries={"0": 1})
        self._say("tick")
        self._lease("S")
        self._say("renew", **self._held("S"), ttl=500, limits={"timeout_ms": 100})
        self._after(100)
        self._say("tick")
        self._say("cancel", _FAILED, by="ada", reason="", call=self._id())
        paths = at_once(self._store.paths(self._run))
        self._say("close", paths=paths)
        plan = {"again": ["S"], "resume": [], "unseal": ["A", "B", "S", "nowhere"]}
        self._say("redrive", call=self._id(), first=True, last=True, **plan)

    def _crowd(self) -> None:
        """More are due than one call moves, or just as many."""
        self._begin(timeout_ms=self._rng.choice((None, 90_000)))
        self._lease("S")
        self._join("S", _CROWD)
        self._after(20_000)
        self._say("tick")
        about = {"pool": "default", "turn": 1, "by": "ada", "reason": "", "revoke": False}
        self._say("move", **about, paths=["S[3]", "S[1]", "nowhere"])
        self._say("move", **about)
