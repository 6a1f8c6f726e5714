"""The seven dimensions of complexity, each scored from 0 (simple) to 3 (hard)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from dcf.problem import Problem

DIMENSIONS = (
    "horizon",
    "context",
    "tooling",
    "observability",
    "modality",
    "precision",
    "adaptability",
)
"""How far ahead the work must be planned; how much must be known around it; how many tools it
takes; how little of what happens can be seen; how many kinds of media; how exact the result must
be; how much the task changes while it is done."""

HIGHEST = 3

Scores = dict[str, int]
"""A score for each of ``DIMENSIONS``."""


def highest_of(profiles: Iterable[Mapping[str, int]]) -> Scores:
    """In each dimension the highest score: together, skills are as hard as the hardest."""
    seen = list(profiles)
    return {name: max(profile[name] for profile in seen) for name in DIMENSIONS}


def overridden(scores: Mapping[str, int], overrides: Mapping[str, int]) -> Scores:
    """``scores`` with those of ``overrides`` in their place."""
    return {name: overrides.get(name, scores[name]) for name in DIMENSIONS}


def check_overrides(features: object) -> list[Problem]:
    """What is wrong with overrides that somebody wrote: they map dimensions to 0, 1, 2 or 3."""
    if not isinstance(features, Mapping):
        message = "the context features are no object of dimensions and scores"
        return [Problem("SKILL_COMPLEXITY_FEATURES", message, hint='write {"precision": 3}')]
    return [
        problem for name, score in features.items() for problem in _check_score(str(name), score)
    ]


def _check_score(name: str, score: object) -> list[Problem]:
    if name not in DIMENSIONS:
        hint = f"the dimensions are {', '.join(DIMENSIONS)}"
        message = f"{name!r} is no dimension of complexity"
        return [Problem("SKILL_COMPLEXITY_DIMENSION", message, f"/{name}", hint)]
    if type(score) is not int or not 0 <= score <= HIGHEST:
        message = f"the score of {name} is {score!r}"
        return [Problem("SKILL_COMPLEXITY_SCORE", message, f"/{name}", "write 0, 1, 2 or 3")]
    return []
