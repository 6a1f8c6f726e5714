"""What may answer a question: logged items and pieces of code, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dcf.citation import Citation
from dcf.code import CodeHit
from dcf.retrieval.item import Recalled


@dataclass(frozen=True, slots=True)
class Candidate:
    """One text with its ``place`` (from 1) among those of its own source. Either ``memory`` or
    ``code`` is what it is of; ``times`` is how often the same was logged."""

    place: int
    memory: Recalled | None = None
    code: CodeHit | None = None
    times: int = 1

    @property
    def text(self) -> str:
        return self.memory.item.text if self.memory else self.code.text if self.code else ""

    @property
    def timestamp(self) -> int:
        """When it was logged, ms; 0 for code, which is as it is now."""
        return self.memory.item.timestamp if self.memory else 0

    @property
    def citation(self) -> str:
        """Its address."""
        if self.memory is not None:
            return self.memory.item.citation
        assert self.code is not None
        lines = (self.code.first_line, self.code.last_line)
        return str(Citation("code", self.code.path, "line", number=lines[0], last=lines[1]))

    @property
    def type(self) -> str:
        """What it is called in answers."""
        return "memory" if self.memory else "code_snippet"

    @property
    def source(self) -> str:
        """What its place counts in."""
        return "memory" if self.memory else "code"

    @property
    def about(self) -> dict[str, Any]:
        """What else is known of it."""
        if self.memory is not None:
            item = self.memory.item
            about = {"id": item.id, "tags": list(item.tags), "source": item.source}
            rest = {"file_path": item.file_path, "timestamp": item.timestamp, "times": self.times}
            return {**about, **rest}
        assert self.code is not None
        lines = {"first_line": self.code.first_line, "last_line": self.code.last_line}
        return {"file_path": self.code.path, **lines, "symbol": self.code.symbol}

    @property
    def own_reason(self) -> str:
        """What its own source says for it."""
        return self.memory.why if self.memory else "; ".join(self.code.why) if self.code else ""


@dataclass(frozen=True, slots=True)
class Scored:
    """A candidate as it is answered: ``score`` is between 0 and 1, and may be compared inside of
    one answer; ``why`` says what it is made of."""

    candidate: Candidate
    score: float
    why: tuple[str, ...]


def candidates_of(recalled: Sequence[Recalled], code: Sequence[CodeHit]) -> tuple[Candidate, ...]:
    """Both lists, each the best first. Items that say the same of the same file are one: the
    newest, at the best of their places."""
    same: dict[tuple[str, str | None], Candidate] = {}
    for one in recalled:
        key = (one.item.text, one.item.file_path)
        before = same.get(key)
        if before is None:
            same[key] = Candidate(len(same) + 1, memory=one)
            continue
        newest = max(before.memory or one, one, key=lambda each: each.item.timestamp)
        same[key] = Candidate(before.place, memory=newest, times=before.times + 1)
    return (*same.values(), *(Candidate(place, code=hit) for place, hit in enumerate(code, 1)))
