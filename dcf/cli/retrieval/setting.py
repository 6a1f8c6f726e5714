"""What the commands of ``dcf retrieval`` work with: options first, then the environment."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from dcf.cli.project_folder import project_folder
from dcf.cli.trouble import BadInput
from dcf.personal_form import PersonalSetting
from dcf.problem import Problem
from dcf.retrieval import (
    DAYS,
    SHARES,
    Backend,
    BackendSetting,
    Kind,
    Lifetimes,
    Projects,
    RerankerSetting,
    Share,
    lifetimes_of,
    projects_of,
    shares_of,
)

if TYPE_CHECKING:
    from dcf.retrieval.serving import AccessLimits

DEFAULT_PORT = 3030
EXPOSED_RATE = 100.0
"""Requests a second of one address, where other machines reach the service."""
MOST_PROCESSES = 64

_ROOTS = "DCF_RETRIEVAL_ROOTS"
TOKENS = "DCF_RETRIEVAL_TOKENS"
_ALLOW = "DCF_RETRIEVAL_ALLOW"
_RATE = "DCF_RETRIEVAL_RATE"
_READS, _DAYS, _NIGHT = "DCF_AUDIT_READS", "DCF_AUDIT_DAYS", "DCF_RETRIEVAL_NIGHT"


@dataclass(frozen=True, slots=True)
class RetrievalSetting:
    """``store`` is where items and documents are kept. ``rate`` is None where nobody says one.
    The audit log keeps ``audit_days``; ``night`` is the hour of the nightly work, None for none."""

    port: int
    store: BackendSetting
    projects: Projects
    allow: str
    rate: float | None
    lifetimes: Lifetimes = field(default_factory=Lifetimes)
    personal: PersonalSetting = field(default_factory=PersonalSetting)
    reranker: RerankerSetting = field(default_factory=RerankerSetting)
    shares: Mapping[Kind, Share] = field(default_factory=lambda: SHARES)
    audit_days: int = DAYS
    night: int | None = 3

    @classmethod
    def from_env(
        cls, env: Mapping[str, str], roots: list[Path] | None = None, port: int | None = None
    ) -> RetrievalSetting:
        """Raises BadInput with all that cannot be used, BadProjectTokens."""
        problems: list[Problem] = []
        store, unstored = BackendSetting.from_env(env)
        problems += unstored
        said = env.get("PORT") or str(DEFAULT_PORT)
        if not (said.isdecimal() and int(said) <= 65_535):
            problems.append(_problem("PORT", f"{said!r} is no port", "a number up to 65535"))
        rate = _rate(env.get(_RATE) or "", problems)
        lifetimes, endless = lifetimes_of(env)
        _number(env, _READS, 1, 1, "1 notes reads, 0 does not", problems)
        days = _number(env, _DAYS, DAYS, 99_999, "days, as in 365", problems)
        hour = "an hour from 0 to 23, or off"
        asleep = env.get(_NIGHT) == "off"
        night = None if asleep else _number(env, _NIGHT, 3, 23, hour, problems)
        personal, wrong = PersonalSetting.from_env(env)
        reranker, unusable = RerankerSetting.from_env(env)
        shares, unfit = shares_of(env)
        problems += (*endless, *wrong, *unusable, *unfit)
        named = [Path(one) for one in (env.get(_ROOTS) or "").split(os.pathsep) if one]
        tokens = Path(env[TOKENS]) if env.get(TOKENS) else None
        if problems:
            raise BadInput(problems)
        chosen = roots or named or ([] if tokens else [project_folder(Path.cwd())])
        projects = projects_of(chosen, tokens)
        for root in projects.roots:
            if not Path(root).is_dir():
                problems.append(_problem("--root", f"{root} is no folder", "name a project's"))
        if problems:
            raise BadInput(problems)
        return cls(
            int(said) if port is None else port,
            store,
            projects,
            env.get(_ALLOW) or "",
            rate,
            lifetimes,
            personal,
            reranker,
            shares,
            days,
            night,
        )

    @property
    def backend(self) -> Backend:
        """What keeps items and documents."""
        return self.store.backend

    def limits(self, *, exposed: bool) -> AccessLimits:
        """Who may ask, and how often. Raises BadInput."""
        from dcf.retrieval.serving import AccessLimits, networks_of

        try:
            networks = networks_of(self.allow)
        except ValueError as error:
            hint = "addresses and networks between commas, as in 10.0.0.0/8,192.168.1.7"
            raise BadInput([_problem(_ALLOW, str(error), hint)]) from error
        if exposed and not networks:
            message = "other machines can reach the service, and none of them may ask"
            hint = "name addresses and networks, as in 10.0.0.0/8; 0.0.0.0/0,::/0 for all"
            raise BadInput([_problem(_ALLOW, message, hint)])
        default = EXPOSED_RATE if exposed else 0.0
        return AccessLimits(networks, default if self.rate is None else self.rate)

    def processes(self, said: str) -> int:
        """How many processes ``said`` means. Raises BadInput."""
        if said == "auto":
            return 1 if self.backend == "memory" else min(os.cpu_count() or 1, MOST_PROCESSES)
        number = int(said) if said.isdecimal() and said.isascii() else 0
        if not 1 <= number <= MOST_PROCESSES:
            hint = f"a number from 1 to {MOST_PROCESSES}, or auto"
            raise BadInput([_problem("--processes", f"{said!r} is no number of them", hint)])
        if number > 1 and self.backend == "memory":
            message = "with MEM_BACKEND=memory no other process knows what is logged"
            raise BadInput([_problem("--processes", message, "leave it out, or choose sqlite")])
        return number


def _rate(text: str, problems: list[Problem]) -> float | None:
    if not text:
        return None
    try:
        rate = float(text)
    except ValueError:
        rate = -1.0
    if not 0 <= rate <= 1e6:
        hint = "requests a second of one address, as in 50; 0 for any number"
        problems.append(_problem(_RATE, f"{text!r} is no rate", hint))
    return rate


def _number(
    env: Mapping[str, str], name: str, default: int, most: int, hint: str, problems: list[Problem]
) -> int:
    text = env.get(name) or str(default)
    if text.isdecimal() and text.isascii() and int(text) <= most:
        return int(text)
    problems.append(_problem(name, f"{text!r} is no such number", hint))
    return default


def _problem(name: str, message: str, hint: str) -> Problem:
    return Problem("CLI_RETRIEVAL", message, hint=hint, file=name)
