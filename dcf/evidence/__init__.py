"""What has been measured of a skill, and what may be concluded from it. Pure.

``Record`` is what is known of one version for one type of task (``record_of`` makes it, ``Watch``
keeps it up to date), ``choose`` picks among versions, ``compare`` holds two counts against each
other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.evidence.beta import Beta
    from dcf.evidence.change import RUN_LENGTH, Watch
    from dcf.evidence.choice import Choice, Standing, choose, standings
    from dcf.evidence.comparison import (
        INFERIOR,
        MIN_SAMPLES,
        SIGNIFICANT,
        Comparison,
        Verdict,
        compare,
        is_non_inferior,
    )
    from dcf.evidence.counts import Counts
    from dcf.evidence.interval import difference_interval, wilson
    from dcf.evidence.record import HALF_LIFE_MS, NOTHING, Record, record_from, record_of
    from dcf.evidence.significance import fisher_exact, holm, mann_whitney
    from dcf.evidence.spread import Spread, quantile, spread_of
    from dcf.evidence.superiority import best_probabilities, probability_greater
else:
    export_late(__name__)

__all__ = [
    "HALF_LIFE_MS",
    "INFERIOR",
    "MIN_SAMPLES",
    "NOTHING",
    "RUN_LENGTH",
    "SIGNIFICANT",
    "Beta",
    "Choice",
    "Comparison",
    "Counts",
    "Record",
    "Spread",
    "Standing",
    "Verdict",
    "Watch",
    "best_probabilities",
    "choose",
    "compare",
    "difference_interval",
    "fisher_exact",
    "holm",
    "is_non_inferior",
    "mann_whitney",
    "probability_greater",
    "quantile",
    "record_from",
    "record_of",
    "spread_of",
    "standings",
    "wilson",
]
