"""Observations of what happened: ``Observations`` keeps them, ``ObservationDesk`` has what people
and models do with them; their forms in rows, files and sections."""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.memory.observations.changing import Forgotten
    from dcf.memory.observations.choice import ObservationChoice
    from dcf.memory.observations.claude_mem import ClaudeMem, ClaudeMemRow, open_claude_mem
    from dcf.memory.observations.desk import (
        ChangedObservations,
        ObservationDesk,
        ObservationDetails,
        ObservationPage,
        ObservationTimeline,
        way_back,
    )
    from dcf.memory.observations.editing import Texts
    from dcf.memory.observations.errors import (
        AmbiguousObservation,
        BadChoice,
        IdsAndFilters,
        NoClaudeMem,
        NothingChosen,
        SameObservation,
        UnknownObservation,
    )
    from dcf.memory.observations.finding import Filter
    from dcf.memory.observations.line import line_of, read_line
    from dcf.memory.observations.marked_section import with_section
    from dcf.memory.observations.observations import Observations
    from dcf.memory.observations.promoting import Promoted
    from dcf.memory.observations.rendering import EXTRACTED, details_of, rows_of, short_id
    from dcf.memory.observations.section import Section
else:
    export_late(__name__)

__all__ = [
    "EXTRACTED",
    "AmbiguousObservation",
    "BadChoice",
    "ChangedObservations",
    "ClaudeMem",
    "ClaudeMemRow",
    "Filter",
    "Forgotten",
    "IdsAndFilters",
    "NoClaudeMem",
    "NothingChosen",
    "ObservationChoice",
    "ObservationDesk",
    "ObservationDetails",
    "ObservationPage",
    "ObservationTimeline",
    "Observations",
    "Promoted",
    "SameObservation",
    "Section",
    "Texts",
    "UnknownObservation",
    "details_of",
    "line_of",
    "open_claude_mem",
    "read_line",
    "rows_of",
    "short_id",
    "way_back",
    "with_section",
]
