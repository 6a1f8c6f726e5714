"""A random walk past the end of runs: sealed, told to the graph, redriven, removed, put back.

Calls come too early, too late, twice, or about another run of the same name; the model says what
comes of each.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from control_plane import (
    DONE,
    INDEX,
    ControlPlaneError,
    RunExport,
    Store,
    claims,
    export_run,
    script,
)
from control_plane import keys as redis_keys
from dcf.simulation.virtual_loop import at_once

_OVER = '{"error":null,"cause":null}'
_META = {"workflow_name": "walk", "pool": "default", "definition": "", "start_at": "A", "input": 1}
# What a run of this walk holds, once it was put back, next to the documents of its states.
_DOCUMENTS = ("state", "output", "audit")
_MORE = (
    ("output", "A", '{"data":1}'),
    ("calls", "A", '["1 1","{}"]'),
    ("agents", "", '["A","ada"]'),
    ("blob", "beef", '"large"'),
)


class EndWalk:
    """``clock`` tells and sets the server's time (ms), which only grows."""

    def __init__(
        self, store: Store, rng: random.Random, clock: Callable[[int | None], int]
    ) -> None:
        self._store, self._rng, self._clock = store, rng, clock
        self._run = ""
        # The calls of a restore that is under way, by run: each a request and its texts.
        self._restores: dict[str, list[tuple[dict[str, Any], list[str]]]] = {}

    def go(self, steps: int) -> None:
        """So many calls."""
        if self._chance(0.5):
            self._come_and_go()
        for _ in range(steps):
            self._clock(self._clock(None) + self._rng.choice((0, 0, 1, 40)))
            self._run = self._rng.choice(("end-1", "end-1", "end-2"))
            control = self._control()
            acts = self._acts(control)
            try:
                self._rng.choices(list(acts), list(acts.values()))[0](control)
            except ControlPlaneError:
                # A refusal, which the witness has seen.
                continue

    def _come_and_go(self) -> None:
        """A run that ended was exported and removed: what follows is mostly its return."""
        self._run = "end-1"
        self._submit(start=True, timeout_ms=20)
        if self._chance(0.5):
            self._cancel({})
        self._clock(self._clock(None) + 20)
        self._say("tick", extra=())
        self._seal(self._digest(), call=self._id())
        self._export({})
        about = {"born": self._control()["born"], "paths": list("ABC"), "blobs": []}
        for mark in (True, False):
            self._say("gc", **about, mark=mark)

    def _acts(self, control: dict[str, Any]) -> dict[Callable[[dict[str, Any]], None], int]:
        """What may be done next, by weight."""
        status, known = control.get("status"), self._run in self._restores
        alive = status in ("pending", "running")
        sealed = "finalized" in control
        coming = "restoring" in control
        going = "removing" in control and not coming
        return {
            self._seed: {None: 1 if known else 6, "pending": 6}.get(status, 1),
            self._blob: 2 if going else 1,
            self._mislead: 1,
            self._cancel: 6 if alive else 1,
            self._tick: 6 if alive else 3 if going or not control else 1,
            self._move: 2,
            self._close: 3 if sealed else 1,
            self._finalize: 8 if control and not alive and not sealed else 1,
            self._tell: 3 if sealed else 1,
            self._redrive: 1,
            self._export: 12 if sealed and not known else 0,
            self._restore: 16 if coming else 12 if known and not control else 2 if known else 0,
            self._remove: 12 if going else 3 if coming else 6 if status == "pending" else 3,
        }

    def _control(self) -> dict[str, Any]:
        """The control record of the run; empty without one."""
        key = self._store.keys(self._run).meta
        text = at_once(self._store.backend.command("JSON.GET", key, ".ctl"))
        return json.loads(text) if text else {}

    def _say(self, script: str, *texts: str, extra: tuple[str, ...] = (DONE,), **about: Any) -> Any:
        return at_once(self._store.call(script, self._run, about, *texts, extra=extra))

    def _id(self) -> str:
        return f"{self._rng.getrandbits(32):08x}"

    # -- until it is over -------------------------------------------------------------------------

    def _seed(self, control: dict[str, Any]) -> None:
        timeout_ms = self._rng.choice((None, 20, 90_000))
        self._submit(start=self._chance(0.7), timeout_ms=timeout_ms)

    def _submit(self, *, start: bool, timeout_ms: int | None) -> None:
        about: dict[str, Any] = {"call": self._id(), "digest": "d", "protocol": 1}
        about |= {"pool": "default"}
        about["states"] = [{"path": path, "type": "Task"} for path in "ABC"]
        if start:
            about |= {"start": {"path": "A", "type": "Task"}}
            about |= {"timeout_ms": timeout_ms}
        meta = _META | {"workflow_id": self._run}
        self._say("seed", json.dumps(meta), "{}", extra=(), **about)

    def _blob(self, control: dict[str, Any]) -> None:
        about = {"blob": self._rng.choice(("beef", "cafe")), "new": self._chance(0.3)}
        self._say("blob", '"large"', extra=(), **about)

    def _cancel(self, control: dict[str, Any]) -> None:
        self._say("cancel", _OVER, extra=(), by="ada", reason="", call=self._id())

    def _tick(self, control: dict[str, Any]) -> None:
        """Also of a run that is gone, or never came, and stands in the index for another reason."""
        if not control and self._chance(0.5):
            put = claims.put(self._store.backend, INDEX, self._run, self._clock(None))
            at_once(put)
        if self._chance(0.8):
            self._say("tick", extra=())
        else:
            self._close(control)

    def _move(self, control: dict[str, Any]) -> None:
        about: dict[str, Any] = {"by": "ada", "reason": ""}
        about |= {"pool": self._rng.choice(("default", "elsewhere"))}
        about |= {"paths": self._rng.choice((None, ["A", "nowhere", ""]))}
        self._say("move", extra=(), turn=self._rng.randint(1, 3), revoke=True, **about)

    def _mislead(self, control: dict[str, Any]) -> None:
        """The lists of runs say something else, as after a loss; or what is so."""
        entry = self._rng.choice(([], ["", ""], ["failed", "7"]))
        if self._store.cluster:
            entry = ["pending", "5"]
        request = json.dumps({"runs": [[self._run, *entry]]})
        names = [redis_keys.runs("running")]
        at_once(self._store.backend.run(script.load("enlist"), names, [request]))

    # -- after its end ----------------------------------------------------------------------------

    def _close(self, control: dict[str, Any]) -> None:
        last = self._rng.choice((None, True))
        paths = at_once(self._store.paths(self._run)) if self._chance(0.5) else ["B", "nowhere"]
        self._say("close", paths=paths, last=last)

    def _finalize(self, control: dict[str, Any]) -> None:
        said = control.get("said", {}).get("finalize", "")
        digest = "moved" if self._chance(0.1) else self._digest()
        call = said if self._chance(0.2) else self._id()
        texts = ["{no JSON" if self._chance(0.1) else "{}" for _ in range(2)]
        self._seal(digest, *texts, call=call, outbox=self._rng.choice((None, 1, 2)))

    def _digest(self) -> str:
        chain = self._store.keys(self._run).chain
        return at_once(self._store.backend.command("HGET", chain, "digest")) or ""

    def _seal(self, digest: str, audit: str = "{}", cost: str = "{}", **about: Any) -> None:
        extra = (redis_keys.OUTBOX_RUNS, redis_keys.OUTBOX_COUNTS)
        self._say("finalize", audit, cost, extra=extra, digest=digest, by="ada", **about)

    def _tell(self, control: dict[str, Any]) -> None:
        """The graph has this end, or an earlier one, or that of another run."""
        redrives = control.get("redrives", 0) + self._rng.choice((0, 0, 0, 1, -1))
        as_ = self._rng.choice(("told", "told", "refused"))
        self._say("told", extra=(), born=self._born(control), redrives=redrives, **{"as": as_})

    def _born(self, control: dict[str, Any]) -> str:
        """When the run was made that is meant."""
        born = str(control.get("born", ""))
        return born if self._chance(0.85) else self._rng.choice(("", "1"))

    def _redrive(self, control: dict[str, Any]) -> None:
        """In one call or in two, between which others may retire the run."""
        call = self._id()
        about: dict[str, Any] = {"call": call, "again": ["A"], "resume": [], "unseal": ["B", "C"]}
        if int(call, 16) % 2:
            self._say("redrive", **about, first=True, last=True)
            return
        self._say("redrive", **about, first=True)
        if int(call, 16) % 4:
            self._say("close", paths=[], last=True)
        self._say("redrive", **about, batch=1, last=True)

    def _export(self, control: dict[str, Any]) -> None:
        export = at_once(export_run(self._store, self._run))
        known = {(part.kind, part.name) for part in export.parts}
        more = [
            replace(export.parts[0], kind=kind, name=name, text=text)
            for kind, name, text in _MORE
            if (kind, name) not in known
        ]
        self._begin(RunExport(export.meta, (*export.parts, *more)))

    def _begin(self, export: RunExport) -> None:
        """A restore in four calls, whenever they are said. Mostly the first brings no parts."""
        parts, call = export.parts, self._id()
        middle = len(parts) // 2
        first = middle if int(call, 16) % 3 == 0 else 0
        batches = (parts[:first], parts[first:middle], parts[middle:], parts[:0])
        self._restores[self._run] = [
            (
                {"call": call, "number": number, "last": number == len(batches)}
                | {"parts": [[part.kind, part.name] for part in batch]},
                [export.meta, *(part.text for part in batch)],
            )
            for number, batch in enumerate(batches, 1)
        ]

    def _restore(self, control: dict[str, Any]) -> None:
        """The call that follows, mostly; or one before, or after it, or of another restore."""
        calls = self._restores[self._run]
        said = control.get("restored", self._rng.choice((0, len(calls) - 1)) if control else 0)
        number = said + self._rng.choice((0, 0, 0, 0, 0, 0, -1, 1))
        request, texts = calls[max(0, min(number, len(calls) - 1))]
        if self._chance(0.1):
            request = request | {"call": self._id()}
        judged = [at for at, (kind, _) in enumerate(request["parts"], 1) if kind in _DOCUMENTS]
        if request["number"] == 1 or (request["last"] and said == control.get("restored")):
            judged.append(0)
        if judged and self._chance(0.2):
            texts = list(texts)
            texts[self._rng.choice(judged)] = "{no JSON"
        self._say("restore", *texts, **request)

    def _remove(self, control: dict[str, Any]) -> None:
        """Some of what there is of the run, or all."""
        keys = self._store.keys(self._run)
        blobs = sorted(at_once(self._store.backend.command("SMEMBERS", keys.blobs)))
        paths, share = at_once(self._store.paths(self._run)), self._rng.choice((0.5, 1.0, 1.0))
        about: dict[str, Any] = {
            "paths": [path for path in paths if self._chance(share)],
            "blobs": [blob for blob in blobs if self._chance(share)],
            "born": self._born(control),
            "mark": self._chance(0.2),
            "abandoned": self._chance(0.5),
            "unexported": self._chance(0.3),
        }
        self._say("gc", **about)

    def _chance(self, share: float) -> bool:
        return self._rng.random() < share
