"""What would help against a failure that has to do with how DCF is set up."""

from __future__ import annotations

from pathlib import Path

from dcf_agents.shipped import docs_page

_READER, _NO_HANDLER = "States.ItemReaderFailed", "DCF.NoHandler"
_WORKER_LOST = "DCF.WorkerLost"
_MODEL = ("DCF.ModelNotConfigured", "DCF.ModelRefused", "DCF.ModelUnavailable")


def run_hint(error: str | None, objects: Path) -> str:
    """About a run that failed with this error name; "" where there is nothing to say. Its workers
    read objects below ``objects``, if their settings are those of this command."""
    if error == _READER:
        return (
            f"objects are looked for as BUCKET/KEY in {objects}; DCF_OBJECTS names another folder "
            "for the workers"
        )
    if error == _NO_HANDLER:
        return (
            "run workers that have it, `dcf worker --handlers MODULE:NAME` "
            f"({docs_page('how-to/handlers.md')}), or give the Task an AgentBinding"
        )
    if error == _WORKER_LOST:
        return (
            "mend what kills the workers, with the cause and their logs, then `dcf redrive ID`; or "
            "give it up, with `dcf runs export ID` and `dcf runs remove ID` "
            f"({docs_page('how-to/workers.md')})"
        )
    if error in _MODEL:
        return f"`dcf doctor` looks at the settings of models ({docs_page('how-to/models.md')})"
    return ""


def trial_hint(error: str | None, objects: Path | None) -> str:
    """The same about `dcf asl run`, whose objects are those of its option ``--objects``."""
    if error != _READER:
        return ""
    if objects is None:
        return (
            "there are no objects: name a folder that has BUCKET/KEY in it with --objects DIR "
            "(workers take DCF_OBJECTS)"
        )
    return f"objects were looked for as BUCKET/KEY in {objects.resolve()}, as --objects says"
