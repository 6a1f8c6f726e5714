"""What clients match errors by, and what helps with those that every client meets."""

from __future__ import annotations

from collections.abc import Collection

from dcf.problem import Problem

HINTS = {
    "unknown_agent": "create_agent makes one, list_agents has those there are; whoever takes a"
    " state with acquire_state_lease has one",
    "unknown_run": "list_runs has the runs",
    "unknown_skill": "get_skillset has the skills",
    "unknown_state": "read_workflow_control_plane names the states",
}
"""What would help, where the error does not say it itself."""
_UNKNOWN_SKILL = frozenset({"SKILL_UNKNOWN", "SKILL_LOAD_UNKNOWN_SKILL"})


def code_of(code: str, problems: Collection[Problem]) -> str:
    """The code in an answer: lower case with underscores, or an error name of a run
    (``DCF.ToolError``). A skill that there is not is ``unknown_skill`` wherever it is named."""
    if code in _UNKNOWN_SKILL:
        return "unknown_skill"
    if problems and {problem.code for problem in problems} <= _UNKNOWN_SKILL:
        return "unknown_skill"
    return code.lower() if code.isupper() else code
