"""Sentences of running text, and which of them tell somebody to do something."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dcf.sop.language.phrase import masked


def _words(told: str) -> frozenset[str]:
    return frozenset(told.split())


_END = re.compile(r"[.!?](?:[\"')\]*_’”]{0,3})\s+|[。！？]\s*")
_ABBREVIATED = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|approx|incl|cf|resp|no|nr|fig|sec|dr|mr|mrs|st|z\.b|bzw|ca|ggf"
    r"|ex|p|v"
    r"|[A-Za-z])|\.)$",
    re.IGNORECASE,
)
_OPENS = re.compile(r"[\"'“‘(\[*_`~<!#>-]*(?P<letter>\S)")
_POINTS = re.compile(r"(?:[-=]{1,2}>|[→⇒➔➜⟶])")
_DECORATION = re.compile(r"^(?:[*_~`\"'“(\[]|[^\w\s<$`{(\[\"'“*_~/.-])+\s*")
_LABEL = re.compile(r"[*_]{2}[^*_\n]{1,60}(?::[*_]{2}|[*_]{2}\s?[:–—-])\s+(?=\S)")
_FILLERS = _words(
    """
    please then next first firstly second secondly third thirdly now finally lastly afterwards
    afterward subsequently also otherwise instead again always carefully manually immediately
    optionally optional additionally alternatively recommended simply just quickly temporarily and
    but or so to be gracefully safely briefly kindly directly either
    """
)
_FILLER = re.compile(
    rf"(?:{'|'.join(sorted(_FILLERS, key=len, reverse=True))})\b[,:)]?\s+", re.IGNORECASE
)
_LEAD = re.compile(
    r"(?:(?:in|on|from|for|to|after|before|at|with|using|via|once|as|during|under|within|by|if|when"
    r"|while|unless|depending|because|since)\b[^,:;]{1,160}),\s+(?=\S)",
    re.IGNORECASE,
)
_ADVERB = re.compile(r"[A-Za-z]{3,}ly,?\s+(?=[a-z])")
_OFTEN = r"(?:also |then |now |first |next |always |either |immediately |at least |only )*"
_PEOPLE = (
    r"(?:teams?|persons?|people|engineers?|reviewers?|owners?|managers?|leads?|agents?|users?"
    r"|customers?|analysts?|operators?|members?|administrators?|responders?|developers?|commander)"
)
_SUBJECT = re.compile(
    r"(?:(?:(?:you|we)(?:'ll|’ll|'d|’d)|let's|let’s|let us)"
    r"|(?:you|we|the (?:on-?call(?: engineer)?|operator|engineer|user|team|agent|assistant|sre"
    r"|admin|administrator|responder|incident commander|ic))\s+"
    r"(?:should|must|need to|needs to|have to|has to|will need to|will have to|will want to|can"
    r"|may|want to|shall|will|are required to|is required to|are expected to))\s+"
    rf"{_OFTEN}",
    re.IGNORECASE,
)
_DUTY = re.compile(
    r"\b(?:(?:you|we|they|agents?|(?:the |an? )[\w'’ -]{2,40}?)\s+(?:(?:will |would )?(?:have|has"
    r"|need|needs) to|must|should|shall)"
    rf"|(?:you|we|they|(?:the |an? )[\w'’ -]{{0,40}}?{_PEOPLE})(?: \([^)]*\)| from "
    rf"[\w ]{{1,40}}?)?\s+will)"
    rf"\s+{_OFTEN}(?P<verb>[a-z-]+)\b(?! be\b)",
    re.IGNORECASE,
)
_GERMAN = re.compile(
    r"\b(?:der|die|das|den|und|über|alle|dass|nicht|auf|mit|von|ist|im|zum|zur|ein|eine)\b|[äöüß]"
)
_INFINITIVE = re.compile(r"[a-zäöüß]{3,}(?:en|ern|eln)\W*$")
_WORD = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")
_VERBS = _words(
    """
    erase guide exchange reenforce reinforce harden rehearse gauge vet redact refund reimburse sweep
    reschedule escrow unassign undelete wake
    abort accept access acknowledge ack activate add address adjust advise alert align
    allocate allow alter amend analyse analyze announce annotate answer append apply approve
    archive arrange ask assemble assess assign attach attempt audit authenticate authorise
    authorize avoid await back backup balance begin block book boot bounce branch bring browse
    build bump bypass calculate call cancel capture carry change charge check checkout choose
    clean clear click clone close coach collect combine commit communicate compare compile
    complete compress compute conduct configure confirm connect consider consolidate consult
    contact contain continue convert convene coordinate copy cordon correct correlate create
    cross-check customise customize cut deactivate debug decide declare decommission decrease
    decrypt define delegate delete deliver demote deny deploy describe destroy detach detect
    determine diagnose diff direct disable discard disconnect discuss dismiss dispatch display
    distribute divide do document double-check download downgrade draft drain drop dump
    duplicate edit eject eliminate email e-mail emphasise emphasize employ empty enable
    encourage encrypt end engage enlist ensure enter eradicate escalate establish estimate
    evacuate evaluate evict examine exclude execute exit expand explain export expose extend
    extract fail failover fall fetch file fill filter finalise finalize find finish fix flag
    flush focus follow force forward free freeze gather generate get give go grab grant group
    halt hand handle have head hold hover identify ignore implement import improve include
    increase inform initialise initialize initiate insert inspect install instruct interview
    introduce investigate invite invoke isolate issue join jot judge keep kick kill label
    launch lead leave let limit link list listen load locate lock log login look loop lower
    maintain make manage map mark match measure merge message migrate minimise minimize
    mitigate modify monitor mount move mute name navigate nominate note notify observe obtain
    offer onboard open operate opt order organise organize outline override page pair park
    pass paste patch pause perform persist pick pin ping place plan point poll post power
    practice prepare present preserve press prevent print prioritise prioritize probe proceed
    process procure produce progress promote prompt protect prove provide provision prune
    publish pull purchase purge push put quarantine query queue quit raise re-enable re-run
    reach read reapply reassign rebalance reboot rebuild recheck reclaim reconfigure reconnect
    record recover recreate redeploy redirect reduce refer refresh regenerate register reindex
    reinstall reject relaunch release reload remediate remember remind remount remove rename
    renew reopen repair repeat replace replay replicate reply report request requeue rerun
    reschedule reset resize resolve respond restart restore restrict resubmit resume retain
    retrieve retry return reuse revert review revoke rewrite right-click roll rotate route run
    sanitise sanitize save scale scan schedule scroll search secure see seek select send
    separate serve set settle setup share shift ship show shut shutdown sign silence simulate
    skip snapshot solve sort specify spin split stage start state stay stop store stream
    submit subscribe substitute summarise summarize supply suppress suspend swap switch sync
    synchronise synchronize tag take talk tail tear tell terminate test thank throttle tidy
    toggle trace track train transfer transition trigger triage troubleshoot truncate try tune
    turn type unblock uncordon undeploy understand undo uninstall unlock unmount unplug unset
    untag update upgrade upload use utilise utilize validate verify view visit wait walk warm
    watch wipe withdraw work write zip familiarise familiarize reproduce rule spot stand
    compose reconcile reinstate rollback roll-back fail-over dial drive steer brief debrief
    """
)
_FOREIGN = _words(
    """
    prüfe prüfen überprüfe überprüfen starte starten stoppe stoppen öffne öffnen informiere
    informieren stelle stellen führe führen melde melden warte warten lösche löschen setze
    setzen vérifier vérifiez vérifie redémarrer redémarrez ouvrir ouvrez exécuter exécutez
    lancer lancez attendre attendez arrêter arrêtez supprimer supprimez contacter contactez
    informer informez verificar verifique verifica reiniciar reinicie ejecutar ejecute abrir
    abra esperar espere detener detenga eliminar elimine notificar notifique contactar
    contacte compruebe comprobar identificar implementar validar monitorizar revisar asegurar
    configurar instalar crear iniciar restaurar recuperar actualizar cambiar copiar enviar
    realizar registrar avisar desactivar activar bloquear aislar analizar confirmar consultar
    conectar definir documentar vérifier confirmer créer mettre prévenir analyser isoler changer
    modifier envoyer signaler déconnecter installer restaurer conserver noter déposer faire
    verificare controllare riavviare eseguire aprire attendere contattare executar fechar parar
    remover
    """
)
_ALSO_NOUNS = _words(
    """
    access alert audit back backup balance block book boot branch build bump call cause change
    charge check clean click clone commit contact copy cut deliver deploy diff direct display
    document draft drain drop dump email end exit export fail fix flag focus force forward
    freeze group halt hand head hold import increase issue label launch lead limit link list
    load lock log look map mark match measure merge message monitor mount move name note
    notify order outline override page pair pass patch pause place plan point poll post power
    practice present print process produce progress prompt purchase query queue record release
    repair replay reply report request reset result return review right route rule run scale
    scan schedule search set share shift show sign snapshot sort split stage start state store
    stream supply swap switch sync tag test touch trace track train transfer transition
    trigger try tune turn type update upgrade upload use view visit wait walk watch work zip
    repeat decrease reboot restart login
    """
)
_FINITE = re.compile(
    r"(?:[\w`*'’/-]+\s+){0,5}?(?:is|are|was|were|has|have|had|will|does|do not|don't|can|could"
    r"|should|must|may|might|fires?|contains?|shows?|means?|happens?|occurs?|indicates?"
    r"|represents?|includes?|fails?|hangs|crashes|stops|exceeds|drops|rises"
    r"|provides?|describes?|consists?|depends?|requires?|exists?|becomes?|remains?|comes|goes)\b",
    re.IGNORECASE,
)
_CLAUSE_AHEAD = re.compile(
    r"(?:that|if|until|while|whether|when|where|which|what|how|the|all|any|a|an|your|this|"
    r"for|to|each|every|with|on|in|up|out|down|back)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Piece:
    """A sentence on the lines ``line`` to ``last``, on one line of text."""

    line: int
    last: int
    text: str


def pieces(lines: Sequence[tuple[int, str]]) -> Iterator[Piece]:
    """The sentences of a paragraph. A full stop ends one before a capital letter, a digit or a
    letter of a script without capitals, but not behind an abbreviation and not inside quotes."""
    starts: list[int] = []
    numbers: list[int] = []
    length = 0
    rows: list[str] = []
    for number, text in lines:
        starts.append(length)
        numbers.append(number)
        rows.append(text)
        length += len(text) + 1
    whole = " ".join(rows)
    begin = 0
    for end in [*_ends(whole), len(whole)]:
        said = whole[begin:end]
        if said.strip():
            lead = len(said) - len(said.lstrip())
            first = numbers[max(bisect_right(starts, begin + lead) - 1, 0)]
            last = numbers[max(bisect_right(starts, begin + len(said.rstrip()) - 1) - 1, 0)]
            yield Piece(first, last, " ".join(said.split()))
        begin = end


def _ends(text: str) -> Iterator[int]:
    hidden = masked(text)
    for found in _END.finditer(hidden):
        ahead = _OPENS.match(text, found.end())
        if ahead is None or _POINTS.match(text, found.end()):
            continue
        letter = ahead["letter"]
        if not (letter.isupper() or letter.isdigit() or not letter.islower()):
            continue
        word = text[max(0, found.start() - 12) : found.start()]
        if text[found.start()] == "." and _ABBREVIATED.search(word):
            continue
        yield found.end()


def plain(text: str) -> str:
    """``text`` without what stands before its first word: marks of emphasis, pictures, a label in
    bold letters."""
    label = _LABEL.match(text)
    text = text[label.end() :] if label else text
    return _DECORATION.sub("", text, count=1) if text[:1] not in "`$<{/." else text


def core(text: str) -> str:
    """``text`` from its first word that says something: no emphasis, no ``Please``, no ``In the
    console,``, no ``You should``."""
    said = plain(text)
    for _ in range(4):
        before = said
        said = _FILLER.sub("", said, count=1) if _FILLER.match(said) else said
        lead = _LEAD.match(said)
        if lead and lead.end() < len(said):
            said = said[lead.end() :]
        said = _ADVERB.sub("", said, count=1) if _ADVERB.match(said) else said
        subject = _SUBJECT.match(said)
        said = said[subject.end() :] if subject else said
        said = plain(said)
        if said == before:
            break
    return said


def is_order(text: str) -> bool:
    """Whether the sentence tells somebody to do something. It goes by its first word: verbs that
    are nouns too (``Log files are kept``) count unless a finite verb follows."""
    said = core(text)
    first = _WORD.match(said)
    if first is None:
        return False
    word = first[0].lower()
    if word in _FOREIGN:
        return True
    if word.startswith("re-") and word[3:] in _VERBS:
        return True
    if word not in _VERBS:
        return _is_duty(said) or bool(_GERMAN.search(said) and _INFINITIVE.search(said))
    rest = said[first.end() :].lstrip()
    if said[first.end() :][:1] in ("-", "/", "(", "’", "'", "=", "_") and rest:
        return False
    if word in _ALSO_NOUNS and not _CLAUSE_AHEAD.match(rest):
        return not _FINITE.match(rest)
    return True


def _is_duty(said: str) -> bool:
    """``The agent has to check …``: somebody has to do something."""
    found = _DUTY.search(said[:200])
    return found is not None and found["verb"].lower() in _VERBS


def title_of(text: str) -> str:
    """``text`` as the title of a step."""
    said = text.strip().rstrip(":.;").strip()
    if said.count("**") % 2:
        said = said.replace("**", "")
    return said or text.strip() or "Do this"


def question_of(condition: str) -> str:
    """A condition as a question."""
    said = condition.strip().strip("*_ ").rstrip("?:.,;")
    if said.count("**") % 2:
        said = said.replace("**", "")
    return f"{said[:1].upper()}{said[1:]}?"
