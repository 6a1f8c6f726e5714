"""The complexity of a task as tools and commands report it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from dcf.problem import Problem
from dcf.skills.catalog import SkillCatalog
from dcf.skills.complexity.assessment import Assessment, assess
from dcf.skills.complexity.dimension import check_overrides
from dcf.skills.complexity.tier import TIER_DESCRIPTIONS
from dcf.skills.errors import InvalidManifest, UnknownSkill
from dcf.skills.manifest import Manifest

JSON = Any


def compute_task_complexity(
    skills: JSON,
    *,
    catalog: SkillCatalog | None = None,
    context_features: JSON = None,
    latency_requirement: str = "standard",
    models: Mapping[int, str | None] | None = None,
) -> dict[str, JSON]:
    """Judge the skills of a task together.

    ``skills`` is a list of skill references and manifests, or one of them, or the JSON text of
    either; references are looked up in ``catalog``. ``context_features`` sets dimensions to 0-3 in
    place of what the skills say (an object or its JSON text). ``models`` maps tiers to models.

    Never raises for bad input: ``{status, error, base_wcs, dimension_breakdown,
    interaction_multipliers, total_multiplier, final_fcs, confidence_interval, recommended_tier,
    tier_description, tier_reasoning, recommended_model, latency_adjusted_tier,
    latency_adjusted_model, maturity_levels, skills_analyzed, skills_with_profiles, warnings}``,
    where ``error`` is None, or everything that is wrong and the results are None; then there are
    ``problems`` too, the same one by one.
    """
    problems: list[Problem] = []
    features = _parsed(context_features, problems)
    if features is not None:
        problems += check_overrides(features)
    manifests = _manifests(_listed(skills, problems), catalog, problems)
    if problems:
        return _report(None, {}, problems)
    assessment = assess(manifests, overrides=features, latency_requirement=latency_requirement)
    return _report(assessment, models or {}, [])


def _parsed(value: JSON, problems: list[Problem]) -> JSON:
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError) as error:
        problems.append(Problem("SKILL_COMPLEXITY_JSON", f"the text is no JSON ({error})"))
        return None


def _listed(skills: JSON, problems: list[Problem]) -> list[JSON]:
    if isinstance(skills, str) and skills.lstrip().startswith(("[", "{", '"')):
        skills = _parsed(skills, problems)
    if skills is None:
        return []
    return (
        list(skills) if isinstance(skills, Sequence) and not isinstance(skills, str) else [skills]
    )


def _manifests(
    entries: list[JSON], catalog: SkillCatalog | None, problems: list[Problem]
) -> list[Manifest]:
    found: dict[str, Manifest] = {}
    for number, entry in enumerate(entries):
        try:
            manifest = _manifest(entry, number, catalog)
        except InvalidManifest as invalid:
            problems += invalid.problems
        # Too deep, or with values that no JSON text can hold.
        except (UnknownSkill, TypeError, ValueError, RecursionError) as error:
            problems.append(Problem("SKILL_COMPLEXITY_SKILL", str(error), f"/{number}"))
        else:
            found[manifest.manifest_id] = manifest
    return list(found.values())


def _manifest(entry: JSON, number: int, catalog: SkillCatalog | None) -> Manifest:
    if isinstance(entry, Manifest):
        return entry
    if isinstance(entry, Mapping):
        return Manifest.from_document(entry, f"skill {number}")
    if not isinstance(entry, str):
        raise TypeError(f"{entry!r} is neither a skill's name nor a manifest")
    return (catalog or SkillCatalog([])).resolve(entry)


def _report(
    found: Assessment | None, models: Mapping[int, str | None], problems: list[Problem]
) -> dict[str, JSON]:
    if found is None:
        report: dict[str, JSON] = dict.fromkeys(_FIELDS)
        error = "\n".join(map(str, problems))
        told = [problem.to_dict() for problem in problems]
        return {**report, "error": error, "problems": told, "warnings": []}
    lower, upper = found.confidence
    return {
        "status": "computed",
        "error": None,
        "base_wcs": found.score.wcs,
        "dimension_breakdown": dict(found.scores),
        "interaction_multipliers": [part.to_json() for part in found.score.multipliers],
        "total_multiplier": found.score.total_multiplier,
        "final_fcs": found.score.fcs,
        "confidence_interval": {"lower": lower, "upper": upper},
        "recommended_tier": found.tier,
        "tier_description": TIER_DESCRIPTIONS[found.tier],
        "tier_reasoning": found.reasoning,
        "recommended_model": models.get(found.tier),
        "latency_adjusted_tier": found.adjusted_tier,
        "latency_adjusted_model": models.get(found.adjusted_tier),
        "maturity_levels": dict(found.maturity),
        "skills_analyzed": found.skills_analyzed,
        "skills_with_profiles": found.skills_with_profiles,
        "warnings": [problem.message for problem in found.warnings],
    }


_FIELDS = (
    "status",
    "error",
    "base_wcs",
    "dimension_breakdown",
    "interaction_multipliers",
    "total_multiplier",
    "final_fcs",
    "confidence_interval",
    "recommended_tier",
    "tier_description",
    "tier_reasoning",
    "recommended_model",
    "latency_adjusted_tier",
    "latency_adjusted_model",
    "maturity_levels",
    "skills_analyzed",
    "skills_with_profiles",
    "warnings",
)
