"""Which setting names the model of a piece of work. This is the one place that says what wins."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from dcf.agents.models.name import REHEARSAL

MODEL = "DCF_MODEL"
ROLE_MODEL = "DCF_MODEL_{}"
TIER_MODEL = "AMSP_TIER_{}_MODEL"
ROLES = ("planner", "worker", "reflector", "conductor", "companion", "strategist")
TIERS = range(4)


@dataclass(frozen=True, slots=True)
class NamedModel:
    """A model as it was named, and the setting that named it, None where none did."""

    name: str
    setting: str | None


def named_model(
    environment: Mapping[str, str], *, role: str = "worker", tier: int | None = None
) -> NamedModel:
    """The model for work of ``role``. The narrowest setting wins:

    1. ``AMSP_TIER_{tier}_MODEL``, where the work has a tier (a Task with its skills);
    2. ``DCF_MODEL_{ROLE}``;
    3. ``DCF_MODEL``;
    4. the rehearsal.

    A model that the AgentBinding of a Task names stands before all of them: its caller sees to
    that. A setting that is empty counts as not set.
    """
    for setting in _settings(role, tier):
        name = environment.get(setting, "").strip()
        if name:
            return NamedModel(name, setting)
    return NamedModel(REHEARSAL, None)


def model_settings(environment: Mapping[str, str]) -> dict[str, str]:
    """Every setting of ``environment`` that names a model, with the model."""
    known = [MODEL, *(ROLE_MODEL.format(role.upper()) for role in ROLES)]
    known += [TIER_MODEL.format(tier) for tier in TIERS]
    return {name: environment[name].strip() for name in known if environment.get(name, "").strip()}


def _settings(role: str, tier: int | None) -> Iterator[str]:
    if tier is not None:
        yield TIER_MODEL.format(tier)
    yield ROLE_MODEL.format(role.upper())
    yield MODEL
