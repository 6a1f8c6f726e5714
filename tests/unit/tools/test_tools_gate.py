"""Which tools may be called: those that a loaded skill declares."""

from __future__ import annotations

import pytest

from dcf.tools import Gate, PermissionDenied

GRANTS = [
    ("web", "search", "research@1.0.0"),
    ("web", "search", "news@2.0.0"),
    ("db", "read", "x@1"),
]


def test_a_declared_tool_passes_and_the_decision_names_the_skills() -> None:
    decision = Gate(GRANTS).decide("web", "search")
    assert decision.allowed
    assert decision.skills == ("research@1.0.0", "news@2.0.0")
    assert decision.reason == "declared by research@1.0.0, news@2.0.0"
    Gate(GRANTS).check("web", "search")


@pytest.mark.parametrize(("server", "tool"), [("db", "search"), ("web", "read"), ("web", "*")])
def test_anything_else_is_denied_with_a_list_of_what_is_allowed(server: str, tool: str) -> None:
    with pytest.raises(PermissionDenied) as denied:
        Gate(GRANTS).check(server, tool)
    assert denied.value.allowed == ("db:read (x@1)", "web:search (research@1.0.0, news@2.0.0)")
    assert "db:read (x@1)" in str(denied.value)
    assert denied.value.code == "DCF.PermissionDenied"


def test_without_skills_nothing_is_allowed() -> None:
    decision = Gate([]).decide("web", "search")
    assert (decision.allowed, decision.reason) == (False, "no skill with tools is loaded")
