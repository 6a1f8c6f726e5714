"""What a conductor by rule looks up on the platform: skills for a text, workflows by name."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any

from dcf.mcp.envelope import Refused
from dcf.mcp.platform import Platform
from dcf.mcp.roots import confined
from dcf.search import EmptyQuery
from dcf.sessions.conductor import Discover, Workflows

_SUFFIX = ".json"


def discover_for(platform: Platform) -> Discover:
    """The search in the generated skills, with its index."""

    async def discover(text: str, limit: int) -> Sequence[tuple[str, float]]:
        catalog = await platform.catalog()
        try:
            hits = await platform.index.use(lambda search: search.search(catalog, text, limit))
        except EmptyQuery:
            return []
        return [(hit.manifest.manifest_id, hit.score) for hit in hits]

    return discover


def workflows_for(platform: Platform) -> Workflows:
    """Documents of files under the folder of workflows, by their paths, with or without
    ``.json``."""

    async def find(name: str) -> Mapping[str, Any]:
        folder = platform.config.workflows
        try:
            file = confined(
                name if name.endswith(_SUFFIX) else f"{name}{_SUFFIX}",
                folder,
                (folder,),
                "workflow",
            )
        except Refused as refused:
            raise LookupError(refused.message) from None
        text = await asyncio.to_thread(file.read_text, encoding="utf-8")
        document = json.loads(text)
        if not isinstance(document, dict):
            raise LookupError(f"{file.name} holds no workflow")
        return document

    return find
