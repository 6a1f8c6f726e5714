"""What can go wrong with guidance. A class's docstring is its message."""

from __future__ import annotations

from dcf.sessions.errors import SessionProblem


class OneAgentTwice(SessionProblem):
    """{agent} cannot advise itself."""

    code = "one_agent_twice"
    hint = "register another agent as the Strategist"


class UnreadableGuidelines(SessionProblem):
    """The guidelines of {conductor_id} cannot be read: {why}."""

    code = "guidelines_unreadable"
    hint = "`update_conductor_guidelines` with `clear_guidelines` begins anew"
