"""The memory: one file, and the repositories of what is in it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from dcf.memory.access import AccessLog
from dcf.memory.actor import SYSTEM, Actor
from dcf.memory.agents import Agents, follow_tags
from dcf.memory.attached_tools import AttachedTools
from dcf.memory.audit.events import Events
from dcf.memory.blocks import Blocks, Labels
from dcf.memory.context import Contexts
from dcf.memory.database import Database, Source
from dcf.memory.documents import DocumentFiles, Documents
from dcf.memory.forgetting import Forgetting
from dcf.memory.garbage import GarbageReport, Retention
from dcf.memory.ids import Clock, NewId
from dcf.memory.invariants import faults
from dcf.memory.ledger import Ledger
from dcf.memory.letters import Letters
from dcf.memory.messages import Messages
from dcf.memory.nodes import Nodes
from dcf.memory.observations import Observations
from dcf.memory.observer import Observer
from dcf.memory.passages import Passages
from dcf.memory.playbooks import Playbooks
from dcf.memory.projects import Projects
from dcf.memory.retention import BATCH, collect, stats_of
from dcf.memory.scratch_pads import ScratchPads
from dcf.memory.search import Search, follow_search, index_faults, is_index_old, make_index
from dcf.memory.sessions import Sessions
from dcf.memory.skill_folders import SkillFolders
from dcf.memory.snapshots import Snapshots
from dcf.memory.stats import Stats
from dcf.memory.threads import ThreadFiles, Threads
from dcf.memory.turn_record import TurnRecord
from dcf.memory.turns import Turns
from dcf.problem import Problem
from dcf.search import DEFAULT_EMBEDDER


@dataclass(frozen=True, slots=True)
class Memory:
    """Everything that agents remember. Any number of processes may have it open."""

    ledger: Ledger
    agents: Agents
    blocks: Blocks
    labels: Labels
    messages: Messages
    passages: Passages
    observations: Observations
    threads: Threads
    thread_files: ThreadFiles
    documents: Documents
    document_files: DocumentFiles
    playbooks: Playbooks
    nodes: Nodes
    snapshots: Snapshots
    contexts: Contexts
    search: Search
    events: Events
    letters: Letters
    turns: Turns
    attached_tools: AttachedTools
    projects: Projects
    sessions: Sessions
    scratch_pads: ScratchPads
    skills: SkillFolders
    access: AccessLog
    forgetting: Forgetting

    def within(self, turn: TurnRecord) -> Memory:
        """The same memory for what is done inside a turn: a change is made while the turn is under
        way for whoever has ``turn``, and raises TurnLost after that."""
        return self._of(self.turns.ledger_of(turn), self.search, self.access)

    async def check(self, tell: Callable[[str], object] = lambda _: None) -> tuple[Problem, ...]:
        """All that is wrong in the file: damage, rows that disagree with their events or with the
        index of search. What is looked at is told to ``tell``, in a thread of its own."""
        return await self.ledger.read(
            lambda connection: (*faults(connection, tell), *index_faults(connection, tell))
        )

    async def back_up(self, to: Path, *, overwrite: bool = False) -> Path:
        """Copy the memory, as it is now, to the file ``to``, while it is used. ``restore`` is the
        way back. Raises BackupExists, MemoryFull, MemoryUnusable."""
        return await self.ledger.database.back_up(to, overwrite=overwrite)

    async def stats(self, *, agents: int = 20, blocks: int = 10) -> Stats:
        """How much there is; in detail of so many agents and blocks, the largest."""
        return await stats_of(self.ledger, agents=agents, blocks=blocks)

    async def collect_garbage(
        self,
        retention: Retention | None = None,
        *,
        by: Actor = SYSTEM,
        dry_run: bool = False,
        batch: int = BATCH,
    ) -> GarbageReport:
        """Give up what ``retention`` (None: the default one) says is kept no longer; with
        ``dry_run`` say what that would be. Transactions have at most ``batch`` rows, and the file
        is whole after each: others go on meanwhile, and one that is interrupted goes on by being
        called again. Raises InvalidEntry."""
        return await collect(
            self.ledger, retention or Retention(), by=by, dry_run=dry_run, batch=batch
        )

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        source: Source,
        *,
        clock: Clock,
        new_id: NewId,
        observers: Sequence[Observer] = (),
        embedder: str = DEFAULT_EMBEDDER,
    ) -> AsyncIterator[Memory]:
        """The memory in ``source``, made if it is missing; ``embedder`` compares meanings in its
        search. Raises a MemoryProblem."""
        async with (
            await Database.open(source) as database,
            cls.over(
                database, clock=clock, new_id=new_id, observers=observers, embedder=embedder
            ) as memory,
        ):
            yield memory

    @classmethod
    @asynccontextmanager
    async def over(
        cls,
        database: Database,
        *,
        clock: Clock,
        new_id: NewId,
        observers: Sequence[Observer] = (),
        embedder: str = DEFAULT_EMBEDDER,
    ) -> AsyncIterator[Memory]:
        """The memory in a database that is open, and stays so. Raises a MemoryProblem."""
        ledger = Ledger(
            database,
            clock,
            new_id,
            followers=(follow_tags, follow_search),
            observers=tuple(observers),
        )
        if await database.read(is_index_old):
            await database.write(make_index)
        access = AccessLog(ledger)
        try:
            yield cls._of(ledger, Search(ledger, embedder, access=access), access)
        finally:
            await access.close()
            await ledger.close()

    @classmethod
    def _of(cls, ledger: Ledger, search: Search, access: AccessLog) -> Memory:
        threads, documents = Threads(ledger), Documents(ledger)
        return cls(
            ledger=ledger,
            agents=Agents(ledger),
            blocks=Blocks(ledger),
            labels=Labels(ledger),
            messages=Messages(ledger),
            passages=Passages(ledger),
            observations=Observations(ledger),
            threads=threads,
            thread_files=ThreadFiles(ledger, threads),
            documents=documents,
            document_files=DocumentFiles(documents),
            playbooks=Playbooks(ledger),
            nodes=Nodes(ledger, access),
            snapshots=Snapshots(ledger, access),
            contexts=Contexts(ledger, access),
            search=search,
            events=Events(ledger),
            letters=Letters(ledger),
            turns=Turns(ledger),
            attached_tools=AttachedTools(ledger),
            projects=Projects(ledger),
            sessions=Sessions(ledger),
            scratch_pads=ScratchPads(ledger),
            skills=SkillFolders(ledger),
            access=access,
            forgetting=Forgetting(ledger),
        )
