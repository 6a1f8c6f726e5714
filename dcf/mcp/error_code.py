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
    "unknown_task": "list_session_tasks has the ids",
    "redis_refuses": "say the same again in a moment; what was done is not done twice",
    "not_the_conductor": "conductor_id is who the session names, see read_session",
    "memory_unknown_block": "list_memory_blocks has the labels and ids",
    "memory_no_such_block": "it may have been deleted; read_memory_history says when and by whom",
    "memory_unknown_passage": "archival_memory_list has the passages; one that was deleted is in"
    " read_memory_history",
    "memory_rollback_refused": "roll back what came in between first; read_memory_history has it",
    "DCF.BudgetExhausted": "read_budget says what is left; who has the approval token gives more"
    " with set_budget",
    "DCF.PriceUnknown": "name the price in the file DCF_MODEL_PRICES of the server, or set no limit"
    " of money",
    "DCF.ModelNotConfigured": "DCF_MODEL, and the provider's key, are set where the server is"
    " started; create_agent takes a model for one agent",
    "DCF.LimitExceeded": "one turn took too many steps: ask for less at once",
}
"""What would help, where the error does not say it itself."""
_SAME = {"memory_unknown_agent": "unknown_agent", "memory_agent_exists": "name_taken"}
"""What the memory says otherwise than the control plane, and means the same."""
_UNKNOWN_SKILL = frozenset({"SKILL_UNKNOWN", "SKILL_LOAD_UNKNOWN_SKILL"})


def hint_of(error: str, own: str = "") -> str:
    """What would help with ``error`` (``code: message``): what the error says itself (``own``),
    unless that is a command where clients have a tool for it."""
    ours = HINTS.get(error.partition(":")[0], "")
    is_command = "`dcf memory" in own or "`dcf session" in own
    return ours if ours and (not own or is_command) else own


def code_of(code: str, problems: Collection[Problem]) -> str:
    """The code in an answer: lower case with underscores, or an error name of a run
    (``DCF.ToolError``). A skill that there is not is ``unknown_skill`` wherever it is named."""
    if code in _UNKNOWN_SKILL:
        return "unknown_skill"
    if problems and {problem.code for problem in problems} <= _UNKNOWN_SKILL:
        return "unknown_skill"
    return code.lower() if code.isupper() else _SAME.get(code, code)
