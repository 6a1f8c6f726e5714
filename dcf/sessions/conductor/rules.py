"""The rules of a conductor: how it hears, what it makes of tasks, what it does about failures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from dcf.problem import Problem
from dcf.regular_file import read_regular
from dcf.sessions.conductor.checking import checked, read_rules
from dcf.sessions.conductor.errors import InvalidConductorRules, RuleTooSlow
from dcf.sessions.conductor.rule import About, Rule, compiled

_SEARCH_S = 0.1


@dataclass(frozen=True, slots=True)
class Limits:
    """Tasks of one message, open requests, tries of one task; seconds for a task and a workflow."""

    tasks: int
    requests: int
    tries: int
    timeout_s: float
    workflow_timeout_s: float


@dataclass(frozen=True, slots=True)
class SkillLimits:
    """How many skills are looked at; from which score on one is good enough, and one that may do
    harm (``sure_score``); how much less the score of another one may be, and that of one that
    counts the same (``tie``); what a question looks like."""

    looked_at: int
    min_score: float
    sure_score: float
    close: float
    tie: float
    question: str

    def is_question(self, text: str) -> bool:
        """Whether the text asks something, and wants nothing done. Raises RuleTooSlow."""
        try:
            return compiled(self.question).fullmatch(text.strip(), timeout=_SEARCH_S) is not None
        except TimeoutError:
            raise RuleTooSlow(rule="skills.question", pattern=self.question) from None


@dataclass(frozen=True, slots=True)
class PoolRules:
    """Whether companions are made, and how many of them there shall be."""

    create: bool
    scale: bool
    idle: int
    idle_minutes: float

    @property
    def idle_ms(self) -> float:
        return self.idle_minutes * 60_000


@dataclass(frozen=True, slots=True)
class AnalysisRules:
    """When a session is analysed."""

    every: int
    failures_in_a_row: int


@dataclass(frozen=True, slots=True)
class ConductorRules:
    """``rules.yaml`` of this package says what each of them means; ``ConductorRules.default()``
    are those of that file. ``rules`` stand in the order in which they are tried."""

    limits: Limits
    skills: SkillLimits
    inputs: tuple[str, ...]
    companions: PoolRules
    analysis: AnalysisRules
    rules: tuple[Rule, ...]

    @classmethod
    def default(cls) -> ConductorRules:
        """The rules that come with DCF."""
        return _rules({})

    @classmethod
    def load(cls, path: Path) -> ConductorRules:
        """Those of a YAML file over the default ones. Raises InvalidConductorRules with all that is
        wrong with it, each with its line."""
        try:
            text = read_regular(path).decode("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            problem = Problem("CONDUCTOR_FILE", f"cannot be read: {error}", file=str(path))
            raise InvalidConductorRules([problem]) from None
        return _rules(read_rules(text, str(path)))

    @classmethod
    def of(cls, env: Mapping[str, str]) -> ConductorRules:
        """Those of the file that ``DCF_CONDUCTOR_RULES`` names, else the default ones. Raises
        InvalidConductorRules."""
        file = env.get("DCF_CONDUCTOR_RULES")
        return cls.load(Path(file)) if file else cls.default()

    @classmethod
    def from_document(cls, document: Any) -> ConductorRules:
        """Those of a JSON object over the default ones. Raises InvalidConductorRules."""
        return _rules(checked(document))

    def about(self, what: About) -> tuple[Rule, ...]:
        """The rules about this, in the order in which they are tried."""
        return tuple(rule for rule in self.rules if rule.about == what)


def _rules(document: Mapping[str, Any]) -> ConductorRules:
    defaults = _defaults()
    given = {
        name: {**value, **document.get(name, {})} if isinstance(value, dict) else value
        for name, value in defaults.items()
    }
    own = document.get("rules", [])
    names = {rule["name"] for rule in own}
    raw = [*own, *(rule for rule in defaults["rules"] if rule["name"] not in names)]
    # Sorting is stable: among equals those of the user stand first.
    rules = sorted(map(Rule.parse, raw), key=lambda rule: -rule.priority)
    return ConductorRules(
        limits=Limits(**given["limits"]),
        skills=SkillLimits(**given["skills"]),
        inputs=tuple(document.get("inputs", defaults["inputs"])),
        companions=PoolRules(**given["companions"]),
        analysis=AnalysisRules(**given["analysis"]),
        rules=tuple(rule for rule in rules if rule.do != "nothing"),
    )


@cache
def _defaults() -> Mapping[str, Any]:
    place = files("dcf.sessions.conductor") / "rules.yaml"
    return read_rules(place.read_text(encoding="utf-8"), "rules.yaml")
