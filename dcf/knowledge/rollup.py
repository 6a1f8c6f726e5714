"""What the graph keeps of a version at a kind of task, as evidence: the newest outcomes one by one,
older ones summed up by the UTC day."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dcf.evidence import Watch

DAY_MS = 86_400_000


def watch_of(days: Iterable[tuple[int, int, int]], recent: Sequence[int]) -> Watch:
    """A watch that has seen all of it, in the order of time.

    ``days`` are ``(last_at, ok, n)`` of UTC days: when the last outcome ended (ms), how many were
    done, and how many there were. ``recent`` has ``2 * ended_at + ok`` of the newest outcomes,
    ascending; each is counted in its day as well, and those of other days are left out. So a change
    shows from one outcome to the next among ``recent``, from one day to the next before.
    """
    from dcf.evidence import Watch

    single: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for code in recent:
        at, ok = code >> 1, code & 1
        single[at // DAY_MS].append((at, ok))
    watch = Watch()
    for last_at, ok, n in sorted(days):
        ends = single[last_at // DAY_MS]
        done = ok - sum(won for _, won in ends)
        failed = n - ok - sum(1 - won for _, won in ends)
        before = min(last_at, ends[0][0]) if ends else last_at
        watch.add(before, max(0, done), max(0, failed))
        for at, won in ends:
            watch.add(at, won, 1 - won)
    return watch
