"""Large values: blobs by digest, stored once, read once."""

from __future__ import annotations

import json
from collections import OrderedDict
from typing import Any

from control_plane import payload
from control_plane.backend import Backend
from control_plane.errors import MissingBlob
from control_plane.payload import JSON, Payload
from control_plane.script_calls import ScriptCalls

# Values read from blobs are kept, since a blob never changes; the bound is on their text.
_CACHED_CHARACTERS = 32 * 1024 * 1024


class Values(ScriptCalls):
    """Values behind what documents hold."""

    def __init__(self, backend: Backend, **options: Any) -> None:
        super().__init__(backend, **options)
        self._blobs: OrderedDict[str, tuple[JSON, int]] = OrderedDict()
        self._cached = 0

    async def put_blob(self, workflow_id: str, content: Payload) -> None:
        """Store a large value by its digest, to be removed with the run."""
        run_keys = self.keys(workflow_id)
        await self.backend.command("SADD", run_keys.blobs, content.digest)
        await self.backend.command("SET", run_keys.blob(content.digest), content.blob or "")

    async def value(self, workflow_id: str, stored: JSON) -> JSON:
        """The value behind what a document holds. Raises MissingBlob."""
        sha256 = payload.blob_of(stored)
        if sha256 is None:
            return payload.decode(stored)
        if sha256 in self._blobs:
            self._blobs.move_to_end(sha256)
            return self._blobs[sha256][0]
        text = await self.backend.command("GET", self.keys(workflow_id).blob(sha256))
        if text is None or payload.digest(text) != sha256:
            raise MissingBlob(workflow_id=workflow_id, digest=sha256)
        value = json.loads(text)
        self._blobs[sha256] = (value, len(text))
        self._cached += len(text)
        while self._cached > _CACHED_CHARACTERS:
            self._cached -= self._blobs.popitem(last=False)[1][1]
        return value
