"""The process for one state: what is heard of it, however it begins and ends."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from control_plane import Disconnected, Lease, Refusal
from dcf.worker import LeaseKeeper, SoloProcesses, assignment_of, exit_of, grace, solo

UP = "import os, sys, time; sys.stdin.readline(); print('up', flush=True); sys.stdin.readline(); "
BEGINS = f"{UP}print('begun', flush=True); "


class Store:
    """A control plane that says of each lease whether it is ``held``."""

    def __init__(self, held: Any = None) -> None:
        self._held = held

    async def held(self, *_: Any) -> Any:
        return self._held

    async def renew(self, _lease: Lease, **_: Any) -> int:
        return 30_000


def a_lease(ttl_ms: int = 30_000, takeovers: int = 1) -> Lease:
    known = ("run", "A", "token", 1, "w1", ttl_ms, "Task", "state", 1, 1, 0, "d")
    return Lease(*known, takeovers=takeovers)


async def end_of(
    text: str, *, store: Any = None, lease: Lease | None = None, isolated: bool = True
) -> str | None:
    """What is told of a process that does ``text``."""
    there = store or Store(a_lease())
    keeper = LeaseKeeper(there, now=asyncio.get_running_loop().time)
    keeping = asyncio.create_task(keeper.run())
    try:
        command = [sys.executable, *(["-I", "-S"] if isolated else []), "-c", text]
        process = await SoloProcesses(command, there, keeper).start("A of run")
        if process is None:
            return "it did not come up"
        try:
            return await process(lease or a_lease())
        finally:
            await process.close()
    finally:
        keeping.cancel()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("os._exit(3)", "exit with status 3"),
        ("os._exit(0)", "exit with status 0"),
        ("os.kill(os.getpid(), 9)", "exit by signal 9 (SIGKILL)"),
        ("print('no memory', file=sys.stderr); sys.exit(1)", 'status 1, last line "no memory"'),
        (
            "print('no access: password=hunter22x', file=sys.stderr)",
            'last line "no access: password=[redacted: password]"',
        ),
        ("print('said', file=sys.stderr); print('\\n ', file=sys.stderr)", 'last line "said"'),
        ("sys.stderr.write('x' * 3_000_000)", "exit with status 0"),
    ],
)
async def test_how_it_ended_is_told(text: str, told: str) -> None:
    said = await end_of(BEGINS + text)
    assert said is not None and told in said


@pytest.mark.parametrize("text", ["raise SystemExit(1)", "sys.stdin.readline()", "pass"])
async def test_what_did_not_begin_is_no_death(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solo, "_AGAIN_S", 0.0)
    monkeypatch.setattr(solo, "_BEGIN_S", 0.2)
    assert await end_of(UP + text) is None


@pytest.mark.parametrize(
    ("command", "why"),
    [
        (["/no/such/program"], "No such file"),
        ([sys.executable, "-c", "import no_such_module"], "named 'no_such_module'"),
        ([sys.executable, "-c", "input(); input()"], "said nothing for 0 s"),
    ],
    ids=["no program", "ends at its import", "hangs"],
)
async def test_what_does_not_come_up_is_told_and_tried_again_later_and_later(
    command: list[str], why: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    pauses: list[float] = []

    async def pause(seconds: float) -> None:
        pauses.append(seconds)

    if "nothing" in why:
        monkeypatch.setattr(solo, "_UP_S", 0.2)
    monkeypatch.setattr(solo.asyncio, "sleep", pause)
    store: Any = Store(a_lease())
    keeper = LeaseKeeper(store, now=asyncio.get_running_loop().time)
    solos = SoloProcesses(command, store, keeper)
    for _ in range(3):
        assert await solos.start("A of run") is None
    assert pauses == [2, 4, 8]
    last = caplog.messages[-1]
    assert last.startswith("A of run waits for a process of its own, which did not come up: ")
    assert why in last and last.endswith("tried 3 times, again in 8 s")
    solos._failed = 2_000
    await solos.start("A of run")
    assert pauses[-1] == 60


async def test_a_process_that_gets_no_state_ends_with_whoever_started_it(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    text = f"import os; open({str(note)!r}, 'w').write(str(os.getpid())); {UP}"
    store: Any = Store(a_lease())
    keeper = LeaseKeeper(store, now=asyncio.get_running_loop().time)
    process = await SoloProcesses([sys.executable, "-c", text], store, keeper).start("A of run")
    assert process is not None
    os.kill(int(note.read_text()), 0)
    await process.close()
    with pytest.raises(ProcessLookupError):
        os.kill(int(note.read_text()), 0)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """What lost its lease is looked at every tenth of a second, and for two seconds at most."""
    monkeypatch.setattr(solo, "_LOOKS_S", 0.1)
    monkeypatch.setattr(grace, "_LOOK_S", 0.1)
    monkeypatch.setattr(grace, "_MOST_LOOKS", 20)


async def end_without_lease(text: str, *, takeovers: int = 1) -> str | None:
    """What is told of a process that does ``text`` and has lost its lease."""
    lost = Store(Refusal("lease_lost"))
    return await end_of(BEGINS + text, store=lost, lease=a_lease(50, takeovers))


STOP = "os.kill(os.getpid(), 19); "
needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="no /proc")


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("hangs", ["time.sleep(600)", "exec('while True: pass')"])
async def test_what_lost_its_lease_and_does_not_end_is_killed(
    hangs: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # However busy this machine is, in the end it could run often enough.
    monkeypatch.setattr(grace, "_MOST_LOOKS", 100_000)
    assert await end_without_lease(hangs) == "it lost its lease and did not end within 5 s"


async def test_a_lease_is_looked_at_as_often_as_it_is_renewed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """So that a death is told before the next lease ends; then it would not be heard any more."""
    waited: list[float] = []
    wait_for = asyncio.wait_for

    async def wait(ending: Any, seconds: float) -> Any:
        waited.append(seconds)
        return await wait_for(ending, seconds)

    monkeypatch.setattr(solo.asyncio, "wait_for", wait)
    assert await end_of(BEGINS + "print('over', flush=True)", lease=a_lease(30_000)) is None
    assert waited == [10]


@needs_proc
@pytest.mark.usefixtures("quick")
async def test_what_was_stopped_from_outside_goes_on_and_ends_in_order() -> None:
    assert await end_without_lease(f"{STOP}print('over', flush=True)") is None


@needs_proc
@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(
    "work",
    [
        "exec('while True: os.kill(os.getpid(), 19)')",
        # What it does then is not held against it: it lost its lease since it stood still.
        f"{STOP}time.sleep(600)",
    ],
    ids=["again and again", "once"],
)
async def test_what_was_stopped_and_does_not_end_is_killed_and_charged_to_nobody_so_often(
    work: str, caplog: pytest.LogCaptureFixture
) -> None:
    assert await end_without_lease(work, takeovers=5) is None
    assert "A of run: its process lost its lease and was stopped" in caplog.text
    charged = await end_without_lease(work, takeovers=6)
    assert charged == "it lost its lease and did not end within 5 s"


@pytest.mark.usefixtures("quick")
async def test_what_is_watched_by_a_late_worker_is_killed_and_charged_to_nobody(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Where the worker is not given time for its looks, neither may be what it looks at."""
    holding: list[asyncio.Task[None]] = []

    async def hold_up() -> None:
        # Never a look's time without a pause of more than two.
        while True:
            time.sleep(0.25)  # noqa: ASYNC251 - as where others are given the processor
            await asyncio.sleep(0.05)

    class Busy(Store):
        async def held(self, *_: Any) -> Any:
            holding.append(asyncio.create_task(hold_up()))
            return Refusal("lease_lost")

    monkeypatch.setattr(grace, "_MOST_LOOKS", 12)
    died = await end_of(BEGINS + "time.sleep(600)", store=Busy(), lease=a_lease(50))
    holding.pop().cancel()
    assert died is None
    assert "A of run: its process lost its lease and could hardly run" in caplog.text


@pytest.mark.usefixtures("quick")
async def test_who_said_that_it_ends_in_order_is_not_charged_for_its_slow_end() -> None:
    assert await end_without_lease("print('over', flush=True); time.sleep(600)") is None


async def test_what_says_that_it_ends_in_order_did_not_die() -> None:
    assert await end_of(BEGINS + "print('over', flush=True)") is None


async def test_what_its_work_prints_neither_blocks_it_nor_is_taken_for_its_word() -> None:
    says = (
        "import os, sys; from dcf.worker import Words; words = Words(); sys.stdin.readline(); "
        "print('up\\nbegun\\nover'); words.up(); sys.stdin.readline(); print('begun\\nover'); "
        "words.begun(); print('x' * 1_000_000, flush=True); "
    )
    died = await end_of(says + "os._exit(0)", isolated=False)
    assert died is not None and "status 0" in died
    assert await end_of(says + "words.over()", isolated=False) is None


async def test_what_it_sends_to_its_group_reaches_nobody_else() -> None:
    said = await end_of(BEGINS + "os.killpg(0, 9)")
    assert said is not None and "SIGKILL" in said


async def test_a_redis_that_is_away_ends_no_work(monkeypatch: pytest.MonkeyPatch) -> None:
    class Away(Store):
        asked = 0

        async def held(self, *_: Any) -> Any:
            self.asked += 1
            raise Disconnected("away")

    monkeypatch.setattr(solo, "_LOOKS_S", 0.05)
    store = Away()
    work = "time.sleep(0.5); print('over', flush=True)"
    assert await end_of(BEGINS + work, store=store, lease=a_lease(50)) is None
    assert store.asked > 0


async def test_a_child_that_holds_its_streams_is_not_waited_for(tmp_path: Path) -> None:
    child = tmp_path / "child"
    hold = (
        "import subprocess; held = subprocess.Popen(['sleep', '600'], start_new_session=True); "
        f"open({str(child)!r}, 'w').write(str(held.pid)); "
    )
    fds = len(list(Path("/dev/fd").iterdir()))
    try:
        async with asyncio.timeout(60):
            said = await end_of(BEGINS + hold + "os._exit(5)")
        await asyncio.sleep(0)
        # Nor is anything left open for it.
        assert len(list(Path("/dev/fd").iterdir())) == fds
    finally:
        os.kill(int(child.read_text()), signal.SIGKILL)
    assert said is not None and "status 5" in said


WATCHER = """
import asyncio, sys
sys.path[:0] = {path!r}
from test_worker_solo import BEGINS, end_of
asyncio.run(end_of(BEGINS + {text!r}))
"""


async def test_work_may_print_although_its_watcher_was_killed(tmp_path: Path) -> None:
    """A Task must not fail by the death of another process."""
    begun, printed = tmp_path / "begun", tmp_path / "printed"
    text = (
        f"open({str(begun)!r}, 'w'); sys.stdin.read(); "
        f"print('still here', file=sys.stderr, flush=True); open({str(printed)!r}, 'w')"
    )
    watcher = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", WATCHER.format(path=sys.path, text=text))
    )
    async with asyncio.timeout(60):
        while not begun.exists():
            await asyncio.sleep(0.01)
        watcher.kill()
        await watcher.wait()
        while not printed.exists():
            await asyncio.sleep(0.01)


async def test_who_is_not_needed_any_more_is_ended(tmp_path: Path) -> None:
    """Before the task of whoever watches it ends, though it does not heed the end of its input."""
    note = tmp_path / "pid"
    text = f"open({str(note)!r}, 'w').write(f'{{os.getpid()}}\\n'); time.sleep(600)"
    work = asyncio.create_task(end_of(BEGINS + text))
    async with asyncio.timeout(60):
        while not note.exists() or not note.read_text().endswith("\n"):
            await asyncio.sleep(0.01)
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    with pytest.raises(ProcessLookupError):
        os.kill(int(note.read_text()), 0)


@pytest.mark.parametrize(
    ("status", "text"),
    [
        (0, "status 0"),
        (7, "status 7"),
        (-signal.SIGTERM, "signal 15 (SIGTERM)"),
        (-99, "signal 99"),
    ],
)
def test_an_exit_is_named(status: int, text: str) -> None:
    assert text in exit_of(status)


def test_an_assignment_is_one_line() -> None:
    assert assignment_of('{"run": "r", "path": "A", "token": "t"}\n') == ("r", "A", "t")
