"""Skills of an agent: loaded and unloaded as one change, counted, on record.

An agent is an id with a record in the control plane (``control_plane.AgentStore``). ``load_skill``
and ``unload_skill`` change it, ``agent_grants`` says what it may call, ``AgentLedger`` keeps
account of the calls, and ``decide_agent_approval`` answers for those that wait for a person.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.agents.loading.agent_ledger import AgentLedger
    from dcf.agents.loading.approvals import (
        AgentApproval,
        decide_agent_approval,
        pending_agent_approvals,
    )
    from dcf.agents.loading.attached import attach_loaded, tool_names
    from dcf.agents.loading.checks import LoadChecks
    from dcf.agents.loading.errors import (
        AgentApprovalError,
        ApprovalSettled,
        LoadRefused,
        NoApprovalPending,
        NotAnApprover,
        QuestionChanged,
        SeveralPending,
    )
    from dcf.agents.loading.grants import grants_of, recorded_grants
    from dcf.agents.loading.library import MANIFEST_LIMIT, SkillLibrary
    from dcf.agents.loading.load import load_skill
    from dcf.agents.loading.lock import lock_fault
    from dcf.agents.loading.named_call import CallUnderWay, NamedCallLedger, NamedOtherwise
    from dcf.agents.loading.removal import delete_agent
    from dcf.agents.loading.result import Loaded, Unloaded
    from dcf.agents.loading.unload import agent_grants, loaded_skills, unload_skill
    from dcf.agents.loading.usage import BUDGET, USAGE, Usage
else:
    export_late(__name__)

__all__ = [
    "BUDGET",
    "MANIFEST_LIMIT",
    "USAGE",
    "AgentApproval",
    "AgentApprovalError",
    "AgentLedger",
    "ApprovalSettled",
    "CallUnderWay",
    "LoadChecks",
    "LoadRefused",
    "Loaded",
    "NamedCallLedger",
    "NamedOtherwise",
    "NoApprovalPending",
    "NotAnApprover",
    "QuestionChanged",
    "SeveralPending",
    "SkillLibrary",
    "Unloaded",
    "Usage",
    "agent_grants",
    "attach_loaded",
    "decide_agent_approval",
    "delete_agent",
    "grants_of",
    "load_skill",
    "loaded_skills",
    "lock_fault",
    "pending_agent_approvals",
    "recorded_grants",
    "tool_names",
    "unload_skill",
]
