"""From the outbox to the graph: entries are read, told as episodes, written, and settled when they
are on the graph's disk.

Whatever dies in between, entries are there again, for this reader or for one that takes them over;
what is written twice is there once. The graph being away stops nothing but this.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from control_plane import BadName, Outbox, OutboxEntry, OutboxLag, RunDocument, Store, sweep_outbox
from dcf.knowledge.connection import GraphConnection
from dcf.knowledge.cypher import query
from dcf.knowledge.episode import Episode
from dcf.knowledge.errors import GraphAway, GraphRefused, GraphSlow
from dcf.knowledge.graph_writer import GraphWriter
from dcf.knowledge.meaning import Meanings, load_embedder
from dcf.knowledge.outcome import Outcome
from dcf.knowledge.portions import BATCH, Portions
from dcf.knowledge.privacy import Privacy
from dcf.knowledge.reading import RunReader
from dcf.knowledge.record_kinds import FORMS, Record, age_of, by_writer
from dcf.knowledge.suspects import Suspects, subject
from dcf.knowledge.telling import tell_outcome, tell_run

log = logging.getLogger(__name__)

ENTRIES = 64
"""So many entries are read at a time."""
TOGETHER = 16
"""So many runs are read at the same time."""
UNSETTLED = 2_000
"""After so many episodes at the latest the graph's disk is waited for: where that is forced once a
second, it takes up to a second. Where it takes less than a batch, each batch is waited for."""
_QUICK_S = 0.05
_SLOW_IN_A_ROW = 3
# What an entry can cause that is not as it should be. Servers that are away cause others.
_ENTRY_FAULTS = (
    ArithmeticError, AttributeError, BadName, LookupError, RecursionError, TypeError, ValueError,
)  # fmt: skip


@dataclass(slots=True)
class Drained:
    """What was written: runs, outcomes of states, other records; ``refused`` could not be."""

    runs: int = 0
    outcomes: int = 0
    records: int = 0
    refused: int = 0

    def add(self, more: Drained) -> None:
        for name in self.__slots__:
            setattr(self, name, getattr(self, name) + getattr(more, name))


Progress = Callable[[Drained, OutboxLag], object]


class Relay:
    """Carries the outbox of ``store`` into ``graph``, as the reader ``name``. ``clock`` gives ms
    since the epoch; the weights of the embedder are loaded by the first batch; ``in_a_row`` is that
    of the relay before this one."""

    def __init__(
        self,
        store: Store,
        graph: GraphConnection,
        privacy: Privacy,
        *,
        name: str,
        clock: Callable[[], int],
        meanings: Meanings | None = None,
        in_a_row: int = 0,
    ) -> None:
        self.outbox = Outbox(store.backend, consumer=name)
        self.done = Drained()
        self.held: list[OutboxEntry] = []
        """What was read and is not settled; after an error it is to be written once more."""
        self._store = store
        self._graph = graph
        self._privacy = privacy
        self._clock = clock
        self._meanings = meanings
        self._writer: GraphWriter | None = None
        self._reader = RunReader(store, privacy)
        self._written: list[tuple[OutboxEntry, RunDocument | None]] = []
        self._episodes = 0
        self._most = BATCH
        self._portions = Portions()
        self._suspects = Suspects(privacy, in_a_row)
        self._slow: set[tuple[str, str]] = set()
        self._slow_in_a_row = 0

    @property
    def in_a_row(self) -> int:
        """So many entries were put aside since one was written."""
        return self._suspects.in_a_row

    async def drain(self, progress: Progress | None = None, *, everything: bool = False) -> Drained:
        """Write everything that waits, also what others have read and not settled, and what a
        sweep finds (``everything`` as there); what was written. Raises GraphAway, RelayStuck."""
        await self._graph.ready()
        await self.outbox.open()
        empty = partial(self._empty, progress)
        await empty()
        await sweep_outbox(self._store, everything=everything, after_page=empty)
        return self.done

    async def _empty(self, progress: Progress | None) -> None:
        """Write and settle what is in the outbox."""
        while True:
            entries = await self.outbox.read(ENTRIES)
            if not entries:
                await self.settle()
                claimed = await self.outbox.claim(ENTRIES, idle_ms=0)
                entries = [one for one in claimed if (one.stream, one.entry) not in self._slow]
            if not entries:
                return
            await self.write(entries)
            if progress is not None:
                progress(self.done, await self.outbox.lag())

    async def write(self, entries: Sequence[OutboxEntry]) -> None:
        """Write entries; they count as unsettled until ``settle``. One that cannot be written even
        alone is put aside; one that takes too long is left to whoever claims it later. Raises
        GraphAway, also where nothing is quick enough, and RelayStuck."""
        self.held += [entry for entry in entries if entry not in self.held]
        writer = await self._open_writer()
        self._suspects.forget()
        await self._write_or_split(writer, entries)
        for entry, reason in self._suspects.convicted():
            await self._refuse(entry, reason)
        if self._episodes >= self._most:
            await self.settle()

    async def settle(self) -> None:
        """Wait until what was written is on the graph's disk, and settle it. Raises GraphAway."""
        if not self._written:
            return
        written, self._written, self._episodes = self._written, [], 0
        began = asyncio.get_running_loop().time()
        await self._graph.synced()
        took_s = asyncio.get_running_loop().time() - began
        self._most = BATCH if took_s < _QUICK_S else UNSETTLED
        runs = {run.workflow_id: run for _, run in written if run is not None}
        await asyncio.gather(*(self._store.told(run) for run in runs.values()))
        await self.outbox.settle([entry for entry, _ in written])
        self._let_go([entry for entry, _ in written])

    async def _write_or_split(self, writer: GraphWriter, entries: Sequence[OutboxEntry]) -> None:
        """Write ``entries``, one by one if that is not possible together."""
        try:
            await self._write_all(writer, entries)
        except (GraphRefused, *_ENTRY_FAULTS) as error:
            left = [one for one in entries if one in self.held and one not in self._suspects]
            if len(left) > 1:
                log.warning("a batch is written again one by one: %s", error)
                for entry in left:
                    await self._write_or_split(writer, [entry])
            elif left and isinstance(error, GraphSlow):
                self._leave_for_later(left[0], error)
            elif left:
                await self._suspect_alone(left[0], error)

    async def _suspect_alone(self, entry: OutboxEntry, error: Exception) -> None:
        """Suspect an entry for an error that writing it alone has raised."""
        if isinstance(error, GraphRefused):
            # It is this entry's fault only if the graph takes others.
            await self._graph.write([query("RETURN 1")])
            self._suspects.add(entry, str(error))
            return
        log.error("%s %s is not as it should be", entry.kind, entry.id, exc_info=error)
        self._suspects.add(entry, f"{type(error).__name__}: {error}")

    def _leave_for_later(self, entry: OutboxEntry, error: GraphSlow) -> None:
        """Leave it unsettled. Raises GraphAway where several in a row were that slow."""
        log.warning("%s %s is tried another time: %s", entry.kind, entry.id, error)
        self._let_go([entry])
        self._slow.add((entry.stream, entry.entry))
        self._slow_in_a_row += 1
        if self._slow_in_a_row >= _SLOW_IN_A_ROW:
            self._slow_in_a_row = 0
            raise GraphAway(server=self._graph.label, reason="it takes too long over anything")

    async def _mark_refused(self, workflow_id: str) -> None:
        try:
            runs = await self._store.run_many([workflow_id])
        except _ENTRY_FAULTS as error:
            log.error("run %s cannot be marked as refused: %s", workflow_id, error)
            return
        for run in runs:
            if run.finalized_at is not None:
                await self._store.told(run, refused=True)

    async def _write_all(self, writer: GraphWriter, entries: Sequence[OutboxEntry]) -> None:
        """Write ``entries`` and count them when all of them are written: what fails is written, and
        counted, once more."""
        done = Drained()
        read = self._read_records(entries)
        written: list[tuple[OutboxEntry, RunDocument | None]] = [(entry, None) for entry, _ in read]
        for write, records in by_writer(writer, [(told, age_of(one)) for one, told in read]):
            await self._portions.write(write, records)
        done.records = len(read)
        hints = [entry for entry in entries if entry.kind == "run"]
        told = await self._write_runs(writer, {entry.id for entry in hints}, hints, done)
        written += [(entry, told.get(entry.id)) for entry in hints if entry not in self._suspects]
        self._written += written
        if read or told:
            self._suspects.acquit_us()
            self._slow_in_a_row = 0
        self.done.add(done)

    def _read_records(self, entries: Sequence[OutboxEntry]) -> list[tuple[OutboxEntry, Record]]:
        """The records among ``entries``; what is none is suspected."""
        read: list[tuple[OutboxEntry, Record]] = []
        for entry in entries:
            form = FORMS.get(entry.kind)
            if form is not None:
                try:
                    read.append((entry, form.from_json(entry.data)))
                except _ENTRY_FAULTS as error:
                    self._suspects.add(entry, f"no {entry.kind}: {error}")
            elif entry.kind != "run":
                self._suspects.add(entry, f"nobody here writes records of the kind {entry.kind!r}")
        return read

    async def _write_runs(
        self, writer: GraphWriter, ids: set[str], hints: Sequence[OutboxEntry], done: Drained
    ) -> dict[str, RunDocument]:
        """Write the runs ``ids``, whose entries are ``hints``; those that are written. One that
        cannot be told is suspected."""
        # Others were redriven: their next end is told.
        runs = {run.workflow_id: run for run in await self._store.run_many(list(ids))}
        ended = [run for run in runs.values() if run.is_over and run.finalized_at is not None]
        told: dict[str, RunDocument] = {}
        batch: list[Episode] = []
        for at in range(0, len(ended), TOGETHER):
            some = ended[at : at + TOGETHER]
            for run, found in zip(some, await asyncio.gather(*map(self._tell, some)), strict=True):
                if isinstance(found, str):
                    hint = next(entry for entry in hints if entry.id == run.workflow_id)
                    self._suspects.add(hint, found)
                    continue
                told[run.workflow_id] = run
                batch += found
                while len(batch) >= BATCH:
                    await self._write_batch(writer, batch[:BATCH], done)
                    batch = batch[BATCH:]
        if batch:
            await self._write_batch(writer, batch, done)
        done.runs = len(told)
        return told

    async def _tell(self, run: RunDocument) -> list[Episode] | str:
        """The episodes of a run, or why its documents cannot be told: one that nobody understands
        must not hold up all the others."""
        try:
            return [
                tell_outcome(told) if isinstance(told, Outcome) else tell_run(told)
                async for told in self._reader.tell(run)
            ]
        except _ENTRY_FAULTS as error:
            return f"its documents cannot be told: {type(error).__name__}: {error}"

    async def _write_batch(
        self, writer: GraphWriter, batch: Sequence[Episode], done: Drained
    ) -> None:
        await self._portions.write(writer.episodes, batch)
        self._episodes += len(batch)
        done.outcomes += sum(episode.label == "StateOutcome" for episode in batch)

    async def _refuse(self, entry: OutboxEntry, reason: str) -> None:
        log.error("%s %s cannot be written to the graph: %s", entry.kind, entry.id, reason)
        same = [one for one in self.held if subject(one) == subject(entry) and one != entry]
        if entry.kind == "run":
            # First: what is settled and waits would be found again by each sweep.
            await self._mark_refused(entry.id)
        await self.outbox.refuse(entry, reason)
        await self.outbox.settle(same)
        self._let_go([entry, *same])
        self.done.refused += 1

    def _let_go(self, entries: Sequence[OutboxEntry]) -> None:
        gone = {(entry.stream, entry.entry) for entry in entries}
        self.held = [entry for entry in self.held if (entry.stream, entry.entry) not in gone]

    async def _open_writer(self) -> GraphWriter:
        if self._writer is None:
            meanings = self._meanings or Meanings(await asyncio.to_thread(load_embedder))
            self._writer = GraphWriter(self._graph, meanings, self._privacy, clock=self._clock)
        return self._writer
