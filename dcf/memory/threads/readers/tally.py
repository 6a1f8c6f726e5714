"""What a file held besides what was read of it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dcf.memory.audit.clean_text import clean
from dcf.memory.thread import NewTurn
from dcf.memory.threads.piece import Said
from dcf.problem import Problem, Severity

UNKNOWN = "unknown"
"""The role of a turn that holds what its reader does not know, as it stood there."""
_LONGEST = 100
"""Characters of a kind: what should be one may be anything."""
_MOST = 100
"""Problems of one file that are told; the rest is counted."""


@dataclass(slots=True)
class Tally:
    """``left_out`` counts what is known and no part of a conversation, by kind, ``unknown`` what
    was kept in a turn of the role "unknown"; ``spread``: other files were read as well, of whose
    changes the file itself says nothing."""

    file: str
    left_out: Counter[str] = field(default_factory=Counter)
    unknown: Counter[str] = field(default_factory=Counter)
    problems: list[Problem] = field(default_factory=list)
    more_problems: int = 0
    spread: bool = False

    @classmethod
    def of(cls, path: Path) -> Tally:
        return cls(str(path))

    def report(
        self, code: str, message: str, *, hint: str = "", line: int | None = None, cut: bool = False
    ) -> None:
        """Note a problem of the file; ``cut``: it may be that it is still being written."""
        if len(self.problems) >= _MOST:
            self.more_problems += 1
            return
        severity: Severity = "warning" if cut else "error"
        # A message may quote what stands in the file.
        self.problems.append(
            Problem(code, clean(message), hint=hint, severity=severity, file=self.file, line=line)
        )

    def count_unknown(self, kind: str) -> None:
        """Count something of a ``kind`` that is not known."""
        self.unknown[clean(kind)[:_LONGEST] or "without a type"] += 1

    def leave_out(self, kind: str) -> None:
        """Count something of a ``kind`` that is known to be no part of a conversation."""
        self.left_out[clean(kind)[:_LONGEST]] += 1

    def keep_unknown(
        self, kind: str, value: Any, source_id: str, *, key: str = "", at: int | None = None
    ) -> Iterator[Said]:
        """The turn in which ``value`` is kept, of a ``kind`` that is not known."""
        self.count_unknown(kind)
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        yield Said(source_id, NewTurn(UNKNOWN, text, at=at, key=key))
