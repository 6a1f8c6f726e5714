"""The rules of a conductor: what a file may say, and which of them applies."""

from __future__ import annotations

from pathlib import Path

import pytest

from dcf.sessions.conductor import ConductorRules, InvalidConductorRules
from dcf.sessions.conductor.errors import RuleTooSlow
from dcf.sessions.conductor.hearing import hear
from dcf.sessions.conductor.trace import Trace

BAD = """\
apiVersion: conductor-rules/v1
limits: {tries: 0, naps: 2}
rules:
  - name: a
    about: failure
    do: talk
  - name: a
    about: message
    pattern: "("
    do: talk
    when: {codes: [x]}
  - name: b
    about: task
    pattern: x
"""


def problems_of(document: object) -> list[str]:
    with pytest.raises(InvalidConductorRules) as raised:
        ConductorRules.from_document(document)
    return [problem.code for problem in raised.value.problems]


def test_all_that_is_wrong_with_a_file_is_said_with_its_lines(tmp_path: Path) -> None:
    file = tmp_path / "rules.yaml"
    file.write_text(BAD, encoding="utf-8")
    with pytest.raises(InvalidConductorRules) as raised:
        ConductorRules.load(file)
    found = {(one.code, one.line, one.path) for one in raised.value.problems}
    assert found == {
        ("CONDUCTOR_VALUE", 2, "/limits/tries"),
        ("CONDUCTOR_UNKNOWN", 2, "/limits/naps"),
        ("CONDUCTOR_RULE_DO", 6, "/rules/0/do"),
        ("CONDUCTOR_RULE_TWICE", 7, "/rules/1/name"),
        ("CONDUCTOR_PATTERN", 9, "/rules/1/pattern"),
        ("CONDUCTOR_RULE_MEMBER", 7, "/rules/1"),
        ("CONDUCTOR_RULE_WHEN", 11, "/rules/1/when/codes"),
        ("CONDUCTOR_RULE_MEMBER", 12, "/rules/2"),
    }
    assert all(one.file == str(file) and one.hint for one in raised.value.problems)


@pytest.mark.parametrize("text", ["a: [", "- x", "limits: 3", "rules: {}"])
def test_what_is_no_document_of_rules_is_refused(text: str, tmp_path: Path) -> None:
    file = tmp_path / "rules.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidConductorRules):
        ConductorRules.load(file)
    with pytest.raises(InvalidConductorRules, match="cannot be read"):
        ConductorRules.load(tmp_path)


def test_a_file_that_says_nothing_says_what_the_default_ones_say(tmp_path: Path) -> None:
    file = tmp_path / "rules.yaml"
    file.write_text("", encoding="utf-8")
    assert ConductorRules.load(file) == ConductorRules.default()


def test_rules_of_the_user_take_the_place_of_those_with_their_name_and_stand_first() -> None:
    mine = {"name": "greeting", "about": "message", "pattern": "hello", "do": "talk", "say": "Moin"}
    new = {"name": "shout", "about": "line", "pattern": "! (?P<task>.+)", "do": "task"}
    given = ConductorRules.from_document({"rules": [mine, new], "limits": {"tries": 7}})
    named = [rule.name for rule in given.rules]
    assert named.count("greeting") == 1
    assert named.index("shout") < named.index("bullet")
    assert hear("hello", given, has_question=False).say == "Moin"
    assert (given.limits.tries, given.limits.tasks) == (7, 20)


def test_a_rule_is_put_out_of_force() -> None:
    none = {"name": "whole-message", "about": "message", "do": "nothing"}
    given = ConductorRules.from_document({"rules": [none]})
    assert "whole-message" not in [rule.name for rule in given.rules]


def test_the_highest_priority_is_tried_first() -> None:
    def rule(name: str, priority: int) -> dict[str, object]:
        return {
            "name": name, "about": "message", "priority": priority, "pattern": "x",
            "do": "talk", "say": name,
        }  # fmt: skip

    given = ConductorRules.from_document({"rules": [rule("low", 1), rule("high", 2)]})
    heard = hear("x", given, has_question=False)
    assert (heard.say, [one.rule for one in heard.fired]) == ("high", ["high"])


def test_a_pattern_that_takes_too_long_is_named() -> None:
    slow = {"name": "slow", "about": "message", "priority": 200, "pattern": "(x|xx)+", "do": "help"}
    given = ConductorRules.from_document({"rules": [slow]})
    with pytest.raises(RuleTooSlow, match="slow"):
        hear("x" * 60 + "y", given, has_question=False)


def test_members_that_a_rule_needs_are_asked_for() -> None:
    assert problems_of({"rules": [{"name": "a", "about": "line", "pattern": "x"}]}) == [
        "CONDUCTOR_RULE_DO"
    ]
    assert problems_of({"rules": [{"name": "a", "about": "task", "pattern": "x"}]}) == [
        "CONDUCTOR_RULE_MEMBER"
    ]


@pytest.mark.parametrize(
    ("kind", "errors", "tries", "name"),
    [
        ("companion", ["no_access"], 1, "passing-trouble"),
        ("companion", ["no_access", "no_access"], 2, "same-error-again"),
        ("companion", ["other", "no_access"], 2, "passing-trouble"),
        ("companion", ["DCF.UnboundArgument"], 1, "something-is-missing"),
        ("companion", ["DCF.PermissionDenied"], 1, "not-allowed"),
        ("companion", ["DCF.LimitExceeded"], 1, "too-hard"),
        ("companion", ["DCF.LimitExceeded"] * 2, 2, "same-error-again"),
        ("workflow", ["no_access"], 1, "workflow-failed"),
    ],
)
def test_which_rule_decides_about_a_failure(
    kind: str, errors: list[str], tries: int, name: str
) -> None:
    rules = ConductorRules.default().about("failure")
    found = (one.name for one in rules if one.fits_failure(kind, errors, tries, Trace()))
    assert next(found) == name


@pytest.mark.parametrize(
    ("errors", "trace", "name"),
    [
        (["no_access"], Trace(effects=("bank:refund",)), "may-have-had-effect"),
        (["DCF.LimitExceeded"], Trace(effects=("bank:refund",)), "may-have-had-effect"),
        (["deadline_passed"], Trace(awaited="bank:refund"), "nobody-decided"),
    ],
)
def test_what_a_task_did_before_it_failed_decides_whether_it_is_tried_again(
    errors: list[str], trace: Trace, name: str
) -> None:
    rules = ConductorRules.default().about("failure")
    assert (
        next(one.name for one in rules if one.fits_failure("companion", errors, 1, trace)) == name
    )


def test_a_rule_of_the_user_tries_again_after_effects_only_where_it_says_so() -> None:
    own = {"name": "mine", "about": "failure", "priority": 99, "do": "retry"}
    trace = Trace(effects=("bank:refund",))
    for when, applies in (({}, False), ({"after_effects": True}, True)):
        rule = ConductorRules.from_document({"rules": [{**own, "when": when}]}).about("failure")[1]
        assert rule.name == "mine"
        assert rule.fits_failure("companion", ["x"], 1, trace) is applies
