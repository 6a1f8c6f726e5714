"""The note a starter leaves in the data folder for everybody who comes later.

It is a hint: whether a server runs is known from the lock it holds, and which one answers from
the server itself.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field, replace
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Record:
    """URL and process of the server last started here; ``born`` is what ``birth(pid)`` said. Of one
    that loads alone, ``log_start`` is where its log begins (bytes), and ``hidden`` the socket that
    it listens on until it is let out to that of the URL."""

    url: str = field(repr=False)
    pid: int | None = None
    born: str | None = None
    log_start: int | None = None
    hidden: str | None = None

    def write(self, path: Path) -> None:
        """Replaces the file at once, readable by its owner only (the URL may hold a password)."""
        fields = {"url": self.url, "pid": self.pid, "born": self.born}
        if self.log_start is not None:
            fields |= {"log_start": self.log_start, "hidden": self.hidden}
        write_private(path, json.dumps(fields))

    @classmethod
    def read(cls, path: Path) -> Record | None:
        """None when there is no record or it is damaged; the next start writes a new one."""
        try:
            fields = json.loads(path.read_text(encoding="utf-8"))
        except (FileNotFoundError, ValueError):
            return None
        if not isinstance(fields, dict) or not isinstance(fields.get("url"), str):
            return None
        log_start, hidden = fields.get("log_start"), fields.get("hidden")
        found = cls(
            fields["url"],
            log_start=log_start if isinstance(log_start, int) else None,
            hidden=hidden if isinstance(hidden, str) else None,
        )
        pid, born = fields.get("pid"), fields.get("born")
        if not isinstance(pid, int) or not isinstance(born, str):
            return found
        return replace(found, pid=pid, born=born)


def write_private(path: Path, text: str) -> None:
    """Writes ``text`` with mode 0600 under a new name, then renames it to ``path``."""
    draft = path.with_name(f"{path.name}.{os.getpid()}.new")
    draft.unlink(missing_ok=True)
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    draft.replace(path)
