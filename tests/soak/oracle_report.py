"""The page of how this implementation compares with other people's: `make oracles`.

Installs them from packages, runs all cases of the tests beside this file, and writes how many
agree, how many differ, and why. Ends with 1 where one differs without a reason.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import product
from pathlib import Path

import jsonata_reference
import test_jsonata_oracle
import test_path_oracle
import test_peer_machines
import test_validators
from acceptance.conformance import test_jsonata_suite
from campaigns import PRODUCT

from dcf.cli.reference_pages.markdown import table

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/reference/oracles.md"
Counted = tuple[Counter[str], list[str]]


@dataclass(frozen=True)
class Oracle:
    """Somebody else's implementation; ``count`` tries all cases, share by share."""

    ours: str
    theirs: str
    cases: str
    count: Callable[[], Iterator[Counted]]


def _paths() -> Iterator[Counted]:
    with test_path_oracle.started() as jayway:
        for share in range(test_path_oracle.SHARES):
            yield test_path_oracle.compared(share, jayway)


def _jsonata() -> Iterator[Counted]:
    shares = range(test_jsonata_oracle.SHARES)
    with jsonata_reference.installed() as reference:
        for share, kind in product(shares, ("expressions", "calls")):
            yield test_jsonata_oracle.compared(share, kind, reference)


def _suite() -> Iterator[Counted]:
    if test_jsonata_suite.SUITE.is_file():
        yield test_jsonata_suite.compared()


def _machines() -> Iterator[Counted]:
    with test_peer_machines.started() as peer:
        for share in range(test_peer_machines.SHARES):
            yield test_peer_machines.compared(share, peer)


def _statelint() -> Iterator[Counted]:
    with test_validators.installed() as others:
        yield test_validators.with_statelint(others)


def _asl_validator() -> Iterator[Counted]:
    with test_validators.installed() as others:
        yield test_validators.with_asl_validator(others)


ORACLES = (
    Oracle(
        "JSONPath",
        f"Jayway's JsonPath, in npm's `{test_path_oracle.JAR}`",
        "generated paths over one document",
        _paths,
    ),
    Oracle(
        "JSONata",
        f"npm's `{jsonata_reference.PACKAGE}`",
        "generated expressions and calls",
        _jsonata,
    ),
    Oracle(
        "JSONata",
        "the suite of `jsonata-js/jsonata`",
        "its own cases, each with its result",
        _suite,
    ),
    Oracle(
        "executions",
        f"npm's `{test_peer_machines.PEER}`",
        "random machines in JSONPath, with inputs and errors of their Tasks",
        _machines,
    ),
    Oracle(
        "validation",
        f"`{test_validators.STATELINT}`, a port of AWS Labs' linter",
        "sound definitions, mutants of every rule, and damaged ones",
        _statelint,
    ),
    Oracle(
        "validation",
        f"npm's `{test_validators.ASL_VALIDATOR}`",
        "sound definitions, and a mutant of each rule in each field",
        _asl_validator,
    ),
)

_INTRODUCTION = """\
How this version of the Amazon States Language compares with implementations that other people
wrote. `make oracles` installs them, runs every case and writes this page. All cases are
generated from fixed seeds. A case agrees where both accept it with the same result, or both refuse
it. Each kind of difference has a pattern and its source in the tests; a difference without one
fails the command and `make soak`.
"""


def main() -> int:
    """Write the page, and print it."""
    rows, reasons, wrong = [], [], []
    commit = _commit()
    # The longest first: it takes as long as all others.
    order = sorted(range(len(ORACLES)), key=lambda number: ORACLES[number].count is not _machines)
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        results = dict(zip(order, pool.map(_counted, order), strict=True))
    for number, oracle in enumerate(ORACLES):
        counts, differing = results[number]
        wrong += differing
        del counts["cases"], counts["refused by them"]
        total, agree = counts.total(), counts.pop("agrees", 0)
        if total:
            numbers = (f"{total:,}", f"{agree:,}", f"{total - agree:,}")
            rows.append((oracle.ours, oracle.theirs, oracle.cases, *numbers))
        reasons += [
            (oracle.theirs, f"{count:,}", "no reason" if why == "differs" else why)
            for why, count in counts.most_common()
        ]
    text = _page(rows, reasons, commit)
    print(text)
    print("\n".join(wrong))
    if not wrong:
        PAGE.write_text(text, "utf-8")
    return 1 if wrong else 0


def _counted(number: int) -> Counted:
    """All shares of the oracle of that number in one."""
    counts: Counter[str] = Counter()
    wrong: list[str] = []
    for counted, differing in ORACLES[number].count():
        counts += counted
        wrong += differing
    return counts, wrong


def _commit() -> str:
    """What is tried: the commit, with a plus where the product is not all that is in it."""
    git = [
        ("git", "rev-parse", "--short=12", "HEAD"),
        ("git", "status", "--porcelain", "--", *PRODUCT),
    ]
    head, changed = (
        subprocess.run(one, cwd=ROOT, check=True, capture_output=True, text=True).stdout
        for one in git
    )
    return head.strip() + ("+" if changed else "")


def _page(rows: list[tuple[str, ...]], reasons: list[tuple[str, ...]], commit: str) -> str:
    parts = (
        "# Oracles of the language",
        "<!-- Generated by `make oracles`. -->",
        _INTRODUCTION + f"\nLast run: {datetime.now(UTC):%Y-%m-%d}, at {commit}.",
        table(("ours", "compared with", "cases", "number", "agree", "differ"), rows),
        "## Why cases differ",
        table(("compared with", "cases", "reason"), reasons),
    )
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    sys.exit(main())
