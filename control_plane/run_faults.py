"""What is wrong with a run that another program, or a hand, wrote over; and what is left of one."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from control_plane.backend import Backend
from control_plane.errors import BrokenRun
from control_plane.keys import RunKeys
from control_plane.run_document import RunDocument

JSON_TYPE = "ReJSON-RL"
"""What TYPE says of a document."""
_TYPES = {
    "paths": "set",
    "blobs": "set",
    "history": "stream",
    "chain": "hash",
    "due": "zset",
    "agents": "hash",
}
# Every run that there is has some of these; a submission that has only begun has none.
_ALWAYS = ("history", "chain", "due", "paths")
_AT_ONCE, _SCANNED = 500, 1_000


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a run is broken. ``kinds`` has the TYPE of each key by which that was seen, by its name
    within the run, and always that of its document (``meta``); ``digest`` is the SHA-1 of that
    document's text, "" where it is no JSON. So it can be told whether the run is still the same."""

    workflow_id: str
    why: str
    kinds: dict[str, str]
    digest: str = ""

    def error(self) -> BrokenRun:
        """The fault, for who came upon it."""
        if len(self.kinds) == 1:
            return BrokenRun(workflow_id=self.workflow_id, why=self.why)
        message = f"run {self.workflow_id} is broken: {self.why}"
        return BrokenRun(message, workflow_id=self.workflow_id, why=self.why)


@dataclass(frozen=True, slots=True)
class Remains:
    """The keys that are there of a run, and whose paths and blobs they are."""

    names: Sequence[str]
    paths: Sequence[str]
    blobs: Sequence[str]


async def find_fault(backend: Backend, keys: RunKeys) -> Fault | None:
    """The first thing that is wrong with a run; None where it is whole, or where nothing of it is
    left by its name. It reads all its states: it is for who met an error, or was told of one."""
    run, kind = keys.workflow_id, await backend.command("TYPE", keys.meta)
    kinds = {"meta": kind}
    if kind == "none":
        left = await left_of(backend, keys)
        return Fault(run, left, kinds) if left else None
    if kind != JSON_TYPE:
        return Fault(run, f"it is of the type {kind}, and not JSON", kinds)
    text = await backend.command("JSON.GET", keys.meta)
    if text is None:
        return None
    digest = hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()
    try:
        RunDocument.parse(text, run)
    except BrokenRun as error:
        return Fault(run, str(error.fields["why"]), kinds, digest)
    for name, right in _TYPES.items():
        kind = await backend.command("TYPE", getattr(keys, name))
        if kind not in (right, "none"):
            why = f"its {name} are of the type {kind}, and not {right}"
            return Fault(run, why, {**kinds, name: kind}, digest)
    paths = sorted(await backend.command("SMEMBERS", keys.paths))
    for at in range(0, len(paths), _AT_ONCE):
        part = paths[at : at + _AT_ONCE]
        statuses = await backend.command("JSON.MGET", *map(keys.state, part), ".ctl.status")
        for path in (one for one, status in zip(part, statuses, strict=True) if status is None):
            kind = await backend.command("TYPE", keys.state(path))
            if kind != "none":
                why = f"the document of state {path} is "
                why += "without a control record" if kind == JSON_TYPE else f"of the type {kind}"
                return Fault(run, why, {**kinds, f"state:{path}": kind}, digest)
    return None


async def left_of(backend: Backend, keys: RunKeys) -> str:
    """What is wrong with a run without a document: that it has other keys; "" where it has none."""
    if not await backend.command("EXISTS", *(getattr(keys, name) for name in _ALWAYS)):
        return ""
    there = [name for name in _ALWAYS if await backend.command("EXISTS", getattr(keys, name))]
    # Somebody may have removed them between the two looks.
    return f"it is gone, and of the run its {_listed(there)} are left" if there else ""


async def remains_of(backend: Backend, keys: RunKeys) -> Remains:
    """What there is by its name, whatever the run says that it has. It looks at all keys of the
    server."""
    names, cursor = set[str](), "0"
    while True:
        cursor, page = await backend.command(
            "SCAN", cursor, "MATCH", keys.pattern, "COUNT", _SCANNED
        )
        names.update(page)
        if str(cursor) == "0":
            break
    of_path = (keys.state(""), keys.output(""), keys.calls(""))
    return Remains(
        sorted(names),
        sorted({rest for start in of_path for rest in _rests(names, start)}),
        sorted(_rests(names, keys.blob(""))),
    )


def _rests(names: Iterable[str], start: str) -> set[str]:
    return {name.removeprefix(start) for name in names if name.startswith(start)}


def _listed(names: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
