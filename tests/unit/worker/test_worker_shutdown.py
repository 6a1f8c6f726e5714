"""How a process that works ends, whatever its work does meanwhile."""

from __future__ import annotations

import subprocess
import sys

import pytest

WORKER = """
import asyncio, time
from dcf.worker import shutdown, until_told

shutdown._LEFT_ALONE_S = 0.2

class Worker:
    name, busy, held = "w", 1, ["A of r"]

    def __init__(self):
        self.told = asyncio.Event()

    def drain(self):
        self.told.set()

    async def run(self):
        {work}

asyncio.run(until_told(Worker(), lambda: print("ready", flush=True), attached=True))
print("drained")
"""


@pytest.mark.parametrize(
    ("work", "status", "said"),
    [
        ("await self.told.wait()", 0, "drained"),
        ("await asyncio.sleep(0); time.sleep(600)", 130, ""),
    ],
    ids=["listens", "blocks"],
)
def test_who_started_it_is_gone_and_so_is_it(work: str, status: int, said: str) -> None:
    """Work that blocks its thread does not keep its lease for ever with nobody to end it."""
    process = subprocess.Popen(
        [sys.executable, "-c", WORKER.format(work=work)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None and process.stdin is not None
    assert process.stdout.readline() == "ready\n"
    process.stdin.close()
    with process:
        assert process.wait(60) == status
        assert process.stdout.read().strip() == said


ENDS = """
import asyncio, logging, threading
from dcf.worker import run_to_its_end, shutdown

logging.basicConfig(format="%(message)s")
shutdown._AT_ONCE_S = 0.1
begun = threading.Event()

def block():
    begun.set()
    threading.Event().wait()

async def stubborn():
    while True:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            begun.set()

async def main():
    task = asyncio.create_task({work})
    await asyncio.sleep(0)
    if {threaded}:
        await asyncio.to_thread(begun.wait)
        task.cancel()
    return 5

print(run_to_its_end(main()))
"""


@pytest.mark.parametrize(
    ("work", "threaded", "status", "said"),
    [
        ("asyncio.sleep(600)", False, 0, ("5\n", "")),
        ("asyncio.to_thread(block)", True, 130, ("", "does not end; abandoned")),
        ("stubborn()", False, 130, ("", "does not end; abandoned")),
    ],
    ids=["ends", "blocks a thread", "ignores its end"],
)
def test_what_does_not_end_with_the_work_is_abandoned(
    work: str, threaded: bool, status: int, said: tuple[str, str]
) -> None:
    command = [sys.executable, "-c", ENDS.format(work=work, threaded=threaded)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (status, said[0])
    assert said[1] in done.stderr
