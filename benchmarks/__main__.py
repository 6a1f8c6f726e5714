"""``python -m benchmarks [--quick] [--json FILE]``."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.discovery import discovery
from benchmarks.figure import Figure
from benchmarks.hops import latency, throughput
from benchmarks.language import language
from benchmarks.mcp_calls import mcp_calls
from benchmarks.memory import memory
from benchmarks.memory_blocks import memory_blocks
from benchmarks.memory_search import memory_search
from benchmarks.raw import RAW, calibrate
from benchmarks.run_lists import listing
from benchmarks.starts import starts
from benchmarks.tool_calls import tool_calls
from benchmarks.tool_hops import tool_hops
from control_plane.embedded import Embedded, fsync_of


async def measure(*, quick: bool, show: Console) -> list[Figure]:
    """All figures of one run, on a Redis of its own."""
    scale = 1 if quick else 4
    show.print("the language alone …")
    figures = language(repeats=3 * scale)
    with tempfile.TemporaryDirectory(prefix="dcf-bench-") as folder:
        scratch = Path(folder)
        embedded = Embedded(scratch / "home", fsync=fsync_of(os.environ))
        url = (await embedded.start()).url
        try:
            show.print("calibrating: Redis and the scripts alone …")
            figures += await calibrate(url, pings=2_000 * scale, hops=250 * scale)
            raw = next(figure.value for figure in figures if figure.note == RAW)
            show.print("starts of commands …")
            figures += starts(scratch, url, repeats=3 * scale)
            show.print("workers: chains and a Map …")
            figures += await throughput(url, raw=raw, length=125 * scale, items=250 * scale)
            figures += await latency(url, length=500 * scale)
            show.print("the gate, and calls to the stub …")
            figures += await tool_calls(scratch, calls=200 * scale)
            show.print("agents: real MCP calls …")
            figures += await tool_hops(url, scratch, length=10 * scale)
            show.print("the MCP server …")
            figures += await mcp_calls(url, scratch, calls=400 * scale)
            show.print("discovery: ten thousand skills …")
            figures += discovery(scratch)
            show.print("agents and blocks of the memory …")
            figures += await memory_blocks(scratch, samples=250 * scale)
            show.print("agents' memories: searching …")
            figures += await memory_search(scratch, agents=250 * scale)
            show.print("the list of runs …")
            figures += await listing(url, runs=2_500 * scale)
            show.print("memory …")
            figures += await memory(url, scratch / "generated")
        finally:
            await embedded.stop()
    return figures


def table(figures: Iterable[Figure]) -> Table:
    """The figures for people."""
    shown = Table("what", "value", "unit", "share of raw", title="DCF benchmarks")
    for column in (1, 3):
        shown.columns[column].justify = "right"
    for figure in figures:
        digits = 0 if figure.value >= 100 else 2
        share = f"{figure.share:.0%}" if figure.share is not None else figure.note
        shown.add_row(figure.name, f"{figure.value:,.{digits}f}", figure.unit, share)
    return shown


def main() -> None:
    """Measure, print, and write what was asked for."""
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a quarter of the work")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    options = parser.parse_args()
    # Told to end, it still stops the servers that it started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    console = Console()
    figures = asyncio.run(measure(quick=options.quick, show=console))
    console.print(table(figures))
    if options.json is not None:
        rows = [figure.to_json() for figure in figures]
        options.json.write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
