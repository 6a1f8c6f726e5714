"""``python -m benchmarks.mutants``."""

from __future__ import annotations

import argparse
import json
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import benchmarks.mutants
from benchmarks.mutants.cover import SUITES, cover
from benchmarks.mutants.files import write_json
from benchmarks.mutants.measuring import pick, recheck, run
from benchmarks.mutants.report import compare, report, show


def _shard(text: str) -> tuple[int, int]:
    mine, _, of = text.partition("/")
    if not (mine.isdigit() and of.isdigit() and 1 <= int(mine) <= int(of)):
        raise argparse.ArgumentTypeError(f"{text!r} is no k/n with 1 <= k <= n, such as 1/2")
    return int(mine), int(of)


def main(arguments: Sequence[str] | None = None) -> int:
    """0; 1 where a comparison shows that less is noticed."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.mutants",
        description=benchmarks.mutants.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--data", type=Path, default=Path("build/mutants"), metavar="FOLDER")
    tries = argparse.ArgumentParser(add_help=False)
    tries.add_argument("--shard", type=_shard, default=(1, 1), metavar="K/N")
    tries.add_argument("--budget", type=float, default=120, metavar="SECONDS", help="for a mutant")
    steps = parser.add_subparsers(dest="step", required=True)
    step = steps.add_parser("cover", parents=[common], help="which test runs which line")
    step.add_argument("--jobs", type=int, default=2)
    step.add_argument("suites", nargs="*", default=SUITES, metavar="SUITE")
    step = steps.add_parser("pick", parents=[common], help="choose lines and changes")
    step.add_argument("--count", type=int, default=200)
    step.add_argument("--seed", type=int, default=23)
    step = steps.add_parser("run", parents=[common, tries], help="try what was picked")
    step.add_argument("--unchanged", action="store_true", help="change nothing: false alarms")
    step = steps.add_parser("recheck", parents=[common, tries], help="try a report's mutants again")
    step.add_argument("before", type=Path, metavar="REPORT")
    step = steps.add_parser("report", parents=[common], help="the share noticed; who lives")
    step.add_argument("--json", type=Path, metavar="FILE", help="write the report there too")
    step.add_argument("--compare", type=Path, nargs=2, metavar=("BEFORE", "AFTER"))
    options = parser.parse_args(arguments)
    # Told to end, it still ends the tests that it started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    does: dict[str, Callable[[], object]] = {
        "cover": lambda: cover(options.data, options.suites, options.jobs),
        "pick": lambda: pick(options.data, options.count, options.seed),
        "run": lambda: run(
            options.data, options.shard, options.budget, unchanged=options.unchanged
        ),
        "recheck": lambda: recheck(options.data, options.before, options.shard, options.budget),
    }
    if options.step != "report":
        does[options.step]()
    elif options.compare:
        before, after = (json.loads(one.read_text(encoding="utf-8")) for one in options.compare)
        return 0 if compare(before, after) else 1
    else:
        result = report(options.data)
        show(result)
        if options.json:
            write_json(options.json, result)
    return 0


if __name__ == "__main__":
    sys.exit(main())
