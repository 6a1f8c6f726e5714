"""A world whose truth is known, and the loop of planning, running and reflecting in it.

The loop is the one that ships: ``choose_version`` picks among versions as a planner does, with the
guidelines that ``reflect`` publishes and the records that ``Knowledge`` gives (``Rollups`` keeps in
memory what the graph keeps, and hands it to the same code).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from dcf.advisors import GuidelinesBoard, Reflection, reflect
from dcf.evidence import Record, Watch, record_from
from dcf.guidelines import DAY_MS, Guidelines, Rules, fitted, next_revision
from dcf.knowledge import InsightFact, Outcome
from dcf.knowledge.rollup import watch_of
from dcf.knowledge.schema import RECENT
from dcf.planner import Market, VersionChoice, choose_version
from dcf.skills import Manifest, SkillCatalog
from dcf.skills.discovery import SkillHit

TASK_TYPES = ("refund", "shipment")
SKILL = "shop.work"
START = 1_790_000_000_000
HOUR_MS = 3_600_000


@dataclass(frozen=True, slots=True)
class Scenario:
    """``rates`` of the versions, in whatever order; the best one falls to ``falls_to``. Runs end
    ``every_ms`` after each other."""

    name: str
    rates: tuple[float, ...]
    falls_to: float
    every_ms: int = HOUR_MS


@dataclass(slots=True)
class World:
    """The truth of one seed: ``truth[task_type][version]``."""

    truth: dict[str, dict[str, float]]
    random: Random
    every_ms: int

    @classmethod
    def of(cls, scenario: Scenario, seed: int) -> World:
        random = Random(f"world {seed}")
        versions = [f"skill.{SKILL}@1.{minor}.0" for minor in range(len(scenario.rates))]
        truth: dict[str, dict[str, float]] = {}
        taken: set[str] = set()
        for task_type in TASK_TYPES:
            while True:
                rates = random.sample(scenario.rates, len(scenario.rates))
                dealt = dict(zip(versions, rates, strict=True))
                if best_of(dealt) not in taken:
                    break
            taken.add(best_of(dealt))
            truth[task_type] = dealt
        return cls(truth, random, scenario.every_ms)

    @property
    def versions(self) -> list[str]:
        return sorted(self.truth[TASK_TYPES[0]])

    def switch(self, falls_to: float) -> None:
        """What was the best is not any more."""
        for rates in self.truth.values():
            rates[best_of(rates)] = falls_to

    def time(self, number: int) -> int:
        """When run ``number`` ends (ms)."""
        return START + number * self.every_ms

    def run(self, number: int, task_type: str, version: str) -> Outcome:
        """One run of one task."""
        ok = self.random.random() < self.truth[task_type][version]
        at = self.time(number)
        return Outcome(
            run=f"run-{number}/1", workflow_id=f"run-{number}", workflow_name="shop", path="Work",
            state="Work", visit=1, tries=1, task_type=task_type, skills=(version,), agent=None,
            status="done" if ok else "failed", error=None if ok else "Shop.Failed", cause=None,
            started_at=at - 1000, ended_at=at, duration_ms=1000,
        )  # fmt: skip


def best_of(rates: Mapping[str, float]) -> str:
    return max(rates, key=lambda name: rates[name])


@dataclass(slots=True)
class _Rollup:
    days: dict[int, list[int]] = field(default_factory=dict)
    recent: list[int] = field(default_factory=list)
    watch: Watch | None = None


class Rollups:
    """What the graph keeps of outcomes: sums of UTC days and the newest one by one, for each
    version at each kind of task. It is the ``Measured`` of a market at the time ``now`` (ms)."""

    def __init__(self) -> None:
        self.now = START
        self._kept: dict[str, dict[str, _Rollup]] = defaultdict(dict)

    def add(self, outcome: Outcome) -> None:
        at, ok = outcome.ended_at, int(outcome.ok)
        for version in outcome.skills:
            kept = self._kept[outcome.task_type].setdefault(version, _Rollup())
            last, won, n = kept.days.get(at // DAY_MS, (0, 0, 0))
            kept.days[at // DAY_MS] = [max(last, at), won + ok, n + 1]
            kept.recent = sorted([*kept.recent, 2 * at + ok])[-RECENT:]
            kept.watch = None

    def records(self, task_type: str) -> Mapping[str, Record]:
        """As ``Knowledge.records`` has them."""
        found = {}
        for version, kept in self._kept[task_type].items():
            if kept.watch is None:
                days = [(last, won, n) for last, won, n in kept.days.values()]
                kept.watch = watch_of(days, kept.recent)
            found[version] = record_from(kept.watch, now=self.now)
        return found


class Archive:
    """What a reflection reads and writes, in memory: the graph and its outbox."""

    def __init__(self) -> None:
        self.ended: list[Outcome] = []
        self._facts: dict[str, InsightFact] = {}

    async def outcomes(self, *, since: int | None = None) -> AsyncIterator[Outcome]:
        for one in self.ended:
            if since is None or one.ended_at >= since:
                yield one

    async def insights(self) -> list[InsightFact]:
        over = {old for fact in self._facts.values() for old in fact.supersedes}
        facts = self._facts.values()
        return [one for one in facts if one.retracted_at is None and one.id not in over]

    async def put(self, kind: str, id_: str, data: Any) -> None:
        self._facts[id_] = InsightFact.from_json(data)


class Board(GuidelinesBoard):
    """Guidelines that hang nowhere else."""

    def __init__(self) -> None:
        self.guidelines = Guidelines()

    async def read(self) -> Guidelines:
        return self.guidelines

    async def change(
        self, changed: Callable[[Guidelines], Guidelines], now: int, rules: Rules
    ) -> tuple[Guidelines, tuple[str, ...]]:
        after, dropped = fitted(next_revision(changed(self.guidelines), now), rules)
        self.guidelines = after
        return after, dropped


class NoFinder:
    """The step names its skill: nothing is searched."""

    def search(self, manifests: object, query: str, k: int = 10) -> list[SkillHit]:
        return []


class Office:
    """One who plans, keeps what happened, and reflects on it. With ``explore`` versions are tried
    to learn about them, as is the default."""

    def __init__(self, versions: Sequence[str], seed: int, *, explore: bool) -> None:
        self._catalog = SkillCatalog([_manifest(version) for version in versions])
        self._seed = seed
        self._explore = explore
        self._rollups = Rollups()
        self._archive = Archive()
        self._board = Board()

    def choose(self, task_type: str, number: int, now: int) -> VersionChoice:
        """The version for run ``number``, which has a planning of its own."""
        self._rollups.now = now
        market = Market(
            self._catalog,
            NoFinder(),
            measured=self._rollups,
            guidelines=self._board.guidelines,
            seed=f"planning {self._seed}-{number}" if self._explore else None,
        )
        return choose_version(market, self._catalog.resolve(SKILL), None, task_type)

    def keep(self, outcome: Outcome) -> None:
        self._rollups.add(outcome)
        self._archive.ended.append(outcome)

    async def reflect(self, now: int) -> Reflection:
        """The weekly reflection, whenever it is asked for."""
        return await reflect(
            self._archive, since=now - 7 * DAY_MS, now=now, board=self._board, sink=self._archive
        )


def _manifest(manifest_id: str) -> Manifest:
    _, _, version = manifest_id.partition("@")
    return Manifest.from_document(
        {
            "manifestApiVersion": "v2.1.0",
            "manifestId": manifest_id,
            "skillPackageId": None,
            "skillName": SKILL,
            "skillVersion": version,
            "description": "Works in the shop.",
            "skillDirectives": "Work.",
            "tags": ["shop"],
            "permissions": {"egress": "none", "secrets": [], "riskLevel": "low"},
            "requiredDataSources": [],
            "requiredTools": [],
        }
    )
