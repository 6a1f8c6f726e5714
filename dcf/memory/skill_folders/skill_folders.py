"""The skills that agents know from folders."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

from dcf.memory.actor import Actor
from dcf.memory.ledger import Ledger
from dcf.memory.skill import Discovery, Skill, SyncReport
from dcf.memory.skill_folders.loading import load, unload, unregister
from dcf.memory.skill_folders.rows import skill_of, skill_rows, wanted_rows
from dcf.memory.skill_folders.syncing import sync
from dcf.memory.skill_folders.watching import changes

DEBOUNCE_MS = 200


class SkillFolders:
    """Skills by agent, taken from folders such as ``.skills`` of a project.

    What an agent knows stands in its read-only block ``skills``, by name and description; what it
    has loaded, with its instructions, in ``loaded_skills``: both in its context. Rows and blocks
    change together, so that a rollback of the agent takes both back.

    Limits are those of the two blocks. A catalog that has no room is shortened: descriptions
    first, then the last names, and the report says so. Instructions are never cut: what has no
    room is not loaded, and a loaded skill that grew too large stays as it was.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    async def discover(self, folder: Path | str) -> Discovery:
        """What lies in ``folder``: the good skills, and the problems of all others."""
        return await asyncio.to_thread(_discovered, _plain(folder))

    async def sync(self, agent_id: str, folder: Path | str, *, by: Actor) -> SyncReport:
        """Let the agent know what is in ``folder`` now. A second time changes nothing.

        A skill whose folder is gone is forgotten, and unloaded with that; one that has an error
        stays as it was known, and so do all if the folder itself cannot be read. Skills of other
        folders are left alone. Raises UnknownAgent.
        """
        found = await self.discover(folder)
        return await self._ledger.change(by, lambda journal: sync(journal, agent_id, found))

    async def register(
        self, agent_id: str, folder: Path | str, name: str, *, by: Actor
    ) -> SyncReport:
        """Let the agent know ``folder/name``, and leave all others as they are. Raises
        UnknownAgent."""
        root = _plain(folder)
        only = await asyncio.to_thread(_discovered, root, name)
        return await self._ledger.change(by, lambda journal: sync(journal, agent_id, only))

    async def unregister(self, agent_id: str, *names: str, by: Actor) -> None:
        """Let the agent know these skills no longer; the next sync of their folder brings them
        back. Raises UnknownAgent, UnknownSkills."""
        await self._ledger.change(by, lambda journal: unregister(journal, agent_id, names))

    async def load(self, agent_id: str, *names: str, by: Actor) -> tuple[Skill, ...]:
        """Put the instructions of skills into the agent's context, all or none. What is loaded
        already stays where it is. Raises UnknownAgent, UnknownSkills, SkillsTooLarge."""
        return await self._ledger.change(by, lambda journal: load(journal, agent_id, names))

    async def unload(self, agent_id: str, *names: str, by: Actor) -> tuple[Skill, ...]:
        """Take them out again. Raises UnknownAgent, UnknownSkills."""
        return await self._ledger.change(by, lambda journal: unload(journal, agent_id, names))

    async def list(self, agent_id: str) -> tuple[Skill, ...]:
        """The skills that the agent knows, by name. Raises UnknownAgent."""
        rows = await self._ledger.read(lambda connection: skill_rows(connection, agent_id))
        return tuple(skill_of(rows[name]) for name in sorted(rows))

    async def get(self, agent_id: str, name: str) -> Skill:
        """One skill. Raises UnknownAgent, UnknownSkills."""
        (row,) = await self._ledger.read(
            lambda connection: wanted_rows(connection, agent_id, [name])
        )
        return skill_of(row)

    async def watch(
        self,
        agent_id: str,
        folder: Path | str,
        *,
        by: Actor,
        debounce_ms: int = DEBOUNCE_MS,
        stop: asyncio.Event | None = None,
    ) -> AsyncIterator[SyncReport]:
        """``sync`` now and after every change of ``folder``, until ``stop``; the report of each
        that changed something or has other problems than the one before.

        Raises FileNotFoundError if there is no such folder, UnknownAgent.
        """
        told: Sequence[object] | None = None
        async for _ in changes(_plain(folder), debounce_ms=debounce_ms, stop=stop):
            report = await self.sync(agent_id, folder, by=by)
            if told is None or not report.is_unchanged or report.problems != told:
                yield report
            told = report.problems


def _discovered(folder: Path, name: str | None = None) -> Discovery:
    """What lies in ``folder``, or ``name`` in it and nothing of the others."""
    # Reading skills loads far more than a memory that is only read and written needs.
    from dcf.memory.skill_folders.discovery import discover, read_found

    if name is None:
        return discover(folder)
    found, problems = read_found(folder, name)
    skills = () if found is None else (found,)
    return Discovery(str(folder), skills, tuple(problems), frozenset(), is_there=False)


def _plain(folder: Path | str) -> Path:
    """The folder's path as skills remember it: absolute, links not followed, one for all ways to
    write it."""
    return Path(os.path.normpath(Path(folder).absolute()))
