"""Observations as resources: an index of the newest, and each at its address."""

from __future__ import annotations

from mcp.shared.exceptions import MCPError
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    TextResourceContents,
)

from dcf.citation import InvalidCitation, parse_citation
from dcf.mcp.observation_view import details_text, index_rows
from dcf.mcp.platform import Platform
from dcf.memory import (
    AmbiguousObservation,
    MemoryProblem,
    ObservationChoice,
    ObservationDesk,
    UnknownObservation,
)

SCHEME = "dcf://"
INDEX = Resource(
    name="observations",
    uri=f"{SCHEME}observations",
    description="What runs and sessions showed: the newest 50 of 90 days, a row for each.",
    mime_type="text/markdown",
)
TEMPLATE = ResourceTemplate(
    name="observation",
    uri_template=f"{SCHEME}observation/{{id}}",
    description="All that an observation says; the index has the ids.",
    mime_type="text/markdown",
)
_HEAD = f"id, type: title (source, age, tokens of all of it), at {SCHEME}observation/ID"


async def read_observations(platform: Platform, uri: str) -> ReadResourceResult:
    """What stands at an address that begins with ``SCHEME``. Raises MCPError."""
    try:
        desk = ObservationDesk((await platform.home()).memory)
        if uri == INDEX.uri:
            page = await desk.newest(ObservationChoice())
            rows = await index_rows(platform, page.observations)
            text = "\n".join([_HEAD, "", *(f"- {row}" for row in rows)]) + "\n"
        else:
            cited = parse_citation(uri)
            if cited.kind != "observation":
                raise _refused(f"{SCHEME}{cited.kind}/… is no resource here", uri)
            (found,) = await desk.details([cited.id])
            text = details_text(found)
    except InvalidCitation as invalid:
        raise _refused(invalid.problems[0].message, uri) from None
    except (UnknownObservation, AmbiguousObservation) as unknown:
        raise _refused(f"{unknown.code}: {unknown}", uri) from None
    except MemoryProblem as problem:
        raise MCPError(INTERNAL_ERROR, f"{problem.code}: {problem}") from None
    contents = TextResourceContents(uri=uri, mime_type="text/markdown", text=text)
    return ReadResourceResult(contents=[contents])


def _refused(why: str, uri: str) -> MCPError:
    shown = uri[:200].encode("utf-8", "backslashreplace").decode()
    message = f"{why}; {INDEX.uri} lists the newest observations, {TEMPLATE.uri_template} is one"
    return MCPError(code=INVALID_PARAMS, message=message, data={"uri": shown})
