"""The names that the graph knows, found again in a question."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from dcf.knowledge.asking.looking import look
from dcf.knowledge.connection import GraphConnection
from dcf.knowledge.session_fact import TASK_WORKFLOW

KINDS: Mapping[str, str] = {
    "SkillVersion": "skill",
    "Skill": "skill",
    "TaskType": "task_type",
    "Workflow": "workflow",
    "Agent": "agent",
    "ErrorKind": "error",
    "Tool": "tool",
    "Approver": "approver",
}
"""Label of an entity -> the argument that its name can be."""
MOST = 20_000
_SHORTEST = 3
_TEXT = """MATCH (n:Entity) WHERE n:%s RETURN n.name, labels(n) LIMIT $most"""
_SPECIALIZATIONS = """MATCH (e:Delegation) WHERE e.specialization IS NOT NULL
RETURN DISTINCT e.specialization LIMIT $most"""
_SESSIONS = """UNWIND $ids AS id MATCH (n:Session {session_id: id}) RETURN DISTINCT id"""
_RUNS = """UNWIND $ids AS id MATCH (e:WorkflowRun {workflow_id: id}) RETURN DISTINCT id
UNION UNWIND $ids AS id MATCH (e:StateOutcome {workflow_id: id}) RETURN DISTINCT id"""
_ALIASES: Mapping[str, tuple[str, ...]] = {
    "States.Timeout": ("timed out", "time out", "times out", "timing out", "time outs"),
    "States.Permissions": ("permission errors", "missing permissions"),
}
"""Errors of the Amazon States Language, as people say them."""
_NO_NAMES = frozenset({"approval", "approvals"})
"""The kind of task of an approval is no name: approvals are asked for by this word."""
_VERSION = re.compile(r"(?<![\w.@-])v?(\d+\.\d+(?:\.\d+)?)(?![\w@-]|\.\d)")
_WORD = re.compile(r"[^\s,;?!()\[\]{}\"'`]+")
_JOINED = re.compile(r"[\s._:-]+")


@dataclass(frozen=True, slots=True)
class Names:
    """Name -> the arguments that it can be (a task type often has its skill's name)."""

    known: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def within(self, question: str) -> dict[str, list[str]]:
        """Argument -> the names of ``question``, the longest first. Names are found as they are,
        without the ``skill.`` in front, or by their last part where no other name ends alike; what
        joins their words may be blanks. Within a name that was found no other one is."""
        text = f" {_folded(question)} "
        found: dict[str, list[str]] = {}
        for form, name in self._forms():
            if f" {form} " in text:
                text = text.replace(f" {form} ", " \x00 ")
                for argument in sorted(self.known[name]):
                    if name not in found.setdefault(argument, []):
                        found[argument].append(name)
        return self._with_versions(question, found)

    def _with_versions(self, question: str, found: dict[str, list[str]]) -> dict[str, list[str]]:
        """``found`` with the versions of the one skill in it, where ``question`` says their numbers
        apart from the name, as in ``pay 1.0.0 against 1.1.0``."""
        bare = {one.removeprefix("skill.") for one in found.get("skill", ()) if not version_of(one)}
        numbers = dict.fromkeys(_VERSION.findall(question.lower()))
        if len(bare) != 1 or not numbers:
            return found
        (skill,) = bare
        versions = [f"skill.{skill}@{number}" for number in numbers]
        if not all("skill" in self.known.get(one, ()) for one in versions):
            return found
        others = {
            argument: [one for one in names if one.removeprefix("skill.") != skill]
            for argument, names in found.items()
        }
        others["skill"] = [
            *others["skill"],
            *(one for one in versions if one not in others["skill"]),
        ]
        return {argument: names for argument, names in others.items() if names}

    def meant(self, said: str, argument: str) -> tuple[str, ...]:
        """The names of ``argument`` that ``said`` may stand for: itself, with ``skill.`` in front,
        or what ends like it; of versions the newest form that was said. Without a version it is
        the name of the skill, as the last part of it and a version are of one."""
        names = sorted(one for one, kinds in self.known.items() if argument in kinds)
        bare, at, version = said.lower().removeprefix("skill.").partition("@")
        same = [one for one in names if one.lower() in (said.lower(), f"skill.{bare}{at}{version}")]
        if same:
            return tuple(same[:1])
        ends = [
            one
            for one in names
            if _folded(one.removeprefix("skill.").partition("@")[0]).endswith(f" {_folded(bare)}")
            and (one.partition("@")[2] == version if at else "@" not in one)
        ]
        by_bare = {one.removeprefix("skill."): one for one in reversed(ends)}
        return tuple(by_bare[one] for one in sorted(by_bare))

    def near(self, words: Sequence[str], most: int = 3) -> list[str]:
        """Names that have a word like one of ``words``, those with most of them first."""
        roots = {root for word in words for root in (_root(part) for part in _parts(word)) if root}
        found: dict[str, int] = {}
        for name in self.known:
            bare = name.removeprefix("skill.").partition("@")[0]
            shared = roots & {_root(part) for part in _parts(bare)}
            if shared:
                found[bare] = max(found.get(bare, 0), len(shared))
        return sorted(found, key=lambda name: (-found[name], name))[:most]

    def _forms(self) -> list[tuple[str, str]]:
        """(how it may be written, name), the longest form first."""
        forms: dict[tuple[str, str], None] = {}
        ends: dict[str, list[str]] = {}
        for name in self.known:
            bare = name.removeprefix("skill.")
            forms[_folded(name), name] = None
            forms[_folded(bare), name] = None
            if "@" not in name:
                ends.setdefault(_folded(last_part(bare)), []).append(name)
            for alias in spoken_forms(name):
                forms[_folded(alias), name] = None
        for end, names in ends.items():
            if len({name.removeprefix("skill.") for name in names}) == 1:
                forms |= {(end, name): None for name in names}
        long = [form for form in forms if len(form[0]) >= _SHORTEST and form[0] not in _NO_NAMES]
        return sorted(long, key=lambda form: (-len(form[0]), form))


async def names_in(graph: GraphConnection) -> Names:
    """All names, at most ``MOST``. Raises GraphAway, GraphRefused, QuestionTooWide."""
    known: dict[str, set[str]] = {}
    for label, argument in KINDS.items():
        for name, _ in await look(graph, "the names", _TEXT % label, most=MOST):
            # A delegated task is asked for by its kind, and not as a workflow.
            if isinstance(name, str) and not name.startswith(TASK_WORKFLOW):
                known.setdefault(name, set()).add(argument)
    for (name,) in await look(graph, "the names", _SPECIALIZATIONS, most=MOST):
        if isinstance(name, str):
            known.setdefault(name, set()).add("specialization")
    return Names({name: frozenset(kinds) for name, kinds in known.items()})


async def runs_within(graph: GraphConnection, question: str) -> list[str]:
    """The words of ``question`` that are ids of runs, in its order. Raises as ``names_in``."""
    return await _ids_within(graph, question, "the runs", _RUNS)


async def sessions_within(graph: GraphConnection, question: str) -> list[str]:
    """The words of ``question`` that are ids of sessions, in its order. Raises as ``names_in``."""
    return await _ids_within(graph, question, "the sessions", _SESSIONS)


async def _ids_within(graph: GraphConnection, question: str, what: str, text: str) -> list[str]:
    words = dict.fromkeys(word.rstrip(".:") for word in _WORD.findall(question))
    found = {row[0] for row in await look(graph, what, text, ids=list(words))}
    return [word for word in words if word in found]


def version_of(name: str) -> str:
    """The version in a manifest id; "" without one."""
    return name.partition("@")[2]


def forms_of(name: str) -> tuple[str, ...]:
    """How ``name`` may be written in a question, in lower case; a version with its number behind
    the name or before it."""
    bare = name.removeprefix("skill.")
    skill, _, version = bare.partition("@")
    forms = [name, bare, last_part(bare) if not version else bare, *spoken_forms(name)]
    if version:
        for one in (bare.partition("@")[0], last_part(skill)):
            forms += [f"{one} {how}{version}" for how in ("", "v", "version ")]
            forms += [f"{how}{version} of {one}" for how in ("", "v", "version ")]
            forms.append(one)
    return tuple(dict.fromkeys(form.lower() for form in forms))


def spoken_forms(name: str) -> tuple[str, ...]:
    """How people say the name of an error: ``CardDeclined`` as two words, or as several of them."""
    last = last_part(name)
    if "@" in name or not last[:1].isupper():
        return _ALIASES.get(name, ())
    words = " ".join(re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])", last))
    return (*_ALIASES.get(name, ()), words, f"{last}s", f"{words}s")


def last_part(name: str) -> str:
    """What stands behind the last dot or colon: ``orders.pay`` and ``bank:pay`` end alike."""
    return re.split("[.:]", name)[-1]


def _folded(text: str) -> str:
    """Words in lower case with one blank between them; so becomes what joins words."""
    words = [word.rstrip(".:").lower() for word in _WORD.findall(text)]
    return " ".join(" ".join(_JOINED.split(word)) for word in words if word)


def _parts(name: str) -> list[str]:
    return re.findall(r"[a-z0-9]+", re.sub(r"([a-z])([A-Z])", r"\1 \2", name).lower())


def _root(word: str) -> str:
    """What ``charging``, ``charges`` and ``charge`` have in common; "" for what is too short."""
    root = re.sub(r"(?:ing|ed|es|s|e)$", "", word) if len(word) > 4 else word
    return root if len(root) >= 3 else ""
