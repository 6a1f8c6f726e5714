"""Which words are verbs: those of WordNet, and those of the trade that it does not have."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files


def words_in(told: str) -> frozenset[str]:
    return frozenset(told.split())


_PREFIXED = re.compile(r"(?:re|un|de|dis|pre|self|cross|double|auto|hot|over|mis|co)-?(?=[a-z]{3})")
_NO_ORDERS = words_in(
    """
    be can may must need dare seem appear belong consist occur happen exist depend pertain
    lack differ deserve comprise mean become remain owe own suppose wish matter mind like
    saw found lay bore wound fell given based due see-saw
    """
)
_IRREGULAR = dict(
    pair.split(":")
    for pair in words_in(
        """
    sent:send done:do made:make taken:take given:give held:hold put:put set:set run:run
    cut:cut written:write built:build shut:shut read:read told:tell brought:bring
    sought:seek paid:pay begun:begin chosen:choose drawn:draw thrown:throw
    withdrawn:withdraw undone:undo reset:reset rewritten:rewrite overwritten:overwrite
    let:let gone:go led:lead left:leave split:split rebuilt:rebuild resent:resend
    redone:redo rerun:rerun torn:tear hung:hang locked:lock frozen:freeze broken:break
    worn:wear spoken:speak shown:show woken:wake fed:feed
    """
    )
)
_TRADE = words_in(
    """
    guide exchange gauge vet redact refund sweep escrow unassign undelete wake abort access ack
    add address alert answer archive attempt audit back backup balance begin block book boot
    bounce branch browse build bump bypass call cancel capture carry change charge check
    checkout clean clear click clone close coach collect combine compare complete compress
    conduct contact convert coordinate copy cordon correct correlate cut decrease delegate diff
    direct discard disconnect dispatch display divide do document downgrade draft drain drop
    dump duplicate email e-mail employ empty end estimate exit export expose extract failover
    fall fetch file fill filter find finish fix flag flush focus force forward free freeze
    gather get give go goto grab grant group halt hand handle have head hold implement import
    increase initiate insert interview invite issue join jot judge keep kick kill label launch
    lead leave let limit link list load lock log login look loop lower make map mark match
    measure message monitor mount move mute name note offer onboard open order outline override
    page pair park pass paste patch pause pick pin ping place plan point poll post power
    practice present preserve press print probe process produce progress prompt provision prune
    pull purchase purge push put quarantine query queue raise re-enable re-run reach read
    reapply rebalance recheck reconfigure reconnect record regenerate register reindex reject
    relaunch release remount remove repair repeat replay reply report request requeue rerun
    reset resolve resume return review revoke rewrite right-click roll route run save scale scan
    schedule scroll search secure see seek select separate serve set settle setup share shift
    ship show shut shutdown sign silence skip snapshot sort spin split stage start state stay
    stop store stream substitute supply swap switch tag take talk tail tear tell test throttle
    tidy toggle trace track train transfer transition trigger triage truncate try tune turn type
    uncordon undeploy uninstall unmount unset untag update upgrade use view visit wait walk warm
    watch wipe work zip rule spot stand rollback roll-back fail-over dial drive steer brief
    """
)
"""Verbs that WordNet does not have, and nouns that are orders in front of a sentence."""
_FOREIGN = words_in(
    """
    prüfe prüfen überprüfe überprüfen starte starten stoppe stoppen öffne öffnen informiere
    informieren stelle stellen führe führen melde melden warte warten lösche löschen setze
    setzen vérifier vérifiez vérifie redémarrer redémarrez ouvrir ouvrez exécuter exécutez
    lancer lancez attendre attendez arrêter arrêtez supprimer supprimez contacter contactez
    informer informez verificar verifique verifica reiniciar reinicie ejecutar ejecute abrir
    abra esperar espere detener detenga eliminar elimine notificar notifique contactar
    contacte compruebe comprobar identificar implementar validar monitorizar revisar
    asegurar configurar instalar crear iniciar restaurar recuperar actualizar cambiar copiar
    enviar realizar registrar avisar desactivar activar bloquear aislar analizar confirmar
    consultar conectar definir documentar vérifier confirmer créer mettre prévenir analyser
    isoler changer modifier envoyer signaler déconnecter installer restaurer conserver noter
    déposer faire verificare controllare riavviare eseguire aprire attendere contattare
    executar fechar parar remover
    """
)
_ALSO_NOUNS = words_in(
    """
    access alert audit back backup balance block book boot branch build bump call cause
    change charge check clean click clone commit contact copy cut deliver deploy diff direct
    display document draft drain drop dump email end exit export fail fix flag focus force
    forward freeze group halt hand head hold import increase issue label launch lead limit
    link list load lock log look map mark match measure merge message monitor mount move
    name note notify order outline override page pair pass patch pause place plan point poll
    post power practice present print process produce progress prompt purchase query queue
    record release repair replay reply report request reset result return review right route
    rule run scale scan schedule search set share shift show sign snapshot sort split stage
    start state store stream supply swap switch sync tag test touch trace track train
    transfer transition trigger try tune turn type update upgrade upload use view visit wait
    walk watch work zip repeat decrease reboot restart login
    refund exchange checkout setup shutdown brief coach park provision ship silence spot tail
    throttle
    """
)


@cache
def _wordnet() -> tuple[frozenset[str], frozenset[str]]:
    """Verbs that are nothing else, and those that are nouns or adjectives, too."""
    text = (files("dcf.sop.runbook") / "verbs.txt").read_text(encoding="utf-8")
    told = "\n".join(row for row in text.split("\n") if not row.startswith("#"))
    alone, _, also = told.partition("---")
    return frozenset(alone.split()) - _NO_ORDERS, frozenset(also.split()) - _NO_ORDERS


def is_verb(word: str) -> bool:
    """Whether a lower-case word is a verb in its base form, whatever else it is."""
    alone, also = _wordnet()
    return word in _TRADE or word in alone or word in also or _prefixed(word)


def is_clear(word: str) -> bool:
    """Whether a verb alone in front of a sentence is an order."""
    if word in _ALSO_NOUNS:
        return False
    return word in _FOREIGN or word in _TRADE or word in _wordnet()[0] or _prefixed(word)


def is_usual(word: str) -> bool:
    """Whether a verb that is a noun, too, is common in orders: ``Email the team``."""
    return word in _ALSO_NOUNS


def is_foreign(word: str) -> bool:
    return word in _FOREIGN


def _prefixed(word: str) -> bool:
    """``recalibrate``, ``self-certify``: a prefix before a verb."""
    found = _PREFIXED.match(word)
    if found is None:
        return False
    rest = word[found.end() :]
    alone, also = _wordnet()
    return rest in alone or rest in _TRADE or ("-" in found[0] and rest in also)


def base_of(form: str) -> str:
    """The verb of ``checks``, ``checked`` or ``sent``; empty for what is none of a verb."""
    if form in _IRREGULAR:
        return _IRREGULAR[form]
    for end, instead in _ENDINGS:
        if form.endswith(end):
            for base in instead:
                found = form[: -len(end)] + base
                if is_verb(found):
                    return found
            undoubled = form[: -len(end) - 1]
            if end == "ed" and form[-3:-2] == form[-4:-3] and is_verb(undoubled):
                return undoubled
    return ""


_ENDINGS = (("ies", ("y",)), ("ied", ("y",)), ("ed", ("", "e")), ("es", ("e", "")), ("s", ("",)))
