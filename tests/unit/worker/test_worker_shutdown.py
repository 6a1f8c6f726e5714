"""How a process that works ends, whatever its work does meanwhile."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

WORKER = """
import asyncio, logging, os, sqlite3, sys, time
from dcf.worker import shutdown, until_told

logging.basicConfig()
shutdown._LEFT_ALONE_S = shutdown._AT_ONCE_S = 0.2

class Worker:
    name, busy, held = "w", 1, ["A of r"]

    def __init__(self):
        self.told = asyncio.Event()

    def drain(self):
        self.told.set()

    async def run(self):
        {work}

heeds = "deaf" not in sys.argv
ready = lambda: print("ready", flush=True)
asyncio.run(until_told(Worker(), ready, attached=True, heeds_signals=heeds))
print("drained")
"""


def started(work: str, *more: str) -> subprocess.Popen[str]:
    """A process that does ``work``, and has said that it is ready."""
    process = subprocess.Popen(
        [sys.executable, "-c", WORKER.format(work=work), *more],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


@pytest.mark.parametrize(
    ("work", "status", "said"),
    [
        ("await self.told.wait()", 0, "drained"),
        ("await asyncio.sleep(0); time.sleep(600)", 130, ""),
        # The pipe to who would read it is full.
        ("await asyncio.sleep(0); [os.write(2, bytes(4096)) for _ in iter(int, 1)]", 130, ""),
    ],
    ids=["listens", "blocks", "writes"],
)
def test_who_started_it_is_gone_and_so_is_it(work: str, status: int, said: str) -> None:
    """Work that blocks its thread does not keep its lease for ever with nobody to end it."""
    with started(work) as process:
        assert process.stdout is not None and process.stdin is not None
        process.stdin.close()
        assert process.wait(60) == status
        assert process.stdout.read().strip() == said


def test_a_process_for_one_state_is_ended_by_no_signal_of_its_task() -> None:
    kills = "[os.kill(os.getpid(), 15) for _ in range(3)]; await asyncio.sleep(0.2); "
    with started(f"{kills}assert not self.told.is_set()", "deaf") as process:
        assert process.wait(60) == 0
        assert process.stderr is not None and "w: SIGTERM ignored" in process.stderr.read()


COUNTS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"


def test_native_code_that_blocks_is_abandoned_at_the_second_signal() -> None:
    """A signal handler of Python's runs when that code returns, which this does not."""
    work = f"await asyncio.sleep(0); sqlite3.connect(':memory:').execute({COUNTS!r})"
    with started(work) as process:
        assert process.stderr is not None
        process.send_signal(signal.SIGTERM)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(1)
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 130
        assert "does not end; abandoned in work: A of r" in process.stderr.read()


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


LOSES = """
import asyncio, logging, os
from dcf.worker import run_to_its_end

logging.basicConfig(format="%(message)s")

async def main():
    {does}
    await asyncio.sleep(0.1)

run_to_its_end(main())
"""


@pytest.mark.parametrize(
    ("does", "said"),
    [
        ("asyncio.get_running_loop().stop()", "stopped the event loop"),
        ("os.closerange(3, 256)", "closed file descriptors of this process"),
        ("raise OSError(9, 'Bad file descriptor')", "closed file descriptors of this process"),
    ],
)
def test_a_loop_that_work_took_away_ends_the_process_and_says_what_did_it(
    does: str, said: str
) -> None:
    command = [sys.executable, "-c", LOSES.format(does=does)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert said in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr and "defect" not in done.stderr


@pytest.mark.parametrize("error", ["RuntimeError('mine')", "OSError(2, 'mine')"])
def test_what_the_work_of_the_process_raises_itself_is_raised(error: str) -> None:
    command = [sys.executable, "-c", LOSES.format(does=f"raise {error}")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].endswith("mine")


FORKS = """
import asyncio, os, time
from dcf.worker import run_to_its_end

async def main():
    if os.fork() == 0:
        # No end of its own, and no handler's end that it comes to.
        while True:
            time.sleep(0.01)
    {ends}

run_to_its_end(main())
"""


@pytest.mark.parametrize("ends", ["return", "os.kill(os.getpid(), 9)"])
def test_what_a_handler_forked_ends_with_the_process(ends: str) -> None:
    command = [sys.executable, "-c", FORKS.format(ends=ends)]
    # What lives on keeps these pipes open: they are read to their end.
    done = subprocess.run(command, capture_output=True, timeout=60)
    assert done.returncode in (0, -9)


def test_a_program_that_a_handler_starts_is_its_own_master() -> None:
    text = "import asyncio, subprocess, sys\nfrom dcf.worker import run_to_its_end\n"
    starts = "subprocess.Popen(['sleep', '3'], start_new_session=True)"
    text += f"async def main():\n    print({starts}.pid)\nrun_to_its_end(main())"
    done = subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE, text=True)
    assert done.stdout is not None
    pid = int(done.stdout.readline())
    assert done.wait(60) == 0
    os.kill(pid, signal.SIGKILL)
    done.stdout.close()


def test_work_that_cancels_all_tasks_is_named() -> None:
    process = started("[one.cancel() for one in asyncio.all_tasks()]; await asyncio.sleep(600)")
    _, said = process.communicate(timeout=30)
    assert "w: its own task was cancelled, as a handler does that cancels all tasks" in said
