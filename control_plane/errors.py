"""What can go wrong in the control plane. A class's docstring is its default message.

Expected races (somebody else holds the lease, the state is not ready) are results, not errors.
"""

from __future__ import annotations


class ControlPlaneError(Exception):
    """The control plane failed."""

    code = "control_plane_error"

    def __init__(self, message: str | None = None, **fields: object) -> None:
        self.fields = fields
        text = message or (type(self).__doc__ or "").strip()
        super().__init__(text.format(**fields) if fields and message is None else text)


class Disconnected(ControlPlaneError):
    """Redis is not reachable just now; the call may be repeated."""

    code = "disconnected"


class RefusedForNow(Disconnected):
    """Redis refuses for a while; the call did nothing and may be repeated."""

    # Fields: refusal (OOM), scope (writes or commands), reason and hint for people, and answer,
    # what Redis said.
    code = "redis_refuses"


class ServerError(ControlPlaneError):
    """Redis refused a command."""

    code = "server_error"


class RefusedForGood(ServerError):
    """Redis refuses to work for DCF until somebody changes something."""

    # Fields: refusal (NOAUTH), reason, hint and answer.
    code = "redis_unusable"


class WrongType(ServerError):
    """A key of DCF's holds something else."""

    # Field: hint.
    code = "wrong_type"


class NotText(ServerError):
    """Redis holds something that is no text in UTF-8: {why}."""

    code = "not_text"


class BadDocument(ControlPlaneError):
    """The document cannot be stored: {reason}."""

    code = "bad_document"


class PayloadTooLarge(BadDocument):
    """The payload has {size} bytes; at most {limit} can be stored."""

    code = "payload_too_large"


class UnknownRun(ControlPlaneError):
    """There is no run {workflow_id}."""

    code = "unknown_run"


class BadPlace(ControlPlaneError):
    """{after} is neither the id of a run nor the next_after of a list."""

    code = "bad_place"


class UnknownState(ControlPlaneError):
    """Run {workflow_id} has no document for {path}."""

    code = "unknown_state"


class RunExists(ControlPlaneError):
    """Run {workflow_id} exists already, with another definition or input."""

    code = "run_exists"


class BadName(ControlPlaneError):
    """{value!r} cannot be a {what}: {rule}."""

    code = "bad_name"


class BrokenRun(ControlPlaneError):
    """The document of run {workflow_id} is broken: {why}."""

    code = "broken_run"

    @property
    def hint(self) -> str:
        """What may be done about it, for people."""
        name = self.fields["workflow_id"]
        return f"`dcf runs remove {name} --broken` removes it with all that belongs to it"


class DamagedRun(BrokenRun):
    """Run {workflow_id} is damaged: {why}."""

    code = "damaged_run"


class CorruptHistory(ControlPlaneError):
    """Entry {entry} of the history of {workflow_id} does not match its digest."""

    code = "corrupt_history"


class MissingBlob(ControlPlaneError):
    """Run {workflow_id} refers to the blob {key}, which is not stored."""

    # Field: digest.
    code = "missing_blob"
    hint = "bring that key back from a backup of Redis, or submit the run anew"


class DamagedBlob(MissingBlob):
    """Run {workflow_id} refers to the blob {key}, which is stored but {why}."""

    code = "damaged_blob"


class UnknownRecord(ControlPlaneError):
    """There is no such record."""

    code = "unknown_record"


class RecordExists(ControlPlaneError):
    """There is such a record already."""

    code = "record_exists"


class RecordBusy(ControlPlaneError):
    """The record was changed by others each time one change was tried."""

    code = "record_busy"


class RecordFull(ControlPlaneError):
    """The history of the record holds as many events as are kept."""

    code = "record_full"


class NameTaken(ControlPlaneError):
    """The name {name!r} belongs to {kind} {id}."""

    code = "name_taken"


class UnknownAgent(UnknownRecord):
    """There is no agent {agent}."""

    code = "unknown_agent"


class AgentExists(RecordExists):
    """There is an agent {agent} already."""

    code = "agent_exists"


class AgentBusy(RecordBusy):
    """Agent {agent} was changed by others {attempts} times while one change was tried."""

    code = "agent_busy"


class UnknownSession(UnknownRecord):
    """There is no session {session}."""

    code = "unknown_session"


class SessionExists(RecordExists):
    """There is a session {session} already."""

    code = "session_exists"


class SessionBusy(RecordBusy):
    """Session {session} was changed by others {attempts} times while one change was tried."""

    code = "session_busy"


class SessionFull(RecordFull):
    """Session {session} has {limit} events, the most it may have; finalize it and begin another."""

    code = "session_full"


class UnknownConductor(UnknownRecord):
    """There is no conductor {conductor}."""

    code = "unknown_conductor"


class ConductorExists(RecordExists):
    """There is a conductor {conductor} already."""

    code = "conductor_exists"


class ConductorBusy(RecordBusy):
    """Conductor {conductor} was changed by others {attempts} times while one change was tried."""

    code = "conductor_busy"


class OutboxFull(ControlPlaneError):
    """The outbox holds {limit} records that the graph does not have; write them out first."""

    code = "outbox_full"
