"""Record what ``draw_run.py`` draws: ``python docs/images/record_run.py > docs/images/run.json``.

Runs ``dcf demo`` in a folder of its own. Everything comes from the run's history but the moment of
the kill: nobody can write that into the history, so it is noted when the demo says that it is done.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).parents[2]


def record() -> dict[str, Any]:
    """The demo's run: the kill, the effects of the calls that were repeated, the history."""
    with tempfile.TemporaryDirectory(prefix="dcf-record-") as folder:
        for name in ("generated", "workflows"):
            (Path(folder) / name).symlink_to(REPOSITORY / name)
        process = subprocess.Popen(
            [sys.executable, "-m", "dcf.cli", "demo", "--json"],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        killed_at: list[float] = []

        def listen() -> None:
            for line in process.stderr or ():
                if "kill -9" in line:
                    killed_at.append(time.time())

        listener = threading.Thread(target=listen)
        listener.start()
        told = json.loads(process.stdout.read() if process.stdout else "")
        process.wait()
        listener.join()
        history = (Path(told["audit_trail_path"]) / "history.jsonl").read_text("utf-8")
    return {
        "killed": {"who": told["killed"], "state": told["state"], "at": round(killed_at[0], 3)},
        "repeated": [effect for effect in told["effects"] if effect["replayed"]],
        "effects": len(told["effects"]),
        "history": [json.loads(line) for line in history.splitlines()],
    }


if __name__ == "__main__":
    json.dump(record(), sys.stdout, indent=1)
    print()
