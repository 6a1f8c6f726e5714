"""``resources/*`` on the wire: the files of skills, and observations."""

from __future__ import annotations

from typing import Any

from mcp.server import Server
from mcp.server.context import ServerRequestContext
from mcp_types import (
    ListResourcesResult,
    ListResourceTemplatesResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
)

from dcf.mcp.observation_resources import INDEX, SCHEME, TEMPLATE, read_observations
from dcf.mcp.platform import Platform
from dcf.mcp.skill_methods import SKILL_FILE, SkillMethods, add_skills

Context = ServerRequestContext[Any, Any]


def add_resources(server: Server[Any], platform: Platform) -> None:
    """Serve the resources of ``platform`` on ``server``, skills by the methods of their own too."""
    skills = SkillMethods(platform)

    async def listed(_context: Context, params: PaginatedRequestParams) -> ListResourcesResult:
        page = await skills.page_of_resources(params.cursor)
        if params.cursor is None:
            page.resources.insert(0, INDEX)
        return page

    async def templates(
        _context: Context, _params: PaginatedRequestParams
    ) -> ListResourceTemplatesResult:
        return ListResourceTemplatesResult(resource_templates=[SKILL_FILE, TEMPLATE])

    async def read(_context: Context, params: ReadResourceRequestParams) -> ReadResourceResult:
        if params.uri.startswith(SCHEME):
            return await read_observations(platform, params.uri)
        return await skills.read_resource(params.uri)

    server.add_request_handler("resources/list", PaginatedRequestParams, listed)
    server.add_request_handler("resources/templates/list", PaginatedRequestParams, templates)
    server.add_request_handler("resources/read", ReadResourceRequestParams, read)
    add_skills(server, skills)
