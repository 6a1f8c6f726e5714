"""Skills with complexity profiles, whose scores are worked out by hand in the tests."""

from __future__ import annotations

from typing import Any

from dcf.skills import Manifest
from dcf.skills.complexity import DIMENSIONS

# horizon context tooling observability modality precision adaptability
SUMMARY = (1, 1, 0, 0, 1, 0, 0)
WEB = (1, 1, 2, 2, 0, 1, 1)
SYNTHESIS = (2, 3, 1, 1, 1, 2, 1)


def scores(values: tuple[int, ...]) -> dict[str, int]:
    return dict(zip(DIMENSIONS, values, strict=True))


def skill(name: str, values: tuple[int, ...] | None = None, **profile: Any) -> Manifest:
    """A skill called ``name``, with a profile when ``values`` are given."""
    document: dict[str, Any] = {
        "manifestApiVersion": "v2.1.0",
        "skillPackageId": None,
        "manifestId": f"skill.{name}@1.0.0",
        "skillName": name,
        "skillVersion": "1.0.0",
        "skillDirectives": "Do it.",
    }
    if values is not None:
        document["complexityProfile"] = {
            "baseWCS": sum(values),
            "dimensionScores": scores(values),
            "maturityLevel": "provisional",
            **profile,
        }
    return Manifest.from_document(document)
