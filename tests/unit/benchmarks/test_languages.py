"""The set of questions in many languages: made of clones, and only of what is listed."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import languages

ARTICLES = {
    "data": [
        {
            "paragraphs": [
                {
                    "context": f"Lake [SEP] The {word} swims.",
                    "qas": [{"question": f"What does the {word} do?"}],
                }
                for word in article
            ]
        }
        for article in (("heron", "swan", "goose", "gull", "coot", "duck"), ("otter",))
    ]
}


def test_a_set_has_at_most_five_passages_of_an_article() -> None:
    made = languages.questions("en", ARTICLES)
    assert [doc["text"] for doc in made["docs"]] == [
        f"Lake\nThe {word} swims." for word in ("heron", "swan", "goose", "gull", "coot", "otter")
    ]
    assert made["queries"][-1] == {"query": "What does the otter do?", "relevant": ["5"]}


@pytest.mark.parametrize(
    ("changed", "ends", "says"), [("", 0, "1.000"), (" ", 1, "not as listed: en.json")]
)
def test_a_file_that_is_not_as_listed_is_left_out(
    changed: str,
    ends: int,
    says: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    clone = tmp_path / "owner" / "name"
    clone.mkdir(parents=True)
    content = json.dumps(ARTICLES)
    (clone / "en.json").write_text(content + changed, encoding="utf-8")
    for command in (
        "init -q",
        "add .",
        "-c user.name=a -c user.email=a@example.org commit -qm questions",
    ):
        subprocess.run(["git", "-C", clone, *command.split()], check=True)
    digest = hashlib.sha256(content.encode()).hexdigest()[:16]
    files = {"en": {"path": "en.json", "digest": digest}}
    listed = tmp_path / "listed.json"
    listed.write_text(json.dumps({"owner/name": {"commit": "HEAD", "files": files}}))
    monkeypatch.setattr(languages, "_LIST", listed)
    monkeypatch.setattr(sys, "argv", ["languages", str(tmp_path), "--embedder", "none"])
    assert languages.main() == ends
    assert says in capsys.readouterr().out
