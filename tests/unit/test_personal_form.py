"""Only what was asked for is taken out, and only what passes its own checks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcf.personal_form import (
    PERSONAL_RULES,
    PersonalSetting,
    personal_rule_problems,
    value_without_personal,
    without_personal,
)


@pytest.mark.parametrize(
    ("rule", "text", "expected"),
    [
        ("email", "ask ann.o'neil+x@mail.example.", "ask #."),
        ("phone", "call +49 (0)30 901820 now", "call # now"),
        # Numbers that card schemes, banks and the Social Security Administration publish.
        ("credit_card", "card 4111 1111 1111 1111.", "card #."),
        ("credit_card", "card 4111 1111 1111 1112.", "card 4111 1111 1111 1112."),
        ("iban", "to DE89 3704 0044 0532 0130 00", "to #"),
        ("iban", "to DE88 3704 0044 0532 0130 00", "to DE88 3704 0044 0532 0130 00"),
        ("us_ssn", "number 078-05-1120, filed", "number #, filed"),
        ("us_ssn", "number 078 05 1120", "number #"),
        ("us_ssn", "000-12-3456 666-12-3456 900-12-3456", "000-12-3456 666-12-3456 900-12-3456"),
        ("us_ssn", "123-00-4567 123-45-0000 123-45 6789", "123-00-4567 123-45-0000 123-45 6789"),
        ("ipv4", "from 203.0.113.7:443", "from #:443"),
        ("ipv4", "at 127.0.0.1 and 0.0.0.0", "at 127.0.0.1 and 0.0.0.0"),
        ("ipv4", "256.1.1.1 and 1.2.3.4.5", "256.1.1.1 and 1.2.3.4.5"),
    ],
)
def test_a_rule_takes_out_what_it_says(rule: str, text: str, expected: str) -> None:
    assert without_personal(text, [rule], lambda _: "#") == expected
    others = [name for name in PERSONAL_RULES if name != rule and name != "phone"]
    assert without_personal(text, others, lambda _: "#") == text


@given(st.text())
def test_nothing_is_taken_out_unless_it_is_asked_for(text: str) -> None:
    assert without_personal(f"{text} ann@mail.example", []) == f"{text} ann@mail.example"


@given(st.text())
def test_taking_out_twice_is_taking_out_once(text: str) -> None:
    once = without_personal(f"{text} 203.0.113.7 ann@mail.example", PERSONAL_RULES)
    assert without_personal(once, PERSONAL_RULES) == once


def test_json_stays_json_and_numbers_are_looked_at() -> None:
    value = {"card": 4111111111111111, "by": ["ann@mail.example", True], "n": 4.5}
    expected = {"card": "[redacted: credit_card]", "by": ["[redacted: email]", True], "n": 4.5}
    assert value_without_personal(value, PERSONAL_RULES) == expected
    written = without_personal(json.dumps(value, indent=1), PERSONAL_RULES)
    assert written == json.dumps(expected, indent=1)


def test_every_name_that_is_no_rule_is_told() -> None:
    problems = personal_rule_problems(["email", "fax", 7], "/redact")
    assert [problem.path for problem in problems] == ["/redact/1", "/redact/2"]
    assert all("credit_card" in problem.hint for problem in problems)
    assert personal_rule_problems(PERSONAL_RULES) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ANN\u00a0\n lee and Ann", "# and #"),
        ("Annette Leeds, ann.lee", "Annette Leeds, #.lee"),
        ("José o'Neil (JOSÉ O'NEIL)", "# (#)"),
        ("O.Neil, a+b", "O.Neil, #"),
        ('{"by": "Ann Lee", "n": 1}', '{"by": "#", "n": 1}'),
    ],
)
def test_persons_are_found_as_whole_words_in_any_case(text: str, expected: str) -> None:
    setting = PersonalSetting(persons=("Ann", "Ann Lee", "José  O'Neil", "a+b", " "))
    assert setting.without(text).replace("[redacted: name]", "#") == expected


def test_the_setting_names_all_that_is_wrong(tmp_path: Path) -> None:
    names = tmp_path / "names"
    names.write_text("\ufeff# staff\n\nAnn Lee\r\n", encoding="utf-8")
    env = {"DCF_PII": "email, phone", "DCF_PII_NAMES": str(names)}
    assert PersonalSetting.from_env(env) == (PersonalSetting(("email", "phone"), ("Ann Lee",)), [])
    wrong = {"DCF_PII": "shoe,phone,hat", "DCF_PII_NAMES": str(tmp_path)}
    _, problems = PersonalSetting.from_env(wrong)
    assert [one.file for one in problems] == ["DCF_PII", "DCF_PII", "DCF_PII_NAMES"]
    assert PersonalSetting.from_env({}) == (PersonalSetting(), [])
