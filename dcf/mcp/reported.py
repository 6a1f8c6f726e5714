"""What a worker from outside reports, as the outcome of a Task."""

from __future__ import annotations

from typing import Any, Literal

from dcf.mcp.envelope import Refused
from dcf.workflow import Failed, Outcome, Succeeded

Wanted = Literal["done", "failed", "running", "pending"]

_WORDS: dict[str, Wanted] = {
    "done": "done",
    "success": "done",
    "succeed": "done",
    "succeeded": "done",
    "fail": "failed",
    "failed": "failed",
    "error": "failed",
    "running": "running",
    "pending": "pending",
    "ready": "pending",
}
DEFAULT_ERROR = "States.TaskFailed"


def wanted_of(new_status: str | None) -> Wanted:
    """What an update asks for. Raises Refused."""
    if new_status is None:
        return "running"
    found = _WORDS.get(new_status.strip().lower())
    if found is None:
        hint = "one of done, failed, running, pending"
        if new_status in ("skipped", "cancelled"):
            hint = "only the end of a run makes that of a state; cancel_workflow ends it"
        raise Refused("invalid_new_status", f"{new_status!r} cannot be set", hint=hint)
    return found


def outcome_of(
    wanted: Wanted, output: Any, error_name: str | None, error_message: str | None
) -> Outcome:
    """The outcome of a finished try. ``output`` is the result itself, or the output document of the
    earlier version: an object with a boolean ``ok``. Raises Refused when they contradict."""
    document = output if isinstance(output, dict) and isinstance(output.get("ok"), bool) else None
    metrics = _object(document, "metrics")
    if wanted == "failed":
        error = _object(document, "error")
        name = error_name or _text(error.get("code")) or DEFAULT_ERROR
        cause = error_message or _text(error.get("message")) or _text(_of(document, "summary"))
        return Failed(name, cause or "", metrics)
    if document is None:
        return Succeeded(output)
    if not document["ok"]:
        raise Refused("contradiction", "the status says done and the output says ok: false")
    artifacts = document.get("artifacts")
    return Succeeded(
        document.get("data", {}),
        _text(document.get("summary")) or None,
        list(artifacts) if isinstance(artifacts, list) else [],
        metrics,
    )


def _of(document: dict[str, Any] | None, name: str) -> Any:
    return (document or {}).get(name)


def _object(document: dict[str, Any] | None, name: str) -> dict[str, Any]:
    found = _of(document, name)
    return dict(found) if isinstance(found, dict) else {}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
