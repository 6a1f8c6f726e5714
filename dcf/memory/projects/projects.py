"""The projects in the memory."""

from __future__ import annotations

from typing import Unpack

from dcf.memory.actor import Actor
from dcf.memory.agents.finding import agent_row
from dcf.memory.audit.journal import Journal
from dcf.memory.block import Block, NewBlock
from dcf.memory.blocks.fields import block_of
from dcf.memory.database import Connection
from dcf.memory.ledger import Ledger
from dcf.memory.project import NewProject, Project
from dcf.memory.projects.changing import (
    create_project,
    delete_project,
    ensure_project,
    update_project,
)
from dcf.memory.projects.entering import enter, leave
from dcf.memory.projects.fields import ProjectFields, project_of
from dcf.memory.projects.finding import (
    agents_in,
    block_rows,
    project_row,
    projects_with,
    row_of_agent,
)
from dcf.memory.projects.linking import create_project_block, link_block, unlink_block


class Projects:
    """Projects by path.

    A project has blocks of its own (type ``project``) and blocks that are ``shared`` with other
    projects and agents. An agent works in one project at a time, or in none. While it does, it
    sees the project's blocks as if it held them: it reads and writes them by label, they stand in
    its context behind its own, and search finds them. Under the same label the project's block
    stands in place of the agent's own, which is there again when the agent leaves. Blocks that a
    project has are deleted by taking them from it, not through an agent.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    async def create(self, new: NewProject, *, by: Actor) -> Project:
        """A new project. Raises InvalidEntry with all that is wrong, ProjectExists."""
        return await self._ledger.change(by, lambda journal: create_project(journal, new))

    async def ensure(self, path: str, *, by: Actor) -> Project:
        """The project with this path, made if it is missing. Raises InvalidEntry."""
        return await self._ledger.change(
            by, lambda journal: project_of(ensure_project(journal, path))
        )

    async def get(self, path: str) -> Project:
        """The project with this path. Raises UnknownProject with the closest paths."""
        return await self._ledger.read(lambda connection: project_of(project_row(connection, path)))

    async def list(self, *, limit: int = 100, after: str = "") -> tuple[Project, ...]:
        """Projects by path: at most ``limit``, from behind the path ``after``."""

        def work(connection: Connection) -> tuple[Project, ...]:
            rows = connection.execute(
                "SELECT * FROM projects WHERE path > ? ORDER BY path LIMIT ?",
                (after, max(limit, 0)),
            )
            return tuple(project_of(dict(row)) for row in rows)

        return await self._ledger.read(work)

    async def update(
        self,
        path: str,
        /,
        *,
        by: Actor,
        expected: int | None = None,
        **fields: Unpack[ProjectFields],
    ) -> Project:
        """The project with ``fields`` changed; ``expected`` is the revision that it must have.

        Raises UnknownProject, RevisionConflict, InvalidEntry, ProjectExists.
        """
        return await self._ledger.change(
            by, lambda journal: update_project(journal, path, fields, expected=expected)
        )

    async def delete(self, path: str, *, by: Actor) -> None:
        """Remove the project: its agents leave it, and its own blocks go that no agent holds.
        ``events.roll_back_project`` brings all of it back. Raises UnknownProject."""
        await self._ledger.change(by, lambda journal: delete_project(journal, path))

    async def create_block(self, path: str, new: NewBlock, *, by: Actor) -> Block:
        """A new block of the project: ``shared`` if ``new`` says so, else of type ``project``,
        which is this project's alone.

        Raises UnknownProject, InvalidEntry, ProjectHasLabel, OverLimit.
        """
        return await self._ledger.change(
            by, lambda journal: create_project_block(journal, path, new)
        )

    async def link(self, path: str, block_id: str, *, by: Actor, label: str | None = None) -> Block:
        """Let the project have a ``shared`` block as ``label`` (None: the block's own).

        Raises UnknownProject, NoSuchBlock, InvalidEntry, NotShareable, ProjectHasLabel.
        """
        return await self._ledger.change(
            by, lambda journal: link_block(journal, path, block_id, label)
        )

    async def unlink(self, path: str, label: str, *, by: Actor) -> None:
        """Take a block from the project. One of type ``project`` is deleted with that, unless an
        agent holds it. Raises UnknownProject, UnknownProjectBlock."""
        await self._ledger.change(by, lambda journal: unlink_block(journal, path, label))

    async def blocks(self, path: str) -> tuple[Block, ...]:
        """The project's blocks, in the order in which it got them. Raises UnknownProject."""

        def work(connection: Connection) -> tuple[Block, ...]:
            rows = block_rows(connection, project_row(connection, path))
            return tuple(block_of(row, label=label) for label, row in rows)

        return await self._ledger.read(work)

    async def with_block(self, block_id: str) -> tuple[tuple[str, str], ...]:
        """(path, label) of all projects that have the block."""
        return await self._ledger.read(
            lambda connection: tuple(projects_with(connection, block_id))
        )

    async def enter(self, path: str, agent_id: str, *, by: Actor) -> None:
        """Let the agent work in the project; it leaves the one that it was in.

        Raises UnknownProject, UnknownAgent.
        """

        def work(journal: Journal) -> None:
            enter(journal, agent_id, project_row(journal.connection, path))

        await self._ledger.change(by, work)

    async def leave(self, agent_id: str, *, by: Actor) -> None:
        """Let the agent work in no project. Raises UnknownAgent."""
        await self._ledger.change(by, lambda journal: leave(journal, agent_id))

    async def agents(self, path: str) -> tuple[str, ...]:
        """Ids of the agents that work in the project. Raises UnknownProject."""
        return await self._ledger.read(
            lambda connection: tuple(agents_in(connection, project_row(connection, path)))
        )

    async def of_agent(self, agent_id: str) -> Project | None:
        """The project that the agent works in, None if in none. Raises UnknownAgent."""

        def work(connection: Connection) -> Project | None:
            agent_row(connection, agent_id)
            row = row_of_agent(connection, agent_id)
            return None if row is None else project_of(row)

        return await self._ledger.read(work)
