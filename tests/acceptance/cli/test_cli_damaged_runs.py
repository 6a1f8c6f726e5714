"""Each key of a run, damaged in each way that a hand can: whatever reads it says which key, what
was found there and what was expected, and the command that helps helps."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from dcf_user import Dcf
from home_end import end_home
from redis import Redis

from control_plane import RunKeys
from dcf.cli.entry import run_command

RUN = "order-1"
KEYS = RunKeys(RUN)
MACHINE = {
    "StartAt": "Take",
    "States": {
        "Take": {"Type": "Pass", "Next": "Each"},
        "Each": {
            "Type": "Map",
            "ItemsPath": "$.items",
            "ItemProcessor": {"StartAt": "One", "States": {"One": {"Type": "Pass", "End": True}}},
            "Next": "Stop",
        },
        "Stop": {"Type": "Fail", "Error": "Stopped"},
    },
}
INPUT = {"items": [1, 2], "text": "x" * 300_000}
Damage = Callable[[Redis, str], object]


def another(client: Redis, key: str) -> None:
    client.delete(key)
    client.rpush(key, "x")


def says(place: str, value: str) -> Damage:
    return lambda client, key: client.execute_command("JSON.SET", key, place, value)


def gone(client: Redis, key: str) -> None:
    client.delete(key)


WAYS: dict[str, dict[str, Damage]] = {
    "meta": {"a list": says("$", "[]"), "a number": says("$.ctl", "7")},
    "history": {
        "no time": lambda client, key: client.xadd(key, {"event": "{}", "digest": "x"}),
        "bytes": lambda client, key: client.xadd(key, {"at": "7", "event": b"\xff", "digest": "x"}),
        "cut": lambda client, key: client.xtrim(key, maxlen=1, approximate=False),
        "without its end": lambda client, key: client.xdel(
            key, client.xrevrange(key, count=1)[0][0]
        ),
    },
    "chain": {
        "a count": lambda client, key: client.hset(key, "events", "x"),
        "bytes": lambda client, key: client.hset(key, "x", b"\xff"),
    },
    "paths": {
        "another": lambda client, key: client.sadd(key, "Nowhere"),
        "no path": lambda client, key: client.sadd(key, "no[path"),
        "bytes": lambda client, key: client.sadd(key, b"\xff"),
    },
    "due": {},
    "blobs": {
        "another": lambda client, key: client.sadd(key, "0" * 64),
        "bytes": lambda client, key: client.sadd(key, b"\xff"),
    },
    "agents": {"bytes": lambda client, key: client.hset(key, "Take", b"\xff")},
    "audit": {"a list": says("$", "[]"), "a number": says("$", "7")},
    "state": {
        "a list": says("$", "[]"),
        "a number": says("$.ctl", "7"),
        "nothing said": says("$.ctl", "{}"),
        "a time": says("$.times", "7"),
        "a status": says("$.ctl.status", '"asleep"'),
        "a lease": says("$.ctl.lease", "7"),
        "a join": says("$.ctl.join", "7"),
    },
    "output": {"a list": says("$", "[]")},
    "calls": {"bytes": lambda client, key: client.hset(key, "x", b"\xff")},
    "blob": {
        "another": lambda client, key: client.set(key, '"another"'),
        "bytes": lambda client, key: client.set(key, b"\xff\xfe"),
    },
}
CASES = [(name, way) for name, ways in WAYS.items() for way in [*ways, "another type", "missing"]]
MAY_BE_MISSING = {"due", "blobs", "agents", "calls"}
"""Nobody can tell that there should be any."""
MOVED_BY = {"meta", "history", "chain", "paths", "due", "state"}
TOLD: dict[str, set[str]] = {
    "explain": MOVED_BY,
    "history": {"meta", "history", "chain"},
    "cancel": {"meta"},
    "redrive": MOVED_BY,
    "export": {*MOVED_BY - {"due"}, "blobs", "agents", "audit", "output", "calls", "blob"},
}
"""What each command reads."""


@pytest.fixture(scope="module")
def exported(redis_server: str) -> Iterator[Path]:
    """The file of a run that failed, with a large value."""
    with tempfile.TemporaryDirectory(prefix="dcf-d-", dir="/tmp") as folder:
        user = Dcf(Path(folder))
        user.env |= {"DCF_REDIS_URL": redis_server, "DCF_GRAPH": "off"}
        given = user.write("input.json", INPUT)
        assert user("run", user.write("m.json", MACHINE), "--input", given, "--id", RUN).code == 1
        assert user("runs", "export", RUN, "--out", f"{RUN}.run.gz").code == 0
        yield user.folder / f"{RUN}.run.gz"
        end_home(user.env)


class User:
    """Somebody at the command line, in this process, with ``client`` for what no command does."""

    def __init__(self, client: Redis, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.client, self._folder, self._capsys = client, folder, capsys

    def __call__(self, *arguments: str) -> tuple[int, str]:
        """The exit code and all that was said."""
        code = run_command([*arguments])
        said = "".join(self._capsys.readouterr())
        assert "defect of DCF" not in said
        assert "Traceback" not in said
        assert "unexpected" not in said
        return code, said

    def read(self, command: str) -> tuple[int, str]:
        if command == "export":
            file = self._folder / "again.run.gz"
            file.unlink(missing_ok=True)
            return self("runs", "export", RUN, "--out", str(file))
        return self(command, RUN)

    def left(self) -> list[str]:
        return sorted(self.client.keys(f"*:{RUN}:*"))


@pytest.fixture
def user(
    exported: Path,
    redis_server: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Iterator[User]:
    """The run is there, whole, with a key of each kind."""
    for name, value in (("HOME", tmp_path / "home"), ("REDIS_URL", redis_server), ("GRAPH", "off")):
        monkeypatch.setenv(f"DCF_{name}", str(value))
    with Redis.from_url(redis_server) as client:
        client.flushall()
        made = User(client, tmp_path, capsys)
        assert made("runs", "restore", str(exported))[0] == 0
        client.zadd(KEYS.due, {"Take": 7})
        client.hset(KEYS.agents, "Take", "clerk")
        client.hset(KEYS.calls("Take"), "fence", "1")
        yield made


def key_of(client: Redis, name: str) -> str:
    if name == "blob":
        return KEYS.blob(min(client.smembers(KEYS.blobs)).decode())
    of_state = {"state": KEYS.state, "output": KEYS.output, "calls": KEYS.calls}
    return of_state[name]("Take") if name in of_state else str(getattr(KEYS, name))


@pytest.mark.parametrize("command", TOLD)
def test_of_a_whole_run_nothing_is_said(user: User, command: str) -> None:
    code, said = user.read(command)
    assert "should hold" not in said
    assert (code, "failed already" in said) == ((1, True) if command == "cancel" else (0, False))


@pytest.mark.parametrize(("name", "way"), CASES)
def test_who_reads_a_damaged_key_says_which_and_what_helps(user: User, name: str, way: str) -> None:
    key = key_of(user.client, name)
    damage = WAYS[name] | {"another type": another, "missing": gone}
    damage[way](user.client, key)
    before = {one: user.client.dump(one) for one in user.left()}
    for command, reads in TOLD.items():
        unseen = way == "missing" and name in MAY_BE_MISSING
        # Of the chain it takes the end of the history alone.
        unseen = unseen or (command, name, way) in {
            ("history", "chain", "a count"),
            ("history", "chain", "bytes"),
        }
        if name not in reads or unseen:
            continue
        code, said = user.read(command)
        assert (code, key in said) == (1, True), (command, said)
        assert f"`dcf runs remove {RUN} --broken` removes it" in said, (command, said)
        assert {one: user.client.dump(one) for one in user.left()} == before, command

    code, said = user("runs", "remove", RUN)
    if code != 0:
        assert (code, key in said, f"{RUN} --broken`" in said) == (1, True, True), said
        code, said = user("runs", "remove", RUN, "--broken", "--dry-run")
        assert (code, key in said) == (0, True), said
        code, said = user("runs", "remove", RUN, "--broken")
        assert (code, key in said) == (0, True), said
    # What an earlier write of the same name left belongs to the run, too.
    user("runs", "remove", RUN, "--broken")
    assert user.left() == []
