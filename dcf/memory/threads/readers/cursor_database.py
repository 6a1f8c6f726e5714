"""Conversations in the databases of Cursor, ``state.vscdb``: those of ``globalStorage`` have a row
for each conversation (``composerData:<id>``) and for each of its bubbles
(``bubbleId:<id>:<bubble>``), those of ``workspaceStorage`` had all in one row in earlier versions.
See docs/reference/transcripts.md for where the format is described."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from dcf.memory.thread import NewTurn, Outline, ThreadStatus, ToolUse
from dcf.memory.threads.piece import Ended, Piece, Said
from dcf.memory.threads.readers.content import opened
from dcf.memory.threads.readers.entry import (
    as_text,
    given_in,
    media_in,
    object_of,
    objects_of,
    text_of,
    time_of,
    title_of,
)
from dcf.memory.threads.readers.json_stream import entries
from dcf.memory.threads.readers.key_values import KeyValues, tables_of
from dcf.memory.threads.readers.tally import Tally

_GLOBAL, _WORKSPACE = "cursorDiskKV", "ItemTable"
_COMPOSER, _BUBBLE = "composerData:", "bubbleId:"
_COMPOSERS = "composer.composerData"
_CHATS = "workbench.panel.aichat.view.aichat.chatdata"
_ROLES = {"1": "user", "2": "assistant", "user": "user", "ai": "assistant"}
_STATUS: Mapping[str, ThreadStatus] = {"completed": "completed", "aborted": "abandoned"}
_FAILED = frozenset({"error", "cancelled"})


class CursorDatabase:
    """See the module."""

    name = "cursor"

    def recognises(self, connection: sqlite3.Connection) -> bool:
        tables = tables_of(connection)
        if _GLOBAL in tables:
            return True
        if _WORKSPACE not in tables:
            return False
        found = connection.execute(
            f"SELECT 1 FROM {_WORKSPACE} WHERE key IN (?, ?)", (_COMPOSERS, _CHATS)
        )
        return found.fetchone() is not None

    def pieces(self, path: Path, connection: sqlite3.Connection, tally: Tally) -> Iterator[Piece]:
        tables = tables_of(connection)
        if _GLOBAL in tables:
            store = KeyValues(connection, _GLOBAL, tally)
            for key in store.keys(_COMPOSER):
                about = store.object(key)
                if about is None:
                    tally.leave_out("conversation without content")
                else:
                    own = key.removeprefix(_COMPOSER)
                    yield from _thread(own, about, _bubbles(own, about, store, tally), tally)
        if _WORKSPACE in tables:
            store = KeyValues(connection, _WORKSPACE, tally)
            project = _folder(path.with_name("workspace.json"), tally)
            yield from _earlier(store, project, tally)


def _earlier(store: KeyValues, project: str, tally: Tally) -> Iterator[Piece]:
    """Conversations of earlier versions. Of later ones this database has the titles only."""
    for one in objects_of(store.object(_COMPOSERS) or {}, "allComposers"):
        if isinstance(one.get("conversation"), list):
            bubbles = objects_of(one, "conversation")
            yield from _thread(text_of(one, "composerId"), one, bubbles, tally, project)
    for tab in objects_of(store.object(_CHATS) or {}, "tabs"):
        about = {"name": tab.get("chatTitle"), "createdAt": tab.get("lastSendTime")}
        bubbles = objects_of(tab, "bubbles")
        yield from _thread(text_of(tab, "tabId", "id"), about, bubbles, tally, project)


def _bubbles(
    own: str, about: Mapping[str, Any], store: KeyValues, tally: Tally
) -> Iterator[Mapping[str, Any]]:
    """The bubbles of a conversation: in rows of their own, by the list of them, or in its row."""
    listed = list(objects_of(about, "fullConversationHeadersOnly"))
    if not listed:
        yield from objects_of(about, "conversation")
        return
    there, prefix = object_of(about, "conversationMap"), f"{_BUBBLE}{own}:"
    for header in listed:
        name = text_of(header, "bubbleId")
        bubble = store.object(prefix + name) or object_of(there, name)
        if bubble:
            yield {**header, **bubble}
        else:
            tally.leave_out("bubble without content")
    names = {prefix + text_of(header, "bubbleId") for header in listed}
    tally.left_out["bubble that is in no conversation"] += sum(
        key not in names for key in store.keys(prefix)
    )


def _thread(
    source_id: str,
    about: Mapping[str, Any],
    bubbles: Iterable[Mapping[str, Any]],
    tally: Tally,
    project: str = "",
) -> Iterator[Piece]:
    asked, turns = "", 0
    for bubble in bubbles:
        project = project or _workspace(bubble)
        for said in _turns(source_id, bubble, tally) if source_id else ():
            turns += 1
            asked = asked or (said.turn.text if said.turn.role == "user" else "")
            yield said
    if not turns:
        tally.leave_out("conversation without content")
        return
    title = title_of(text_of(about, "name") or asked)
    status = _STATUS.get(text_of(about, "status"), "active")
    yield Ended(Outline(source_id, project, title, status, time_of(about.get("createdAt"))))


def _turns(source_id: str, bubble: Mapping[str, Any], tally: Tally) -> Iterator[Said]:
    key, kind = text_of(bubble, "bubbleId", "id"), f"{bubble.get('type')}"
    at = time_of(bubble.get("createdAt"))
    if kind not in _ROLES:
        yield from tally.keep_unknown(f"bubble {kind}", bubble, source_id, key=key, at=at)
        return
    text = "\n".join(_texts(bubble))
    if text.strip():
        yield Said(source_id, NewTurn(_ROLES[kind], text, at=at, key=key))
    use = _tool(object_of(bubble, "toolFormerData"))
    if use is not None:
        yield Said(source_id, NewTurn("tool", "", (use,), at, f"{key}#tool" if key else ""))
    if text_of(object_of(bubble, "thinking"), "text"):
        tally.leave_out("thinking")
    elif use is None and not text.strip():
        tally.leave_out("bubble without content")


def _texts(bubble: Mapping[str, Any]) -> Iterator[str]:
    """What is said in a bubble, and what stands for its pictures."""
    text = text_of(bubble, "text", "rawText")
    blocks = (text_of(block, "content") for block in objects_of(bubble, "codeBlocks"))
    yield from [text] if text else filter(None, blocks)
    for image in (*objects_of(bubble, "images"), object_of(bubble, "image")):
        if image:
            yield media_in({**image, "type": "image"})


def _tool(call: Mapping[str, Any]) -> ToolUse | None:
    """The call of a tool in a bubble that is one; others have it empty."""
    given = next((call[name] for name in ("rawArgs", "params") if call.get(name)), None)
    name, output = text_of(call, "name"), call.get("result") or call.get("error")
    if not name and given is None and not output:
        return None
    failed = call.get("status") in _FAILED or call.get("userDecision") == "rejected"
    return ToolUse(name or f"tool {call.get('tool')}", given_in(given), as_text(output), failed)


def _workspace(bubble: Mapping[str, Any]) -> str:
    uris = bubble.get("workspaceUris")
    first = uris[0] if isinstance(uris, list) and uris else ""
    return _path(first) if isinstance(first, str) else ""


def _folder(file: Path, tally: Tally) -> str:
    """The folder that a workspace is of, as ``workspace.json`` beside its database says."""
    try:
        with opened(file, follow=False) as content:
            found = next((one.value for one in entries(content.chunks(), tally)), {})
    except OSError:
        # The global database has none beside it.
        return ""
    return _path(text_of(found, "folder"))


def _path(uri: str) -> str:
    """The path of a ``file:`` address; any other address as it is."""
    parts = uri.partition("file://")
    return unquote(urlsplit(uri).path) if not parts[0] and parts[1] else uri
