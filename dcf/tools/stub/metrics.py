"""Counters of the stub."""

from __future__ import annotations

from collections import Counter
from typing import Any

from dcf.tools.stub.answer import Answer


class Metrics:
    """Counts by ``server:tool`` and by ``server:tool:case``."""

    def __init__(self) -> None:
        self.tool_calls: Counter[str] = Counter()
        self.case_hits: Counter[str] = Counter()
        self.errors: Counter[str] = Counter()
        self.replayed: Counter[str] = Counter()

    def count(self, tool: str, answer: Answer, *, replayed: bool) -> None:
        """One answer. A replayed one is a call and a replay, but no new hit and no new error."""
        self.tool_calls[tool] += 1
        if replayed:
            self.replayed[tool] += 1
            return
        if answer.case_id is not None:
            self.case_hits[f"{tool}:{answer.case_id}"] += 1
        if answer.error is not None:
            self.errors[tool] += 1

    def reset(self) -> None:
        for counter in (self.tool_calls, self.case_hits, self.errors, self.replayed):
            counter.clear()

    def to_dict(self) -> dict[str, Any]:
        """``tool_calls``, ``case_hits``, ``errors``, ``replayed`` and their ``totals``."""
        counters = {
            "tool_calls": self.tool_calls,
            "case_hits": self.case_hits,
            "errors": self.errors,
            "replayed": self.replayed,
        }
        return {
            **{name: dict(sorted(counter.items())) for name, counter in counters.items()},
            "totals": {name: counter.total() for name, counter in counters.items()},
        }
