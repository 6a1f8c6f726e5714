"""Readers of what people and agents have said and done, as other programs keep it.

``read_transcript`` gives the threads of a file; a format more is an ``Adapter`` in ``ADAPTERS``.
The texts are as they stood there: who keeps them has to take out secrets.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.transcripts.adapter import Adapter, Entry
    from dcf.transcripts.reading import ADAPTERS, Transcript, read_transcript
    from dcf.transcripts.thread import Thread, ThreadStatus, ToolUse, Turn
else:
    export_late(__name__)

__all__ = [
    "ADAPTERS",
    "Adapter",
    "Entry",
    "Thread",
    "ThreadStatus",
    "ToolUse",
    "Transcript",
    "Turn",
    "read_transcript",
]
