"""Finding skills: what there is, and what fits a wish."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal, cast

from pydantic import Field

from dcf.mcp.envelope import Envelope
from dcf.mcp.help import Obvious, Rare
from dcf.mcp.platform import Platform
from dcf.mcp.roots import confined, readable
from dcf.mcp.tool import tool
from dcf.skills.discovery import Wanted
from dcf.skills.discovery import get_skillset as list_folder
from dcf.skills.discovery import get_skillset_from_catalog as list_catalog

Query = Annotated[str | None, "What it is for: the best come first, with score, why, price."]
Tags = Annotated[list[str] | None, Obvious("With all of these.")]
Risk = Literal["low", "medium", "high"]
Egress = Literal["none", "intranet", "internet"]
MaxRisk = Annotated[Risk | None, Obvious("At most.")]
MaxEgress = Annotated[Egress | None, Obvious("At most.")]
Secrets = Annotated[list[str] | None, "With no other secrets; []: with none."]
Versions = Annotated[str | None, "Range, as ^1.2."]
Limit = Annotated[int | None, Obvious("At most so many."), Field(ge=1)]
Previews = Annotated[bool, "With the begin of the directives."]
PreviewChars = Annotated[int | None, Rare("Its length (400)."), Field(ge=0, le=20_000)]
SchemaPath = Annotated[str | None, Rare("Schema to check by, in generated.")]

Listing = Callable[[Wanted], dict[str, Any]]


class Skillset(Envelope, total=False):
    """The skills there are."""

    available_skills: Annotated[
        list[dict[str, Any]],
        Field(
            description="{manifestId, skillName, skillVersion, description, tags, permissions,"
            " toolNames, directives_preview, aliases, path, errors…}; of a query score, why, price."
        ),
    ]


@tool("planner", "conductor", "strategist", legacy="ok")
async def get_skillset(
    platform: Platform,
    query: Query = None,
    tags: Tags = None,
    max_risk: MaxRisk = None,
    max_egress: MaxEgress = None,
    secrets: Secrets = None,
    versions: Versions = None,
    limit: Limit = None,
    include_previews: Previews = True,
    preview_chars: PreviewChars = None,
    manifests_dir: Annotated[str | None, Rare("Another folder of manifests.")] = None,
    schema_path: SchemaPath = None,
) -> Skillset:
    """Find skills by what they are for, or list all."""
    default = platform.config.generated / "manifests"
    folder = readable(platform, manifests_dir, default, "manifests_dir")
    schema = _schema(platform, schema_path)
    wanted = Wanted(
        query or None, tags or (), max_risk, limit, max_egress, secrets, versions or None
    )
    return await _listed(
        platform,
        wanted,
        lambda asked: list_folder(folder, schema, include_previews, preview_chars, wanted=asked),
        own=folder == default.resolve(),
    )


@tool(legacy="ok")
async def get_skillset_from_catalog(
    platform: Platform,
    query: Annotated[str | None, Rare("What it is for.")] = None,
    tags: Annotated[list[str] | None, Rare("With all of these.")] = None,
    max_risk: Annotated[Risk | None, Rare("At most.")] = None,
    max_egress: Annotated[Egress | None, Rare("At most.")] = None,
    secrets: Annotated[list[str] | None, Rare("With no other secrets.")] = None,
    versions: Annotated[str | None, Rare("Range, as ^1.2.")] = None,
    limit: Annotated[int | None, Rare("At most so many."), Field(ge=1)] = None,
    include_previews: Annotated[bool, Rare("With the begin of the directives.")] = True,
    preview_chars: PreviewChars = None,
    catalog_path: Annotated[str | None, Rare("Another catalog, in generated.")] = None,
    schema_path: SchemaPath = None,
) -> Skillset:
    """The same as get_skillset, with the same parameters, from the catalog."""
    config = platform.config
    default = config.generated / "catalogs" / "skills_catalog.json"
    # A catalog names files to read: only one that was generated is asked.
    catalog = confined(catalog_path, default, (config.generated,), "catalog_path")
    schema = _schema(platform, schema_path)
    wanted = Wanted(
        query or None, tags or (), max_risk, limit, max_egress, secrets, versions or None
    )
    return await _listed(
        platform,
        wanted,
        lambda asked: list_catalog(catalog, schema, include_previews, preview_chars, wanted=asked),
        own=catalog == default.resolve(),
    )


FAMILY = (get_skillset, get_skillset_from_catalog)


async def _listed(platform: Platform, wanted: Wanted, listing: Listing, *, own: bool) -> Skillset:
    """``own``: the skills of the platform, for which it keeps an index."""
    if wanted.query is not None and own:
        found = await platform.index.use(lambda search: listing(replace(wanted, search=search)))
    else:
        found = await asyncio.to_thread(listing, wanted)
    return cast(Skillset, found)


def _schema(platform: Platform, given: str | None) -> Path | None:
    """A schema may refer to others by address: only one that was generated is read."""
    if not given:
        return None
    return confined(given, Path(), (platform.config.generated,), "schema_path")
