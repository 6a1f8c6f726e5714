"""``dcf memory``: what is refused, named and kept when somebody gives it what cannot be right."""

from __future__ import annotations

from pathlib import Path

import pytest
from memory_user import MemoryUser

from dcf.cli.entry import run_command


def limits(user: MemoryUser) -> tuple[int, int]:
    """The soft and the hard limit of ada's block human."""
    block = user.ok("show", "ada", "human")["block"]
    return block["soft_limit"], block["hard_limit"]


def test_a_refused_text_changes_no_limit(ada: MemoryUser) -> None:
    ada.ok("remember", "ada", "prefers tea")
    before = ada.last_event()
    code, document = ada.refused("remember", "ada", "y", "--limit", 2)
    assert (code, document["error"]["code"]) == (1, "memory_over_limit")
    assert ada.last_event() == before
    assert limits(ada) == (3200, 4000)


def test_the_soft_limit_moves_with_the_hard_one_and_can_be_said(ada: MemoryUser) -> None:
    ada.ok("remember", "ada", "prefers tea", "--limit", 8000)
    assert limits(ada) == (6400, 8000)
    ada.ok("remember", "ada", "", "--soft-limit", 100)
    assert limits(ada) == (100, 8000)
    assert ada.refused("remember", "ada", "", "--soft-limit", 9000)[0] == 2
    cut = ada("remember", "ada", "x" * 20, "--rewrite", "--limit", 10, "--on-limit", "truncate")
    assert cut.code == 0 and "was cut to its limit of 10 bytes" in cut.out
    assert ada.text("ada") == "x" * 10


def test_a_block_is_never_summarised_to_nothing(ada: MemoryUser) -> None:
    ada.ok("remember", "ada", "She prefers oolong and never takes sugar.", "--soft-limit", 1)
    [session] = ada.ok("consolidate", "ada", "--rules")["sessions"]
    assert ada.text("ada") == "She prefers oolong and never takes sugar."
    assert "raise its limits" in session["left_out"][0]["reason"]


def test_an_event_that_there_is_not_is_an_error_everywhere(ada: MemoryUser) -> None:
    ada.ok("remember", "ada", "prefers tea")
    last = ada.last_event()
    for order in (
        ("rollback", "ada", "--to", 99_999, "--yes"),
        ("rollback", "ada", "--block", "human", "--to", last + 1, "--dry-run"),
        ("show", "ada", "human", "--at", 99_999),
    ):
        code, document = ada.refused(*order)
        assert (code, document["problems"][0]["code"]) == (2, "CLI_EVENT")
        assert str(last) in document["problems"][0]["message"]
    assert ada("show", "ada", "human", "--at", last).out.strip() == "prefers tea"


WRONG_SETTINGS = [
    ("--model", "opnai:gpt-5", "MODEL_PROVIDER", "did you mean openai"),
    ("--model", "gpt-5", "MODEL_NAME", "as in openai:"),
    ("--embedder", "wordlama", "CLI_EMBEDDER", "did you mean wordllama"),
]


def test_a_model_or_embedder_that_there_is_not_is_refused(ada: MemoryUser) -> None:
    for option, value, problem, hint in WRONG_SETTINGS:
        for order in (("init", "bob"), ("agents", "ada")):
            code, document = ada.refused(*order, option, value)
            [found] = document["problems"]
            assert (code, found["code"], found["file"]) == (2, problem, option)
            assert hint in found["hint"]
    assert [agent["name"] for agent in ada.ok("agents")["agents"]] == ["ada"]


def test_what_a_model_still_lacks_is_a_warning(ada: MemoryUser) -> None:
    ada.patch.delenv("ANTHROPIC_API_KEY", raising=False)
    made = ada.ok("init", "bob", "--model", "anthropic:claude-sonnet-4-5")
    assert made["agent"]["model"] == "anthropic:claude-sonnet-4-5"
    assert "cannot be asked yet" in made["warnings"][0]


def test_a_consolidation_says_that_its_model_cannot_be(ada: MemoryUser) -> None:
    ada.patch.delenv("DCF_MODEL_REFLECTOR", raising=False)
    ada.patch.setenv("DCF_MODEL", "opnai:x")
    for order in (("consolidate", "ada", "--dry-run"), ("consolidate", "ada")):
        code, document = ada.refused(*order)
        assert (code, document["problems"][0]["file"]) == (2, "DCF_MODEL")
    assert ada("consolidate", "ada", "--rules", "--dry-run").code == 0


SERVERS = [
    ("DCF_MODEL", "opnai:x", "opnai"),
    ("DCF_RUNTIME", "lettta", "lettta"),
]


@pytest.mark.parametrize(("setting", "value", "named"), SERVERS)
def test_what_serves_looks_at_model_and_runtime_first(
    ada: MemoryUser, capsys: pytest.CaptureFixture[str], setting: str, value: str, named: str
) -> None:
    ada.patch.setenv(setting, value)
    assert run_command(["serve", "--port", "0"]) == 2
    assert named in capsys.readouterr().err
    assert run_command(["doctor"]) == 3
    assert named in capsys.readouterr().out


def test_a_block_that_there_is_not_is_named_with_what_is_close(ada: MemoryUser) -> None:
    code, document = ada.refused("remember", "ada", "x", "--block", "hunam")
    assert (code, document["error"]["code"]) == (2, "memory_unknown_block")
    said = document["error"]["message"]
    assert "Agent ada has no block 'hunam'. Did you mean human?" in said
    assert all(label in said for label in ("persona", "project", "skills", "style"))


def test_nothing_to_remember_is_said(ada: MemoryUser) -> None:
    before = ada.last_event()
    for text in ("", " \n"):
        code, document = ada.refused("remember", "ada", text)
        assert (code, document["problems"][0]["code"]) == (2, "CLI_TEXT")
    assert ada.last_event() == before


def test_a_window_that_is_too_small_and_a_name_like_a_block_are_warned_of(
    ada: MemoryUser,
) -> None:
    ada.ok("remember", "ada", "prefers tea " * 20)
    small = ada("agents", "ada", "--context-window", 10)
    assert small.code == 0 and "warning: Instructions and blocks take" in small.out
    assert "reads like a block of an agent" in ada("init", "bo/human").out


def test_files_that_a_user_names_are_input(ada: MemoryUser) -> None:
    for order in (("init", "bo", "--system", "no.txt"), ("restore", "no.db", "--yes")):
        code, document = ada.refused(*order)
        assert (code, document["problems"][0]["file"]) == (2, order[-2 + (order[-1] != "--yes")])


def test_kinds_of_search_are_checked_by_their_option(ada: MemoryUser) -> None:
    code, document = ada.refused("search", "x", "--kind", "bolck", "--kind", "passage")
    [found] = document["problems"]
    assert (code, found["file"]) == (2, "--kind")
    assert "did you mean block?" in found["hint"]


def test_without_a_command_the_help_is_no_error(
    ada: MemoryUser, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(["memory"]) == 2
    said = capsys.readouterr()
    assert "remember" in said.out and said.err == ""


def test_a_damaged_file_with_a_header_asks_for_no_key(ada: MemoryUser) -> None:
    whole = ada.file.read_bytes()
    ada.file.write_bytes(whole[:4096] + b"\xff" * (len(whole) - 4096))
    hint = ada.refused("show", "ada")[1]["error"]["hint"]
    assert "dcf memory restore" in hint and "DCF_MEMORY_KEY" not in hint


def test_copies_without_the_key_of_the_memory_are_named(ada: MemoryUser) -> None:
    pytest.importorskip("sqlcipher3")
    clear = Path(ada.ok("backup")["backup"])
    ada.patch.setenv("DCF_MEMORY_NEW_KEY", "jasmine")
    done = ada.ok("rekey", "--yes")
    assert set(done["clear_copies"]) == {str(clear), done["kept"]}
    ada.patch.setenv("DCF_MEMORY_KEY", "jasmine")
    checks = {one["name"]: one for one in ada.ok("doctor")["checks"]}
    assert checks["backups"]["found"] == "none; 2 copies have another key, or none"
    assert str(clear) in checks["clear copies"]["found"]


def test_without_a_word_the_newest_texts_come_without_excuse(ada: MemoryUser) -> None:
    ada.patch.setenv("DCF_EMBEDDER", "wordllama")
    ada.ok("remember", "ada", "prefers tea")
    newest = ada("search", "")
    assert newest.code == 0 and "prefers tea" in newest.out
    assert "By words alone" not in newest.out


def test_workers_of_runs_are_one_line_and_the_place_of_agents_is_said(ada: MemoryUser) -> None:
    for number in range(3):
        ada.ok("init", f"my-order/price-{number}", "--tag", "wf:my-order")
    listed = ada("agents").out
    assert "my-order/…  3 workers of a run" in listed and "4 agents" in listed
    assert "price-1" not in listed
    assert "DCF_RUNTIME" not in listed
    ada.patch.setenv("DCF_RUNTIME", "letta")
    assert f"These are in {ada.file}; with DCF_RUNTIME=letta" in ada("agents").out


def test_what_was_only_tried_has_no_number(ada: MemoryUser) -> None:
    ada.ok("remember", "ada", "prefers tea")
    last = ada.last_event()
    tried = ada("rollback", "--event", last, "--dry-run").out
    assert "1 row would go back." in tried and not tried.lstrip().startswith(str(last + 1))


def test_largest_blocks_are_named_with_who_holds_them(ada: MemoryUser) -> None:
    ada.ok("remember", "ada", "prefers tea")
    shown = ada("stats").out
    [row] = [line for line in shown.splitlines() if "11 of 4,000 bytes" in line]
    assert row.startswith("human") and row.rstrip().endswith("ada")
    assert "0 of 4,000 bytes" not in shown
    assert "made here, revision 2" in ada("show", "ada", "human").out
