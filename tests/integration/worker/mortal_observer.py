"""A process that observes, and dies at any moment."""

from __future__ import annotations

MORTAL = """
import asyncio, os, signal, sys, threading, time
from pathlib import Path
from control_plane import AgentStore, RedisBackend, Store
from dcf.memory import Memory, Source, random_id
from dcf.worker import AgentObserver, RunObserver

url, file, last = sys.argv[1], sys.argv[2], int(sys.argv[3])
count = 0

def step(frame, event, _):
    global count
    if event == "call" and "/dcf/" in frame.f_code.co_filename:
        count += 1
        if count == last:
            os.kill(os.getpid(), signal.SIGKILL)

async def main():
    backend = RedisBackend.from_url(url)
    source = Source(Path(file))
    threading.setprofile(step)
    sys.setprofile(step)
    opened = Memory.open(source, clock=lambda: time.time_ns() // 10**6, new_id=random_id)
    async with opened as memory:
        await RunObserver(Store(backend), memory, "/shop").sweep()
        await AgentObserver(AgentStore(backend), memory).sweep()
        sys.setprofile(None)
    await backend.close()
    print(count)

asyncio.run(main())
"""
"""Sweeps over runs and agents once, and kills itself at the call of a function of ours with the
given number."""
