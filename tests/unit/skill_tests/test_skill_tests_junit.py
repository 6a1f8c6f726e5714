"""The JUnit report: XML that parses, whatever is in the names."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

from hypothesis import given, settings
from hypothesis import strategies as st

from dcf.skill_tests.junit import junit_xml
from dcf.skill_tests.outcome import Outcome
from dcf.skill_tests.report import Report


def outcome(name: str, status: Any, tool: str = "s:t", *details: str) -> Outcome:
    first = details[0] if details else ""
    return Outcome("case", tool, name, ("k",), status, first, details, {"q": name}, 0.25)


def test_suites_are_tools_and_failures_say_what_differs() -> None:
    report = Report(
        (
            outcome("good", "passed"),
            outcome("bad", "failed", "s:t", "$.a: expected 1, got 2", "$.b: is missing"),
            outcome("hidden", "unreachable", "s:u", "shadowed by case all"),
            outcome("real", "skipped", "s:u", "a real server cannot be made to fail"),
        ),
        (), 1.0, None,
    )  # fmt: skip
    root = ElementTree.fromstring(junit_xml(report))
    assert (root.tag, root.attrib["tests"], root.attrib["failures"]) == ("testsuites", "4", "2")
    first, second = root.findall("testsuite")
    assert (first.attrib["name"], first.attrib["failures"], first.attrib["time"]) == (
        "s:t", "1", "0.500",
    )  # fmt: skip
    failure = first.find("testcase[@name='bad']/failure")
    assert failure is not None
    assert failure.attrib["message"] == "$.a: expected 1, got 2"
    assert "$.b: is missing" in (failure.text or "") and '"q": "bad"' in (failure.text or "")
    assert second.find("testcase[@name='hidden']/failure") is not None
    assert second.find("testcase[@name='real']/skipped") is not None


@settings(deadline=None)
@given(st.text(max_size=20), st.text(max_size=20))
def test_any_text_gives_xml_that_parses(name: str, detail: str) -> None:
    report = Report((outcome(name, "failed", "s:t", detail),), (), 1.0, None)
    root = ElementTree.fromstring(junit_xml(report).encode("utf-8", "surrogatepass"))
    assert len(root.findall("testsuite/testcase")) == 1
