"""The report as JUnit XML, which CI systems read."""

from __future__ import annotations

import json
import re
from itertools import groupby
from xml.etree import ElementTree

from dcf.skill_tests.outcome import Outcome
from dcf.skill_tests.report import Report

# What XML 1.0 cannot hold, not even escaped.
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit_xml(report: Report) -> str:
    """One test suite for each tool, one test case for each check; UTF-8, with its declaration."""
    root = ElementTree.Element(
        "testsuites", {"name": "dcf skills test", **_counted(report.outcomes)}
    )
    for tool, group in groupby(report.outcomes, key=lambda outcome: outcome.tool):
        outcomes = tuple(group)
        suite = ElementTree.SubElement(
            root, "testsuite", {"name": _clean(tool), **_counted(outcomes)}
        )
        for outcome in outcomes:
            _add(suite, outcome)
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _counted(outcomes: tuple[Outcome, ...]) -> dict[str, str]:
    return {
        "tests": str(len(outcomes)),
        "failures": str(sum(outcome.status in ("failed", "unreachable") for outcome in outcomes)),
        "errors": "0",
        "skipped": str(sum(outcome.status == "skipped" for outcome in outcomes)),
        "time": f"{sum(outcome.seconds for outcome in outcomes):.3f}",
    }


def _add(suite: ElementTree.Element, outcome: Outcome) -> None:
    entry = ElementTree.SubElement(
        suite,
        "testcase",
        name=_clean(outcome.name),
        classname=_clean(outcome.tool.replace(":", ".")),
        time=f"{outcome.seconds:.3f}",
    )
    if outcome.status == "skipped":
        ElementTree.SubElement(entry, "skipped", message=_clean(outcome.message))
    elif not outcome.ok:
        fault = ElementTree.SubElement(
            entry, "failure", message=_clean(outcome.message), type=outcome.status
        )
        called = json.dumps(outcome.arguments, ensure_ascii=False)
        fault.text = _clean("\n".join([*outcome.details, f"called with {called}"]))


def _clean(text: str) -> str:
    return _FORBIDDEN.sub("\ufffd", text)
