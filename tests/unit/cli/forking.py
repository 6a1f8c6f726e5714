"""Programs that run as if each had a Python of its own, started in a few milliseconds."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

# What every command loads anyway is loaded once, and each program is a fork of that.
_PARENT = """
import json, os, sys, traceback
import redis.asyncio, rich.console, rich.table, typer._adapters

for line in sys.stdin:
    program, folder, home = json.loads(line)
    child = os.fork()
    if not child:
        code = 1
        try:
            os.chdir(folder)
            os.environ["DCF_HOME"] = home
            exec(program, {"__name__": "__main__"})
            code = 0
        except BaseException:
            traceback.print_exc()
        sys.stdout.flush()
        os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    print(f"\\nended {code}", flush=True)
"""


class Forks:
    """One process, the forks of which run programs."""

    def __init__(self, parent: subprocess.Popen[str]) -> None:
        self._parent = parent

    def run(self, program: str, folder: Path) -> Any:
        """What the last line says, as JSON, that ``program`` prints; its home is in ``folder``."""
        assert self._parent.stdin and self._parent.stdout
        order = json.dumps([program, str(folder), str(folder / "home")])
        self._parent.stdin.write(f"{order}\n")
        self._parent.stdin.flush()
        lines = []
        for line in self._parent.stdout:
            if line.startswith("ended "):
                assert line == "ended 0\n", "the program failed; its traceback is on stderr"
                break
            lines.append(line)
        return json.loads([line for line in lines if line.strip()][-1])

    def modules(self, program: str, folder: Path) -> set[str]:
        """The modules that are loaded after ``program``."""
        return set(
            self.run(f"{program}\nimport json, sys\nprint(json.dumps([*sys.modules]))", folder)
        )

    def command(self, *words: str, folder: Path) -> tuple[int, set[str]]:
        """The exit code of a command, and the modules that it had loaded."""
        program = (
            "import json, sys\n"
            "from dcf.cli.entry import run_command\n"
            f"code = run_command({list(words)!r})\n"
            "print(json.dumps([code, [*sys.modules]]))"
        )
        code, modules = self.run(program, folder)
        return code, set(modules)


@contextmanager
def forks() -> Iterator[Forks]:
    """Ends its process after the block."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("DCF_")}
    with subprocess.Popen(
        [sys.executable, "-c", _PARENT],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=kept,
    ) as parent:
        yield Forks(parent)
        assert parent.stdin
        parent.stdin.close()
