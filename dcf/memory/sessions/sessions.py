"""The sessions in which agents are worked with."""

from __future__ import annotations

from dcf.memory.actor import Actor
from dcf.memory.database import Connection
from dcf.memory.ledger import Ledger
from dcf.memory.projects import plain_path
from dcf.memory.session import Session, WorkContext
from dcf.memory.sessions.rows import (
    begin_session,
    end_session,
    note_loaded_skills,
    resume_session,
    session_of,
    session_row,
)


class Sessions:
    """Sessions: begun with an agent, in a project or not, and ended.

    They are kept, so that another process goes on where one ended or died: ``resume`` begins a
    session with the last agent of a project. The messages of a session carry its id:
    ``messages.list(agent_id, session_id=…)``.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    async def begin(
        self,
        agent_id: str,
        *,
        by: Actor,
        project: str | None = None,
        skills_directory: str | None = None,
    ) -> Session:
        """A session with the agent. With ``project`` (its path; made if it is missing) the agent
        works in it from now on and is its last agent; its sessions in other projects end.

        Raises UnknownAgent, InvalidEntry.
        """
        return await self._ledger.change(
            by, lambda journal: begin_session(journal, agent_id, project, skills_directory)
        )

    async def resume(self, project: str, *, by: Actor) -> Session | None:
        """A new session with the last agent of the project and its skills directory; None if no
        agent was there, or that one is gone."""
        return await self._ledger.change(by, lambda journal: resume_session(journal, project))

    async def end(self, session_id: str, *, by: Actor, reason: str = "") -> Session:
        """The session is over. One that has ended stays as it is. Raises UnknownSession."""
        return await self._ledger.change(
            by, lambda journal: end_session(journal, session_id, reason)
        )

    async def note_loaded_skills(
        self, session_id: str, *, by: Actor, loaded: bool = True
    ) -> Session:
        """Note whether skills were loaded in the session. Raises UnknownSession, SessionEnded."""
        return await self._ledger.change(
            by, lambda journal: note_loaded_skills(journal, session_id, loaded)
        )

    async def get(self, session_id: str) -> Session:
        """The session with this id. Raises UnknownSession."""
        return await self._ledger.read(
            lambda connection: session_of(session_row(connection, session_id))
        )

    async def context(self, session_id: str) -> WorkContext:
        """The context of the session, for ``working_in``. Raises UnknownSession."""
        return WorkContext.of(await self.get(session_id))

    async def list(
        self,
        *,
        agent_id: str | None = None,
        project: str | None = None,
        ended: bool | None = None,
        limit: int = 100,
    ) -> tuple[Session, ...]:
        """The newest sessions for which every given field holds, newest first."""
        where, values = ["TRUE"], []
        if agent_id is not None:
            where.append("agent_id = ?")
            values.append(agent_id)
        if project is not None:
            where.append("project = ?")
            values.append(plain_path(project))
        if ended is not None:
            where.append(f"ended_at IS {'NOT ' if ended else ''}NULL")

        def work(connection: Connection) -> tuple[Session, ...]:
            rows = connection.execute(
                f"SELECT * FROM sessions WHERE {' AND '.join(where)}"
                " ORDER BY started_at DESC, id DESC LIMIT ?",
                (*values, max(limit, 0)),
            )
            return tuple(session_of(dict(row)) for row in rows)

        return await self._ledger.read(work)
