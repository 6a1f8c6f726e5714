"""What it costs to start ``dcf``: processor time of processes, beside that of a bare Python."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

from benchmarks.figure import Figure, median

COMMANDS = ("--version", "--help", "run --help", "runs", "validate")
LONG_LIVED = ("worker", "companion", "serve", "stub")
"""Modules of ``dcf.cli`` that processes load which then stay."""


def starts(scratch: Path, url: str, *, repeats: int) -> list[Figure]:
    """The median of ``repeats`` starts in milliseconds of processor time (user and system), and how
    many starts of a bare Python that is. Other load on the machine moves it little."""
    machine = scratch / "start.json"
    machine.write_text('{"StartAt": "A", "States": {"A": {"Type": "Pass", "End": true}}}')
    home = {"DCF_HOME": str(scratch / "starts"), "DCF_REDIS_URL": url}
    bare = median([_cost(["-c", "pass"], home) for _ in range(repeats)])
    programs = {
        f"dcf {words}": [
            *("-m", "dcf.cli", *words.split()),
            *([str(machine)] if words == "validate" else []),
        ]
        for words in COMMANDS
    }
    programs |= {f"loading of dcf {name}": ["-c", f"import dcf.cli.{name}"] for name in LONG_LIVED}
    figures = [Figure("start of a bare Python", bare * 1000, "ms")]
    for name, program in programs.items():
        cost = median([_cost(program, home) for _ in range(repeats)])
        figures.append(
            Figure(f"start, {name}", cost * 1000, "ms", note=f"{cost / bare:.0f} bare Pythons")
        )
    return figures


def _cost(program: list[str], settings: dict[str, str]) -> float:
    """Seconds of processor time of one process from its start to its end."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, *program], check=True, capture_output=True, env={**os.environ, **settings}
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
