"""Reads compose.yaml as Compose does: anchors merged, variables filled in, `$$` made a dollar."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[3]
FILE = ROOT / "compose.yaml"
OURS = "dcf:local"
_DOLLAR = re.compile(
    r"\$(?:(?P<escaped>\$)|\{(?P<name>[A-Z_]+)(?:(?P<how>:-|:\?)(?P<rest>[^}]*))?\})"
)


class Missing(Exception):
    """A variable that must be set; the message is what the file says about it."""


@dataclass(frozen=True)
class Service:
    """A service with its variables filled in; what it does not say is empty."""

    name: str
    raw: Mapping[str, Any]

    @property
    def is_ours(self) -> bool:
        return bool(self.raw.get("image") == OURS)

    @property
    def command(self) -> list[str]:
        return list(self.raw.get("command") or [])

    @property
    def environment(self) -> dict[str, str]:
        return dict(self.raw.get("environment") or {})

    @property
    def health(self) -> list[str]:
        """The health check's command, without the word CMD."""
        kind, *command = (self.raw.get("healthcheck") or {}).get("test") or ["CMD"]
        assert kind == "CMD", "a shell is not needed for any of them"
        return command

    @property
    def needs(self) -> dict[str, str]:
        """Services to wait for, each with the condition."""
        given = self.raw.get("depends_on") or {}
        return {name: needed["condition"] for name, needed in given.items()}

    @property
    def ports(self) -> list[str]:
        return list(self.raw.get("ports") or [])

    @property
    def volumes(self) -> list[str]:
        return list(self.raw.get("volumes") or [])

    @property
    def profiles(self) -> list[str]:
        return list(self.raw.get("profiles") or [])

    @property
    def grace_s(self) -> float:
        """How long it has between SIGTERM and SIGKILL; ten seconds unless it says otherwise."""
        given = self.raw.get("stop_grace_period", "10s")
        assert given.endswith("s"), given
        return float(given.removesuffix("s"))


def services(env: Mapping[str, str]) -> dict[str, Service]:
    """The services as Compose would start them with ``env``. Raises Missing."""
    document = _filled(yaml.safe_load(FILE.read_text("utf-8")), env)
    return {name: Service(name, raw) for name, raw in document["services"].items()}


def variables() -> dict[str, tuple[str, str]]:
    """The variables of the file: name to (``:-`` or ``:?`` or nothing, default or message)."""
    found = {}
    for match in _DOLLAR.finditer(FILE.read_text("utf-8")):
        if match["name"]:
            found[match["name"]] = (match["how"] or "", match["rest"] or "")
    return found


def _filled(value: Any, env: Mapping[str, str]) -> Any:
    if isinstance(value, Mapping):
        return {key: _filled(item, env) for key, item in value.items()}
    if isinstance(value, list):
        return [_filled(item, env) for item in value]
    return _DOLLAR.sub(lambda match: _fill(match, env), value) if isinstance(value, str) else value


def _fill(match: re.Match[str], env: Mapping[str, str]) -> str:
    if match["escaped"]:
        return "$"
    found = env.get(match["name"], "")
    if not found and match["how"] == ":?":
        raise Missing(f"{match['name']}: {match['rest']}")
    return found or (match["rest"] if match["how"] == ":-" else "")
