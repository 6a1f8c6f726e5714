"""Documents that agents share beside their runs: JSON under a key prefix, changed atomically."""

from __future__ import annotations

import asyncio
import copy
import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from importlib import resources
from typing import Any, Final
from weakref import WeakValueDictionary

from control_plane import (
    JSON,
    Backend,
    BadDocument,
    NewToken,
    RefusedForNow,
    Script,
    ServerError,
    insist,
    new_token,
)
from dcf.workspace import document_edit as edits
from dcf.workspace.document_key import DocumentKeys
from dcf.workspace.document_path import Path, parse_path
from dcf.workspace.document_place import MISSING, find
from dcf.workspace.document_text import read_text, store_text
from dcf.workspace.document_value import MAX_BYTES, check_value, read_number, read_value
from dcf.workspace.errors import (
    BadValue,
    Contended,
    DocumentExists,
    DocumentNotFound,
    NotADocument,
    RootNotAnObject,
    TooLarge,
)

_ATTEMPTS: Final = 200
# Longer than a backend repeats a call whose answer was lost.
_REMEMBERED_MS: Final = 120_000
_PATIENCE_S: Final = 10.0
_WRONG_TYPE = ("WRONGTYPE", "wrong Redis type")

Edit = Callable[[JSON, list[str]], JSON]


@dataclass(frozen=True, slots=True)
class Document:
    """A document after a call. ``notes`` are for whoever made it: what was not as it may seem."""

    key: str
    value: JSON
    notes: tuple[str, ...] = ()


class JsonDocuments:
    """The documents under the prefix of ``keys``.

    Every change is one compare-and-set: read, edit, and put back only if the document is still the
    one that was read, else again. So no change is lost, from however many processes they come.
    Values are JSON, or texts that spell it (see ``read_value``); paths are those of ``parse_path``.
    Every call raises WorkspaceError for what it was given, and the errors of the backend.

    >>> # documents = JsonDocuments(backend)
    >>> # await documents.increment("doc:plan", "$.steps", 1)
    """

    def __init__(
        self,
        backend: Backend,
        keys: DocumentKeys | None = None,
        *,
        tokens: NewToken = new_token,
        max_bytes: int = MAX_BYTES,
    ) -> None:
        self._backend = backend
        self._keys = keys or DocumentKeys()
        self._tokens = tokens
        self._max_bytes = max_bytes
        self._replace = _script()
        # Callers in this process wait for one another instead of competing.
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @property
    def prefix(self) -> str:
        """What every key begins with."""
        return self._keys.prefix

    async def create(
        self, key: str = "", initial: JSON = "{}", *, key_prefix: str = "", overwrite: bool = False
    ) -> Document:
        """A new document; without ``key`` under ``key_prefix`` and an id that is new."""
        checked = self._keys.check(key or f"{key_prefix or self.prefix}{self._tokens()}")
        value = read_value(initial, "initial_json").value
        if not isinstance(value, dict):
            raise RootNotAnObject(what="initial_json")

        def begin(present: JSON, notes: list[str]) -> JSON:
            if present is not MISSING and not overwrite:
                raise DocumentExists(key=checked)
            return copy.deepcopy(value)

        return await self._change(checked, begin, missing=lambda: MISSING)

    async def read(self, key: str, path: str = "$") -> JSON:
        """What stands at ``path``; None where nothing does. Raises DocumentNotFound."""
        checked, steps = self._keys.check(key), parse_path(path)
        text = await self._text(checked)
        if text is None:
            raise DocumentNotFound(key=checked)
        value = find(read_text(text), steps)
        return None if value is MISSING else value

    async def set(self, key: str, path: str, value: JSON) -> Document:
        """See ``document_edit.set_value``. A text that is no JSON stands for itself."""
        steps, given = parse_path(path), read_value(value, "value_json", or_text=True)
        notes = _text_note(given.as_text, "value_json")
        return await self._edit(
            key, lambda old, said: edits.set_value(old, steps, given.value, said), notes
        )

    async def append(self, key: str, path: str, value: JSON) -> Document:
        """See ``document_edit.append``. A text that is no JSON stands for itself."""
        steps, given = parse_path(path), read_value(value, "value_json", or_text=True)
        notes = _text_note(given.as_text, "value_json")
        return await self._edit(
            key, lambda old, said: edits.append(old, steps, given.value, said), notes
        )

    async def ensure(self, key: str, path: str, default: JSON) -> Document:
        """See ``document_edit.ensure``. A text that is no JSON stands for itself."""
        steps, given = parse_path(path), read_value(default, "default_json", or_text=True)
        notes = _text_note(given.as_text, "default_json")
        return await self._edit(
            key, lambda old, said: edits.ensure(old, steps, given.value, said), notes
        )

    async def merge(self, key: str, path: str, patch: JSON) -> Document:
        """See ``document_edit.merge``."""
        steps, value = parse_path(path), read_value(patch, "patch_json").value
        return await self._edit(key, lambda old, said: edits.merge(old, steps, value, said))

    async def increment(self, key: str, path: str, delta: JSON) -> Document:
        """See ``document_edit.increment``."""
        steps, number = parse_path(path), read_number(delta, "delta")
        return await self._edit(key, lambda old, said: edits.increment(old, steps, number, said))

    async def copy(self, key: str, source: str, target: str, *, overwrite: bool = True) -> Document:
        """See ``document_edit.copy_value``."""
        here, there = parse_path(source), parse_path(target)
        return await self._edit(
            key,
            lambda old, said: edits.copy_value(old, here, there, said, overwrite=overwrite),
        )

    async def move(self, key: str, source: str, target: str, *, overwrite: bool = True) -> Document:
        """See ``document_edit.move_value``."""
        here, there = parse_path(source), parse_path(target)
        return await self._edit(
            key,
            lambda old, said: edits.move_value(old, here, there, said, overwrite=overwrite),
        )

    async def delete(self, key: str, path: str) -> Document:
        """See ``document_edit.delete``."""
        steps: Path = parse_path(path)
        return await self._edit(key, lambda old, said: edits.delete(old, steps))

    async def _edit(self, key: str, edit: Edit, notes: tuple[str, ...] = ()) -> Document:
        """Change a document; one that is not there begins as an empty object."""
        checked = self._keys.check(key)

        def on_object(old: JSON, said: list[str]) -> JSON:
            if not isinstance(old, dict):
                raise RootNotAnObject(what=f"that of {checked}")
            said.extend(notes)
            return edit(old, said)

        return await self._change(checked, on_object, missing=dict)

    async def _change(self, key: str, edit: Edit, *, missing: Callable[[], JSON]) -> Document:
        turn = self._turns.setdefault(key, asyncio.Lock())
        async with turn:
            for _ in range(_ATTEMPTS):
                document = await self._attempt(key, edit, missing)
                if document is not None:
                    return document
        raise Contended(key=key)

    async def _attempt(self, key: str, edit: Edit, missing: Callable[[], JSON]) -> Document | None:
        """One read and one conditional write; None when somebody else wrote in between."""
        present = await self._text(key)
        notes: list[str] = []
        old = missing() if present is None else read_text(present)
        new = self._checked(key, edit(old, notes))
        text = self._stored(key, new)
        if text != present:
            read = "" if present is None else hashlib.sha1(present.encode()).hexdigest()
            if not await self._put(key, read, text):
                return None
        return Document(key, new, tuple(notes))

    async def _text(self, key: str) -> str | None:
        try:
            text: str | None = await self._insist(
                lambda: self._backend.command("JSON.GET", key, ".")
            )
        except ServerError as error:
            raise _explained(key, error) from error
        return text

    async def _put(self, key: str, read: str, text: str) -> bool:
        # In a cluster the hash tag keeps the note beside its document: keys hold no braces.
        call = f"cp:doc:call:{{{key}}}:{self._tokens()}"
        try:
            reply: int = await self._insist(
                lambda: self._backend.run(self._replace, [key, call], [read, text, _REMEMBERED_MS])
            )
        except ServerError as error:
            raise _explained(key, error) from error
        return reply == 1

    def _checked(self, key: str, value: JSON) -> JSON:
        return check_value(value, f"the document {key}")

    async def _insist(self, ask: Callable[[], Awaitable[Any]]) -> Any:
        """What ``ask`` gives. A Redis that refuses for a moment is not an answer that an agent
        could act on. Raises RefusedForNow when it lasts."""
        return await insist(ask, _PATIENCE_S, on=RefusedForNow)

    def _stored(self, key: str, value: JSON) -> str:
        try:
            text = store_text(value)
        except BadDocument as error:
            raise BadValue(what=f"the document {key}", rule=str(error)) from error
        size = len(text) if text.isascii() else len(text.encode())
        if size > self._max_bytes:
            raise TooLarge(what=f"the document {key}", size=size, limit=self._max_bytes)
        return text


def _script() -> Script:
    folder = resources.files("dcf.workspace") / "scripts"
    return Script("replace", (folder / "replace.lua").read_text(encoding="utf-8"))


def _text_note(as_text: bool, what: str) -> tuple[str, ...]:
    return (
        (f"{what} is neither JSON nor a Python literal; it was taken as text",) if as_text else ()
    )


def _explained(key: str, error: ServerError) -> Exception:
    """``error``, or what it means about the key."""
    if any(sign in str(error) for sign in _WRONG_TYPE):
        return NotADocument(key=key)
    return error
