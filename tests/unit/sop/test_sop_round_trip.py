"""What is printed reads back as it was, in both forms, whatever words stand in it."""

from __future__ import annotations

import pytest
from campaigns import settled
from hypothesis import HealthCheck, given, settings
from random_procedures import conditions, procedures

from dcf.sop import (
    Sop,
    Step,
    Value,
    print_condition,
    print_markdown,
    print_yaml,
    read_condition,
    to_data,
)
from dcf.sop.findings import Findings
from dcf.sop.markdown.document import read_markdown
from dcf.sop.yaml_form.document import read_yaml_form, validator

pytestmark = settled(
    "dcf/problem.py", "dcf/skills", "dcf/sop", "requirements/dev.txt", "tests/unit/sop"
)

_SLOW = settings(
    max_examples=50,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@given(procedures)
@_SLOW
def test_markdown_reads_back_as_the_same_procedure(sop: Sop) -> None:
    findings = Findings("")
    text = print_markdown(sop)
    read = read_markdown(text, findings)
    assert [one for one in findings.problems if one.is_error] == [], text
    assert read == sop, text


@given(procedures)
@_SLOW
def test_yaml_fits_the_schema_and_reads_back_as_the_same_procedure(sop: Sop) -> None:
    findings = Findings("")
    validator().validate(to_data(sop))
    text = print_yaml(sop)
    read = read_yaml_form(text, findings)
    assert [one for one in findings.problems if one.is_error] == [], text
    assert read == sop, text


@pytest.mark.parametrize("text", ["\x85", "a\x85 b", "\u2028", " \u2029\n", "\ufeff", "a\tb", "\r"])
def test_characters_that_break_lines_in_yaml_stay_what_they_are(text: str) -> None:
    sop = Sop("A", "B", (Step("1", "C"),), inputs=(Value("d", enum=(text,), default=[text]),))
    findings = Findings("")
    assert read_yaml_form(print_yaml(sop), findings) == sop
    assert findings.problems == []


@given(conditions)
@settings(max_examples=150, deadline=None)
def test_a_condition_reads_back_as_the_same_condition(condition: object) -> None:
    assert read_condition(print_condition(condition)) == condition  # type: ignore[arg-type]
