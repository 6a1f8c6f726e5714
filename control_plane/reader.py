"""Reading the documents of a run."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from control_plane.documents import Failure, RunStatus, StateDocument
from control_plane.errors import (
    BrokenRun,
    UnknownRun,
    UnknownState,
    WrongType,
)
from control_plane.payload import JSON
from control_plane.run_document import RunDocument
from control_plane.values import Values

BATCH = 500
JSON_TYPE = "ReJSON-RL"
"""What TYPE says of a document."""
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Results:
    """What the frames of a join came to: ``values`` in order, None for one that failed, and
    ``failures`` by number."""

    values: list[JSON]
    failures: dict[int, Failure] = field(default_factory=dict)


class Reader(Values):
    """Everything that only reads."""

    async def run(self, workflow_id: str) -> RunDocument:
        """The meta document. Raises UnknownRun, BrokenRun."""
        key = self.keys(workflow_id).meta
        try:
            text = await self.backend.command("JSON.GET", key)
        except WrongType as error:
            kind = await self.backend.command("TYPE", key)
            why = f"it is of the type {kind}, and not JSON ({key})"
            raise BrokenRun(workflow_id=workflow_id, why=why) from error
        if text is None:
            raise UnknownRun(workflow_id=workflow_id)
        return _parsed(text, workflow_id, key)

    async def run_many(self, workflow_ids: Sequence[str]) -> list[RunDocument]:
        """The meta documents of those that exist, in order, 500 a read; in a cluster, where each
        run has a slot of its own, one a read. A broken one is logged and left out."""
        runs, broken = await self.runs_and_broken(workflow_ids)
        for error in broken:
            # One that somebody else wrote hides no other.
            name = error.fields["workflow_id"]
            log.warning("run %s is left out: %s (%s)", name, error, error.hint)
        return runs

    async def runs_and_broken(
        self, workflow_ids: Sequence[str]
    ) -> tuple[list[RunDocument], list[BrokenRun]]:
        """As ``run_many``, and what is wrong with those whose documents are broken. What is no JSON
        counts as missing here, too."""
        names = [self.keys(workflow_id).meta for workflow_id in workflow_ids]
        if self.cluster:
            texts = [await self.backend.command("JSON.GET", name) for name in names]
        else:
            texts = await self._read_many(names, ".")
        runs: list[RunDocument] = []
        broken: list[BrokenRun] = []
        for workflow_id, key, text in zip(workflow_ids, names, texts, strict=True):
            try:
                runs += [_parsed(text, workflow_id, key)] if text is not None else []
            except BrokenRun as error:
                broken.append(error)
        return runs, broken

    async def ends(self, workflow_ids: Sequence[str]) -> dict[str, int]:
        """When those of the runs ended (ms) that are there and over, 500 a read; in a cluster, one
        a read."""
        names = [self.keys(workflow_id).meta for workflow_id in workflow_ids]
        size = 1 if self.cluster else BATCH
        texts: list[str | None] = []
        for at in range(0, len(names), size):
            texts += await self._read_many(names[at : at + size], ".finished_at")
        found: dict[str, int] = {}
        for workflow_id, text in zip(workflow_ids, texts, strict=True):
            if text is None or text == "null":
                continue
            if text.isascii() and text.isdecimal():
                found[workflow_id] = int(text)
            else:
                log.warning("run %s is left out: its end is %.64s, no time", workflow_id, text)
        return found

    async def run_status(self, workflow_id: str) -> RunStatus:
        """The status alone (cheap, for polling). Raises UnknownRun."""
        text = await self.backend.command("JSON.GET", self.keys(workflow_id).meta, ".status")
        if text is None:
            raise UnknownRun(workflow_id=workflow_id)
        return cast(RunStatus, json.loads(text))

    async def paths(self, workflow_id: str) -> list[str]:
        """Every path that has a document, sorted (earlier visits end in ``@visit``)."""
        return sorted(await self.backend.command("SMEMBERS", self.keys(workflow_id).paths))

    async def states(self, workflow_id: str, paths: Iterable[str]) -> dict[str, StateDocument]:
        """The documents of ``paths`` that exist, 500 a read."""
        run_keys, wanted = self.keys(workflow_id), list(paths)
        texts = await self._read_many([run_keys.state(path) for path in wanted], ".")
        return {
            path: StateDocument.parse(text)
            for path, text in zip(wanted, texts, strict=True)
            if text is not None
        }

    async def state(self, workflow_id: str, path: str) -> StateDocument:
        """The document of ``path``. Raises UnknownState: the run was removed, or forgotten."""
        found = await self.states(workflow_id, [path])
        if path not in found:
            raise UnknownState(workflow_id=workflow_id, path=path)
        return found[path]

    async def count_done(self, paths: Mapping[str, Sequence[str]]) -> dict[str, int]:
        """How many of the states at ``paths`` of each run are done, 500 a read; in a cluster, where
        each run has a slot of its own, one run a read."""
        named = {run: [self.keys(run).state(path) for path in of] for run, of in paths.items()}
        if self.cluster:
            found = [text for of in named.values() for text in await self._read_many(of, ".status")]
        else:
            found = await self._read_many([name for of in named.values() for name in of], ".status")
        statuses = iter(found)
        return {run: sum(next(statuses) == '"done"' for _ in of) for run, of in named.items()}

    async def outputs(self, workflow_id: str, paths: Iterable[str]) -> dict[str, dict[str, Any]]:
        """The output documents of ``paths`` that exist, as stored, 500 a read."""
        run_keys, wanted = self.keys(workflow_id), list(paths)
        texts = await self._read_many([run_keys.output(path) for path in wanted], ".")
        return {
            path: json.loads(text)
            for path, text in zip(wanted, texts, strict=True)
            if text is not None
        }

    async def results(self, workflow_id: str, parent: str, n: int, failed: int = 0) -> Results:
        """What the ``n`` frames of a join put out, of which ``failed`` failed, 500 a read. Raises
        UnknownState when one is missing: a result must not take another's place."""
        run_keys = self.keys(workflow_id)
        tickets = [run_keys.state(f"{parent}[{number}]") for number in range(n)]
        failures = await self._failures(tickets) if failed else {}
        good = [number for number in range(n) if number not in failures]
        found = await self._read_many([tickets[number] for number in good], ".exit")
        exits = [json.loads(text) for text in found if text]
        texts = await self._read_many([run_keys.output(exit_) for exit_ in exits], ".data")
        values = [await self.value(workflow_id, json.loads(text)) for text in texts if text]
        missing = n - len(values) - len(failures)
        if missing or len(failures) != failed:
            raise UnknownState(workflow_id=workflow_id, path=f"{missing} frames of {parent}")
        if not failures:
            return Results(values)
        by_number = dict(zip(good, values, strict=True))
        return Results([by_number.get(number) for number in range(n)], failures)

    async def _failures(self, tickets: Sequence[str]) -> dict[int, Failure]:
        """Why frames failed, by number."""
        texts = await self._read_many(tickets, ".error")
        found = {
            number: Failure.parse(json.loads(text)) for number, text in enumerate(texts) if text
        }
        return {number: failure for number, failure in found.items() if failure is not None}

    async def _read_many(self, names: Sequence[str], path: str) -> list[str | None]:
        texts: list[str | None] = []
        for at in range(0, len(names), BATCH):
            texts += await self.backend.command("JSON.MGET", *names[at : at + BATCH], path)
        return texts


def _parsed(text: str, workflow_id: str, key: str) -> RunDocument:
    """The document in ``text``. Raises BrokenRun, which names the key."""
    try:
        return RunDocument.parse(text, workflow_id)
    except BrokenRun as error:
        why = f"{error.fields['why']} ({key})"
        raise BrokenRun(workflow_id=workflow_id, why=why) from None
