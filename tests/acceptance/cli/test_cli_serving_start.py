"""What ``dcf mcp`` and ``dcf serve`` say when they begin: which Redis, which folders."""

from __future__ import annotations

import json

from dcf_user import Dcf, until


def test_a_server_of_a_client_tells_on_stderr_what_it_works_with(dcf: Dcf) -> None:
    child = dcf.start("mcp")  # its client has gone already: standard input is empty
    out, err = child.communicate(timeout=60)

    lines = [json.loads(line) for line in err.splitlines()]
    assert {line["level"] for line in lines} == {"info"}
    [line] = [line for line in lines if line["message"].startswith("serving with")]
    assert out == ""
    for place in (f"{dcf.home}/redis/redis.sock", f"home {dcf.home}", dcf.env["DCF_GENERATED"]):
        assert place in line["message"]


def test_a_server_without_skills_says_how_to_get_some(dcf: Dcf) -> None:
    dcf.env["DCF_GENERATED"] = str(dcf.folder / "nowhere")
    child = dcf.start("serve", "--port", 0)
    assert child.stdout is not None and child.stderr is not None
    assert json.loads(child.stdout.readline())["event"] == "ready"
    child.terminate()

    said = until(child.stderr.read, "it has ended")
    [warning] = [line for line in map(json.loads, said.splitlines()) if line["level"] == "warning"]
    assert str(dcf.folder / "nowhere") in warning["message"]
    assert "`dcf skills new NAME`" in warning["message"]
