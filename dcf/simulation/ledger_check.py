"""Checks of who worked when: executions by lease and idempotency key, turns of agents by fence."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence

from dcf.memory import TurnRecord
from dcf.simulation.agents import Execution
from dcf.simulation.evidence import Evidence
from dcf.simulation.violation import Violation

_INCARNATION = re.compile(r"/[0-9a-f]{64}/\d+(/\d+)?$")


def check_ledger(
    evidence: Evidence, ledger: Sequence[Execution], forgotten: Collection[tuple[str, str, int]]
) -> Iterator[Violation]:
    """Nothing works twice under one lease; a try has one key, another try another. The retries of
    ``forgotten`` leases (run, path and fence) were forgotten with them."""
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
        if (run, execution.path, execution.fence) not in forgotten:
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


def check_turns(turns: Iterable[TurnRecord], succeeded: Collection[str]) -> Iterator[Violation]:
    """Turns with an agent are taken in the order of their fences, none inside another, and the
    states in ``succeeded`` have the answer of the turn of their newest lease."""
    last: dict[tuple[str, str], TurnRecord] = {}
    newest: dict[str, TurnRecord] = {}
    for turn in sorted(turns, key=lambda one: (one.agent_id, one.first)):
        holder = turn.holder or ""
        run = holder.split("/", 1)[0]
        before = last.get((holder, turn.agent_id))
        if before is not None:
            if turn.fence < before.fence:
                seen = f"{holder}: a turn of number {turn.fence} began after {before.fence}"
                yield Violation("turns", run, seen)
            if before.state == "answered" and (before.last or 0) > turn.first:
                seen = f"{holder}: number {before.fence} answered inside a turn of {turn.fence}"
                yield Violation("turns", run, seen)
            if before.state == "running":
                seen = f"{holder}: a turn of number {before.fence} was left under way"
                yield Violation("turns", run, seen)
        last[holder, turn.agent_id] = turn
        state = _state_of(holder)
        if state not in newest or newest[state].fence <= turn.fence:
            newest[state] = turn
    for state in sorted(succeeded):
        turn_of = newest.get(state)
        if turn_of is None or turn_of.state != "answered":
            found = "missing" if turn_of is None else turn_of.state
            seen = f"{state} is done, and the turn of its newest lease is {found}"
            yield Violation("turns", state.split("/", 1)[0], seen)


def _state_of(holder: str) -> str:
    """Run and path; behind them a holder says which of the runs that had the id it is."""
    return _INCARNATION.sub("", holder)
