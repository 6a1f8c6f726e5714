"""What can go wrong when skills are loaded into an agent, or when its calls are decided on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from dcf.problem import Problem
from dcf.skills import SkillError


class LoadRefused(SkillError):
    """A skill was not loaded, and nothing has changed. ``problems`` has every reason."""

    code = "SKILL_LOAD_REFUSED"

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = list(problems)
        super().__init__("\n".join(map(str, problems)))


class AgentApprovalError(Exception):
    """A decision on an agent's call could not be taken. ``code`` is stable."""

    code: ClassVar[str] = "approval_error"


class NoApprovalPending(AgentApprovalError):
    """Nothing waits for a decision there."""

    code: ClassVar[str] = "no_approval_pending"


class SeveralPending(AgentApprovalError):
    """Several calls wait; the decision must name one. ``ids`` are theirs."""

    code: ClassVar[str] = "several_pending"

    def __init__(self, agent_id: str, ids: Sequence[str]) -> None:
        self.ids = tuple(ids)
        super().__init__(f"several calls of {agent_id} wait; name one of {', '.join(ids)}")


class NotAnApprover(AgentApprovalError):
    """Somebody else is asked. ``people`` may decide."""

    code: ClassVar[str] = "not_an_approver"

    def __init__(self, name: str, people: Sequence[str]) -> None:
        self.people = tuple(people)
        super().__init__(f"{name} is not asked; {', '.join(people) or 'nobody'} may decide")


class QuestionChanged(AgentApprovalError):
    """Another call waits there than the one that was seen; ``digest`` is its."""

    code: ClassVar[str] = "question_changed"

    def __init__(self, where: str, digest: str) -> None:
        self.digest = digest
        super().__init__(f"{where} asks for another call: digest {digest}")


class ApprovalSettled(AgentApprovalError):
    """The call was decided on before, or its time is over."""

    code: ClassVar[str] = "already_settled"
