"""How observations are found in what happened: the exchange with a model, and what a draft may be.

Knows no store: ``prompt_for`` asks about an event, ``parse_observations`` reads the answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.observing.answer import Parsed, parse_observations
    from dcf.observing.draft import (
        ACTIONS,
        ARTIFACT_TYPES,
        CONCEPTS,
        ICONS,
        TYPES,
        Action,
        Artifact,
        ArtifactType,
        Concept,
        Draft,
        ObservationType,
        drafted,
    )
    from dcf.observing.event import SourceEvent, event_digest
    from dcf.observing.prompt import Prompt, prompt_for
else:
    export_late(__name__)

__all__ = [
    "ACTIONS",
    "ARTIFACT_TYPES",
    "CONCEPTS",
    "ICONS",
    "TYPES",
    "Action",
    "Artifact",
    "ArtifactType",
    "Concept",
    "Draft",
    "ObservationType",
    "Parsed",
    "Prompt",
    "SourceEvent",
    "drafted",
    "event_digest",
    "parse_observations",
    "prompt_for",
]
