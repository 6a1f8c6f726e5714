"""What the stub serves and where, from the environment names of the earlier stub."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from dcf.tools.serving import WrongPlace

_HOST, _PORT, _PATH = "127.0.0.1", 8765, "/mcp"


@dataclass(frozen=True, slots=True)
class Place:
    """``path`` is where all servers together are; each alone is at ``{path}/{server}``."""

    config: Path
    host: str = _HOST
    port: int = _PORT
    path: str = _PATH


def place_from(env: Mapping[str, str], default_config: Path) -> Place:
    """``STUB_CONFIG``, ``STUB_MCP_HOST``, ``STUB_MCP_PORT`` and ``STUB_MCP_PATH``; what is unset or
    empty keeps its default. Raises ``WrongPlace`` for a port that is none."""
    port = env.get("STUB_MCP_PORT") or str(_PORT)
    if not re.fullmatch("[0-9]{1,5}", port) or int(port) > 65_535:
        raise WrongPlace(f"STUB_MCP_PORT={port}: a port is a number from 0 to 65535")
    return Place(
        config=Path(env.get("STUB_CONFIG") or default_config),
        host=env.get("STUB_MCP_HOST") or _HOST,
        port=int(port),
        path=env.get("STUB_MCP_PATH") or _PATH,
    )
