"""What a compiler chooses from: the skills, what their tools answer, what was measured of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from dcf.evidence import Record
from dcf.guidelines import Guidelines
from dcf.planner.compiling.tool_results import ToolResults
from dcf.skills import Manifest, SkillCatalog
from dcf.skills.discovery import SkillHit

THRESHOLDS: Mapping[str, float] = {"wordllama": 0.45, "minilm": 0.5, "none": 0.3}
"""The score of a search, by embedder, below which no skill covers a step."""


class Finder(Protocol):
    """Finds skills by what is to be done; ``dcf.skills.discovery.SkillSearch`` is one."""

    def search(self, manifests: Iterable[Manifest], query: str, k: int = 10) -> list[SkillHit]: ...


class Measured(Protocol):
    """What was measured of the versions of skills."""

    def records(self, task_type: str) -> Mapping[str, Record]:
        """The records of a type of task by manifest id; none where nothing was measured."""
        ...


@dataclass(frozen=True, slots=True)
class Market:
    """``threshold`` is the least score of a skill that covers a step. Without ``measured`` the
    newest version of a skill is taken. With a ``seed`` a version is sometimes taken to learn about
    it, the same one for the same seed and measures; without, never."""

    catalog: SkillCatalog
    finder: Finder
    results: ToolResults = field(default_factory=ToolResults)
    threshold: float = THRESHOLDS["wordllama"]
    measured: Measured | None = None
    guidelines: Guidelines = field(default_factory=Guidelines)
    seed: str | None = None
