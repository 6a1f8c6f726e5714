"""What finished runs tell, all of it by counting."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass

from dcf.advisors.analysis.bottlenecks import Bottleneck, Paths
from dcf.advisors.analysis.contest import Company, Contest
from dcf.advisors.analysis.drift import Drift, drifts
from dcf.advisors.analysis.failures import FailureCluster, Failures
from dcf.advisors.analysis.recalibration import Predictions, Recalibration, TierShare
from dcf.advisors.analysis.retries import Retries, RetryCount
from dcf.advisors.analysis.track import TrackRecord, Tracks
from dcf.knowledge import Outcome


@dataclass(frozen=True, slots=True)
class Analysis:
    """Of the ``outcomes`` between ``since`` and ``until`` (ms), of ``workflows`` runs; ``earlier``
    outcomes before that were read too. ``tracks`` are by task type and skill; ``contests``, the
    records in ``tracks`` and what they recommend go by all outcomes, everything else by those of
    the period."""

    since: int
    until: int
    outcomes: int
    workflows: int
    earlier: int
    tracks: tuple[TrackRecord, ...]
    contests: tuple[Contest, ...]
    failures: tuple[FailureCluster, ...]
    retries: tuple[Retries, ...]
    bottlenecks: tuple[Bottleneck, ...]
    drifts: tuple[Drift, ...]
    recalibrations: tuple[Recalibration, ...]
    tier_share: TierShare

    def task_types(self) -> tuple[TrackRecord, ...]:
        """The tracks of whole task types."""
        return tuple(track for track in self.tracks if track.skill is None)

    def versions(self) -> tuple[TrackRecord, ...]:
        """The tracks of skill versions."""
        return tuple(track for track in self.tracks if track.skill is not None)


class Collector:
    """Takes in outcomes in the order in which they ended, one by one; memory grows with the runs
    and with a few numbers per outcome. The period begins at ``since`` (ms)."""

    def __init__(self, since: int) -> None:
        self._since = since
        self._outcomes = 0
        self._earlier = 0
        self._runs: set[str] = set()
        self._tracks = Tracks(since)
        self._company = Company()
        self._failures = Failures()
        self._retries = RetryCount()
        self._paths = Paths()
        self._predictions = Predictions()

    def add(self, outcome: Outcome) -> None:
        self._tracks.add(outcome)
        self._company.add(outcome)
        if outcome.ended_at < self._since:
            self._earlier += 1
            return
        self._outcomes += 1
        self._runs.add(outcome.run)
        for part in (self._failures, self._retries, self._paths, self._predictions):
            part.add(outcome)

    def contests(self, now: int) -> tuple[Contest, ...]:
        """What is recommended at ``now`` (ms), without the rest of the analysis."""
        return self._company.contests(tuple(self._tracks.records(now)))

    def analysis(self, now: int) -> Analysis:
        """What was found, as it stands at ``now`` (ms)."""
        tracks = tuple(self._tracks.records(now))
        return Analysis(
            since=self._since,
            until=now,
            outcomes=self._outcomes,
            workflows=len(self._runs),
            earlier=self._earlier,
            tracks=tracks,
            contests=self._company.contests(tracks),
            failures=self._failures.clusters(),
            retries=self._retries.retries(),
            bottlenecks=self._paths.bottlenecks(),
            drifts=drifts(tracks),
            recalibrations=self._predictions.recalibrations(),
            tier_share=self._predictions.tier_share(),
        )


async def analyse(outcomes: AsyncIterator[Outcome], *, since: int, now: int) -> Analysis:
    """Read ``outcomes`` to their end; those that ended before ``since`` (ms) are what the period
    since then is held against."""
    collector = Collector(since)
    async for outcome in outcomes:
        collector.add(outcome)
    return collector.analysis(now)
