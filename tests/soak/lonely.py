"""Runs commands in a network without a way out, and counts who tried to leave it.

The namespace has the loopback and nothing else. Every packet that would go elsewhere, from Python
or from native code, by name or by address, has no route, and the kernel counts it. Names are asked
of a server at an address that nobody has, so that a question for a name is a packet too.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_NOBODY = "192.0.2.1"  # kept for documentation: RFC 5737
_OWN = "198.51.100.2"  # so that resolvers believe in a network
_FILES = {
    "resolv.conf": f"nameserver {_NOBODY}\noptions timeout:1 attempts:1\n",
    "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
}
_SIOCSIFADDR, _SIOCSIFNETMASK, _SIOCGIFFLAGS, _SIOCSIFFLAGS = 0x8916, 0x891C, 0x8913, 0x8914
_IFF_UP = 1


@dataclass(frozen=True, slots=True)
class Alone:
    """What came of the commands: ``attempts`` packets had no route; ``codes`` and ``said`` are the
    exit code and the output of each command, as far as they went."""

    codes: list[int]
    said: list[str]
    attempts: int


def run_alone(commands: Sequence[Sequence[str]], *, cwd: Path, env: Mapping[str, str]) -> Alone:
    """Run ``commands`` one after the other in one namespace; the first that fails is the last.
    Fails the test where this machine makes no namespaces."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.json")
        for name, text in _FILES.items():
            Path(folder, name).write_text(text)
        order = json.dumps({"folder": folder, "commands": commands, "env": dict(env)})
        unshare = shutil.which("unshare")
        assert unshare, "the package util-linux has to be installed, for `unshare`"
        as_root = [] if os.geteuid() == 0 else ["--map-root-user"]
        done = subprocess.run(
            [unshare, *as_root, "--net", "--mount", sys.executable, "-I", __file__],
            input=order,
            cwd=cwd,
            capture_output=True,
            text=True,
            check=False,
        )
        assert report.is_file(), (
            "no network namespace can be made here: run as root, or where users may make them\n"
            + done.stderr
        )
        return Alone(**json.loads(report.read_text()))


def _main() -> None:
    order = json.load(sys.stdin)
    folder = Path(order["folder"])
    _shut(folder)
    codes, said, before = [], [], _without_route()
    for command in order["commands"]:
        done = subprocess.run(
            command,
            env=order["env"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        codes.append(done.returncode)
        said.append(done.stdout)
        if done.returncode:
            break
    attempts = _without_route() - before
    report = {"codes": codes, "said": said, "attempts": attempts}
    (folder / "report.json").write_text(json.dumps(report))


def _shut(folder: Path) -> None:
    """The loopback goes up, with a second address; names are asked of nobody."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:

        def address(request: int, device: bytes, value: str) -> None:
            packed = struct.pack("16sH2s4s8x", device, socket.AF_INET, b"", socket.inet_aton(value))
            fcntl.ioctl(control, request, packed)

        flags = fcntl.ioctl(control, _SIOCGIFFLAGS, struct.pack("16sh22x", b"lo", 0))
        up = struct.unpack_from("16sh", flags)[1] | _IFF_UP
        fcntl.ioctl(control, _SIOCSIFFLAGS, struct.pack("16sh22x", b"lo", up))
        address(_SIOCSIFADDR, b"lo:1", _OWN)
        address(_SIOCSIFNETMASK, b"lo:1", "255.255.255.255")
    subprocess.run(["mount", "--make-rprivate", "/"], check=True)
    for name in _FILES:
        target = Path("/etc", name)
        if target.exists():
            subprocess.run(["mount", "--bind", folder / name, target], check=True)


def _without_route() -> int:
    """Packets of this namespace that had no route, of both families."""
    names, values = [
        line.split()
        for line in Path("/proc/net/snmp").read_text().splitlines()
        if line.startswith("Ip:")
    ]
    found = int(dict(zip(names, values, strict=True))["OutNoRoutes"])
    for line in Path("/proc/net/snmp6").read_text().splitlines():
        if line.startswith("Ip6OutNoRoutes"):
            found += int(line.split()[1])
    return found


if __name__ == "__main__":
    _main()
