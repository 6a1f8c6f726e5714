"""Files under the workspace of the server, and nothing outside of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Annotated, Any, TypeVar

from pydantic import Field

from dcf.mcp.envelope import Envelope, Refused
from dcf.mcp.help import Obvious, Rare
from dcf.mcp.platform import Platform
from dcf.mcp.roles import Role
from dcf.mcp.tool import tool
from dcf.workspace import FileRefused, Files

T = TypeVar("T")
MOST: tuple[Role, ...] = ("planner", "worker", "companion")
PathText = Annotated[str, Obvious("Path in the workspace.")]
Encoding = Annotated[str, Obvious("Text encoding.")]
Parents = Annotated[bool, Obvious("Make missing folders.")]


class Directory(Envelope, total=False):
    """What is in a folder."""

    path: Annotated[str, Field(description="The folder.")]
    entries: Annotated[
        list[dict[str, Any]],
        Field(
            description="{name, path, type (file, directory, symlink, other), size (bytes),"
            " modified (ISO 8601)}, by name."
        ),
    ]
    truncated: Annotated[bool, Field(description="Whether there are more.")]


class FileContent(Envelope, total=False):
    """A part of a file."""

    path: Annotated[str, Field(description="The file.")]
    content: Annotated[str, Field(description="The text.")]
    bytes_read: Annotated[int, Field(description="How many bytes that is.")]
    size: Annotated[int, Field(description="Bytes of the whole file.")]
    truncated: Annotated[bool, Field(description="Whether more follows.")]


class FileWritten(Envelope, total=False):
    """What was written."""

    path: Annotated[str, Field(description="The file.")]
    bytes_written: Annotated[int, Field(description="How many bytes.")]
    mode: Annotated[str, Field(description="append or overwrite.")]


class DirectoryCreated(Envelope, total=False):
    """A folder that is there."""

    path: Annotated[str, Field(description="The folder.")]
    created: Annotated[bool, Field(description="False if it was there before.")]


class PathDeleted(Envelope, total=False):
    """What is gone."""

    path: Annotated[str, Field(description="What it was.")]
    removed: Annotated[bool, Field(description="Whether it is gone.")]


class PathMoved(Envelope, total=False):
    """What has another place."""

    source: Annotated[str, Field(description="Where it was.")]
    destination: Annotated[str, Field(description="Where it is.")]


@tool("worker", "companion")
async def list_directory(
    platform: Platform,
    path: PathText = ".",
    recursive: Annotated[bool, Obvious("With what is below.")] = False,
    include_hidden: Annotated[bool, Rare("With names that begin with a dot.")] = False,
    max_entries: Annotated[int | None, Rare("At most so many (1,000).")] = None,
) -> Directory:
    """List a folder of the workspace."""
    found = await _do(
        platform,
        lambda files: files.list_directory(
            path, recursive=recursive, include_hidden=include_hidden, max_entries=max_entries
        ),
        path=path,
        entries=[],
        truncated=False,
    )
    entries = [
        {
            "name": entry.name,
            "path": entry.path,
            "type": entry.type,
            "size": entry.size,
            "modified": entry.modified,
        }
        for entry in found.entries
    ]
    return {"path": found.path, "entries": entries, "truncated": found.truncated}


@tool(*MOST)
async def read_file(
    platform: Platform,
    path: PathText,
    offset: Annotated[int, "First byte."] = 0,
    length: Annotated[int | None, "Bytes, at most 1 MiB."] = None,
    encoding: Encoding = "utf-8",
) -> FileContent:
    """Read a text file of the workspace."""
    found = await _do(
        platform,
        lambda files: files.read_file(path, offset=offset, length=length, encoding=encoding),
        path=path,
    )
    return {
        "path": found.path,
        "content": found.content,
        "bytes_read": found.bytes_read,
        "size": found.size,
        "truncated": found.truncated,
    }


@tool(*MOST, strict=True)
async def write_file(
    platform: Platform,
    path: PathText,
    content: Annotated[str, "The text, at most 1 MiB."],
    append: Annotated[bool, Obvious("Add at the end.")] = False,
    encoding: Encoding = "utf-8",
    create_parents: Parents = True,
) -> FileWritten:
    """Write a text file of the workspace, whole or at its end."""
    done = await _do(
        platform,
        lambda files: files.write_file(
            path, content, append=append, encoding=encoding, create_parents=create_parents
        ),
        path=path,
        bytes_written=0,
    )
    return {"path": done.path, "bytes_written": done.bytes_written, "mode": done.mode}


@tool()
async def create_directory(
    platform: Platform,
    path: PathText,
    parents: Parents = True,
    exist_ok: Annotated[bool, Rare("It may be there.")] = True,
) -> DirectoryCreated:
    """Make a folder in the workspace."""
    done = await _do(
        platform,
        lambda files: files.create_directory(path, parents=parents, exist_ok=exist_ok),
        path=path,
        created=False,
    )
    return {"path": done.path, "created": done.created}


@tool(strict=True)
async def delete_path(
    platform: Platform,
    path: PathText,
    recursive: Annotated[bool, Obvious("A folder with all in it.")] = False,
) -> PathDeleted:
    """Delete a file, a link or a folder of the workspace."""
    done = await _do(
        platform,
        lambda files: files.delete_path(path, recursive=recursive),
        path=path,
        removed=False,
    )
    return {"path": done.path, "removed": done.removed}


@tool(strict=True)
async def move_path(
    platform: Platform,
    source: PathText,
    destination: PathText,
    overwrite: Annotated[bool, "Replace what is there, folders too."] = False,
    create_parents: Parents = True,
) -> PathMoved:
    """Move a file or folder within the workspace."""
    done = await _do(
        platform,
        lambda files: files.move_path(
            source, destination, overwrite=overwrite, create_parents=create_parents
        ),
        source=source,
        destination=destination,
    )
    return {"source": done.source, "destination": done.destination}


FAMILY = (list_directory, read_file, write_file, create_directory, delete_path, move_path)


async def _do(platform: Platform, operation: Callable[[Files], T], **echo: Any) -> T:
    """``operation`` in a thread. What is refused says of which path, as in the earlier system."""
    try:
        return await asyncio.to_thread(lambda: operation(platform.files))
    except FileRefused as error:
        raise Refused(error.code, str(error), **echo) from error
