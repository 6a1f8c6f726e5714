"""What can go wrong with a Letta server, beyond what can go wrong with any memory."""

from __future__ import annotations

from collections.abc import Sequence

from dcf.memory import MemoryProblem
from dcf.problem import Problem
from dcf_agents.installation import extra_command
from dcf_agents.shipped import docs_page

_MOST_NAMED = 20


class LettaSettings(MemoryProblem):
    """The runtime cannot be opened: {text}."""

    code = "letta_settings"

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        self.hint = "; ".join(problem.hint for problem in problems if problem.hint)
        super().__init__(text="; ".join(problem.message for problem in problems))


def no_model(what: str, listed: Sequence[str]) -> Problem:
    """The problem that ``what`` says, with the models that there are."""
    there = ", ".join(listed[:_MOST_NAMED]) or "none"
    hint = "set DCF_LETTA_MODEL, or the agent's model, to one that it has"
    return Problem("letta_model", f"{what}; it has: {there}", hint=hint)


class LettaMissing(MemoryProblem):
    """Agents of a Letta server need the package letta-client, which is not installed."""

    code = "letta_missing"

    def __init__(self) -> None:
        self.hint = extra_command("letta")
        super().__init__()


class LettaUnreachable(MemoryProblem):
    """The Letta server at {url} does not answer: {cause}."""

    code = "letta_unreachable"
    hint = "start it (docker compose --profile letta up -d), or mend DCF_LETTA_URL"


class LettaDenied(MemoryProblem):
    """The Letta server at {url} refuses this password (HTTP {status})."""

    code = "letta_denied"
    hint = "set DCF_LETTA_TOKEN to the server's LETTA_SERVER_PASSWORD, or to your API key"


class LettaFailed(MemoryProblem):
    """The Letta server at {url} failed (HTTP {status}): {cause}."""

    code = "letta_failed"
    hint = (
        f"its log says more; only the versions that {docs_page('how-to/runtimes.md')} names are "
        "tested"
    )
