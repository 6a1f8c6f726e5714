"""Large values: blobs by digest, stored once, read once."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from control_plane import payload
from control_plane.backend import Backend
from control_plane.errors import DamagedBlob, MissingBlob, NotText, WrongType
from control_plane.payload import JSON, Payload
from control_plane.script_calls import ScriptCalls

# Values read from blobs are kept, since a blob never changes; the bound is on their text.
_CACHED_CHARACTERS = 32 * 1024 * 1024


class _ValueCache:
    """Values by the digest of their blob, the ones that were used last."""

    def __init__(self) -> None:
        self._values: OrderedDict[str, tuple[JSON, int]] = OrderedDict()
        self._characters = 0

    def __contains__(self, sha256: str) -> bool:
        return sha256 in self._values

    def get(self, sha256: str) -> JSON:
        self._values.move_to_end(sha256)
        return self._values[sha256][0]

    def put(self, sha256: str, value: JSON, characters: int) -> None:
        _, replaced = self._values.pop(sha256, (None, 0))
        self._values[sha256] = (value, characters)
        self._characters += characters - replaced
        while self._characters > _CACHED_CHARACTERS:
            self._characters -= self._values.popitem(last=False)[1][1]


class Values(ScriptCalls):
    """Values behind what documents hold."""

    def __init__(self, backend: Backend, **options: Any) -> None:
        super().__init__(backend, **options)
        self._blobs = _ValueCache()

    async def put_blob(self, workflow_id: str, content: Payload, *, new: bool = False) -> None:
        """Store a large value by its digest, to be removed with the run; nowhere when the run is
        gone, unless it is a ``new`` one, which is submitted next."""
        request = {"blob": content.digest, "new": new}
        await self.call("blob", workflow_id, request, content.blob or "")

    async def with_blobs(
        self,
        workflow_id: str,
        parts: Sequence[Payload],
        call: Callable[[], Awaitable[list[Any]]],
        *,
        new: bool = False,
        there: bool = False,
    ) -> list[Any]:
        """The answer of a ``call`` that refers to the blobs of ``parts``, which are stored first if
        they are not ``there``; and again where a server that forgot its newest writes has them no
        more."""
        while True:
            for part in () if there else parts:
                await self.put_blob(workflow_id, part, new=new)
            answer = await call()
            if answer[0] != "missing_blob":
                return answer
            there = False

    async def value(self, workflow_id: str, stored: JSON) -> JSON:
        """The value behind what a document holds. Raises MissingBlob, or DamagedBlob, which is one,
        where the blob is not what was stored."""
        sha256 = payload.blob_of(stored)
        if sha256 is None:
            return payload.decode(stored)
        if sha256 in self._blobs:
            return self._blobs.get(sha256)
        key = self.keys(workflow_id).blob(sha256)
        why = ""
        try:
            text = await self.backend.command("GET", key)
            if text is None:
                raise MissingBlob(workflow_id=workflow_id, digest=sha256, key=key)
            if payload.digest(text) != sha256:
                why = "does not match its digest"
            else:
                value = json.loads(text)
        except WrongType:
            why = "is no text"
        except NotText:
            why = "is no UTF-8"
        except ValueError:
            why = "is no JSON"
        if why:
            raise DamagedBlob(workflow_id=workflow_id, digest=sha256, key=key, why=why)
        self._blobs.put(sha256, value, len(text))
        return value
