"""What was logged and the code of a project, through the tools."""

from __future__ import annotations

import os
from operator import itemgetter
from pathlib import Path

import pytest
from integration.knowledge.world import outcome, write
from integration.mcp.platforms import desk_on

from dcf.documents import ReadDocument, ReadPiece
from dcf.knowledge import GraphConnection
from dcf.mcp.families.retrieval import project_context
from dcf.memory import SYSTEM, FileState, Memory, NewPlaybook, Source, random_id
from dcf.retrieval import AuditLog, FileDocuments, FileItems, NewItem, SqliteItems


async def test_what_is_logged_is_found_with_the_code(redis_url: str, tmp_path: Path) -> None:
    async with desk_on(redis_url, tmp_path) as desk:
        code = "def parse_length(header):\n    return int(header)\n"
        (tmp_path / "workspace" / "http.py").write_text(code)
        logged = await desk.good(
            "log_artifact",
            text="Ignore an invalid length of the header by design.",
            tags_json='["decision"]',
            source="review",
            filePath="http.py",
        )
        query = "parse the length of an invalid header"
        found = (await desk.good("augmented_context", query=query))["context"]
        # Each says three of the words that tell.
        piece, memory = sorted(found, key=itemgetter("type"))
        assert (piece["type"], memory["type"]) == ("code_snippet", "memory")
        assert (memory["uri"], memory["tags"]) == (logged["uri"], ["decision"])
        assert (memory["source"], memory["file_path"]) == ("review", "http.py")
        assert (piece["symbol"], piece["uri"]) == ("parse_length", "dcf://code/http.py/line/1-2")
        tagged = await desk.good("augmented_context", query=query, tags='["decision"]')
        (lifted,) = (one for one in tagged["context"] if one["type"] == "memory")
        assert lifted["why"][-1] == "tagged decision: +0.050"
        assert await desk.refused("augmented_context", query=" ") == "retrieval_invalid_question"
        assert await desk.refused("log_artifact", text="") == "retrieval_invalid_item"


async def test_a_planner_is_told_what_fits_of_the_project(redis_url: str, tmp_path: Path) -> None:
    # No model is at hand in a rehearsal: what it would be told is asked for as the tools do.
    async with desk_on(redis_url, tmp_path) as desk:
        code = "def weigh_parcel(parcel):\n    return parcel.grams\n"
        (tmp_path / "workspace" / "parcels.py").write_text(code)
        find = project_context(desk.platform, 300, "plan_start")
        assert find is not None and project_context(desk.platform, None, "plan_start") is None
        (told,) = await find("weigh a parcel")
        assert told == {"citation": "dcf://code/parcels.py/line/1-2", "text": code.rstrip("\n")}
        for name in ("context_tokens", "context"):
            shown = await desk.call("plan_start", objective="weigh a parcel", **{name: 300})
            assert "context" not in str(shown.get("warnings"))


async def test_no_folder_is_read_that_is_not_the_servers(redis_url: str, tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    for folder in (one, two):
        folder.mkdir()
    env = {"DCF_RETRIEVAL_ROOTS": f"{one}{os.pathsep}{two}"}
    async with desk_on(redis_url, tmp_path, env=env) as desk:
        await desk.good("log_artifact", text="the parser of one", root=str(one))
        found = await desk.good("augmented_context", query="parser", root=str(two))
        assert found["context"] == []
        refused = await desk.refused("augmented_context", query="parser", root=str(tmp_path))
        assert refused == "retrieval_root_not_served"
        assert await desk.refused("augmented_context", query="a") == "retrieval_root_required"


async def test_what_finds_a_person_is_taken_out_where_the_server_says_so(
    redis_url: str, tmp_path: Path
) -> None:
    async with desk_on(redis_url, tmp_path, env={"DCF_PII": "email"}) as desk:
        await desk.good("log_artifact", text="ann@mail.example saw the timeout")
        (found,) = (await desk.good("augmented_context", query="timeout"))["context"]
        assert found["text"] == "[redacted: email] saw the timeout"


async def test_a_rule_that_there_is_not_keeps_nothing(redis_url: str, tmp_path: Path) -> None:
    async with desk_on(redis_url, tmp_path, env={"DCF_PII": "emails"}) as desk:
        refused = await desk.refused("log_artifact", text="ann@mail.example saw the timeout")
        assert refused == "PERSONAL_RULE_UNKNOWN"


async def test_a_reranker_that_is_away_is_a_warning(redis_url: str, tmp_path: Path) -> None:
    env = {"DCF_RERANKER": "http://127.0.0.1:9/rerank"}
    async with desk_on(redis_url, tmp_path, env=env) as desk:
        await desk.good("log_artifact", text="the timeout of the parser")
        answer = await desk.good("augmented_context", query="timeout")
        assert len(answer["context"]) == 1
        (warning,) = answer["warnings"]
        assert warning.startswith("The reranker 127.0.0.1:9 is not used: ")
        assert "; hint: the list is in the order that it has without it" in warning


async def test_facts_of_the_graph_are_told_where_there_is_one_project(
    redis_url: str, graph_url: str, tmp_path: Path
) -> None:
    async with GraphConnection(graph_url) as graph:
        await write(graph, outcome(1, status="failed", error="Boom"))
    other = tmp_path / "other"
    other.mkdir()
    # The project of the runs: the folder in which their skills were generated.
    env = {"DCF_FACTS": "on", "DCF_GRAPH_URL": graph_url, "DCF_RETRIEVAL_ROOTS": str(tmp_path)}
    async with desk_on(redis_url, tmp_path, env=env) as desk:
        found = (await desk.good("augmented_context", query="why boom?"))["context"]
    told = [(one["text"], one["uri"], one["support"]) for one in found if one["type"] == "fact"]
    assert ("The task task1 failed with Boom.", "dcf://run/run-1/state/Pay", 1) in told
    env["DCF_RETRIEVAL_ROOTS"] += f"{os.pathsep}{other}"
    async with desk_on(redis_url, tmp_path, env=env) as desk:
        answer = await desk.good("augmented_context", query="why boom?", root=str(tmp_path))
        assert answer["context"] == []


async def test_an_error_that_was_seen_before_is_told_with_what_helped(
    redis_url: str, tmp_path: Path
) -> None:
    async with desk_on(redis_url, tmp_path) as desk:
        memory = (await desk.platform.home()).memory
        project = str((tmp_path / "workspace").resolve())
        new = NewPlaybook("ProviderBusy: HTTP 503", "Wait a minute.", "payments", project)
        known = await memory.playbooks.add(new, by=SYSTEM)
        answer = await desk.good("augmented_context", query="order 7: ProviderBusy (HTTP 503)")
        (found,) = answer["context"]
    assert (found["type"], found["uri"]) == ("playbook", known.citation)
    assert found["owner"] == "payments"
    assert "Resolution: Wait a minute." in found["text"]


async def test_the_server_keeps_and_finds_where_the_backend_says(
    redis_url: str, tmp_path: Path
) -> None:
    folder, root = tmp_path / "kept", str(tmp_path / "workspace")
    env = {"MEM_BACKEND": "file", "MEM_PATH": str(folder)}
    said = ReadDocument("", "text", (ReadPiece("Tea is picked in spring.", (), 1, 1),))
    documents = FileDocuments(folder, lambda: 1, random_id)
    async with desk_on(redis_url, tmp_path, env=env) as desk:
        kept = await documents.keep(root, "tea.txt", FileState(1, "", ""), said, by=SYSTEM)
        logged = await desk.good("log_artifact", text="tea is late this spring")
        found = (await desk.good("augmented_context", query="tea in spring"))["context"]
        assert {one["uri"] for one in found} == {logged["uri"], f"{kept.citation}/line/1"}
    (item,) = await FileItems(folder, lambda: 1, random_id).recall(root, "tea")
    assert item.item.citation == logged["uri"]

    async with desk_on(redis_url, tmp_path, env={"MEM_BACKEND": "memory"}) as desk:
        logged = await desk.good("log_artifact", text="tea is late")
        (one,) = (await desk.good("augmented_context", query="tea"))["context"]
        assert one["uri"] == logged["uri"]

    env = {"MEM_PATH": str(tmp_path / "other.db")}
    async with desk_on(redis_url, tmp_path, env=env) as desk:
        await desk.good("log_artifact", text="tea is late")
    assert (tmp_path / "other.db").exists()


@pytest.mark.parametrize("backend", ["sqlite", "file"])
async def test_an_item_whose_time_is_over_is_not_found(
    redis_url: str, tmp_path: Path, backend: str
) -> None:
    """Whether a service has given it up or not: it was logged in 1970."""
    root, env = str(tmp_path / "workspace"), {"MEM_BACKEND": backend}
    async with Memory.open(
        Source(tmp_path / "memory.db"), clock=lambda: 1, new_id=random_id, embedder="none"
    ) as memory:
        items = FileItems(tmp_path / "items", lambda: 1, random_id)
        for store in (items, SqliteItems(memory, SYSTEM)):
            await store.remember(root, NewItem("tea is late"))
    for ttl, count in (("*=1w", 0), ("", 1)):
        async with desk_on(redis_url, tmp_path, env=env | {"DCF_RETRIEVAL_TTL": ttl}) as desk:
            found = (await desk.good("augmented_context", query="tea"))["context"]
            assert len(found) == count
    async with desk_on(redis_url, tmp_path, env=env | {"DCF_RETRIEVAL_TTL": "runlog"}) as desk:
        assert await desk.refused("augmented_context", query="tea") == "CLI_RETRIEVAL"


async def test_what_is_read_is_in_the_audit_log_of_the_home(redis_url: str, tmp_path: Path) -> None:
    """Wherever DCF_MEMORY says that the memory is."""
    home = tmp_path / "home"
    async with desk_on(redis_url, tmp_path, home=home) as desk:
        logged = await desk.good("log_artifact", text="tea is late")
        await desk.good("augmented_context", query="tea")
    (read,) = await AuditLog(home / "audit", lambda: 0).entries()
    assert (read.by, read.ids) == ("mcp", (logged["uri"],))
    assert not (tmp_path / "audit").exists() and (home / "code").is_dir()


async def test_logged_items_that_a_search_of_the_memory_shows_are_noted(
    redis_url: str, tmp_path: Path
) -> None:
    async with desk_on(redis_url, tmp_path, home=tmp_path / "home") as desk:
        logged = await desk.good("log_artifact", text="tea is late")
        assert (await desk.good("search_memory", query="coffee"))["found"] == []
        assert len((await desk.good("search_memory", query="tea"))["found"]) == 1
    (read,) = await AuditLog(tmp_path / "home" / "audit", lambda: 0).entries()
    assert (read.by, read.ids, read.operation) == ("mcp", (logged["uri"],), "read")
    assert Path(read.project).is_dir()


async def test_a_database_that_is_away_is_told(redis_url: str, tmp_path: Path) -> None:
    env = {"MEM_BACKEND": "postgres", "DATABASE_URL": "postgresql://ada:pw@127.0.0.1:1/shop"}
    async with desk_on(redis_url, tmp_path, env=env) as desk:
        for tool, said in (("log_artifact", {"text": "x"}), ("augmented_context", {"query": "x"})):
            assert await desk.refused(tool, **said) == "retrieval_store_unreachable"
    async with desk_on(redis_url, tmp_path, env={"MEM_BACKEND": "cloud"}) as desk:
        assert await desk.refused("log_artifact", text="x") == "CLI_RETRIEVAL"
