"""After its end a run is examined: calls come that nobody in their right mind would make.

What they must answer and leave behind says the model; nothing else is looked at.
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable
from typing import Any

from control_plane import DONE, ControlPlaneError, Store, keys, run_lists
from dcf.simulation.evidence import Evidence
from dcf.simulation.virtual_loop import at_once

_OVER = '{"error":null,"cause":null}'


class Examination:
    """The examination of one finished run. Its calls are drawn from the run's name."""

    def __init__(self, evidence: Evidence, store: Store) -> None:
        self._run = evidence.run
        self._store = store
        self._rng = random.Random(f"examined {evidence.run} {len(evidence.events)}")
        self._ended = evidence.meta.finished_at
        self._documents = {
            name: document for name, document in evidence.documents.items() if "@" not in name
        }

    def hold(self) -> None:
        """Say it all."""
        self._redrives()
        for part in (self._ends, self._leases, self._strangers):
            part()

    def _say(self, script: str, *texts: str, **request: Any) -> None:
        """One call, of this run if it names none."""
        run = request.pop("run", self._run)
        # An error the witness has seen.
        with contextlib.suppress(ControlPlaneError):
            at_once(self._store.call(script, run, request, *texts, extra=[DONE]))

    # -- redrives ---------------------------------------------------------------------------------

    def _redrives(self) -> None:
        """Prepared in parts, interrupted, said again."""
        plans: list[tuple[str, bool, bool, int]] = [
            ("p", True, False, 0),
            ("q", False, False, 0),
            ("p", False, False, 0),
        ]
        for call, first, last, later in plans:
            self._redrive(call, first, last, later)
        # A close takes what is being prepared back.
        self._say("close", paths=sorted(self._documents)[:4])
        self._redrive("p", False, True, 0)
        self._redrive("r", True, False, 1)
        self._redrive("s", True, False, 0)
        # One of these is too early: a call before it is missing.
        for batch in (1, 1, 3, 2):
            self._redrive("s", False, False, 0, batch=batch)
        # Begun anew, by another call.
        for call in ("u", "s"):
            self._redrive(call, True, False, 0)
            self._redrive(call, False, False, 0, batch=2)
        for batch in (1, 2):
            self._redrive("s", False, False, 0, batch=batch)
        for _ in range(2):
            self._redrive("s", False, True, 0, batch=3)
        self._redrive("t", True, True, 0)

    def _redrive(self, call: str, first: bool, last: bool, later: int, batch: int = 0) -> None:
        plan: dict[str, list[str]] = {"again": [], "resume": [], "unseal": []}
        for name, document in self._documents.items():
            if self._rng.random() < 0.6:
                holds = document.kind == "frame" or "join" in document.raw["ctl"]
                kind = "unseal" if document.status == "skipped" else "resume" if holds else "again"
                plan[kind if self._rng.random() < 0.9 else "again"].append(name)
        marks: dict[str, Any] = {
            name: True for name, is_so in (("first", first), ("last", last)) if is_so
        }
        ended = None if self._rng.random() < 0.2 else (self._ended or 0) + later
        if batch:
            marks["batch"] = batch
        if self._rng.random() < 0.3:
            marks["timeout_ms"] = 5_000
        request: dict[str, Any] = {"call": call, "ended": ended, "by": "ada", **plan, **marks}
        self._say("redrive", **request)

    # -- what goes on -----------------------------------------------------------------------------

    def _leases(self) -> None:
        """Leases that there are not, or not any more."""
        names = sorted(self._documents)
        for _ in range(12):
            path = self._rng.choice(names) if self._rng.random() < 0.9 else "nobody"
            about: dict[str, Any] = {
                "path": path,
                "token": f"{self._rng.getrandbits(128):032x}",
                "fence": 7,
            }
            asked = {"owner": "examiner", "ttl": 1000, "protocols": self._rng.choice((1, 9))}
            pool = self._rng.choice(("default", "default", "elsewhere"))
            self._say("acquire", **about | asked | {"pool": pool, "alone": "here"})
            self._say("renew", **about, ttl=1000)
            self._say("release", **about)
            self._say("beat", path=path, visit=1, **{"try": 1})

    def _ends(self) -> None:
        """Moved by time, cancelled, sealed, closed: too early, and said again."""
        names = sorted(self._documents)
        # As a version of the software leaves it that knows no lists.
        self._unlist()
        self._say("tick")
        self._leases()
        self._say("close", paths=names)
        self._say("finalize", "{}", "{}", digest="none", by="ada", call="early")
        for call in ("c", "c", "d"):
            self._say("cancel", _OVER, by="ada", reason="as planned", call=call)
        # In batches, of which some are missing, and some come twice.
        self._say("finalize", "{}", "{}", digest=self._digest(), paths=1, by="a", call="n")
        for at in (1, 2, 0, 2, 0, 4, 9):
            self._say("close", paths=names[at : at + 2], at=at)
        self._say("close", paths=names, last=True)
        for paths in (len(names) + 1, len(names)):
            self._say("finalize", "{}", "{}", digest=self._digest(), paths=paths, by="a", call="n")
        for digest in ("none", self._digest()):
            self._say("finalize", "{}", "{}", digest=digest, by="ada", call="f")
        for call in ("f", "g"):
            self._say("finalize", "{}", "{}", digest=self._digest(), by="ada", call=call)
        self._unlist()
        for start in (0, len(names) // 2):
            self._say("close", paths=[*names[start:], "nobody"], last=True if start else None)

    def _unlist(self) -> None:
        for status in run_lists.STATUSES:
            at_once(self._store.backend.command("ZREM", keys.runs(status), self._run))

    def _digest(self) -> str:
        chain = self._store.keys(self._run).chain
        return str(at_once(self._store.backend.command("HGET", chain, "digest")) or "")

    def _strangers(self) -> None:
        """Calls about a run that there is not."""
        says: list[Callable[[], Any]] = [
            lambda: self._say("tick", run="nobody"),
            lambda: self._say("close", run="nobody", paths=[]),
            lambda: self._say("redrive", run="nobody", call="x", again=[], resume=[], unseal=[]),
            lambda: self._say("cancel", _OVER, run="nobody", by="a", reason="", call="x"),
            lambda: self._say("finalize", "{}", "{}", run="nobody", digest="", by="a", call="x"),
            lambda: self._say("move", run="nobody", pool="default", turn=1, by="a", reason=""),
        ]
        for say in says:
            say()
