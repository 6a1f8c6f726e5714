"""A user who serves the platform to MCP clients."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "cli"))

from dcf_user import Dcf


class Site(Dcf):
    """A user with a stub, a Redis and servers."""

    def serve(self, *arguments: object) -> str:
        """The URL of a new server that is ready."""
        child = self.start("serve", "--port", 0, *arguments)
        assert child.stdout is not None
        line = child.stdout.readline()
        assert line, child.stderr.read() if child.stderr else ""
        self.server = child
        self.ready = json.loads(line)
        return str(self.ready["url"])

    ready: dict[str, Any]
    """What the newest server said when it was ready."""
    server: subprocess.Popen[str]
