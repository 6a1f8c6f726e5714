"""Whether the models of the settings can be asked: said before any work begins."""

from __future__ import annotations

from dataclasses import replace

from control_plane.embedded import Check
from dcf.cli.settings import Settings
from dcf.cli.trouble import BadInput
from dcf.problem import Problem

_SETTINGS = ("DCF_MODEL", "AMSP_TIER_")


def model_troubles(settings: Settings) -> list[Problem]:
    """All that is wrong with the settings of models; nothing is loaded where there are none."""
    if not any(name.startswith(_SETTINGS) for name in settings.env):
        return []
    from dcf.agents.models import model_problems

    return model_problems(settings.env)


def named_troubles(name: str, settings: Settings) -> list[Problem]:
    """What keeps the model ``name`` from being asked with these settings."""
    from dcf.agents.models import name_problems

    return name_problems(name, settings.env)


def spelling_troubles(name: str, option: str) -> list[Problem]:
    """What is wrong with how the model ``name``, which ``option`` gave, is written: that makes it
    no model, whatever keys and packages come later."""
    from dcf.agents.models import parse_name

    parsed = parse_name(name)
    return [replace(parsed, file=option)] if isinstance(parsed, Problem) else []


def demand_model(settings: Settings, role: str) -> None:
    """The model that the settings name for ``role`` can be asked. Raises BadInput."""
    from dcf.agents.models import name_problems, named_model

    named = named_model(settings.env, role=role)
    problems = name_problems(named.name, settings.env)
    if problems:
        raise BadInput([replace(problem, file=named.setting) for problem in problems])


def demand_models(settings: Settings) -> None:
    """Raises BadInput with every problem of the models."""
    problems = model_troubles(settings)
    if problems:
        raise BadInput(problems)


def model_checks(settings: Settings) -> list[Check]:
    """One finding for each model that the settings name, and for each problem; the rehearsal where
    they name none."""
    from dcf.agents.models import model_settings

    troubles = model_troubles(settings)
    wrong = {problem.file for problem in troubles}
    found = [
        Check(f"model {setting}", True, name, required=False)
        for setting, name in model_settings(settings.env).items()
        if setting not in wrong
    ]
    found += [
        Check(f"model {problem.file}", False, problem.message, problem.hint) for problem in troubles
    ]
    none = "none: the rehearsal takes the place of models"
    return found or [Check("model", True, none, required=False)]
