"""Whether a document says rules of a conductor."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import Any, cast

import regex
from jsonschema import Draft202012Validator

from dcf.problem import Problem, has_errors
from dcf.sessions.conductor.errors import InvalidConductorRules
from dcf.sessions.conductor.rule import ACTIONS, compiled
from dcf.skills import check_against, read_yaml

_PREFIX = "CONDUCTOR"
_OF: Mapping[str, tuple[str, ...]] = {
    "message": ("question",),
    "line": (),
    "task": ("skills",),
    "failure": ("kind", "codes", "same_error", "tries", "after_effects", "unanswered"),
}
"""What ``when`` can ask for, by what a rule is about."""


def read_rules(text: str, file: str) -> Mapping[str, Any]:
    """The document in a YAML text; an empty one says nothing. Raises InvalidConductorRules."""
    document, problems = read_yaml(text, file)
    if document is None:
        if all(problem.code.endswith("_EMPTY") for problem in problems):
            return {}
        raise InvalidConductorRules(
            [replace(one, code=one.code.replace("SKILL", _PREFIX, 1)) for one in problems]
        )
    return _checked(document.root, problems)


def checked(value: Any) -> Mapping[str, Any]:
    """A JSON object that says rules. Raises InvalidConductorRules."""
    document, _ = read_yaml("{}", "")
    assert document is not None
    return _checked(replace(document.root, value=value), [])


def _checked(root: Any, found: list[Problem]) -> Mapping[str, Any]:
    problems = [*check_against(root, _validator(), _PREFIX), *_misfits(root)]
    if has_errors([*found, *problems]):
        placed = [one if one.file else replace(one, file=None, line=None) for one in problems]
        raise InvalidConductorRules([one for one in (*found, *placed) if one.is_error])
    return cast("Mapping[str, Any]", root.value)


def _misfits(root: Any) -> Iterator[Problem]:
    """What no schema says: which of the members go with which ``about``, and good patterns."""
    seen: set[str] = set()
    rules = root.member("rules")
    skills = root.member("skills")
    if skills is not None:
        yield from _pattern_misfits(skills, "question")
    for place in rules.elements() if rules is not None else ():
        name, about = place.text("name"), place.text("about")
        if name is not None and name in seen:
            hint = "give each rule a name of its own"
            message = f"there are two rules {name!r}"
            yield place.member("name").problem("CONDUCTOR_RULE_TWICE", message, hint)
        seen.add(name or "")
        yield from _pattern_misfits(place)
        if about in ACTIONS and place.value.get("do") != "nothing":
            yield from _member_misfits(place, about)


def _pattern_misfits(place: Any, member: str = "pattern") -> Iterator[Problem]:
    pattern = place.text(member)
    if pattern is None:
        return
    try:
        compiled(pattern)
    except (regex.error, RecursionError, OverflowError) as error:
        message = f"is no regular expression: {error}"
        yield place.member(member).problem("CONDUCTOR_PATTERN", message, "mend the expression")


def _member_misfits(place: Any, about: Any) -> Iterator[Problem]:
    do, value = place.text("do"), place.value
    if do not in ACTIONS[about] and (do is not None or ACTIONS[about]):
        actions = ", ".join(sorted(ACTIONS[about]))
        said = "needs `do`" if do is None else f"cannot do {do!r}"
        hint = f"one of: {actions}" if actions else "say what it sets with `set`"
        spot = place.member("do") or place
        yield spot.problem("CONDUCTOR_RULE_DO", f"a rule about a {about} {said}", hint)
        return
    which = f"a rule about a {about}" + (f" that does {do!r}" if do else "")
    for member, fits in (
        ("say", do == "talk"),
        ("set", about == "task"),
        ("pattern", about != "failure" and do != "lines"),
    ):
        if member in value and not fits:
            message = f"{which} has no `{member}`"
            yield place.member(member).problem("CONDUCTOR_RULE_MEMBER", message, "leave it away")
        elif member not in value and fits and not (member == "pattern" and about == "task"):
            message = f"{which} needs `{member}`"
            yield place.problem("CONDUCTOR_RULE_MEMBER", message, f"say `{member}`")
    when = place.member("when")
    for name, asked in when.members() if when is not None else ():
        if name not in _OF[about]:
            hint = f"it can be one of: {', '.join(_OF[about])}" if _OF[about] else "leave it away"
            message = f"`when` cannot ask for {name!r} of a {about}"
            yield asked.problem("CONDUCTOR_RULE_WHEN", message, hint)


@cache
def _validator() -> Draft202012Validator:
    place = files("dcf.sessions.conductor") / "schemas" / "rules.schema.json"
    return Draft202012Validator(json.loads(place.read_text(encoding="utf-8")))
