"""How long a process is waited for that has lost its lease: five seconds in which it could run.

Work that lets nothing else run in its process is to blame for that. A process that is stopped from
outside, or is given no processor, does not end either, and its work is not to blame.
"""

from __future__ import annotations

import asyncio
import os
import signal
from asyncio.subprocess import Process
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

GRACE_S = 5.0
_LOOK_S = 0.5
# So many looks at which it could run, of so many.
_FAIR_LOOKS = round(GRACE_S / _LOOK_S)
_MOST_LOOKS = 60
# The share of the time between two looks below which a process that is ready to run is starved.
_LEAST_SHARE = 0.1

End = Literal["ended", "hung", "was stopped", "could hardly run"]
"""How it came to an end, or why it is not waited for any longer."""


@dataclass(frozen=True, slots=True)
class Sight:
    """The state of a process: ``status`` of its main thread, as a letter, and its processor time.
    "" and 0 where they are unknown."""

    status: str
    ran_s: float


def sight_of(pid: int) -> Sight:
    """The state of the process. Without /proc (macOS) it is unknown."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return Sight("", 0.0)
    # The second field, the program's name, may itself hold blanks and brackets.
    fields = text.rpartition(")")[2].split()
    return Sight(fields[0], (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"))


def could_run(before: Sight, now: Sight, seconds: float) -> bool:
    """Whether a process that was seen twice, ``seconds`` apart, was ready to run."""
    if now.status == "R":
        return now.ran_s - before.ran_s >= _LEAST_SHARE * seconds
    # Stopped, held by a debugger, or waiting for a disk, as where its memory is there.
    return now.status not in ("T", "t", "D")


async def end_of(process: Process, *, spare: bool) -> End:
    """Wait for the end of ``process``. One that is stopped is told to go on, and what it then does
    is not held against it. With ``spare`` False each look counts, whatever is seen."""
    clock = asyncio.get_running_loop().time
    seen, fair, was_stopped = sight_of(process.pid), 0, False
    for _ in range(_MOST_LOOKS):
        began = clock()
        with suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), _LOOK_S)
            return "ended"
        before, seen, took = seen, sight_of(process.pid), clock() - began
        if spare and seen.status == "T":
            was_stopped = True
            with suppress(ProcessLookupError):
                process.send_signal(signal.SIGCONT)
        # Whoever looks too late was not given a processor in time, and so neither may it have been.
        elif not spare or (took < 2 * _LOOK_S and could_run(before, seen, took)):
            fair += 1
        if fair == _FAIR_LOOKS:
            return "was stopped" if was_stopped else "hung"
    return "was stopped" if was_stopped else "could hardly run"
