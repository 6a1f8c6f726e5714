"""Telling one process from another that was given the same pid later."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path


def birth(pid: int) -> str | None:
    """A text that names this very process: pid and start. None when it is gone or a zombie."""
    if Path("/proc/self/stat").exists():
        return _birth_from_proc(Path(f"/proc/{pid}/stat"))
    return _birth_from_ps(pid)


def signal_process(pid: int, born: str | None, number: signal.Signals) -> bool:
    """Sends a signal only if ``pid`` still is the process that ``birth`` once described."""
    if born is None or birth(pid) != born:
        return False
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _birth_from_proc(stat: Path) -> str | None:
    """Field 22 of /proc/PID/stat: the start in clock ticks since boot; field 3 is the state."""
    try:
        text = stat.read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return None
    # The second field, the program's name, may itself hold blanks and brackets.
    fields = text.rpartition(")")[2].split()
    return None if fields[0] in "ZX" else f"ticks:{fields[19]}"


def _birth_from_ps(pid: int) -> str | None:
    """For systems without /proc (macOS)."""
    found = subprocess.run(
        ["ps", "-o", "stat=,lstart=", "-p", str(pid)], capture_output=True, text=True, check=False
    )
    state, _, started = found.stdout.strip().partition(" ")
    return f"lstart:{' '.join(started.split())}" if state and state[0] != "Z" else None
