"""Settings of the command line, all from the environment (``.env.example`` lists them)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from control_plane.embedded import data_home
from dcf.cli.trouble import BadInput
from dcf.problem import Problem

if TYPE_CHECKING:
    from dcf.memory import WrongVariables

DEFAULT_STUB_URL = "http://127.0.0.1:8765"
_LEVELS = ("debug", "info", "warning", "error")
# As dcf.search.EMBEDDERS has them, which is too much to import for every command.
EMBEDDERS = ("wordllama", "minilm", "none")
# As dcf.knowledge.setting has them.
_GRAPH_MODES = ("on", "demand", "off")


def graph_mode(env: Mapping[str, str]) -> str:
    """``DCF_GRAPH``: on, demand or off."""
    return (env.get("DCF_GRAPH") or ("on" if env.get("DCF_GRAPH_URL") else "demand")).lower()


@dataclass(frozen=True, slots=True)
class Settings:
    """``home`` holds data, logs and notes of background processes; ``generated`` the skills;
    ``objects`` what ItemReader reads and ResultWriter writes, ``workspace`` what the file tools of
    the MCP server work in; ``stub_url`` is what the user chose, None when DCF may choose. With
    ``explore`` planners take a version of a skill now and then to learn about it."""

    home: Path
    generated: Path
    objects: Path
    workspace: Path
    stub_url: str | None
    redis_url: str | None = field(repr=False)
    log_level: str
    embedder: str
    explore: bool
    env: Mapping[str, str] = field(repr=False)

    @classmethod
    def from_env(cls, env: Mapping[str, str]) -> Settings:
        """Read ``env``. Raises BadInput with every setting that cannot be used."""
        problems = _check(env)
        if problems:
            raise BadInput(problems)
        home = data_home(env)
        return cls(
            home=home,
            generated=Path(env.get("DCF_GENERATED") or "generated").resolve(),
            objects=Path(env.get("DCF_OBJECTS") or home / "objects").resolve(),
            workspace=Path(env.get("DCF_WORKSPACE") or home / "workspace").resolve(),
            stub_url=(env.get("DCF_STUB_URL") or "").rstrip("/") or None,
            redis_url=env.get("DCF_REDIS_URL") or None,
            log_level=(env.get("DCF_LOG") or "info").lower(),
            embedder=(env.get("DCF_EMBEDDER") or EMBEDDERS[0]).lower(),
            explore=(env.get("DCF_EXPLORE") or "on").lower() == "on",
            env=dict(env),
        )

    @property
    def templates(self) -> Path | None:
        """The folder of the user's own templates of agents, None where DCF's are enough."""
        folder = self.env.get("DCF_TEMPLATES")
        return Path(folder).resolve() if folder else None

    @property
    def logs(self) -> Path:
        """The folder of log files."""
        return self.home / "logs"

    @property
    def notes(self) -> Path:
        """The folder of notes about background processes."""
        return self.home / "run"

    @property
    def skills(self) -> Path | None:
        """The folder of generated skills, None where there is none."""
        return self.generated if (self.generated / "catalogs").is_dir() else None

    @property
    def stub_config(self) -> Path:
        """What the stub server serves."""
        return self.generated / "stub" / "stub_config.json"


def _check(env: Mapping[str, str]) -> list[Problem]:
    problems = []
    level = env.get("DCF_LOG") or "info"
    if level.lower() not in _LEVELS:
        message = f"{level!r} is no log level"
        hint = f"one of {', '.join(_LEVELS)}"
        problems.append(Problem("CLI_LOG_LEVEL", message, hint=hint, file="DCF_LOG"))
    embedder = env.get("DCF_EMBEDDER") or EMBEDDERS[0]
    if embedder.lower() not in EMBEDDERS:
        message = f"{embedder!r} is no embedder"
        hint = f"one of {', '.join(EMBEDDERS)}"
        problems.append(Problem("CLI_EMBEDDER", message, hint=hint, file="DCF_EMBEDDER"))
    if graph_mode(env) not in _GRAPH_MODES:
        message = f"{env.get('DCF_GRAPH')!r} says nothing about the graph"
        hint = f"one of {', '.join(_GRAPH_MODES)}"
        problems.append(Problem("CLI_GRAPH", message, hint=hint, file="DCF_GRAPH"))
    explore = env.get("DCF_EXPLORE") or "on"
    if explore.lower() not in ("on", "off"):
        message = f"{explore!r} does not say whether to explore"
        hint = "on: versions of skills are tried now and then to learn about them; or off"
        problems.append(Problem("CLI_EXPLORE", message, hint=hint, file="DCF_EXPLORE"))
    if any(name.startswith("DCF_CONTEXT") for name in env):
        problems += _check_context(env)
    if any(name.startswith("DCF_EXTRACT") for name in env):
        problems += _check_extraction(env)
    if env.get("DCF_ACCESS_DAYS"):
        problems += _check_access(env)
    if env.get("DCF_RETENTION"):
        problems += _check_retention(env["DCF_RETENTION"])
    if env.get("DCF_REDIS_WAIT"):
        problems += _check_wait(env["DCF_REDIS_WAIT"])
    url = env.get("DCF_STUB_URL")
    if url and not url.startswith(("http://", "https://")):
        message = f"{url!r} is no HTTP URL"
        problems.append(
            Problem("CLI_STUB_URL", message, hint=f"as in {DEFAULT_STUB_URL}", file="DCF_STUB_URL")
        )
    return problems


def _check_context(env: Mapping[str, str]) -> list[Problem]:
    from dcf.memory import BadContextSetting, ContextSetting

    try:
        ContextSetting.from_env(env)
    except BadContextSetting as error:
        return _wrong_variables("CLI_CONTEXT", error)
    return []


def _check_extraction(env: Mapping[str, str]) -> list[Problem]:
    from dcf.memory.extraction import BadExtractionSetting, ExtractionSetting

    try:
        ExtractionSetting.from_env(env)
    except BadExtractionSetting as error:
        return _wrong_variables("CLI_EXTRACT", error)
    return []


def _check_access(env: Mapping[str, str]) -> list[Problem]:
    from dcf.memory import BadAccessSetting, access_days

    try:
        access_days(env)
    except BadAccessSetting as error:
        return _wrong_variables("CLI_ACCESS", error)
    return []


def _wrong_variables(code: str, error: WrongVariables) -> list[Problem]:
    """One for each variable, at its name."""
    return [
        Problem(code, f"{name} {why}", hint=error.hint, file=name)
        for name, why in error.wrong.items()
    ]


def _check_retention(text: str) -> list[Problem]:
    from dcf.cli.age import BadRetention, read_retention

    hint = (
        "succeeded, failed, timed_out, cancelled or all, each with a whole number and m, h, d or "
        "w, as in succeeded=30d,failed=12w"
    )
    try:
        read_retention(text)
    except BadRetention as error:
        return [
            Problem("CLI_RETENTION_RUNS", fault, hint=hint, file="DCF_RETENTION")
            for fault in error.faults
        ]
    return []


def _check_wait(text: str) -> list[Problem]:
    from dcf.cli.patience import wait_s

    try:
        wait_s({"DCF_REDIS_WAIT": text})
    except ValueError:
        hint = "a number of seconds, as in 60; 0 does not wait at all"
        message = f"{text!r} does not say how long a Redis that refuses is waited for"
        return [Problem("CLI_REDIS_WAIT", message, hint=hint, file="DCF_REDIS_WAIT")]
    return []
