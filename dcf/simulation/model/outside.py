"""Calls that speak of no run, or of many: records, seats, turns to speak, lists, the outbox.

Everything that such a call writes is compared, and when it expires.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from control_plane import RunKeys, run_lists
from control_plane import keys as redis_keys
from control_plane.twin import WRITES, Twin
from dcf.simulation.model import records
from dcf.simulation.model.control import Control
from dcf.simulation.model.scratch import Scratch
from dcf.simulation.server import Call
from dcf.simulation.virtual_loop import at_once

Reply = list[Any]
_PUSH_MS, _ACCEPTED_EVERY_MS = 15_000, 1_000


def turn(now: Scratch) -> Reply:
    """One process at a time speaks for a conductor, until its turn ends or it leaves."""
    (key,), request = now.names, now.request
    till, _, token = (now.peek(key) or "0 ").partition(" ")
    lasts = int(till) > now.now
    mine = lasts and token == request["token"]
    if request["do"] == "leave":
        if mine:
            now.set(key, None)
        return [int(mine)]
    if not mine and (lasts or request["do"] == "keep"):
        return [0]
    now.set(key, f"{now.now + request['ms']} {request['token']}")
    now.ends[key] = now.now + 2 * request["ms"]
    return [1]


def claim(now: Scratch) -> Reply:
    """What is due, which others leave be for a while. Of the index it is also noted, to a second,
    when a write was taken last."""
    key, *accepted = now.names
    known = now.get(key) or {}
    of = now.request.get("of", sorted(known, key=lambda member: (known[member], member)))
    due = [member for member in of if member in known and known[member] <= now.now]
    members = due[: now.request["limit"]]
    now.add(key, dict.fromkeys(members, now.now + _PUSH_MS))
    for name in accepted:
        if now.now - int(now.peek(name) or 0) >= _ACCEPTED_EVERY_MS:
            now.set(name, str(now.now))
    head = min((now.peek(key) or {}).values(), default=None)
    return [members, "" if head is None else str(int(head)), str(now.now)]


def keep(now: Scratch) -> Reply:
    """Seats last longer, where nobody has dropped them."""
    (key,), due = now.names, now.now + now.request["ahead"]
    kept = [member for member in now.request["members"] if member in (now.peek(key) or {})]
    now.add(key, dict.fromkeys(kept, due))
    return [kept, str(due)]


def leave(now: Scratch) -> Reply:
    """A run leaves the index, unless it stands there anew."""
    (key,), run = now.names, now.request["run"]
    if (now.peek(key) or {}).get(run) != now.request["at"]:
        return [0]
    now.add(key, {run: None})
    return [1]


def enlist(now: Scratch) -> Reply:
    """Each run is put into the list of its status. Status and birth are those of the request, or
    of the run's document where the request has the id alone."""
    for run, *told in now.request["runs"]:
        document = now.peek(RunKeys(run).meta)
        control: Control = document["ctl"] if document else {"status": "", "born": 0}
        status, born = told or (control["status"], control["born"])
        for other in run_lists.STATUSES:
            place = {run: int(born) if other == status else None}
            now.add(redis_keys.runs(other), place)
    return ["ok"]


def tell(now: Scratch) -> Reply:
    """A run or a record waits for the graph."""
    request, (stream, _) = now.request, now.names
    if request["kind"] == "run":
        wait_for_graph(now, request["id"], request["limit"])
        return ["ok"]
    if len((now.peek(stream) or {"entries": ()})["entries"]) >= request["limit"]:
        return ["full", request["limit"]]
    now.append(stream, ("kind", request["kind"], "id", request["id"], "data", now.text(2)))
    return ["ok"]


def wait_for_graph(now: Scratch, run: str, limit: int) -> None:
    """One more run; where there are too many by then, the oldest go and are counted."""
    stream, counts = redis_keys.OUTBOX_RUNS, redis_keys.OUTBOX_COUNTS
    now.append(stream, ("kind", "run", "id", run))
    waiting = now.get(stream)
    if (over := len(waiting["entries"]) - limit) > 0:
        now.set(stream, waiting | {"entries": waiting["entries"][over:]})
        dropped = int((now.peek(counts) or {}).get("dropped", 0)) + over
        now.add(counts, {"dropped": str(dropped), "dropped_at": str(now.now)})


RULES: dict[str, Callable[[Scratch], Reply]] = {
    "record_create": records.create,
    "record_change": records.change,
    "record_delete": records.delete,
    "enlist": enlist,
    "turn": turn,
    "claim": claim,
    "keep": keep,
    "leave": leave,
    "tell": tell,
}


class Outside:
    """Holds such calls against their rules. ``known`` are the values of keys as the model has them;
    when they expire stands here."""

    def __init__(self, twin: Twin, known: dict[str, Any]) -> None:
        self._twin = twin
        self._known = known
        self._ends: dict[str, int] = {}

    def compare(self, call: Call, now: int, written: set[str]) -> str:
        """The first difference, in words; "" for none. ``written``: keys that it may have."""
        for key in [key for key, end in self._ends.items() if end < now]:
            self._known[key] = None
            del self._ends[key]
        scratch = Scratch(self._known, call, now)
        answer = RULES[call.script](scratch)
        got = list(call.reply)
        if answer == ["bad_document"]:
            # Why, says the server.
            answer += got[1:] or ["a reason"]
            scratch.changed = {}
        if got != answer:
            return f"{call}: it answered {got}, by the protocol {answer}"
        for key in sorted(written | scratch.changed.keys()):
            value, wanted = self._value(key), scratch.peek(key)
            if value != wanted:
                return f"{call}: {key} is {value!r}, by the protocol {wanted!r}"
            end = scratch.ends.get(key, self._ends.get(key)) if wanted is not None else None
            left = at_once(self._twin.command("PTTL", key))
            if left != (-2 if wanted is None else -1 if end is None else end - now):
                return f"{call}: {key} expires in {left} ms, by the protocol at {end}"
            self._ends.pop(key, None)
            if end is not None:
                self._ends[key] = end
        self._known |= scratch.changed
        return ""

    def follow(self, name: str, args: Sequence[str]) -> None:
        """Take over what a client wrote without a script."""
        if name in WRITES and args[0].startswith(_PLACES):
            self._known[args[0]] = self._value(args[0])

    def _value(self, key: str) -> Any:
        """What stands there; a sorted set as a dictionary."""
        value = self._twin.value(key)
        return dict(value) or None if isinstance(value, list) else value


_PLACES = (
    redis_keys.APPROVALS, redis_keys.COMPANIONS, redis_keys.OUTBOX_RUNS, redis_keys.OUTBOX_RECORDS,
    redis_keys.INDEX, redis_keys.DONE, redis_keys.SESSIONS_DUE, redis_keys.COMPANION_HOSTS,
)  # fmt: skip
