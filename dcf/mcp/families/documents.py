"""Documents that agents share beside their runs: JSON in Redis under one key prefix."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any

from pydantic import Field

from dcf.mcp.envelope import Envelope, Refused
from dcf.mcp.help import Obvious, Rare
from dcf.mcp.platform import Platform
from dcf.mcp.roles import Role
from dcf.mcp.tool import tool
from dcf.workspace import Document, WorkspaceError

Key = Annotated[str, Obvious("Key of the document.")]
_FORM = 'As in $.a.b[0]["c d"]; $ is the root.'
Place = Annotated[str, _FORM]
# json_read, which whoever writes sees too, shows the form of a path.
WrittenPlace = Annotated[str, Obvious(_FORM)]
Source = Annotated[str, Obvious("Path of the source.")]
Target = Annotated[str, Obvious("Path of the destination.")]
Overwrite = Annotated[bool, Obvious("Replace what is there.")]
ValueText = Annotated[str, Obvious("The value, JSON text.")]

MOST: tuple[Role, ...] = ("worker", "companion")


class Changed(Envelope, total=False):
    """A document after a change."""

    redis_key: Annotated[str, Field(description="Key of the document.")]
    doc_json: Annotated[str | None, Field(description="The whole document, JSON text.")]


class Read(Envelope, total=False):
    """A value of a document."""

    redis_key: Annotated[str, Field(description="Key of the document.")]
    value_json: Annotated[str | None, Field(description="The value, JSON text.")]


@tool(*MOST, legacy="success")
async def json_create(
    platform: Platform,
    redis_key: Annotated[str, "Key; empty: one is made."] = "",
    initial_json: Annotated[str, Rare("The document, an object.")] = "{}",
    key_prefix: Annotated[str, Rare("Begin of a key that is made.")] = "",
    overwrite: Overwrite = False,
) -> Changed:
    """Create a shared JSON document."""
    async with _about(redis_key, "doc_json"):
        return _changed(
            await platform.documents.create(
                redis_key, initial_json, key_prefix=key_prefix, overwrite=overwrite
            )
        )


@tool("planner", *MOST, "reflector", "strategist", legacy="success")
async def json_read(
    platform: Platform,
    redis_key: Key,
    path: Place = "$",
    pretty: Annotated[bool, Rare("Indent by two.")] = False,
) -> Read:
    """Read a shared JSON document, or the value at a path (null if nothing is there)."""
    async with _about(redis_key, "value_json"):
        value = await platform.documents.read(redis_key, path)
    text = json.dumps(value, ensure_ascii=False, indent=2 if pretty else None)
    return {"redis_key": redis_key, "value_json": text}


@tool(*MOST, legacy="success")
async def json_set(
    platform: Platform, redis_key: Key, path: WrittenPlace, value_json: ValueText
) -> Changed:
    """Put a value at a path; missing objects on the way are made."""
    async with _about(redis_key, "doc_json"):
        return _changed(await platform.documents.set(redis_key, path, value_json))


@tool("worker", "companion", legacy="success")
async def json_append(
    platform: Platform, redis_key: Key, path: WrittenPlace, value_json: ValueText
) -> Changed:
    """Append to the array at a path, made if missing; of an array every element is appended."""
    async with _about(redis_key, "doc_json"):
        return _changed(await platform.documents.append(redis_key, path, value_json))


@tool(legacy="success")
async def json_ensure(
    platform: Platform,
    redis_key: Key,
    path: WrittenPlace,
    default_json: Annotated[str, Obvious("The default, JSON text.")],
) -> Changed:
    """Put a default at a path where nothing or null is."""
    async with _about(redis_key, "doc_json"):
        return _changed(await platform.documents.ensure(redis_key, path, default_json))


@tool(*MOST, legacy="success")
async def json_merge(
    platform: Platform,
    redis_key: Key,
    path: WrittenPlace,
    patch_json: Annotated[str, Obvious("The patch, JSON text.")],
) -> Changed:
    """Apply a merge patch (RFC 7386) at a path; null removes a member."""
    async with _about(redis_key, "doc_json"):
        return _changed(await platform.documents.merge(redis_key, path, patch_json))


@tool("worker", "companion", legacy="success")
async def json_increment(
    platform: Platform,
    redis_key: Key,
    path: WrittenPlace,
    delta: Annotated[str, "A number; integers stay integers."],
) -> Changed:
    """Add to the number at a path, from 0 if missing."""
    async with _about(redis_key, "doc_json"):
        return _changed(await platform.documents.increment(redis_key, path, delta))


@tool(legacy="success")
async def json_copy(
    platform: Platform,
    redis_key: Key,
    from_path: Source,
    to_path: Target,
    overwrite: Overwrite = True,
) -> Changed:
    """Copy a value to another path of the same document."""
    async with _about(redis_key, "doc_json"):
        return _changed(
            await platform.documents.copy(redis_key, from_path, to_path, overwrite=overwrite)
        )


@tool(legacy="success", strict=True)
async def json_move(
    platform: Platform,
    redis_key: Key,
    from_path: Source,
    to_path: Target,
    overwrite: Overwrite = True,
) -> Changed:
    """Move a value to another path of the same document; nothing happens if it is missing."""
    async with _about(redis_key, "doc_json"):
        return _changed(
            await platform.documents.move(redis_key, from_path, to_path, overwrite=overwrite)
        )


@tool("worker", "companion", legacy="success", strict=True)
async def json_delete(platform: Platform, redis_key: Key, path: WrittenPlace) -> Changed:
    """Remove what is at a path; of the root an empty object remains."""
    async with _about(redis_key, "doc_json"):
        return _changed(await platform.documents.delete(redis_key, path))


def _changed(document: Document) -> Changed:
    fields: Changed = {
        "redis_key": document.key,
        "doc_json": json.dumps(document.value, ensure_ascii=False),
    }
    if document.notes:
        fields["warnings"] = list(document.notes)
    return fields


@asynccontextmanager
async def _about(key: str, absent: str) -> AsyncIterator[None]:
    """What is refused says which document it is about, as in the earlier system."""
    try:
        yield
    except WorkspaceError as error:
        echo: dict[str, Any] = {"redis_key": key[:256], absent: None}
        raise Refused(error.code, str(error), **echo) from error


FAMILY = (
    json_create,
    json_read,
    json_set,
    json_append,
    json_ensure,
    json_merge,
    json_increment,
    json_copy,
    json_move,
    json_delete,
)
