"""Records of agents, sessions and conductors: made, changed and deleted.

A record is one document with a revision, under a name of its own and at a place of its own in the
order in which they were made. Its history outlives it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dcf.simulation.model.control import is_json, sha1
from dcf.simulation.model.scratch import Scratch

Reply = list[Any]
# So many calls get their first answer when they come again.
_REMEMBERED = 32
# … and for so long the two that made and deleted a record which is gone.
_TOLD_MS = 3_600_000


@dataclass(frozen=True, slots=True)
class _Place:
    """The keys of one record, and of all of its kind."""

    document: str
    history: str
    names: str
    index: str
    approvals: str

    @classmethod
    def of(cls, now: Scratch) -> _Place:
        return cls(*now.names[:5])


def create(now: Scratch) -> Reply:
    """A record, unless there is one, or one of its name; with what was kept of the one before."""
    place, request = _Place.of(now), now.request
    gone, kept = now.names[5:]
    left = [part for pair in (now.peek(kept) or {}).items() for part in pair]
    if (made_at := now.peek(gone)) is not None:
        return ["ok", 1, int(made_at), left]
    if (there := now.peek(place.document)) is not None:
        if there["ctl"]["incarnation"] == request["call"]:
            return ["ok", 1, there["created_at"], left]
        return ["exists"]
    if (other := (now.peek(place.names) or {}).get(request["name"])) is not None:
        return ["name_taken", other]
    if _is_full(now, place, 1):
        return ["full", request["most"]]
    if not is_json(now.text(2)):
        return ["bad_document"]

    last = max((now.peek(place.index) or {}).values(), default=0)
    now.add(place.index, {request["id"]: max(now.now, last + 1)})
    now.add(place.names, {request["name"]: request["id"]})
    # Its history goes on if one of this id was there before.
    entries = (now.peek(place.history) or {"entries": ()})["entries"]
    digest = _told(now, place, entries[-1][1][-1] if entries else "", [now.text(3)])
    now.ends[place.history] = None
    document = json.loads(now.text(2))
    document["record"] |= {name: json.loads(text) for name, text in _pairs(left)}
    document |= {"revision": 1, "created_at": now.now, "updated_at": now.now}
    document["ctl"] = {"revision": 1, "incarnation": request["call"], "digest": digest}
    document["ctl"]["said"] = {request["call"]: 1}
    now.set(place.document, document)
    return ["ok", 1, now.now, left]


def change(now: Scratch) -> Reply:
    """All that is to be written or nothing, by who saw the record as it is."""
    place, request = _Place.of(now), now.request
    document = now.get(place.document)
    if document is None or document["ctl"]["incarnation"] != request["incarnation"]:
        return ["unknown"]
    ctl = document["ctl"]
    if request["call"] in ctl["said"]:
        return ["ok", ctl["said"][request["call"]]]
    if request.get("revision", ctl["revision"]) != ctl["revision"]:
        return ["conflict", ctl["revision"]]
    count = request["events"]
    if not request.get("closing") and _is_full(now, place, count):
        return ["full", request["most"]]
    before, name = document["name"], request.get("name")
    other = (now.peek(place.names) or {}).get(name)
    if other not in (None, request["id"]):
        return ["name_taken", other]

    writes = _pairs(now.texts[count:])
    if not all(is_json(text) for _, text in writes):
        return ["bad_document"]
    for path, text in writes:
        *holders, member = path.split(".")[1:]
        (document[holders[0]] if holders else document)[member] = json.loads(text)
    if name is not None:
        now.add(place.names, {before: None, name: request["id"]})
    ctl["digest"] = _told(now, place, ctl["digest"], now.texts[:count])
    ctl["revision"] += 1
    ctl["said"][request["call"]] = ctl["revision"]
    oldest = ctl["revision"] - _REMEMBERED
    ctl["said"] = {call: led_to for call, led_to in ctl["said"].items() if led_to > oldest}
    now.set(place.document, document | {"revision": ctl["revision"], "updated_at": now.now})
    _list_approvals(now, place, request.get("asked", {}))
    return ["ok", ctl["revision"]]


def delete(now: Scratch) -> Reply:
    """It is gone; who made it, or deleted it, and comes again, still gets that answer."""
    place, request = _Place.of(now), now.request
    gone, made, kept = now.names[5:]
    if now.peek(gone) is not None:
        return ["ok"]
    document = now.peek(place.document)
    if document is None or document["ctl"]["incarnation"] != request["incarnation"]:
        return ["unknown"]
    _told(now, place, document["ctl"]["digest"], [now.text(2)])
    now.ends[place.history] = now.now + request["keep_ms"]
    for key, answer in ((gone, "1"), (made, str(document["created_at"]))):
        now.set(key, answer)
        now.ends[key] = now.now + _TOLD_MS
    record = document["record"]
    found = {name: _text(record[name]) for name in request["keep"] if name in record}
    now.set(kept, (now.get(kept) or {}) | found)
    now.set(place.document, None)
    now.add(place.names, {document["name"]: None})
    now.add(place.index, {request["id"]: None})
    _list_approvals(now, place, {})
    return ["ok"]


def _is_full(now: Scratch, place: _Place, more: int) -> bool:
    """Whether ``more`` events are too many for a history of which nothing is dropped."""
    entries = (now.peek(place.history) or {"entries": ()})["entries"]
    return bool(more) and "most" in now.request and len(entries) + more > now.request["most"]


def _told(now: Scratch, place: _Place, digest: str, events: Sequence[str]) -> str:
    """Put events into the history; the digest of its end."""
    for event in events:
        digest = sha1(f"{digest}\n{now.now}\n{event}")
        fields = ("at", str(now.now), "event", event, "digest", digest)
        now.append(place.history, fields, now.request.get("newest"))
    return digest


def _list_approvals(now: Scratch, place: _Place, asked: dict[str, int]) -> None:
    """What waits for approval stands in one list with that of runs; in a cluster it is written by
    clients."""
    if not now.request.get("cluster"):
        settled = dict.fromkeys(now.request.get("settled", ()))
        now.add(place.approvals, {**asked, **settled})


def _pairs(parts: Sequence[str]) -> list[tuple[str, str]]:
    return list(zip(parts[::2], parts[1::2], strict=True))


def _text(value: Any) -> str:
    """As the server prints a value."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
