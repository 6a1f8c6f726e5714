"""Whether the models that the settings name can be asked, said before any work begins."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

from dcf.agents.models.call_settings import read_call_settings
from dcf.agents.models.choice import model_settings
from dcf.agents.models.name import TRANSCRIPT, ModelName, parse_name
from dcf.agents.models.price import read_prices
from dcf.agents.models.provider import (
    COMPATIBLE,
    COMPATIBLE_KEY_NAME,
    COMPATIBLE_URL,
    PROVIDERS,
    Provider,
)
from dcf.problem import Problem
from dcf_agents.installation import extra_command

Installed = Callable[[str], bool]


def is_installed(package: str) -> bool:
    """Whether ``package`` can be imported; nothing of it is."""
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:
        return False


def model_problems(
    environment: Mapping[str, str], installed: Installed = is_installed
) -> list[Problem]:
    """All that is wrong with the settings of models, each under the setting's name. Keys are named
    and never shown; nobody is asked whether a model exists."""
    problems: list[Problem] = []
    for setting, name in model_settings(environment).items():
        problems += [
            replace(one, file=setting) for one in name_problems(name, environment, installed)
        ]
    settings, wrong = read_call_settings(environment)
    problems += wrong
    if settings.prices is not None:
        problems += read_prices(settings.prices)[1]
    if settings.record is not None and not settings.record.parent.is_dir():
        message = f"the folder of {str(settings.record)!r} is not there"
        problems.append(Problem("MODEL_SETTING", message, file="DCF_MODEL_RECORD"))
    # One address or key may be missing for several settings: that is said once.
    return list(dict.fromkeys(problems))


def name_problems(
    name: str, environment: Mapping[str, str], installed: Installed = is_installed
) -> list[Problem]:
    """What keeps the model ``name`` from being asked."""
    parsed = parse_name(name)
    if isinstance(parsed, Problem):
        return [parsed]
    if parsed.is_rehearsal:
        return []
    if parsed.provider == TRANSCRIPT:
        return _transcript(parsed)
    provider = PROVIDERS[parsed.provider]
    found = [
        _package(provider, installed),
        _url(provider, environment),
        _key(provider, environment),
    ]
    return [problem for problem in found if problem is not None]


def key_of(provider: Provider, environment: Mapping[str, str]) -> str | None:
    """The key for ``provider``, None where none is set. To be handed to its client only."""
    names: tuple[str, ...] = provider.keys
    if provider.name == COMPATIBLE:
        names = (environment.get(COMPATIBLE_KEY_NAME, "").strip(),)
    for name in names:
        key = environment.get(name, "").strip() if name else ""
        if key:
            return key
    return None


def url_of(provider: Provider, environment: Mapping[str, str]) -> str | None:
    """The address that is set for ``provider``, or its usual one; None: its client knows it."""
    return environment.get(provider.url, "").strip() or provider.default_url


def _transcript(name: ModelName) -> list[Problem]:
    if Path(name.model).is_file():
        return []
    message = f"there is no transcript {name.model!r}"
    hint = "DCF_MODEL_RECORD=FILE beside a real model records one"
    return [Problem("MODEL_TRANSCRIPT", message, hint=hint)]


def _package(provider: Provider, installed: Installed) -> Problem | None:
    if installed(provider.package):
        return None
    message = f"models of {provider.name} need the package {provider.package.partition('.')[0]}"
    return Problem("MODEL_PACKAGE", message, hint=extra_command(provider.extra))


def _url(provider: Provider, environment: Mapping[str, str]) -> Problem | None:
    url = url_of(provider, environment)
    if url is None:
        if provider.name != COMPATIBLE:
            return None
        message = f"{COMPATIBLE_URL} is not set: a compatible server has an address of its own"
        return Problem("MODEL_URL", message, hint="as in http://127.0.0.1:8000/v1")
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if usable and not parts.username and not parts.password:
        return None
    # An address may hold a password: it is not repeated.
    message = f"{provider.url} is no address http(s)://host[:port]/path without a user or password"
    return Problem("MODEL_URL", message, hint="as in http://127.0.0.1:8000/v1")


def _key(provider: Provider, environment: Mapping[str, str]) -> Problem | None:
    if key_of(provider, environment) is not None:
        return None
    if provider.needs_key:
        names = " or ".join(provider.keys)
        message = f"models of {provider.name} need a key, and {names} is not set"
        return Problem("MODEL_KEY", message, hint=f"export {provider.keys[0]}=…")
    named = environment.get(COMPATIBLE_KEY_NAME, "").strip()
    if provider.name == COMPATIBLE and named:
        message = f"{COMPATIBLE_KEY_NAME} names a variable that is not set"
        return Problem("MODEL_KEY", message, hint="it is the name of a variable, not the key")
    return None
