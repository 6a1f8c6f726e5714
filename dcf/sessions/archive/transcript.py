"""The history of a session, and what was said in it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from control_plane import read_record_history
from dcf.sessions.archive.redacting import clean
from dcf.sessions.sessions import Sessions
from dcf.workflow import iso


async def write_history(sessions: Sessions, session_id: str, folder: Path) -> int:
    """Write ``history.jsonl``, ``transcript.jsonl`` and ``transcript.md``; how many events there
    are. An event from which something was taken out says ``redacted``: its digest in the chain is
    of what it was. Raises CorruptHistory when the chain does not fit."""
    names = ("history.jsonl", "transcript.jsonl", "transcript.md")
    count = 0
    history, lines, page = (
        (folder / name).open("w", encoding="utf-8", errors="replace") for name in names
    )
    with history, lines, page:
        page.write(f"# Session {session_id}\n")
        async for found in read_record_history(sessions.records, session_id):
            count += 1
            event = clean(found.event)
            more = {"redacted": True} if event != found.event else {}
            said = {"at": iso(found.at), **event}
            history.write(_line({**said, **more, "chain": found.digest}))
            if event.get("type") == "Said":
                lines.write(_line({**said, **more}))
                page.write(_paragraph(said))
    return count


def _line(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False) + "\n"


def _paragraph(said: dict[str, Any]) -> str:
    """As a quotation: nothing in a text can look like another's turn."""
    quoted = "".join(f"> {line}\n" for line in str(said.get("text", "")).splitlines() or [""])
    request = f" · {said['request']}" if said.get("request") else ""
    return f"\n**{said.get('role', 'unknown')}** · {said['at']}{request}\n\n{quoted}"
