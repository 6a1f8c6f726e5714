"""The flags of a campaign, checked before it begins."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Sequence
from pathlib import Path


def options(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """What ``arguments`` ask for, those of the command line if None. Bad ones end the process with
    2 and a sentence."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.chaos",
        description="Workers, Redis and the network between them fail while runs go on. A campaign "
        "of N minutes takes about N + 1: runs must end after the last fault.",
    )
    add = parser.add_argument
    add("--minutes", type=_positive, default=5.0, help="how long faults happen (%(default)g)")
    add("--seed", type=int, default=int(time.time()), help="what is chosen (the time)")
    add("--workers", type=_count, default=4, help="worker processes (%(default)s)")
    add("--each", type=_positive, default=0.8, help="seconds between two faults (%(default)s)")
    add("--poison", type=_share, default=0.03, help="share of poison runs (%(default)s)")
    add("--json", type=_file, metavar="FILE", help="write the report there")
    add("--keep", type=_file, metavar="FILE", help="copy the workers' log there")
    return parser.parse_args(arguments)


def _positive(text: str) -> float:
    if not 0 < (number := _number(text)) < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is not over 0")
    return number


def _share(text: str) -> float:
    if not 0 <= (number := _number(text)) <= 1:
        raise argparse.ArgumentTypeError(f"{text} is not between 0 and 1")
    return number


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is no number") from error


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number over 0")
    return int(text)


def _file(text: str) -> Path:
    """A file that can be written when the campaign is over."""
    file = Path(text)
    if not file.parent.is_dir():
        raise argparse.ArgumentTypeError(f"there is no folder {file.parent}; make it first")
    if file.is_dir():
        raise argparse.ArgumentTypeError(f"{file} is a folder; name a file")
    if not os.access(file if file.exists() else file.parent, os.W_OK):
        raise argparse.ArgumentTypeError(f"{file} cannot be written by this user")
    return file
