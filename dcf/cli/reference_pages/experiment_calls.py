"""The page of the operations on an experiment's memory."""

from __future__ import annotations

from dcf.cli.reference_pages.markdown import page
from dcf.cli.reference_pages.mcp_tools import arguments

_INTRO = """\
What [`dcf memory serve`](../how-to/branches.md#point-another-program-at-it) offers as MCP tools at
`/mcp` and as `POST /operations/NAME` with the arguments as a JSON object, and Python as methods of
`ExperimentMemory`. What fails answers `{ok: false, error}`, with `hint` where there is one."""


def experiment_page() -> str:
    """The text of ``experiment.md``."""
    from dcf.mcp.experiment import CALLS

    parts = []
    for call in CALLS.values():
        alone = "\n\nOver stdio only." if call.operation.of_caller else ""
        parts += [f"## {call.name}", f"{call.description}{alone}"]
        parts += arguments(call.parameters, call.schema)
    return page("Operations on an experiment's memory", _INTRO, *parts)
