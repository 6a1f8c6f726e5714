"""The queries that write texts: an episode each, and a document that Graphiti's search finds.

A vector is taken away before another is set, as in ``session_writing``.
"""

from __future__ import annotations

from collections.abc import Sequence

from dcf.knowledge.cypher import Query, query
from dcf.knowledge.episode import iso
from dcf.knowledge.meaning import Meanings
from dcf.knowledge.naming import edge_uuid, entity_uuid
from dcf.knowledge.privacy import Privacy
from dcf.knowledge.text_episode import TextEpisode

WANTED = "wanted"
"""What stands in ``extract`` of an episode that waits for a model."""
_SUMMARY = 1_000

# Nothing that was measured is written over, whatever uuid somebody gives.
_EPISODES = """UNWIND $rows AS r MERGE (e:Episodic {uuid: r.uuid})
WITH e, r WHERE NOT e:StateOutcome AND NOT e:WorkflowRun AND NOT e:Delegation
SET e.created_at = coalesce(e.created_at, $now), e:Text, e += r.fields"""
_DOCUMENTS = """UNWIND $rows AS r MATCH (e:Text {uuid: r.uuid})
MERGE (n:Entity {uuid: r.document})
SET n:Document, n.created_at = coalesce(n.created_at, $now), n.name = r.fields.name,
  n.group_id = r.fields.group_id, n.summary = r.summary, n.name_embedding = NULL
WITH e, n, r SET n.name_embedding = vecf32(r.vector)
MERGE (e)-[m:MENTIONS {uuid: r.mention}]->(n)
SET m.group_id = r.fields.group_id, m.created_at = $now"""


def document_uuid(episode: str) -> str:
    """The id of the document of a text, by the text's."""
    return entity_uuid("Document", episode)


def text_queries(
    texts: Sequence[tuple[TextEpisode, int]], meanings: Meanings, privacy: Privacy, now: int
) -> list[Query]:
    """The queries that write ``texts``, each with a number that says in which order they came; of
    several with one uuid the last."""
    latest = {text.uuid: (text.redacted(privacy), number) for text, number in texts}
    said = {uuid: f"{text.name}. {text.content}" for uuid, (text, _) in latest.items()}
    vectors = meanings.of(said.values())
    rows = []
    for uuid, (text, number) in latest.items():
        document = document_uuid(uuid)
        fields = {
            "name": text.name,
            "group_id": text.group,
            "source": text.source,
            "source_description": text.source_description,
            "content": text.content,
            "valid_at": iso(text.at),
            "entity_edges": [],
            "number": number,
            **({"extract": WANTED} if text.extract else {}),
        }
        rows.append(
            {
                "uuid": uuid,
                "fields": fields,
                "document": document,
                "mention": edge_uuid("MENTIONS", uuid, document),
                "summary": text.content[:_SUMMARY],
                "vector": vectors[said[uuid]],
            }
        )
    bare = [{"uuid": row["uuid"], "fields": row["fields"]} for row in rows]
    return [
        query(_EPISODES, rows=bare, now=iso(now)),
        query(_DOCUMENTS, rows=rows, now=iso(now)),
    ]
