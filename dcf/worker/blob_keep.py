"""Large results of tools, kept among the blobs of the run."""

from __future__ import annotations

from control_plane import Payload, Store, payload
from dcf.tools import Keep


def keep_in(store: Store, workflow_id: str) -> Keep:
    """Keeps results as blobs of a run, to be removed with it; ``blob:{sha256}`` refers to them."""

    async def keep(content: bytes) -> str:
        text = content.decode()
        digest = payload.digest(text)
        await store.put_blob(workflow_id, Payload(text, digest, len(text), blob=text))
        return f"blob:{digest}"

    return keep
