"""Skills on the wire: their files as resources, and the methods of the Skills extension (SEP-2640):
``skills/list``, ``skills/get``, ``resources/directory/read``."""

from __future__ import annotations

import asyncio
import base64
import binascii
from collections.abc import Callable
from typing import Any, TypeVar

from mcp.server import Server
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    ListResourcesResult,
    PaginatedRequestParams,
    ReadResourceResult,
    RequestParams,
    ResourceTemplate,
)
from pydantic import TypeAdapter

from dcf.mcp.platform import Platform
from dcf.mcp.skill_shelf import SCHEME, ShelvedSkill, SkillShelf
from dcf.skills import SkillError

EXTENSION = "io.modelcontextprotocol/skills"
Context = ServerRequestContext[Any, Any]
_Found = TypeVar("_Found")

PAGE = 50
"""Skills on a page: a skill is never cut in two."""
_FRESH_MS = 5_000
"""Skills may be generated anew at any time."""
_CACHE = {"ttlMs": _FRESH_MS, "cacheScope": "private"}
_COMPLETE: dict[str, Any] = {"resultType": "complete"}
SKILL_FILE = ResourceTemplate(
    name="skill-file",
    uri_template=f"{SCHEME}{{name}}/{{version}}/{{folder}}/{{+path}}",
    description="A file of a skill; skills/get names all of them.",
)


class UriParams(RequestParams):
    """The parameters of ``skills/get``."""

    uri: str


class DirectoryParams(PaginatedRequestParams):
    """The parameters of ``resources/directory/read``."""

    uri: str


def add_skills(server: Server[Any], methods: SkillMethods) -> None:
    """Serve skills by the methods of the extension, and say so in the capabilities."""
    server.add_request_handler("skills/list", PaginatedRequestParams, methods.list_skills)
    server.add_request_handler("skills/get", UriParams, methods.get_skill)
    server.add_request_handler("resources/directory/read", DirectoryParams, methods.read_directory)
    server.extensions[EXTENSION] = {"directoryRead": True}


class SkillMethods:
    """Everything follows the catalog as it is at each request."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform
        self._shelf: SkillShelf | None = None
        self._one_by_one = asyncio.Lock()

    async def page_of_resources(self, after: str | None) -> ListResourcesResult:
        """The files of the skills on a page; ``after`` is the cursor of the page before."""
        skills, cursor = await self._page(after)
        resources = [resource for skill in skills for resource in skill.resources()]
        document = {"resources": resources, "nextCursor": cursor, **_CACHE}
        return TypeAdapter(ListResourcesResult).validate_python(document)

    async def read_resource(self, uri: str) -> ReadResourceResult:
        """A file of a skill."""
        skill, path = await self._find(uri)
        if path not in skill.folder.files:
            raise _unknown(f"{skill.manifest_id} has no file", uri)
        document = {"contents": [skill.content(path)], **_CACHE}
        return TypeAdapter(ReadResourceResult).validate_python(document)

    async def list_skills(
        self, _context: Context, params: PaginatedRequestParams
    ) -> dict[str, Any]:
        skills, cursor = await self._page(params.cursor)
        following = {"nextCursor": cursor} if cursor else {}
        entries = [skill.entry() for skill in skills]
        return {**_COMPLETE, "skills": entries, **following, **_CACHE}

    async def get_skill(self, _context: Context, params: UriParams) -> dict[str, Any]:
        skill, _ = await self._find(params.uri)
        if params.uri != skill.uri:
            raise _unknown("no skill is served", params.uri)
        return {**_COMPLETE, "skill": skill.entry(), **_CACHE}

    async def read_directory(self, _context: Context, params: DirectoryParams) -> dict[str, Any]:
        skill, path = await self._find(params.uri)
        children = skill.children(path)
        if children is None:
            raise _unknown("no directory", params.uri)
        return {**_COMPLETE, "resources": children}

    async def _find(self, uri: str) -> tuple[ShelvedSkill, str]:
        found = await self._with_shelf(lambda shelf: shelf.find(uri))
        if found is None:
            raise _unknown("no skill is served", uri)
        return found

    async def _page(self, cursor: str | None) -> tuple[list[ShelvedSkill], str | None]:
        """The skills after ``cursor``, and the next one. A cursor names the last skill seen, so
        that skills which come and go meanwhile shift nothing."""
        after = _name_in(cursor) if cursor is not None else ""
        skills, following = await self._with_shelf(lambda shelf: shelf.page(after, PAGE))
        return skills, None if following is None else _cursor(following)

    async def _with_shelf(self, use: Callable[[SkillShelf], _Found]) -> _Found:
        """What ``use`` finds, in a thread: making folders counts tokens."""
        try:
            catalog = await self._platform.catalog()
        except SkillError as error:
            raise MCPError(INTERNAL_ERROR, f"{error.code}: {error}") from None
        async with self._one_by_one:
            if self._shelf is None or self._shelf.catalog is not catalog:
                self._shelf = SkillShelf(catalog)
            return await asyncio.to_thread(use, self._shelf)


def _cursor(name: str) -> str:
    return base64.urlsafe_b64encode(name.encode()).decode()


def _name_in(cursor: str) -> str:
    try:
        return base64.b64decode(cursor.encode(), altchars=b"-_", validate=True).decode()
    except (binascii.Error, ValueError):
        raise MCPError(code=INVALID_PARAMS, message="this cursor is none of this server") from None


def _unknown(what: str, uri: str) -> MCPError:
    shown = uri[:200].encode("utf-8", "backslashreplace").decode()
    message = f"{what} at {shown}: skills/list and resources/list name what there is"
    return MCPError(code=INVALID_PARAMS, message=message, data={"uri": shown})
