"""A random walk through records: clients are stale, too late, heard twice, or ask for too much.

Histories are short here, so that their limits are reached. The model says what comes of each call.
"""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from control_plane import (
    AgentStore,
    ConductorStore,
    ControlPlaneError,
    RecordChange,
    RecordStore,
    Script,
    SessionStore,
)
from dcf.simulation.network import SureBackend, tokens_of
from dcf.simulation.server import EXAMINER, Server
from dcf.simulation.virtual_loop import at_once

_IDS, _WEIGHTS = ("a", "b", "c"), (6, 2, 2)
_NAMES = ("One", "Two", "Three")
_MEMBERS = ("x", "y")
# How many calls a record gets at once, now and then: more than it remembers.
_MANY = 34
_HISTORY_KEPT_MS = 400
_TOLD_MS = 3_600_000
_NO_MEMORY = "OOM command not allowed when used memory > 'maxmemory'."


class _Agents(AgentStore):
    kind = replace(AgentStore.kind, newest=4)


class _Sessions(SessionStore):
    kind = replace(SessionStore.kind, most=4, notes=2)


class _Backend(SureBackend):
    """It keeps what was said."""

    def __init__(self, server: Server) -> None:
        super().__init__(server, EXAMINER)
        self.said: list[tuple[Script, Sequence[str], Sequence[str | int]]] = []

    async def run(self, script: Script, keys: Sequence[str], args: Sequence[str | int]) -> Any:
        """See ``Backend.run``."""
        self.said.append((script, keys, args))
        return await super().run(script, keys, args)


class RecordWalk:
    """The walk through the records of one kind, whichever ``rng`` chooses."""

    def __init__(self, server: Server, rng: random.Random) -> None:
        self._server, self._rng, self._backend = server, rng, _Backend(server)
        made: Callable[..., RecordStore[Any]] = rng.choice((_Agents, _Sessions, ConductorStore))
        cluster = rng.random() < 0.2
        self._store = made(self._backend, cluster=cluster, tokens=tokens_of("records"))
        # What clients have seen of each record, the newest last.
        self._seen: defaultdict[str, list[Any]] = defaultdict(list)
        self._moments: list[int] = []

    def go(self, steps: int) -> None:
        """So many calls."""
        for _ in range(steps):
            self._wait()
            record_id = self._rng.choices(_IDS, _WEIGHTS)[0]
            known = self._seen[record_id]
            acts: dict[Callable[[str], None], int] = {
                self._create: 2 if known else 6,
                self._change: 8 if known else 0,
                self._note: 3 if known else 0,
                self._delete: 2 if known else 0,
                self._again: 3 if self._backend.said else 0,
                self._break: 1 if self._backend.said else 0,
            }
            act = self._rng.choices(list(acts), list(acts.values()))[0]
            refused = self._rng.random() < 0.05
            self._server.twin.refuse(_NO_MEMORY if refused else None)
            try:
                act(record_id)
            except ControlPlaneError:
                # A refusal, which the witness has seen.
                continue
            finally:
                self._server.twin.refuse(None)

    def _wait(self) -> None:
        """Until a moment at which something expires, or for a while."""
        now = self._server.clock(None)
        if self._moments and self._rng.random() < 0.1:
            then = self._moments.pop() + self._rng.choice((-1, 0, 1, 1))
        else:
            then = now + self._rng.choice((0, 0, 0, 1, 700))
        self._server.clock(max(now, then))

    def _create(self, record_id: str) -> None:
        record = {name: self._value() for name in _MEMBERS if self._rng.random() < 0.6}
        name = self._rng.choice(_NAMES)
        self._seen[record_id].append(at_once(self._store.create(record_id, name, record=record)))

    def _document(self, record_id: str) -> Any:
        """As somebody saw it last, or earlier."""
        seen = self._seen[record_id]
        return seen[-1] if self._rng.random() < 0.85 else self._rng.choice(seen)

    def _change(self, record_id: str) -> None:
        document = self._document(record_id)
        approvals = [f"agent\t{record_id}\t{number}" for number in range(3)]
        change = RecordChange(
            self._events((0, 0, 1, 2)),
            {name: self._value() for name in _MEMBERS if self._rng.random() < 0.5},
            name=self._rng.choice((None, None, document.name, *_NAMES)),
            tags=self._rng.choice((None, ["t"])),
            asked=dict.fromkeys(self._some(approvals), self._server.clock(None)),
            settled=self._some(approvals),
            closing=self._rng.random() < 0.4,
        )
        changed = at_once(self._store.change(document, change))
        if isinstance(changed, type(document)):
            self._seen[record_id].append(changed)

    def _note(self, record_id: str) -> None:
        document = self._document(record_id)
        for _ in range(_MANY if self._rng.random() < 0.03 else 1):
            at_once(self._store.note(document, self._events((1, 1, 2))))

    def _delete(self, record_id: str) -> None:
        document, now = self._document(record_id), self._server.clock(None)
        settled = self._some([f"agent\t{record_id}\t{number}" for number in range(3)])
        keep = _MEMBERS[: self._rng.randint(0, 2)]
        lasts = self._rng.choice((_HISTORY_KEPT_MS, 2 * _TOLD_MS))
        self._moments += [now + _TOLD_MS, now + lasts]
        delete = self._store.delete(
            document, by="ada", settled=settled, keep=keep, history_kept_ms=lasts
        )
        at_once(delete)

    def _again(self, record_id: str) -> None:
        """Something that was said before."""
        at_once(self._backend.run(*self._rng.choice(self._backend.said[-12:])))

    def _break(self, record_id: str) -> None:
        """The same by somebody else, with a text that is no JSON, of whatever revision."""
        script, keys, args = self._rng.choice(self._backend.said)
        request = json.loads(str(args[0])) | {"call": self._store.new_id()}
        request.pop("revision", None)
        texts = list(map(str, args[1:]))
        if script.name == "record_create":
            texts[0] = "{no JSON"
        elif script.name == "record_change" and len(texts) > request["events"]:
            texts[-1] = "{no JSON"
        at_once(self._backend.run(script, keys, [json.dumps(request), *texts]))

    def _events(self, counts: Sequence[int]) -> list[dict[str, Any]]:
        return [{"type": "Walked", "n": n} for n in range(self._rng.choice(counts))]

    def _value(self) -> Any:
        return self._rng.choice((1, "two", [3], {"four": 5}, None))

    def _some(self, of: Sequence[str]) -> list[str]:
        return [one for one in of if self._rng.random() < 0.3]
