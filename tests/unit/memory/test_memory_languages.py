"""Questions find what answers them in many languages, whatever form of a word they have.

Texts of all languages are in one memory; the right one is to come first, by words alone.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from unicodedata import normalize

import pytest
from memory_world import Numbered, Ticking

from dcf.memory import SYSTEM, Memory, NewAgent, NewPassage, Source

# By language what is said, with what is asked about it: in other forms of its words.
SAID = {
    "English": {
        "The carpenter repaired the wooden staircase.": "who repairs the staircases?",
        "A heron landed on the frozen pond.": "where do herons land?",
    },
    "German": {
        "Die Stadtmauer ist aus rotem Sandstein.": "Woraus sind die Mauern der Städte?",
        "Unsere Nachbarin züchtet Orchideen.": "Orchidee",
    },
    "Spanish": {
        "Mi abuelo cocinaba lentejas los martes.": "¿Quién está cocinando?",
        "Las campanas despertaron al pueblo.": "¿Qué puede despertarme?",
    },
    "French": {
        "Le boulanger part en vacances.": "Où trouver une boulangerie ?",
        "Les pêcheurs réparent leurs filets.": "Que fait le pêcheur ?",
    },
    "Turkish": {
        "Kardeşim kütüphanede eski haritalar buldu.": "Kütüphaneden ne aldı?",
        "Köydeki değirmen artık çalışmıyor.": "Değirmenler ne zaman çalışır?",
    },
    "Russian": {
        "Вчера мы гуляли по набережной.": "Где есть набережные?",
        "Моя сестра купила велосипед.": "Сколько стоят велосипеды?",
    },
    "Greek": {
        "Οι ψαράδες γύρισαν στο λιμάνι.": "Πόσα λιμάνια υπάρχουν;",
        "Το χιόνι σκέπασε τις στέγες.": "Πότε χιονίζει;",
    },
    "Arabic": {
        "بنى المهندسون جسرا فوق النهر": "أين يعمل مهندس؟",
        "قَرَأَتِ الطَّالِبَةُ رِوَايَةً طَوِيلَةً": "الرواية",
    },
    "Hindi": {
        "किसानों ने गेहूँ बोया।": "किसान कहाँ रहता है?",
        "बाज़ार आज बंद है।": "बाजारों में भीड़ क्यों?",
    },
    "Chinese": {
        "奶奶在院子里种了三棵苹果树。": "谁种了苹果？",
        "火车因为大雪晚点了两个小时。": "火车为什么晚点？",
    },
    "Japanese": {
        "祖父は毎朝公園で太極拳をしています。": "太極拳はどこでしますか",
        "ﾊﾞｽは橋の前で止まります。": "バスはどこで止まる？",
    },
    "Korean": {
        "동생이 도서관에서 역사책을 빌렸다.": "도서관은 어디에 있나요?",
        "비가 와서 소풍을 미루었다.": "소풍은 언제예요?",
    },
    "Thai": {
        "แม่ปลูกต้นมะม่วงไว้หลังบ้าน": "ใครปลูกมะม่วง",
        "แพลอยอยู่กลางทะเล": "เเพอยู่ไหน",
    },
    "Vietnamese": {
        "Bà ngoại nấu phở vào sáng chủ nhật.": normalize("NFD", "phở nấu khi nào"),
        "Con mèo ngủ trên mái nhà.": "mèo ngủ ở đâu?",
    },
    "accents": {
        "Het Café in Łódź opent om acht.": "cafe lodz",
        "In der Parkstraße wird gebaut.": "PARKSTRASSE",
        "Das Hoch\u00adwasser stieg bis zur Brücke.": "Hochwasser",
        "Wet ﬁrewood smokes.": "firewood",
        "Fırtına bitti.": "FIRTINA",
    },
    "pictures": {"Bestanden 🎓": "🎓", "Heute 🍕 mit allen": "🍕", "Bis morgen 👋🏽": "👋"},
}


@pytest.fixture
async def memory(tmp_path: Path, clock: Ticking) -> AsyncIterator[Memory]:
    source = Source(tmp_path / "m.db")
    async with Memory.open(source, clock=clock, new_id=Numbered(), embedder="none") as opened:
        yield opened
        assert await opened.check() == (), "the index is whole"


async def test_what_answers_comes_first_in_every_language(memory: Memory) -> None:
    agent = await memory.agents.create(NewAgent("reader"), by=SYSTEM, blocks=())
    texts = [NewPassage(text) for said in SAID.values() for text in said]
    await memory.passages.insert(agent.id, *texts, by=SYSTEM)
    wrong = {}
    for language, said in SAID.items():
        for text, question in said.items():
            found = await memory.search.find(question, k=1, agent_ids=[agent.id])
            if [one.text for one in found] != [text]:
                wrong[f"{language}: {question}"] = [one.text for one in found]
    assert wrong == {}


async def test_words_that_tell_nothing_of_their_language_are_worth_the_same(
    memory: Memory,
) -> None:
    agent = await memory.agents.create(NewAgent("reader"), by=SYSTEM, blocks=())
    await memory.passages.insert(agent.id, NewPassage("The continental breakfast"), by=SYSTEM)
    asked = ("continental", "was the continental")
    found = [await memory.search.find(one, agent_ids=[agent.id]) for one in asked]
    assert found[0][0].words == found[1][0].words > 0
