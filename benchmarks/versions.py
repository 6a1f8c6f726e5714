"""``python -m benchmarks.versions CHECKOUT [--pairs N]``: hops of two versions, measured in turn.

The other version is a checkout with a ``.venv`` of its own (``make .venv/.installed-dev``). Both
are measured by this file, on a Redis of their own each time, so that what differs is the version.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.table import Table

_HERE = Path(__file__).resolve()
_LENGTH, _CHAINS, _ITEMS, _ROUNDS = 250, 16, 1_000, 3
Rates = dict[str, float]


async def rates() -> Rates:
    """What two workers of the version that is imported here do in a second: the median of a few
    rounds, after one that is not counted."""
    from benchmarks.hops import _run
    from benchmarks.machines import fan, passes, tasks
    from benchmarks.workers import worker_processes
    from control_plane.embedded import Embedded, fsync_of

    wanted = {
        "chain of Pass states, hops/s": (passes(_LENGTH), _CHAINS, {"n": 1}, _CHAINS * _LENGTH),
        "chain of Tasks, hops/s": (tasks(_LENGTH), _CHAINS, {"n": 1}, _CHAINS * _LENGTH),
        "Map of 1,000, items/s": (fan(), 1, {"items": list(range(_ITEMS))}, _ITEMS),
    }
    found: dict[str, list[float]] = {name: [] for name in wanted}
    with tempfile.TemporaryDirectory(prefix="dcf-bench-") as folder:
        embedded = Embedded(Path(folder) / "home", fsync=fsync_of(os.environ))
        url = (await embedded.start()).url
        try:
            async with worker_processes(url, 2):
                for number in range(_ROUNDS + 1):
                    for name, (definition, runs, value, hops) in wanted.items():
                        seconds = await _run(url, definition, runs, value)
                        if number:
                            found[name].append(hops / seconds)
        finally:
            await embedded.stop()
    return {name: statistics.median(each) for name, each in found.items()}


def _measured(checkout: Path) -> Rates:
    """The rates of the version in ``checkout``. Raises CalledProcessError."""
    command = [str(checkout / ".venv/bin/python"), str(_HERE), "--once"]
    done = subprocess.run(command, cwd=checkout, check=True, stdout=subprocess.PIPE, text=True)
    rates: Rates = json.loads(done.stdout.splitlines()[-1])
    return rates


def compare(before: Callable[[], Rates], after: Callable[[], Rates], pairs: int) -> Table:
    """Medians of both, and the quotients of the pairs: their median and quartiles. The order within
    a pair changes, so that a machine that grows slower favours none."""
    found: list[tuple[Rates, Rates]] = []
    for number in range(pairs):
        if number % 2:
            later = after()
            found.append((before(), later))
        else:
            earlier = before()
            found.append((earlier, after()))
    shown = Table("what", "before", "after", "after / before", "quartiles")
    for name in found[0][0]:
        quotients = [later[name] / earlier[name] for earlier, later in found]
        low, middle, high = statistics.quantiles(quotients, n=4, method="inclusive")
        shown.add_row(
            name,
            *(f"{statistics.median(pair[at][name] for pair in found):,.0f}" for at in (0, 1)),
            f"{middle:.2f}",
            f"{low:.2f} to {high:.2f}",
        )
    return shown


def main() -> None:
    """Measure in turn, and print."""
    parser = argparse.ArgumentParser(prog="benchmarks.versions", description=__doc__)
    parser.add_argument("checkout", type=Path, nargs="?", help="the version before")
    parser.add_argument("--pairs", type=int, default=8, help="how often each is measured (8)")
    parser.add_argument("--once", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.once:
        # This file is not of the version that is measured.
        sys.path[0] = str(Path.cwd())
        print(json.dumps(asyncio.run(rates())))
        return
    if options.checkout is None or not (options.checkout / ".venv/bin/python").is_file():
        parser.error("CHECKOUT is a folder with a version of DCF and its .venv/bin/python")
    if options.pairs < 2:
        parser.error("--pairs is 2 or more")
    other, own = options.checkout.resolve(), _HERE.parent.parent
    Console().print(compare(lambda: _measured(other), lambda: _measured(own), options.pairs))


if __name__ == "__main__":
    main()
