"""Making an agent know what a folder of skills has."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from dcf.memory.audit.journal import Journal
from dcf.memory.entities import SKILL
from dcf.memory.skill import Discovery, FoundSkill, SyncReport
from dcf.memory.skill_folders.keeping import keep_blocks, loaded_limit, loaded_size
from dcf.memory.skill_folders.rows import columns_of, skill_rows
from dcf.problem import Problem


@dataclass(slots=True)
class _Sync:
    journal: Journal
    agent_id: str
    folder: str
    rows: dict[str, dict[str, Any]]
    added: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    unloaded: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def forget(self, name: str) -> None:
        """The skill's folder is gone."""
        row = self.rows.pop(name)
        self.journal.delete(SKILL, row, agent_id=self.agent_id)
        self.removed.append(name)
        if row["loaded_as"] is not None:
            self.unloaded.append(name)

    def take(self, found: FoundSkill) -> None:
        """Know the skill as it was found, unless that cannot be."""
        row = self.rows.get(found.name)
        if row is None:
            self._add(found)
        elif row["source"] != self.folder:
            message = f"the agent knows the skill {found.name!r} from {row['source']}"
            hint = "unregister that one first, or rename this one"
            self._refuse("MEMORY_SKILL_ELSEWHERE", message, found, hint)
        else:
            self._change(row, found)

    def _add(self, found: FoundSkill) -> None:
        row: dict[str, Any] = {
            "agent_id": self.agent_id,
            "name": found.name,
            **columns_of(found),
            "source": self.folder,
            "loaded_as": None,
            "revision": 1,
            "created_at": self.journal.at,
            "updated_at": self.journal.at,
        }
        self.rows[found.name] = self.journal.create(SKILL, row, agent_id=self.agent_id)
        self.added.append(found.name)

    def _change(self, row: dict[str, Any], found: FoundSkill) -> None:
        after = {
            **row,
            **columns_of(found),
            "revision": row["revision"] + 1,
            "updated_at": self.journal.at,
        }
        if row["loaded_as"] is not None and self._is_too_much(found, after):
            return
        kept = self.journal.update(SKILL, row, after, agent_id=self.agent_id)
        if kept is not None:
            self.rows[found.name] = kept
            self.changed.append(found.name)

    def _is_too_much(self, found: FoundSkill, after: dict[str, Any]) -> bool:
        limit = loaded_limit(self.journal.connection, self.agent_id)
        size = loaded_size({**self.rows, found.name: after})
        # Where there is too much already, less is welcome.
        if limit is None or size <= limit or size <= loaded_size(self.rows):
            return False
        message = f"with it the loaded skills would have {size:,} bytes; their block has {limit:,}"
        hint = "the instructions stay as they were; shorten them, or unload others"
        self._refuse("MEMORY_SKILL_TOO_LARGE", message, found, hint)
        return True

    def _refuse(self, code: str, message: str, found: FoundSkill, hint: str) -> None:
        file = f"{self.folder}/{found.name}/SKILL.md"
        self.problems.append(Problem(code, message, hint=hint, file=file))

    def report(self) -> SyncReport:
        """What was done, with the blocks written."""
        # Of an agent that never had a skill the blocks stay as they are.
        if self.rows or self.removed:
            self.problems += keep_blocks(self.journal, self.agent_id, self.rows)
        return SyncReport(
            self.agent_id,
            self.folder,
            tuple(self.added),
            tuple(self.changed),
            tuple(self.removed),
            tuple(self.unloaded),
            tuple(self.problems),
        )


def sync(journal: Journal, agent_id: str, discovery: Discovery) -> SyncReport:
    """Make the agent know what was discovered, and no longer what is gone from that folder. A skill
    with an error, and all of them where the folder cannot be read, stay as they were known.

    Raises UnknownAgent.
    """
    rows = skill_rows(journal.connection, agent_id)
    one = _Sync(journal, agent_id, discovery.folder, rows, problems=list(discovery.problems))
    if discovery.is_there:
        gone = [
            name
            for name, row in sorted(rows.items())
            if row["source"] == discovery.folder and name not in discovery.present
        ]
        for name in gone:
            one.forget(name)
    for found in discovery.skills:
        one.take(found)
    return one.report()
