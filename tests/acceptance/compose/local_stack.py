"""The services of compose.yaml as processes of this machine.

Commands, environments and health checks are those of the file. What differs: hosts are 127.0.0.1,
ports are free ones, volumes are folders, and `dcf` is forked (tests/commands.py) unless a test has
``interpreters``. Of the images of others, the programs come from the wheels that DCF embeds: a
server for `redis-server`, a few lines of Python for `redis-cli`.
"""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from commands import programs, python
from compose_file import ROOT, Service, services

from control_plane.embedded.binaries import FALKORDB, REDIS_SERVER, REJSON, Binary

PATIENCE_S = 60.0
_STARTS = """#!/bin/sh
shift
exec {server} "$@" --bind 127.0.0.1 --port $SHIM_PORT --dir "$SHIM_DATA" \
  --loadmodule {module} $SHIM_MODULE_ARGS
"""
_ASKS = """#!{python}
import os, sys, redis
assert sys.argv[1] == "-e", "without it errors end with 0"
client = redis.Redis(port=int(os.environ["SHIM_PORT"]), password=os.environ.get("REDISCLI_AUTH"))
try:
    print(client.execute_command(*sys.argv[2:]))
except redis.RedisError as error:
    sys.exit(str(error))
"""


@dataclass
class Process:
    """A service, or one of several workers, that runs."""

    service: Service
    child: subprocess.Popen[bytes]
    environment: dict[str, str]
    log: Path

    @property
    def worker(self) -> str:
        """The name that a worker, or a host of companions, gave itself."""
        ready = re.search(r'^\{"event": "ready".*$', self.log.read_text("utf-8"), re.MULTILINE)
        assert ready, self.log.read_text("utf-8")
        said = json.loads(ready[0])
        return str(said.get("worker") or said["host"])


class LocalStack:
    """Services by name, started in the order that the file demands, each when those before it are
    what it waits for."""

    def __init__(self, folder: Path, env: dict[str, str]) -> None:
        self.folder = folder
        self.services = services(env)
        self.running: list[Process] = []
        self.interpreters = False
        """Whether services are started from here on by an interpreter each, as in a container."""
        ports = ("6379", "8379", "8337", "8765", "8000", "3030")
        self._ports = {port: free_port() for port in ports}
        self._bin = folder / "bin"
        volumes = ("workflows/runs", "generated", "workspace", "sessions", "project")
        for name in ("bin", "tmp", *(f"srv/{volume}" for volume in volumes)):
            (folder / name).mkdir(parents=True)
        (folder / "srv/skills_src").symlink_to(ROOT / "skills_src")
        self._program("docker-entrypoint.sh", _STARTS, REJSON)
        self._program("falkordb-start", _STARTS, FALKORDB)
        self._program("redis-cli", _ASKS, REDIS_SERVER)

    def port(self, published: int) -> int:
        """The port here for one that the file publishes."""
        return self._ports[str(published)]

    def up(self, *names: str, more: tuple[str, ...] = ()) -> list[Process]:
        """Start services, first those that they need, and wait until all are healthy; ``more``
        follows the commands of those named."""
        for name in names:
            for needed in self.services[name].needs:
                if not any(process.service.name == needed for process in self.running):
                    self.up(needed)
        started = [self._start(self.services[name], more) for name in names]
        for process in started:
            self._await(process)
        return started

    def check(self, process: Process) -> subprocess.CompletedProcess[str]:
        """The health check of a service, run once where the service runs."""
        path = os.pathsep.join([str(programs()), process.environment["PATH"]])
        return subprocess.run(
            ["/usr/bin/env", *(self._here(part) for part in process.service.health)],
            env={**process.environment, "PATH": path},
            capture_output=True,
            text=True,
            check=False,
        )

    def stop(self, process: Process) -> int:
        """SIGTERM, and the exit code. Raises TimeoutExpired after the grace period of the file."""
        process.child.send_signal(signal.SIGTERM)
        return process.child.wait(process.service.grace_s)

    def down(self) -> None:
        """End what is left."""
        for process in reversed(self.running):
            if process.child.poll() is None:
                process.child.kill()
                process.child.wait()

    def _start(self, service: Service, more: tuple[str, ...]) -> Process:
        command = [*(["dcf"] if service.is_ours else []), *service.command, *more]
        if service.name == "falkordb":
            # As the start script of its image does.
            arguments = service.environment["REDIS_ARGS"].split()
            command = ["falkordb-start", "redis-server", *arguments]
        log = self.folder / f"{service.name}-{len(self.running)}.log"
        environment = self._environment(service)
        with log.open("wb") as out:
            child = subprocess.Popen(
                [self._here(part) for part in command],
                env=environment,
                cwd=self.folder / "srv",
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
            )
        process = Process(service, child, environment, log)
        self.running.append(process)
        return process

    def _await(self, process: Process) -> None:
        ends = time.monotonic() + PATIENCE_S
        said = ""
        while time.monotonic() < ends:
            code = process.child.poll()
            if code is not None:
                assert code == 0 and not process.service.health, process.log.read_text("utf-8")
                return
            if process.service.health:
                done = self.check(process)
                if done.returncode == 0:
                    return
                said = done.stderr
            time.sleep(0.5)
        raise AssertionError(f"{process.service.name}: {said} {process.log.read_text('utf-8')}")

    def _environment(self, service: Service) -> dict[str, str]:
        """What the file and the Dockerfile give it, and nothing of this process's own."""
        data = self.folder / f"data-{service.name}"
        data.mkdir(exist_ok=True)
        published = "8379" if service.name == "falkordb" else "6379"
        ours = Path(sys.executable).parent if self.interpreters else programs()
        path = os.pathsep.join([str(self._bin), str(ours), "/usr/bin:/bin"])
        image = {"HOME": "/tmp", "PYTHONDONTWRITEBYTECODE": "1"} if service.is_ours else {}
        shims = {
            "SHIM_PORT": self._ports[published],
            "SHIM_DATA": str(data),
            "SHIM_MODULE_ARGS": service.environment.get("FALKORDB_ARGS", ""),
        }
        given = {
            name: self._here(value) for name, value in {**image, **service.environment}.items()
        }
        return {"PATH": path, **shims, **given}

    def _here(self, text: str) -> str:
        """``text`` with the folders, hosts and ports of this machine."""
        # Both databases have the same port in their containers.
        text = text.replace("@falkordb:6379", "@127.0.0.1:8379")
        text = re.sub(r"(?<=[/@])(redis|stub-mcp):", "127.0.0.1:", text)
        text = re.sub(
            r"(?<![\w.])(6379|8379|8337|8765|8000|3030)\b", lambda port: self._ports[port[0]], text
        )
        return re.sub(r"^/(srv|tmp)(?:/dcf)?", rf"{self.folder}/\1", text)

    def _program(self, name: str, text: str, module: Binary) -> None:
        file = self._bin / name
        file.write_text(
            text.format(python=python(), server=REDIS_SERVER.path(), module=module.path())
        )
        file.chmod(0o755)


def free_port() -> str:
    """A port that nobody listened on a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])
