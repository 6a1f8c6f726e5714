"""Where the sequences of cases stand."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from typing import Any

from dcf.tools.stub.matching import json_text

TURNS_KEPT = 100_000


class Turns:
    """How many calls each sequence has answered, counted apart for different arguments and runs.

    So a run gets the same answers whichever came before it, and two orders that are polled at a
    time do not move each other on. The least recently called of
    more than 100,000 begin again.
    """

    def __init__(self) -> None:
        self._taken: OrderedDict[tuple[str, str, str, bytes], int] = OrderedDict()

    def take(self, tool: str, case_id: str, arguments: dict[str, Any], run: str) -> int:
        """How many calls of ``run`` came before this one, which is counted now."""
        place = (run, tool, case_id, hashlib.sha256(json_text(arguments).encode()).digest())
        turn = self._taken.pop(place, 0)
        self._taken[place] = turn + 1
        if len(self._taken) > TURNS_KEPT:
            self._taken.popitem(last=False)
        return turn

    def clear(self) -> None:
        self._taken.clear()
