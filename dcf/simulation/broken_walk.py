"""A random walk over runs whose document a strange hand broke, and which are condemned for it.

Whoever condemns one may have read it long ago: it is mended, broken in another way, or another run
meanwhile. The model says what comes of each call.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Callable, Collection
from typing import Any

from control_plane import DONE, BrokenRun, ControlPlaneError, RunDocument, Store, UnknownRun
from dcf.simulation.strange_hand import StrangeHand
from dcf.simulation.virtual_loop import at_once

_META = {"workflow_name": "walk", "pool": "default", "definition": "", "start_at": "A", "input": 1}
_IN_ITS_PLACE = _META | {"status": "cancelled", "pool": "elsewhere", "input": None}
Found = tuple[str, str]
"""The type of what stands where a run's document should, and the SHA-1 of its JSON."""


class BrokenWalk:
    """``clock`` tells and sets the server's time (ms), which only grows; ``hand`` breaks runs."""

    def __init__(
        self,
        store: Store,
        rng: random.Random,
        clock: Callable[[int | None], int],
        hand: StrangeHand,
    ) -> None:
        self._store, self._rng, self._clock, self._hand = store, rng, clock, hand
        self._run = ""
        # What was found of a run when somebody looked last.
        self._found: dict[str, Found] = {}

    def go(self, steps: int) -> None:
        """So many calls, about."""
        for _ in range(steps):
            self._clock(self._clock(None) + self._rng.choice((0, 1, 40)))
            self._run = self._rng.choice(("broken-1", "broken-1", "broken-2"))
            acts = self._acts()
            try:
                self._rng.choices(list(acts), list(acts.values()))[0]()
            except ControlPlaneError:
                # A refusal, or an error over what is broken, which the witness has seen.
                continue

    def _acts(self) -> dict[Callable[[], None], int]:
        """What may be done next, by weight."""
        if self._kind() == "none":
            return {self._seed: 8, self._condemn: 1, self._collect: 1}
        run = self._run_document()
        calls = {self._seed: 1, self._cancel: 1, self._tick: 1, self._condemn: 2}
        if run is None:
            return calls | {self._damage: 2, self._notice: 4, self._condemn: 8, self._collect: 1}
        return calls | {self._damage: 3, self._collect: 8 if run.removing else 1}

    # -- what there is ----------------------------------------------------------------------------

    def _kind(self) -> str:
        return str(at_once(self._store.backend.command("TYPE", self._store.keys(self._run).meta)))

    def _run_document(self) -> RunDocument | None:
        """The run that is there, unless it is broken."""
        try:
            run: RunDocument = at_once(self._store.run(self._run))
        except (BrokenRun, UnknownRun):
            return None
        return run

    def _notice(self) -> None:
        """Somebody reads what is there, and finds it broken."""
        kind, digest = self._kind(), ""
        if kind == "none" or self._run_document() is not None:
            return
        if kind == "ReJSON-RL":
            key = self._store.keys(self._run).meta
            text = at_once(self._store.backend.command("JSON.GET", key))
            digest = hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()
        self._found[self._run] = kind, digest

    def _say(self, script: str, *texts: str, extra: tuple[str, ...] = (), **about: Any) -> Any:
        return at_once(self._store.call(script, self._run, about, *texts, extra=extra))

    def _id(self) -> str:
        return f"{self._rng.getrandbits(32):08x}"

    # -- what happens -----------------------------------------------------------------------------

    def _seed(self) -> None:
        about: dict[str, Any] = {"call": self._id(), "digest": "d", "protocol": 1}
        about |= {"pool": "default"}
        about["states"] = [{"path": path, "type": "Task"} for path in "AB"]
        if self._rng.random() < 0.7:
            about["start"] = {"path": "A", "type": "Task"}
        meta = _META | {"workflow_id": self._run}
        self._say("seed", json.dumps(meta), "{}", **about)
        if self._rng.random() < 0.7:
            self._say("blob", '"large"', blob="beef")

    def _damage(self) -> None:
        """The run's document, and now and then another key with it."""
        keys, rng = self._store.keys(self._run), self._rng
        self._hand.break_run(keys)
        for key in (keys.paths, keys.blobs, keys.stage, keys.chain):
            if rng.random() < 0.2:
                self._hand.overwrite(key)
        if rng.random() < 0.8:
            self._notice()

    def _condemn(self) -> None:
        """What was found is what there is, mostly; doubled now and then."""
        kind, digest = self._found.get(self._run, ("string", ""))
        request: dict[str, Any] = {"pool": "elsewhere", "kind": kind, "digest": digest}
        request |= self._remains()
        text = json.dumps(_IN_ITS_PLACE | {"workflow_id": self._run})
        stage = self._store.keys(self._run).stage
        if not at_once(self._store.backend.command("EXISTS", stage)) and self._rng.random() < 0.1:
            text = "{no JSON"
        for _ in range(self._rng.choice((1, 1, 2))):
            self._say("condemn", text, **request)

    def _remains(self) -> dict[str, Any]:
        """What there are keys of and the sets do not name, which now and then cannot be read."""
        keys, now = self._store.keys(self._run), self._clock(None)
        # Nothing is drawn for it: the clock is as good.
        no_paths, no_blobs = now % 3 == 0, now % 5 == 0
        paths = self._unnamed(keys.state(""), () if no_paths else self._members(keys.paths))
        blobs = self._unnamed(keys.blob(""), () if no_blobs else self._members(keys.blobs))
        # Of what a set named that cannot be read, one is gone.
        paths, blobs = paths[no_paths:], blobs[no_blobs:]
        return {"paths": paths, "blobs": blobs, "no_paths": no_paths, "no_blobs": no_blobs}

    def _members(self, key: str) -> Collection[str]:
        command = self._store.backend.command
        return at_once(command("SMEMBERS", key)) if at_once(command("TYPE", key)) == "set" else ()

    def _unnamed(self, start: str, named: Collection[str]) -> list[str]:
        names = at_once(self._store.backend.command("KEYS", f"{start}*"))
        return sorted({name.removeprefix(start) for name in names} - set(named))

    def _collect(self) -> None:
        """Of the run that is there, mostly."""
        run = self._run_document()
        born = run.born if run is not None and self._rng.random() < 0.9 else ""
        about: dict[str, Any] = {"born": born, "paths": list("AB"), "blobs": ["beef"]}
        if self._rng.random() < 0.2:
            about |= {"paths": [], "mark": True}
        self._say("gc", extra=(DONE,), **about)

    def _cancel(self) -> None:
        self._say("cancel", '{"error":null,"cause":null}', by="ada", reason="", call=self._id())

    def _tick(self) -> None:
        self._say("tick")
