"""A planning: what was wanted, answered, drafted, compiled, shown, approved, run and learned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Literal, Self, get_args

from dcf.planner.conversation.question import Question

Status = Literal[
    "asking", "unmatched", "drafting", "invalid", "shown", "approved", "running", "ended"
]
"""``asking``: questions are open; ``unmatched``: nothing stored fits, and no model is there;
``drafting``: a model is at work, or was killed at it; ``invalid``: ``problems`` stand in the way;
``shown``: waits for approval; ``ended``: the run is over."""

STEPS = (
    "conversation",
    "skill discovery",
    "draft",
    "compile",
    "validate",
    "approval",
    "control plane",
    "workers",
    "start",
    "monitor",
    "finalize",
    "audit trail",
    "results",
    "reflection",
)
"""The fourteen steps, in order; a journal names them by number."""


@dataclass(frozen=True, slots=True)
class Planning:
    """All of it is JSON. Times are ms since the epoch.

    ``answers`` are by name of the question; ``clarifications`` are what a model asked, by the same
    names. ``allowed`` says of skills, as ``name`` or ``name@version``, and of ``tier-N`` whether
    the person lets a draft use them; None where they were asked and did not answer that yet.
    ``source`` is what the workflow is made of: ``{kind: procedure | workflow | draft, id, title,
    text, basis, drafted}``, of which ``basis`` is the digest of the wishes it was chosen for, and
    ``drafted`` whether a model wrote it; ``strict`` says that it has to be in our own form, and
    ``answers`` has what is kept of those to the questions of a runbook. ``advised`` names the agent
    whose guidelines count, None for the usual one; with ``explores`` a version of a skill may be
    taken to learn about it, the same one whenever it is compiled with the same measures. ``rounds``
    are the drafts of a model with their problems. ``guidance`` is what guidelines and earlier runs
    said. ``workflow`` and ``input`` are what would run, ``plan`` its steps and gaps,
    ``permissions`` what it may do. ``shown`` is the digest of these; ``approval`` is ``{digest, by,
    at}``. ``kept`` has the digests of the files of all workflows that were approved. ``run`` is
    ``{workflow_id, file, …}``. ``journal`` has ``{step, at, note}``.
    """

    id: str
    created_at: int
    updated_at: int
    revision: int = 0
    status: Status = "asking"
    objective: str = ""
    advised: str | None = None
    explores: bool = True
    answers: Mapping[str, Any] = field(default_factory=dict)
    allowed: Mapping[str, bool | None] = field(default_factory=dict)
    questions: tuple[Question, ...] = ()
    clarifications: Mapping[str, str] = field(default_factory=dict)
    nearest: tuple[Mapping[str, Any], ...] = ()
    source: Mapping[str, Any] | None = None
    rounds: tuple[Mapping[str, Any], ...] = ()
    guidance: Mapping[str, Any] = field(default_factory=dict)
    problems: tuple[Mapping[str, Any], ...] = ()
    workflow: Mapping[str, Any] | None = None
    input: Mapping[str, Any] = field(default_factory=dict)
    plan: Mapping[str, Any] | None = None
    permissions: Mapping[str, Any] | None = None
    shown: str | None = None
    approval: Mapping[str, Any] | None = None
    kept: tuple[str, ...] = ()
    run: Mapping[str, Any] | None = None
    reflection: Mapping[str, Any] | None = None
    journal: tuple[Mapping[str, Any], ...] = ()

    @property
    def workflow_id(self) -> str:
        """The id of its run, and of the workflow that is kept."""
        return f"wf-{self.id}"

    @property
    def is_drafted(self) -> bool:
        """Whether a model wrote the procedure."""
        return self.source is not None and bool(self.source["drafted"])

    def did(self, step: int, note: str, at: int) -> Self:
        """With one more entry in the journal; one that says the same as the last of its step is
        not written twice."""
        last = next((one for one in reversed(self.journal) if one["step"] == step), None)
        if last is not None and last["note"] == note:
            return self
        return replace(self, journal=(*self.journal, {"step": step, "at": at, "note": note}))

    def steps(self) -> list[dict[str, Any]]:
        """The fourteen steps as ``{step, name, done, note}``, each with its newest note."""
        newest = {one["step"]: one["note"] for one in self.journal}
        return [
            {"step": number, "name": name, "done": number in newest, "note": newest.get(number)}
            for number, name in enumerate(STEPS, 1)
        ]

    def to_json(self) -> dict[str, Any]:
        """Every field; ``from_json`` gives it back."""
        known: dict[str, Any] = {one.name: getattr(self, one.name) for one in fields(self)}
        known["questions"] = [asdict(one) for one in self.questions]
        for name in _LISTS:
            known[name] = list(known[name])
        return known

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Self:
        """Raises KeyError, TypeError, ValueError for what is no planning."""
        known = {one.name: document[one.name] for one in fields(cls)}
        _check(known)
        known["questions"] = tuple(
            Question(**{**one, "choices": tuple(one["choices"])}) for one in known["questions"]
        )
        for name in _LISTS:
            known[name] = tuple(known[name])
        return cls(**known)


_LISTS = ("nearest", "rounds", "problems", "kept", "journal")
_SHOWN = ("workflow", "permissions", "shown")


def _check(known: Mapping[str, Any]) -> None:
    """Raises ValueError where a status lacks what it stands for."""
    status = known["status"]
    if status not in get_args(Status):
        raise ValueError(f"there is no status {status!r}")
    wanted: tuple[str, ...] = _SHOWN if status == "shown" else ()
    if status in ("approved", "running", "ended"):
        wanted = (*_SHOWN, "approval")
    missing = [name for name in wanted if not isinstance(known[name], dict | str)]
    if missing:
        raise ValueError(f"it is {status}, and has no {', '.join(missing)}")
