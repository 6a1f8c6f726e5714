"""A finished run outside Redis: everything it has there, part by part."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

from control_plane import keys, payload
from control_plane.backend import Backend
from control_plane.errors import BadDocument, ControlPlaneError, RunExists
from control_plane.reader import BATCH
from control_plane.run_damage import damage_is_told
from control_plane.run_document import RunDocument
from control_plane.store import Store

Kind = Literal[
    "path", "state", "output", "calls", "blob", "history", "chain", "agents", "audit"
]  # fmt: skip
KINDS: frozenset[str] = frozenset(get_args(Kind))
# What one call of a script carries.
_MOST_PARTS, _MOST_CHARACTERS = 200, 1_000_000
# Names and values of a hash in one command: a script passes them on through Lua's stack.
_MOST_VALUES = 2_000


@dataclass(frozen=True, slots=True)
class Part:
    """One document, blob, hash or event of a run. ``name`` is its path or digest, "" where there is
    one alone; ``text`` is what stands there, hashes and events as a JSON array of strings."""

    kind: Kind
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class RunExport:
    """A run that is over and sealed: its ``meta`` document, as JSON text, and all else it has."""

    meta: str
    parts: tuple[Part, ...]

    @property
    def run(self) -> RunDocument:
        return RunDocument.parse(self.meta)


class NotExportable(ControlPlaneError):
    """Run {workflow_id} {why}, so that it cannot be exported."""

    code = "not_exportable"


class RestoreLost(ControlPlaneError):
    """The restore of {workflow_id} took so long that a sweep removed what was there of it."""

    code = "restore_lost"


async def export_run(store: Store, workflow_id: str) -> RunExport:
    """Everything that Redis has of a run that is over. Raises UnknownRun, NotExportable."""
    while True:
        run = await store.run(workflow_id)
        if run.removing:
            raise NotExportable(workflow_id=workflow_id, why="is being removed")
        if not run.is_over or run.finalized_at is None:
            state = "is not sealed yet" if run.is_over else f"is {run.status}"
            raise NotExportable(workflow_id=workflow_id, why=state)
        key = store.keys(workflow_id).meta
        meta = await _text(store.backend, key)
        export = RunExport(meta, tuple(await _parts(store, workflow_id)))
        # Read again when it moved meanwhile: the graph was told of it, say.
        if meta and await _text(store.backend, key) == meta and export.run.raw == run.raw:
            await _check_blobs(store, export)
            return export


async def restore_run(store: Store, export: RunExport, *, together: int | None = None) -> None:
    """Put the run back as it was, as a finished run, at most so many parts ``together``. Who dies
    over it leaves it to be removed by a sweep. Raises RunExists, BadDocument, RestoreLost, and
    BrokenRun where the document of another stands there."""
    run = export.run
    call = store.new_id()
    # The first call finds out whether there is a run, and is not the last.
    pieces = [piece for part in export.parts for piece in _pieces(part)]
    batches = [[], *_batches(pieces, together or _MOST_PARTS), []]
    for number, batch in enumerate(batches, 1):
        request = {
            "call": call,
            "number": number,
            "last": number == len(batches),
            "parts": [[part.kind, part.name] for part in batch],
        }
        texts = [export.meta, *(part.text for part in batch)]
        async with damage_is_told(store, run.workflow_id):
            answer = await store.call(
                "restore", run.workflow_id, request, *texts, extra=[keys.DONE]
            )
        if answer[0] == "exists" and number == 1:
            message = f"There is a run {run.workflow_id} already; it was left as it is."
            raise RunExists(message, workflow_id=run.workflow_id)
        if answer[0] in ("exists", "gone"):
            # Somebody removed what was restored by now, and another run may be there since.
            raise RestoreLost(workflow_id=run.workflow_id)
        if answer[0] == "bad_document":
            if number > 1:
                await store.remove(run.workflow_id)
            raise BadDocument(reason=answer[1])
    if store.cluster:
        await store.backend.command("ZADD", keys.DONE, await store.now_ms(), run.workflow_id)
        await store.backend.command("ZREM", keys.INDEX, run.workflow_id)


async def lay_out(store: Store, export: RunExport) -> None:
    """Write the run to a store that nobody else uses, to read it there: without any script."""
    run_keys = store.keys(export.run.workflow_id)
    named = {"state": run_keys.state, "output": run_keys.output, "calls": run_keys.calls}
    single = {"audit": run_keys.audit, "chain": run_keys.chain, "agents": run_keys.agents}
    command = store.backend.command
    await command("JSON.SET", run_keys.meta, "$", export.meta)
    for part in export.parts:
        key = named[part.kind](part.name) if part.kind in named else single.get(part.kind, "")
        match part.kind:
            case "state" | "output" | "audit":
                await command("JSON.SET", key, "$", part.text)
            case "calls" | "chain" | "agents":
                await command("HSET", key, *json.loads(part.text))
            case "path":
                await command("SADD", run_keys.paths, part.name)
            case "blob":
                await command("SADD", run_keys.blobs, part.name)
                await command("SET", run_keys.blob(part.name), part.text)
            case "history":
                entry, at, event, digest = json.loads(part.text)
                fields = ("at", at, "event", event, "digest", digest)
                await command("XADD", run_keys.history, entry, *fields)


async def _check_blobs(store: Store, export: RunExport) -> None:
    """Raises NotExportable when a large value is missing, whatever refers to it."""
    workflow_id = export.run.workflow_id
    known = set(await store.backend.command("SMEMBERS", store.keys(workflow_id).blobs))
    missing = known - {part.name for part in export.parts if part.kind == "blob"}
    if missing:
        why = f"is damaged (blob {min(missing)} is missing)"
        raise NotExportable(workflow_id=workflow_id, why=why)


async def _parts(store: Store, workflow_id: str) -> list[Part]:
    run_keys, backend = store.keys(workflow_id), store.backend
    paths = await store.paths(workflow_id)
    parts = [Part("path", path, "") for path in paths]
    for path in paths:
        parts += await _documents(backend, "state", path, run_keys.state(path))
        parts += await _documents(backend, "output", path, run_keys.output(path))
        parts += await _hashes(backend, "calls", path, run_keys.calls(path))
    for sha256 in sorted(await backend.command("SMEMBERS", run_keys.blobs)):
        text = await backend.command("GET", run_keys.blob(sha256))
        parts += [Part("blob", sha256, text)] if text is not None else []
    start = "-"
    while True:
        found = await backend.command("XRANGE", run_keys.history, start, "+", "COUNT", BATCH)
        for entry, fields in found:
            named = dict(zip(fields[::2], fields[1::2], strict=True))
            event = [entry, named["at"], named["event"], named["digest"]]
            parts.append(Part("history", "", payload.to_text(event)))
        if len(found) < BATCH:
            break
        start = f"({found[-1][0]}"
    parts += await _hashes(backend, "chain", "", run_keys.chain)
    parts += await _hashes(backend, "agents", "", run_keys.agents)
    return [*parts, *await _documents(backend, "audit", "", run_keys.audit)]


async def _text(backend: Backend, key: str) -> str:
    text: str | None = await backend.command("JSON.GET", key)
    return text or ""


async def _documents(backend: Backend, kind: Kind, name: str, key: str) -> list[Part]:
    text = await _text(backend, key)
    return [Part(kind, name, text)] if text else []


async def _hashes(backend: Backend, kind: Kind, name: str, key: str) -> list[Part]:
    flat = await backend.command("HGETALL", key)
    return [Part(kind, name, payload.to_text(flat))] if flat else []


def _pieces(part: Part) -> Iterator[Part]:
    """The part in as many as a script can write each at once."""
    if part.kind not in ("calls", "agents", "chain"):
        yield part
        return
    flat = json.loads(part.text)
    for at in range(0, len(flat), _MOST_VALUES):
        yield replace(part, text=payload.to_text(flat[at : at + _MOST_VALUES]))


def _batches(parts: Sequence[Part], most: int) -> Iterator[list[Part]]:
    batch: list[Part] = []
    size = 0
    for part in parts:
        if batch and (len(batch) == most or size + len(part.text) > _MOST_CHARACTERS):
            yield batch
            batch, size = [], 0
        batch.append(part)
        size += len(part.text)
    if batch:
        yield batch
