"""What was learned from what happened."""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.memory.observations.changing import Forgotten
    from dcf.memory.observations.editing import Texts
    from dcf.memory.observations.errors import (
        AmbiguousObservation,
        NothingChosen,
        SameObservation,
        UnknownObservation,
    )
    from dcf.memory.observations.finding import Filter
    from dcf.memory.observations.line import line_of, read_line
    from dcf.memory.observations.observations import Observations
else:
    export_late(__name__)

__all__ = [
    "AmbiguousObservation",
    "Filter",
    "Forgotten",
    "NothingChosen",
    "Observations",
    "SameObservation",
    "Texts",
    "UnknownObservation",
    "line_of",
    "read_line",
]
