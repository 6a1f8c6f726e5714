"""What an event of a run's history says, in one line for people; ``--json`` has its members."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dcf.cli.wording import counted

_VERDICTS = {"allow": "allowed", "deny": "refused", "ask": "waits for approval"}
_LONGEST = 60  # characters of one member
_MOST_NAMED = 5
_ENTRY, _PLAYBOOK = "dcf://memory/", "dcf://playbook/"


def event_line(kind: str, said: Mapping[str, Any]) -> str:
    """The line for an event of type ``kind``: a decision as a sentence, of all others each member
    with its name."""
    if kind == "ToolDecision":
        return _decision(said)
    if kind in ("ApprovalDecided", "ManualTaskDone", "ManualTaskFailed"):
        return _approval(said)
    if kind == "ContextGiven":
        return _context(said)
    if kind == "BundleGiven":
        return _bundle(said)
    return "  ".join(f"{key} {_short(value)}" for key, value in said.items())


def _decision(said: Mapping[str, Any]) -> str:
    """``payments:refund_payment refused: the budget is spent (risk high, try 2)``."""
    verdict = str(said.get("verdict", ""))
    notes = [f"risk {said.get('risk')}"]
    if (said.get("try") or 1) > 1:
        notes.append(f"try {said['try']}")
    head = f"{said.get('tool')} {_VERDICTS.get(verdict, verdict)}"
    return f"{head}: {said.get('reason') or said.get('rule')} ({', '.join(notes)})"


def _context(said: Mapping[str, Any]) -> str:
    """``3 observations of earlier runs, 1 entry of branches, 120 tokens: 21d186d3 29b43615 …``."""
    uris = [str(uri) for uri in said.get("observations", ())]
    seen = [uri.rpartition("/")[2] for uri in uris]
    entries = sum(uri.startswith(_ENTRY) for uri in uris)
    playbooks = sum(uri.startswith(_PLAYBOOK) for uri in uris)
    observations = len(seen) - entries - playbooks
    what = f"{counted(observations, 'observation', 'observations')} of earlier runs"
    if entries:
        what += f", {counted(entries, 'entry', 'entries')} of branches"
    if playbooks:
        what += f", {counted(playbooks, 'playbook', 'playbooks')}"
    return f"{what}, {said.get('tokens')} tokens: {_first(seen)}"


def _bundle(said: Mapping[str, Any]) -> str:
    """``2 of code, 1 of document, 812 of 2,000 tokens, 5 left out: dcf://code/… …``."""
    told = [f"{one['told']} of {kind}" for kind, one in said.get("kinds", {}).items()]
    cited = [str(uri) for uri in said.get("citations", ())]
    numbers = f"{said.get('tokens'):,} of {said.get('budget'):,} tokens"
    head = ", ".join([*told, numbers, f"{said.get('left_out'):,} left out"])
    named = f": {_first(cited)}" if cited else ""
    refused = said.get("not_permitted", ())
    files = [f"not permitted: {_first(refused)}"] if refused else []
    return "; ".join([f"{head}{named}", *files, *said.get("warnings", ())])


def _first(names: Sequence[str]) -> str:
    return " ".join(names[:_MOST_NAMED]) + (" …" if len(names) > _MOST_NAMED else "")


def _approval(said: Mapping[str, Any]) -> str:
    """``approve, over mcp: known customer (call sha256:0f3c…)``; of a manual task with the choice:
    ``done with yes, over cli``."""
    answer = f" with {said['answer']}" if said.get("answer") is not None else ""
    via = f", over {said['via']}" if said.get("via") else ""
    reason = f": {said['reason']}" if said.get("reason") else ""
    digest = f" (call {str(said['digest'])[:15]}…)" if said.get("digest") else ""
    return f"{said.get('decision')}{answer}{via}{reason}{digest}"


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
