"""Threads of other programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.memory.threads.errors import UnknownThread, UnknownTurn
    from dcf.memory.threads.files import FileReport, ThreadFiles
    from dcf.memory.threads.thread_hit import ThreadHit
    from dcf.memory.threads.threads import Threads
else:
    export_late(__name__)

__all__ = ["FileReport", "ThreadFiles", "ThreadHit", "Threads", "UnknownThread", "UnknownTurn"]
