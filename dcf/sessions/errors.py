"""What can go wrong with sessions. A class's docstring is its message."""

from __future__ import annotations

from dcf.problem import ProblemError


class SessionProblem(ProblemError):
    """The session cannot do that."""

    code = "session_problem"

    def __init__(self, **fields: object) -> None:
        super().__init__(**fields)
        # What to do names what there is.
        self.hint = type(self).hint.format(**fields)


class NotOpen(SessionProblem):
    """Session {session_id} is {state}: {what} is not possible."""

    code = "session_not_open"
    hint = "{how}"


class NoConductor(SessionProblem):
    """{conductor_id} does not conduct session {session_id}; {conductors} does."""

    code = "not_the_conductor"
    hint = "`dcf session join`, or say the id of the one who does"


class UnknownTask(SessionProblem):
    """There is no task {task_id} in session {session_id}{nearest}."""

    code = "unknown_task"
    hint = "`dcf session tasks {session_id}` lists them"


class UnknownCompanion(SessionProblem):
    """There is no companion {companion_id} in session {session_id}{nearest}."""

    code = "unknown_companion"
    hint = "those there are: {known}"


class NoSuchSpecialization(SessionProblem):
    """No companion of session {session_id} is specialised in {specialization}{nearest}."""

    code = "no_companion"
    hint = "make one (`dcf session hire {session_id} …`), or ask for one of: {known}"


class CompanionExists(SessionProblem):
    """There is a companion {companion_id} in session {session_id} already."""

    code = "companion_exists"
    hint = "leave the name away, or choose another"


class TaskExists(SessionProblem):
    """Task {task_id} was delegated before, as another task."""

    code = "task_exists"
    hint = "leave the id away, or choose another"


class TaskIdTaken(TaskExists):
    """Task {task_id} cannot have this id: there is a run of it already, of {whose}."""

    code = "task_id_taken"


class TaskOver(SessionProblem):
    """Task {task_id} is {status} already."""

    code = "task_over"
    hint = "delegate it anew"


class DelegationCycle(SessionProblem):
    """{agent} cannot delegate that, it would wait for ever: {way}."""

    code = "delegation_cycle"
    hint = "choose another companion"


class TooMany(SessionProblem):
    """Session {session_id} has {count} {what}; {limit} are the most."""

    code = "session_limit"
    hint = "{how}"


class TooLarge(SessionProblem):
    """{what} has {size} bytes; {limit} are the most."""

    code = "too_large"
    hint = "pass a reference instead, or wait for some to end"


class BadValue(SessionProblem):
    """{what} is {value}, not {wanted}."""

    code = "bad_value"
    hint = "{how}"


class CompanionBusy(SessionProblem):
    """Companion {companion_id} is busy with {task_id}."""

    code = "companion_busy"
    hint = "let the task wait for it, or choose another: {idle}"
