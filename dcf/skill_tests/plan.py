"""What there is to test: the tools of the chosen skills, their cases, and the skills' own tests."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from dcf.problem import Problem
from dcf.regular_file import read_regular
from dcf.skills import CatalogUnreadable, Manifest, SkillCatalog
from dcf.tools.stub import Catalog, StubConfig, StubTool

STUB_CONFIG = Path("stub/stub_config.json")
SKILL_TESTS = Path("tests/skill_tests.json")
NO_SKILL = "(no skill)"


class NothingToTest(Exception):
    """The choice of skills, tools or cases names what does not exist; ``problems`` has all."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("; ".join(problem.message for problem in problems))


@dataclass(frozen=True, slots=True)
class Choice:
    """What to test. Empty: everything. ``tools`` as ``server:tool`` or the tool's name alone."""

    skills: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    cases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SkillTest:
    """A test written in a skill: one call and what it must answer (``response``, ``contains`` or
    ``error``)."""

    skill: str
    name: str
    tool: str
    arguments: dict[str, Any]
    expect: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Plan:
    """``config`` is the file that the stub serves; ``users`` has the manifest ids that declare each
    tool to test, ``cases`` the ids that were chosen, empty: all."""

    config: Path
    seed: int
    skills: tuple[str, ...]
    tools: Mapping[str, StubTool]
    users: Mapping[str, tuple[str, ...]]
    tests: tuple[SkillTest, ...]
    cases: frozenset[str]


def make_plan(generated: Path, choice: Choice) -> Plan:
    """Read the generated folder and choose.

    Raises ``NothingToTest``, and what the catalog and the stub's configuration raise:
    ``CatalogUnreadable``, ``InvalidManifest``, ``UnknownSkill``, ``InvalidDocument``.
    """
    catalog = SkillCatalog.load(generated)
    config = Catalog(generated / STUB_CONFIG).current()
    manifests = [catalog.resolve(ref) for ref in choice.skills] or list(catalog)
    manifests = list(dict.fromkeys(manifests))
    users = _users(manifests, config, everything=not choice.skills)
    problems: list[Problem] = []
    tools = _tools(users, config, choice, problems)
    tests = _tests(generated, manifests, tools)
    _check_cases(choice, tools, problems)
    if problems:
        raise NothingToTest(problems)
    return Plan(
        config=generated / STUB_CONFIG,
        seed=config.seed,
        skills=tuple(
            manifest.manifest_id
            for manifest in manifests
            if not choice.tools or any(manifest.manifest_id in users[tool] for tool in tools)
        ),
        tools=tools,
        users={tool: users[tool] for tool in tools},
        tests=() if choice.cases else tests,
        cases=frozenset(choice.cases),
    )


def _users(
    manifests: Iterable[Manifest], config: StubConfig, *, everything: bool
) -> dict[str, tuple[str, ...]]:
    """The skills of each tool; with ``everything`` also the tools that no skill declares."""
    users: dict[str, tuple[str, ...]] = {}
    for manifest in manifests:
        for declared in manifest.tools:
            ref = f"{declared.server_id}:{declared.tool_name}"
            users[ref] = (*users.get(ref, ()), manifest.manifest_id)
    if everything:
        for tool in config.all_tools.values():
            users.setdefault(tool.key, (NO_SKILL,))
    return users


def _tools(
    users: Mapping[str, tuple[str, ...]],
    config: StubConfig,
    choice: Choice,
    problems: list[Problem],
) -> dict[str, StubTool]:
    found: dict[str, StubTool] = {}
    for ref in sorted(users):
        server_id, _, name = ref.partition(":")
        tool = config.find(server_id, name)
        if tool is None:
            message = (
                f"{users[ref][0]} declares {ref}, which the stub's configuration does not have"
            )
            hint = "generate the skills again: `dcf skills generate`"
            problems.append(Problem("SKILL_TEST_TOOL", message, hint=hint))
        elif not choice.tools or {ref, name} & set(choice.tools):
            found[ref] = tool
    for wanted in choice.tools:
        if not any(wanted in (ref, ref.partition(":")[2]) for ref in users):
            message = f"there is no tool {wanted!r} here"
            names = [*users, *(ref.partition(":")[2] for ref in users)]
            problems.append(Problem("SKILL_TEST_TOOL", message, hint=_closest(wanted, names)))
    return found


def _check_cases(choice: Choice, tools: Mapping[str, StubTool], problems: list[Problem]) -> None:
    known = {case.case_id for tool in tools.values() for case in tool.cases} | {"default"}
    for wanted in choice.cases:
        if wanted not in known:
            message = f"no chosen tool has a case {wanted!r}"
            problems.append(Problem("SKILL_TEST_CASE", message, hint=_closest(wanted, known)))


def _closest(wanted: str, known: Iterable[str]) -> str:
    near = get_close_matches(wanted, sorted(set(known)), n=3, cutoff=0.4)
    if near:
        return f"did you mean {' or '.join(near)}?"
    return "`dcf skills test --json` lists every tool and case"


def _tests(
    generated: Path, manifests: Iterable[Manifest], tools: Mapping[str, StubTool]
) -> tuple[SkillTest, ...]:
    """The tests of the skills that call one of the tools; a folder generated before there were
    any has no file of them."""
    path = generated / SKILL_TESTS
    if not path.is_file():
        return ()
    try:
        document = json.loads(read_regular(path))
        entries = [
            SkillTest(one["skill"], one["name"], one["tool"], one["arguments"], one["expect"])
            for one in document["tests"]
        ]
    except (ValueError, KeyError, TypeError) as error:
        raise CatalogUnreadable(str(path), f"it is no list of tests ({error})") from error
    wanted = {manifest.manifest_id for manifest in manifests}
    return tuple(test for test in entries if test.skill in wanted and test.tool in tools)
