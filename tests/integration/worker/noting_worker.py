"""A worker process whose handler takes notes in the node of its branch, and which may kill
itself when a note is there and nothing is committed.

``python noting_worker.py REDIS_URL MEMORY NAME [dies]``
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from functools import partial
from pathlib import Path

from integration.worker.crew import crew_on

from dcf.memory import Memory, Source, random_id
from dcf.worker import current_work
from dcf.worker.task_memory import HandlerNotes

PROJECT = "/lab"
# Long enough for a busy machine, short enough to wait for.
TTL_MS = 1_500


async def work(redis_url: str, file: str, name: str, dies: bool) -> None:
    """Work until somebody ends the process."""

    async def note(item: str) -> list[str]:
        notes = current_work().notes
        assert notes is not None
        await notes.write(f"{item}, by {name}")
        if dies:
            os.kill(os.getpid(), signal.SIGKILL)
        return [one.text for one in await notes.read()]

    opened = Memory.open(
        Source(Path(file)),
        clock=lambda: time.time_ns() // 1_000_000,
        new_id=random_id,
        embedder="none",
    )
    async with opened as memory, crew_on(redis_url) as crew:
        notes_of = partial(HandlerNotes, crew.store, memory, PROJECT)
        crew.worker({"note": note}, name=name, notes_of=notes_of, ttl_ms=TTL_MS)
        print("ready", flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(work(*sys.argv[1:4], dies=len(sys.argv) > 4))
