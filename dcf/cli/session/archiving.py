"""``dcf session archive``."""

from __future__ import annotations

from pathlib import Path

from dcf.cli.answer import Answer
from dcf.cli.screen import Screen
from dcf.cli.session.opening import open_desk
from dcf.cli.settings import Settings
from dcf.cli.trouble import EnvironmentTrouble, NotSo
from dcf.sessions.archive import write_archive


async def archive(session_id: str, folder: Path, settings: Settings, screen: Screen) -> Answer:
    """Write the session to ``folder``/``session_id``."""
    async with open_desk(settings, screen) as desk:
        session = await desk.get(session_id)
        try:
            place = await write_archive(desk.sessions, session_id, folder)
        except BlockingIOError as busy:
            message = f"somebody else archives {session_id} to {folder} at the moment"
            raise NotSo("archive_busy", message, "try again when it is done") from busy
        except OSError as error:
            message = f"the archive cannot be written: {error.filename}: {error.strerror}"
            hint = "choose another folder with --folder; the session itself is complete"
            raise EnvironmentTrouble("archive_unwritable", message, hint) from error
    files = sorted(str(path.relative_to(place)) for path in place.rglob("*") if path.is_file())
    fields = {
        "session_id": session_id,
        "state": session.state,
        "folder": str(place),
        "files": files,
        "snapshot": not session.is_over,
    }
    notes = [] if session.is_over else [f"A snapshot: the session is {session.state}."]
    return Answer(fields, [*notes, f"Archive: {place}", *(f"  {name}" for name in files)])
