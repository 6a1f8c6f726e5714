"""`dcf skills test` and `dcf stub` as a user has them."""

from __future__ import annotations

import json
import signal
import subprocess
import urllib.error
import urllib.request
from pathlib import Path
from xml.etree import ElementTree

from commands import python
from dcf_user import ROOT, Dcf


def test_the_project_s_own_skills_pass(dcf: Dcf) -> None:
    report = dcf.folder / "report.xml"
    done = dcf("skills", "test", "orders.ship_order", "--junit", report, "--json")
    assert done.code == 0, done.out
    answer = done.json
    assert (answer["status"], answer["error"]) == ("ok", None)
    assert answer["cases"]["passed"] == answer["cases"]["total"] > 0
    [coverage] = answer["coverage"]
    assert coverage["skill"] == "skill.orders.ship_order@1.0.0"
    root = ElementTree.parse(report).getroot()
    assert int(root.attrib["tests"]) == len(answer["outcomes"])


def test_a_case_that_fails_ends_with_1_and_shows_the_difference(dcf: Dcf) -> None:
    generated = dcf.folder / "generated"
    subprocess.run(["cp", "-r", str(ROOT / "generated"), str(generated)], check=True)
    config = generated / "stub" / "stub_config.json"
    document = json.loads(config.read_text())
    tool = document["servers"]["shipping"]["tools"]["track_shipment"]
    tool["cases"].insert(0, {**tool["cases"][0], "caseId": "twin"})
    config.write_text(json.dumps(document))
    done = dcf("skills", "test", "--generated", generated, "--tool", "track_shipment")
    assert done.code == 1
    assert "shadowed by case twin" in done.out
    assert "1 unreachable" in done.err


def test_a_name_that_is_nowhere_ends_with_2(dcf: Dcf) -> None:
    assert dcf("skills", "test", "orders.nothing").code == 2
    assert dcf("skills", "test", "--tool", "nothing").code == 2
    assert dcf("skills", "test", "--url", "localhost").code == 2
    assert dcf("skills", "test", "--generated", dcf.folder / "nowhere").code == 2


def test_the_stub_wants_its_token_and_ends_cleanly(dcf: Dcf) -> None:
    config = Path(dcf.env["DCF_GENERATED"]) / "stub" / "stub_config.json"
    process = subprocess.Popen(
        [python(), "-m", "dcf.cli", "stub", "--port", "0", "--token", "t0ken"],
        stdout=subprocess.PIPE, text=True, cwd=dcf.folder,
        env={**dcf.env, "STUB_CONFIG": str(config)},
    )  # fmt: skip
    try:
        assert process.stdout is not None
        url = json.loads(process.stdout.readline())["url"]
        assert fetch(f"{url}/healthz")["config"] == str(config)
        assert fetch(f"{url}/metrics") == 401
        assert fetch(f"{url}/metrics", "t0ken")["totals"]["tool_calls"] == 0
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
    finally:
        process.kill()
        process.communicate()


def fetch(url: str, token: str | None = None) -> object:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers)) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code


def test_a_stub_that_cannot_start_says_why(dcf: Dcf) -> None:
    assert dcf("stub", "--host", "0.0.0.0", "--port", "0").code == 2
    assert dcf("stub", "--config", dcf.folder / "none.json").code == 2
    assert dcf("stub", env={"STUB_MCP_PORT": "many"}).code == 2
    unknown = dcf("stub", "record", "--server", "nobody", "--port", "0")
    assert unknown.code == 2
    assert "nobody" in unknown.err
