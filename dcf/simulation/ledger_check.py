"""Checks of the ledger: who worked when, under which lease, with which idempotency key."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from dcf.simulation.agents import Execution
from dcf.simulation.evidence import Evidence
from dcf.simulation.violation import Violation


def check_ledger(evidence: Evidence, ledger: Sequence[Execution]) -> Iterator[Violation]:
    """Nothing works twice under one lease; a try has one key, another try another."""
    run = evidence.run
    mine = [execution for execution in ledger if execution.run == run]
    leases = Counter((execution.path, execution.fence) for execution in mine)
    for (path, fence), times in leases.items():
        if times > 1:
            seen = f"{path} was worked on {times} times under fence {fence}"
            yield Violation("effect", run, seen)
    keys: dict[str, set[tuple[str, int, int]]] = defaultdict(set)
    tries: dict[tuple[str, int], set[int]] = defaultdict(set)
    for execution in mine:
        keys[execution.key].add((execution.path, execution.visit, execution.try_))
        tries[execution.path, execution.visit].add(execution.try_)
    for key, meanings in keys.items():
        if len(meanings) > 1:
            yield Violation("effect", run, f"the key {key} means {sorted(meanings)}")
    retries = Counter(
        (event.event["path"], event.event["visit"])
        for event in evidence.events
        if event.event["type"] == "RetryScheduled"
    )
    for (path, visit), numbers in tries.items():
        if len(numbers) > 1 + retries[path, visit]:
            seen = f"visit {visit} of {path} had {retries[path, visit]} retries and tries {numbers}"
            yield Violation("effect", run, seen)
