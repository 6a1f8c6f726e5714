"""Large results of tools, kept among the blobs of the run."""

from __future__ import annotations

from control_plane import Lease, Payload, Store, payload
from dcf.tools import Keep
from dcf.worker.patience import patiently


def keep_in(store: Store, workflow_id: str, *, lease: Lease | None = None) -> Keep:
    """Keeps results as blobs of a run, to be removed with it; ``blob:{sha256}`` refers to them.
    Under a ``lease`` a Redis that is away is waited for: the call was made."""

    async def keep(content: bytes) -> str:
        text = content.decode()
        digest = payload.digest(text)
        blob = Payload(text, digest, len(text), blob=text)
        if lease is None:
            await store.put_blob(workflow_id, blob)
        else:
            await patiently(lease, lambda: store.put_blob(workflow_id, blob))
        return f"blob:{digest}"

    return keep
