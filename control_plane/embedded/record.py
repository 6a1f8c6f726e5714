"""The note a starter leaves in the data folder for everybody who comes later.

It is a hint: whether a server runs is known from the lock it holds, and which one answers from
the server itself.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Record:
    """URL and process of the server last started here; ``born`` is what ``birth(pid)`` said."""

    url: str = field(repr=False)
    pid: int | None = None
    born: str | None = None

    def write(self, path: Path) -> None:
        """Replaces the file at once, readable by its owner only (the URL may hold a password)."""
        write_private(path, json.dumps({"url": self.url, "pid": self.pid, "born": self.born}))

    @classmethod
    def read(cls, path: Path) -> Record | None:
        """None when there is no record or it is damaged; the next start writes a new one."""
        try:
            fields = json.loads(path.read_text(encoding="utf-8"))
        except (FileNotFoundError, ValueError):
            return None
        if not isinstance(fields, dict) or not isinstance(fields.get("url"), str):
            return None
        pid, born = fields.get("pid"), fields.get("born")
        if not isinstance(pid, int) or not isinstance(born, str):
            return cls(fields["url"])
        return cls(fields["url"], pid, born)


def write_private(path: Path, text: str) -> None:
    """Writes ``text`` with mode 0600 under a new name, then renames it to ``path``."""
    draft = path.with_name(f"{path.name}.{os.getpid()}.new")
    draft.unlink(missing_ok=True)
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    draft.replace(path)
