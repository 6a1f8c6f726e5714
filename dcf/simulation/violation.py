"""The guarantees in words, and what it looks like when one does not hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Guarantee = Literal[
    "ends",
    "result",
    "one_commit",
    "fenced",
    "terminal",
    "joins",
    "history",
    "effect",
    "secret",
    "clean",
    "cancelled",
    "sound",
    "approved",
    "budget",
    "turns",
    "protocol",
    "removed",
    "orders",
    "invariant",
]

GUARANTEES: dict[Guarantee, str] = {
    "ends": "every run ends, whatever is lost and whoever dies",
    "result": "a run ends as the pure interpreter says, and each step is what asl.step makes of it",
    "one_commit": "each step of a visit and try is committed at most once",
    "fenced": "only the holder of the newest unexpired lease writes, and fences only grow",
    "terminal": "what is finished never changes",
    "joins": "a join fires once, after exactly its frames finished or one failed",
    "history": "the history is an unbroken chain and says what the documents say",
    "effect": "a takeover repeats an idempotency key, a retry raises the try, nothing works twice "
    "under one lease",
    "secret": "no token stands in any document",
    "clean": "after the end nothing is left open, due, indexed or queued",
    "cancelled": "cancelled never counts as success",
    "approved": "a call that needs approval is made only once exactly it was approved, each "
    "approval is for one call, across release, expiry and takeover, and the calls before it are "
    "not made again",
    "budget": "the leases of a try make no more different calls together than its budget allows",
    "turns": "the turn of an agent belongs to the newest lease of its state, and whoever lost that "
    "lease changes nothing in it",
    "protocol": "each call answers, and leaves behind, what the protocol says, and nothing else",
    "removed": "a run that is removed leaves nothing, and one that is put back is as it was",
    "orders": "each order that a session took is answered once, by whoever had it, a companion has "
    "one at a time, and a session that ends takes no more",
    "invariant": "an invariant of the workflow is true when a run is over",
    "sound": "no script and no worker fails in a way that nobody planned",
}


@dataclass(frozen=True, slots=True)
class Violation:
    """One guarantee that did not hold: in which run ("" for all), and what was seen."""

    guarantee: Guarantee
    run: str
    seen: str

    def __str__(self) -> str:
        where = f" [{self.run}]" if self.run else ""
        what = "invariant" if self.guarantee == "invariant" else GUARANTEES[self.guarantee]
        return f"{what}{where}: {self.seen}"
