"""From the environment to a Redis server that is ready for the control plane."""

from __future__ import annotations

from collections.abc import Mapping

from control_plane.embedded.address import Address
from control_plane.embedded.embedded import Embedded
from control_plane.embedded.server_check import check_server
from control_plane.embedded.status import OnProgress


async def resolve(env: Mapping[str, str], on_progress: OnProgress | None = None) -> Address:
    """The server of ``DCF_REDIS_URL`` after a check, else the embedded one, started if need be.

    ``concerns`` of the address are worth a warning. Raises ServerUnusable.
    """
    if url := env.get("DCF_REDIS_URL"):
        report = await check_server(url)
        return Address(url, "configured", report.concerns)
    return await Embedded.from_env(env).start(on_progress)
