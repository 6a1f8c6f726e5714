"""The Redis servers that DCF brings along, below one data home."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from control_plane.embedded.address import Address
from control_plane.embedded.errors import SettingInvalid
from control_plane.embedded.home import data_home, runtime_folder
from control_plane.embedded.process import PATIENCE_S, ServerProcess
from control_plane.embedded.spec import CONTROL_PLANE, GRAPH, Fsync
from control_plane.embedded.status import OnProgress, Status


class Embedded:
    """The control plane's server in ``home/redis`` and the graph's in ``home/graph``.

    ::

        embedded = Embedded(Path("~/.local/share/dcf").expanduser())
        address = await embedded.start()
        client = redis.asyncio.Redis.from_url(address.url)

    ``fsync`` of the control plane is ``"everysec"`` (a power failure may cost the last second) or
    ``"always"``.
    ``runtime_dir`` takes the socket when the path below ``home`` is too long for one.
    """

    def __init__(
        self,
        home: Path,
        *,
        fsync: Fsync = "everysec",
        runtime_dir: Path | None = None,
        patience_s: float = PATIENCE_S,
    ) -> None:
        self._control_plane = ServerProcess(
            CONTROL_PLANE,
            home / CONTROL_PLANE.folder,
            fsync=fsync,
            runtime_dir=runtime_dir,
            patience_s=patience_s,
        )
        self.graph = ServerProcess(
            GRAPH,
            home / GRAPH.folder,
            # It is written in batches, each of which is waited for anyway.
            fsync="always",
            runtime_dir=runtime_dir,
            patience_s=patience_s,
        )

    @classmethod
    def from_env(cls, env: Mapping[str, str], *, patience_s: float = PATIENCE_S) -> Embedded:
        """With the home, durability (``DCF_FSYNC``) and runtime folder that ``env`` names."""
        home, runtime = data_home(env), runtime_folder(env)
        return cls(home, fsync=fsync_of(env), runtime_dir=runtime, patience_s=patience_s)

    async def start(self, on_progress: OnProgress | None = None) -> Address:
        """Starts or joins the control plane's server. See ``ServerProcess.start``."""
        return await self._control_plane.start(on_progress)

    async def stop(self, grace_s: float = 30.0) -> bool:
        """Ends the control plane's server; False when none ran. See ``ServerProcess.stop``."""
        return await self._control_plane.stop(grace_s)

    async def demand_answer(self) -> None:
        """See ``ServerProcess.demand_answer``, of the control plane's server."""
        await self._control_plane.demand_answer()

    async def status(self) -> Status:
        """The state of the control plane's server. See ``ServerProcess.status``."""
        return await self._control_plane.status()


def fsync_of(env: Mapping[str, str]) -> Fsync:
    """``DCF_FSYNC``. Raises SettingInvalid for anything but ``everysec`` and ``always``."""
    match env.get("DCF_FSYNC") or "everysec":
        case "everysec":
            return "everysec"
        case "always":
            return "always"
        case other:
            raise SettingInvalid(name="DCF_FSYNC", value=other, choices="everysec or always")
