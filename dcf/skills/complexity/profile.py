"""A skill's complexity profile: its scores, and how well outcomes support them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from dcf.skills.complexity.dimension import DIMENSIONS, Scores
from dcf.skills.manifest import Manifest

Maturity = Literal["provisional", "emerging", "validated", "stable"]

_SAMPLES_FOR: tuple[tuple[int, Maturity], ...] = (
    (100, "stable"),
    (30, "validated"),
    (10, "emerging"),
    (0, "provisional"),
)


def maturity_of(samples: int) -> Maturity:
    """How well so many outcomes support a profile: emerging from 10 on, validated from 30 on,
    stable from 100 on."""
    return next(maturity for least, maturity in _SAMPLES_FOR if samples >= least)


@dataclass(frozen=True, slots=True)
class ComplexityProfile:
    """What a manifest says of its skill's complexity. ``samples`` are outcomes seen so far."""

    scores: Scores
    maturity: Maturity
    samples: int = 0

    @classmethod
    def of(cls, manifest: Manifest) -> ComplexityProfile | None:
        """The profile in ``manifest``, which has passed the manifest schema; None without one."""
        document = manifest.raw.get("complexityProfile")
        return cls.from_document(document) if document else None

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> ComplexityProfile:
        """The profile in a document of ``complexity_profile.schema.json``."""
        scores = document["dimensionScores"]
        return cls(
            scores={name: int(scores[name]) for name in DIMENSIONS},
            maturity=document["maturityLevel"],
            samples=int(document.get("sampleSize", 0)),
        )
