"""What leaves the command line: one document for scripts, plain words for people, an exit code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dcf.cli import entry
from dcf.cli.entry import run_command

VALID = {"StartAt": "A", "States": {"A": {"Type": "Pass", "End": True}}}


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DCF_HOME", str(tmp_path / "home"))
    for name in ("DCF_GENERATED", "DCF_MODEL", "DCF_LOG", "DCF_STUB_URL", "DCF_DEBUG"):
        monkeypatch.delenv(name, raising=False)


def write(name: str, value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    Path(name).write_text(text, encoding="utf-8")
    return name


def test_json_is_one_document_with_status_and_no_error(capsys: pytest.CaptureFixture[str]) -> None:
    code = run_command(["validate", write("ok.json", VALID), "--json"])

    said = json.loads(capsys.readouterr().out)
    assert (code, said["status"], said["error"], said["problems"]) == (0, "ok", None, [])


def test_errors_are_json_too(capsys: pytest.CaptureFixture[str]) -> None:
    code = run_command(["validate", write("bad.json", "{"), "--json"])

    said = json.loads(capsys.readouterr().out)
    assert (code, said["status"]) == (2, "error")
    assert set(said["error"]) == {"code", "message", "hint"}
    assert said["error"]["message"] == "1 problem in bad.json"
    [problem] = said["problems"]
    assert (problem["file"], problem["line"], problem["code"]) == ("bad.json", 1, "ASL_JSON_SYNTAX")


@pytest.mark.parametrize(
    "arguments",
    [[], ["nope"], ["run"], ["run", "x.json", "--nope"], ["runs", "--limit", "many"]],
    ids=" ".join,
)
def test_wrong_usage_is_2(arguments: list[str]) -> None:
    assert run_command(arguments) == 2


def test_wrong_usage_as_json_says_where_help_is(capsys: pytest.CaptureFixture[str]) -> None:
    run_command(["run", "--json"])

    said = json.loads(capsys.readouterr().out)
    assert said["error"]["code"] == "usage"
    assert "dcf run --help" in said["error"]["hint"]


def test_all_problems_of_all_files_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    dangling = {"StartAt": "A", "States": {"A": {"Type": "Pass", "Next": "Nowhere"}}}
    no_start = {"States": {"A": {"Type": "Pass", "End": True}}}
    files = [write("one.json", dangling), write("two.json", no_start), "three.json"]

    code = run_command(["validate", *files, "--json"])

    problems = json.loads(capsys.readouterr().out)["problems"]
    assert code == 2
    assert {problem["file"] for problem in problems} == set(files)
    assert all(problem["hint"] for problem in problems if problem["severity"] == "error")


def test_warnings_alone_are_no_failure(capsys: pytest.CaptureFixture[str]) -> None:
    choice = {
        "Type": "Choice",
        "Choices": [{"Variable": "$.x", "IsPresent": True, "Next": "Round"}],
        "Default": "End",
    }
    cycle = {
        "StartAt": "Which",
        "States": {
            "Which": choice,
            "Round": {"Type": "Pass", "Next": "AndRound"},
            "AndRound": {"Type": "Pass", "Next": "Round"},
            "End": {"Type": "Succeed"},
        },
    }

    code = run_command(["validate", write("cycle.json", cycle), "--json"])

    said = json.loads(capsys.readouterr().out)
    assert (code, said["errors"]) == (0, 0)
    assert said["warnings"] >= 1


def test_a_skill_nobody_generated_comes_with_the_way_to_generate_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    state = {"Type": "Task", "AgentBinding": {"skills": ["a.b"]}, "End": True}
    file = write("bound.json", {"StartAt": "A", "States": {"A": state}})

    assert run_command(["validate", file]) == 2

    said = capsys.readouterr().err
    assert "CLI_NO_SKILLS" in said
    assert "WF_UNKNOWN_SKILL" not in said
    assert "dcf skills generate" in said


def test_every_wrong_setting_is_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DCF_EMBEDDER", "none of these")
    monkeypatch.setenv("DCF_LOG", "loud")
    monkeypatch.setenv("DCF_STUB_URL", "ftp://x")

    code = run_command(["validate", write("ok.json", VALID), "--json"])

    problems = json.loads(capsys.readouterr().out)["problems"]
    assert code == 2
    assert [p["file"] for p in problems] == ["DCF_LOG", "DCF_EMBEDDER", "DCF_STUB_URL"]


@pytest.mark.parametrize(
    ("name", "value"), [("DCF_FSYNC", "sometimes"), ("DCF_REDIS_URL", "not a url")]
)
def test_a_setting_that_cannot_be_right_is_2(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)

    assert run_command(["runs"]) == 2


@pytest.mark.parametrize("command", ["run", "submit", "up", "worker"])
@pytest.mark.parametrize("pool", ["a b", "", "a:b", "x" * 65])
def test_only_names_that_can_be_keys_are_pools(command: str, pool: str) -> None:
    file = [write("ok.json", VALID)] if command in ("run", "submit") else []

    assert run_command([command, *file, "--pool", pool]) == 2


def test_a_defect_is_short_on_the_screen_and_whole_in_the_log(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def broken(first: str) -> None:
        raise ZeroDivisionError("nobody foresaw this")

    monkeypatch.setattr("dcf.cli.app.build_app", broken)

    assert run_command(["runs"]) == 1

    said = capsys.readouterr().err
    log = tmp_path / "home" / "logs" / "dcf.log"
    assert "Traceback" not in said
    assert str(log) in said
    assert "ZeroDivisionError: nobody foresaw this" in log.read_text()


def test_the_log_of_a_defect_keeps_neither_texts_nor_secrets(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def broken(first: str) -> None:
        raise ZeroDivisionError("password=hunter22hunter")

    log = tmp_path / "home" / "logs" / "dcf.log"
    log.parent.mkdir(parents=True)
    log.touch(0o644)
    monkeypatch.setattr("dcf.cli.app.build_app", broken)
    given = ["memory", "forget", "--about", "Ann Miller", "--reason=Ann asked", "ann@example.org"]
    monkeypatch.setattr("sys.argv", ["/usr/bin/dcf", *given])

    run_command(given)

    text = log.read_text()
    assert " dcf memory --about --reason\n" in text
    for gone in ("Ann", "ann@", "hunter22"):
        assert gone not in text
    assert "ZeroDivisionError" in text and "Traceback" in text
    assert log.stat().st_mode & 0o777 == 0o600


def test_with_debug_a_defect_shows_its_traceback(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(first: str) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("dcf.cli.app.build_app", broken)
    monkeypatch.setenv("DCF_DEBUG", "1")

    run_command(["runs"])

    assert "Traceback" in capsys.readouterr().err


def test_ctrl_c_is_130(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(first: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("dcf.cli.app.build_app", interrupted)

    assert run_command(["runs", "--json"]) == 130
    assert json.loads(capsys.readouterr().out)["status"] == "interrupted"


def test_json_behind_the_separator_is_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["validate", "--", "--json"]) == 2

    assert capsys.readouterr().out == ""


def test_main_exits_with_the_code(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SystemExit) as left:
        entry.main(["nope"])

    assert left.value.code == 2
