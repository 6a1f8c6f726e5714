"""Somebody's consent: what a sentence says has to be agreed to, and by whom."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from dcf.sop.language.phrase import MAX_PHRASE, masked
from dcf.sop.runbook.placeholders import VALUE_NOUN
from dcf.sop.runbook.roles import PEOPLE, has_somebody
from dcf.sop.runbook.wording import core, is_order

_NOUN = (
    r"(?:(?:pre-?)?approvals?|sign(?:ed)?-?\s?offs?|permissions?|authori[sz]ations?|consent"
    r"|go-?ahead"
    r"|green light|confirmations?|clearance|concurrence|endorsement|blessing|buy-in"
    r"|thumbs[- ]up|ratification|explicit (?:ok|okay|yes)|lgtm|\+1|say-so"
    r"|(?:ok|okay|yes|agreement|acceptance)(?=\s+(?:from|of|by)\b))"
)
_AGREED = (
    r"(?:(?:pre-?)?approved|signed[- ](?:it |this |them )?off(?: on)?|authori[sz]ed|agreed(?: "
    r"(?:to|with|upon|on))?"
    r"|consented to|ratified|endorsed|sanctioned|countersigned)"
)
_LOOKED = (
    r"(?:permitted|cleared|vetted|accepted|released|granted|allowed|signed"
    r"|reviewed(?: and \w+)?|confirmed|checked|validated|seconded)"
)
"""What only a person does to a person's act: it has to say who."""
_AGAIN = (
    r"[^.;]{0,20}\b(?:every|daily|weekly|monthly|quarterly|yearly|annually|regularly"
    r"|periodically)\b"
)
"""What is looked at again and again waits for nobody."""
_AND = r"(?:[^.;:,]{2,40}?\band\s+(?:then\s+)?)?"
"""Another verb before: ``are requested in writing and granted``."""
_AGREE = (
    r"(?:approves?|signs? (?:it |this |them )?off|authori[sz]es?|consents?|agrees?|endorses?"
    r"|ok(?:ay)?s?(?=\s+(?:it|this|them|the)\b)"
    r"|countersigns?|gives? (?:\w+ ){0,3}?"
    + _NOUN
    + r"|grants? (?:\w+ ){0,3}?"
    + _NOUN
    + r"|gives? (?:its|their|his|her|the) (?:\w+ )?(?:ok|okay|nod|agreement|assent)\b)"
)
_WHO = r"(?P<who>[^.,;:()\n]{1,80})"
_FROM = rf"(?:\s+(?:from|by|of)\s+{_WHO})?"
_FEW = (
    r"(?:(?!(?:change|file|access|check|log|that|to|can|may|will|must|should|is|are|was|were|who"
    r"|which)\b)[\w'’/()-]+\s+){0,4}?"
)
_BODY = r"(?:committees?|boards?|councils?|panels?|cab|jury|juries|assembl(?:y|ies)|tribunals?)"
"""Several people who decide together."""
_PEOPLE = r"(?P<people>[^.,;:()\n]{1,60}?)"
_HAS_AGREED = (
    r"(?:(?:has|have)\s+(?:agreed|approved|accepted|consented|signed|voted|confirmed)|agrees?"
    r"|accepts?|approves?|consents?)"
)
_PROPOSAL = (
    r"(?:changes?|requests?|proposals?|applications?|plans?|exceptions?|nominations?|designs?"
    r"|budgets?|motions?|amendments?)"
)
_NEEDS = r"(?:requires?|required|needs?|needed|calls? for|is subject to|are subject to|subject to)"
_GET = (
    r"(?:gets?|getting|obtains?|obtaining|seeks?|seeking|requests?|secures?|awaits?|awaiting"
    r"|receives?|gains?|acquires?|has|have|given|asks? for|waits? for|waiting for|collects?"
    r"|solicits?"
    rf"|pends?|pending|{_NEEDS})"
)
_MUST = (
    r"(?:must|has to|have to|needs? to|should|shall|will|(?:is|are) (?:required|asked|expected) to)"
    r"(?:\s+(?:first|also|then|always|explicitly))*"
)
_STATES = (
    rf"\b{_GET}\s+{_FEW}{_NOUN}\b{_FROM}",
    rf"\b{_MUST}\s+(?:\w+ly\s+)?be\s+(?:\w+(?:ly|ed)\s+(?:and\s+)?)?{_AGREED}\b"
    rf"(?:[^.;]{{0,30}}?\bby\s+"
    rf"{_WHO})?",
    rf"\b(?:is|are|was|gets?|been|be)\s+{_AND}(?:\w+ly\s+)?{_AGREED}(?: in writing)?"
    rf"\s+by\s+{_WHO}",
    rf"\b(?:be|been|is|are)\s+{_AND}(?:\w+ly\s+)?{_LOOKED}(?!{_AGAIN})[^.;]{{0,20}}?\s+by\s+"
    r"(?!\w+ing\b)(?P<people>[^.,;:()\n]{1,80})",
    r"^(?:please\s+)?(?:confirm|agree|clear)\s[^.;:]{0,60}?\bwith\s+(?P<people>"
    r"(?:the\s+)?(?:user|customer|requester|requestor|client|caller))\b",
    rf"^{_WHO}\s+{_MUST}\s+{_AGREE}\b",
    rf"(?:^|[,;:]\s+(?:and |but )?)(?P<people>[^.,;:()\n]{{1,60}}?)\s+{_MUST}\s+(?:accept"
    r"|confirm(?! (?:their|his|her|your|its|receipt)\b)(?! (?:[\w'’]+ ){0,4}?"
    rf"{VALUE_NOUN}\b)|clear|release|permit|countersign|sign(?! (?:in|up|on|out)\b))\b",
    rf"\b(?:have|has|get"
    rf"|gets)\s+(?!been\b)[^.,;:]{{2,60}}?\s{_AGREED}\b(?!-)(?:[^.;]{{0,30}}?\bby\s+{_WHO})?",
    rf"\b(?:have|has|get|gets)\s+(?!been\b)[^.,;:]{{2,60}}?\s{_LOOKED}\s[^.;]{{0,20}}?\bby\s+"
    r"(?P<people>[^.,;:()\n]{1,80})",
    r"^(?:check|ask|consult|speak|talk|clear (?:it|this))\s+(?:first\s+)?(?:to\s+|with\s+)?"
    r"(?P<people>(?!(?:whether|if|that|for)\b)[^.,;:()\n]{1,50}?)(?:\s+first\b"
    r"|\s+before\s+(?:you\s+)?\w+)",
    r"^(?:check|clear (?:it|this)|agree)\s+(?:first\s+)?with\s+(?P<people>[^.,;:()\n]{1,50}?)\.?$",
    rf"\b{_NEEDS}\s+(?:at least\s+)?(?:[\w-]+\s+){{0,2}}?(?:reviewers?|approvers?)\b",
    r"^only\s+(?P<people>[^.,;:()\n]{1,60}?)\s+(?:may|can|must|should)\s+(?:approve|release"
    r"|authori[sz]e"
    r"|sign|permit|grant|decide)\b",
    r"\bwaits? for\s+(?:an? |the |their |his |her )?(?:explicit |clear )?(?:yes|ok|okay)\b",
    rf"\b{_NOUN}\s+(?:from|of|by)\s+{_WHO}\s+(?:is|are|must be|has to be)\s+(?:required|needed"
    r"|necessary|mandatory|obtained)\b",
    r"^(?:an? |one |another )?(?P<who>(?:peer|colleague|second|another|independent|different)"
    rf"(?: \w+){{0,2}}?)\s+(?:{_MUST}\s+)?(?:reviews?|checks?|verif(?:y|ies)|inspects?|approves?"
    r"|counts?|confirms?)\b",
    rf"(?:^|\b(?:to|by|from|with"
    rf"|of)\s+)(?P<people>(?:[\w'’-]+\s+){{0,4}}?[\w'’-]+),?\s+who\s+{_MUST}\s+"
    rf"(?:accept|confirm|clear|release|permit|sign|{_AGREE})\b",
    r"\b(?:confirm|agree|clear|check|verify)\s+with\s+(?P<people>[^.,;:()\n]{1,50}?)\s+(?:that|if"
    r"|whether)\s[^.;]{1,60}?\b(?:may|can|(?:is|are) (?:allowed|permitted|ok|okay))\b",
    rf"\b{_GET}\s+(?P<people>(?:[\w'’-]+\s+){{1,5}}?(?:counter)?signatures?\b"
    r"(?:\s+(?:from|by|of)\s+[^.,;:()\n]{1,60})?)",
    r"(?:^|\b(?:and|then|to)\s+)(?P<act>(?:approve|sign off)\s+(?:it|this|them|the|each|every"
    r"|all|on|both)"
    r"\b)",
    rf"^(?P<people>(?!.{{0,80}}\bwho (?:can|may)\b)[\w ,&/'’-]{{2,80}})\s+(?:can|may)\s+{_AGREE}"
    r"\b",
    r"\b(?:until|once|after|before|unless)\s+(?P<who>(?:the )?(?:user|customer|requester|requestor"
    r"|client|caller|owner|team))\s+(?:has |have )?confirm(?:s|ed)?\b",
    rf"^(?P<who>(?:the |an? |all |each )?(?:[\w'’-]+ ){{0,3}}?(?:{PEOPLE}|group|body|forum))\s+"
    rf"(?:then\s+)?{_AGREE}\b",
    r"\b(?:asks?|gets?|has|have|waits? for|requires?|needs?|requests?)\s+"
    r"(?P<who>(?:(?!\bto\b)[^.,;:()\n]){1,60}?)\s+(?:to\s+)?(?:approve|confirm|sign(?: \w+)? off"
    r"|authori[sz]e"
    r"|review|agree|consent)\b(?! (?:if|whether|how|when|what))",
    rf"\b(?:asks?|asking)\s+(?P<who>[^.,;:()\n]{{1,60}}?)\s+for\s+{_FEW}{_NOUN}\b",
    rf"\b{_NOUN}\s+(?:(?:is|are|must be|has to be|have to be|should be|will be)\s+)?"
    rf"(?:\w+ly\s+)?(?:required|needed|obtained|mandatory|granted|given|necessary|sought){_FROM}",
    rf"^{_NOUN}(?:\s+(?:needed|required))?(?:\s+(?:from|by)|:)\s+{_WHO}",
    rf"^{_NOUN}\s+of\s+(?P<people>[^.,;:()\n]{{1,80}})",
    r"^(?:\w+ )?reviews? by\s+(?P<people>[^.,;:()\n]{1,60})",
    rf"^(?:required )?(?:reviewers?|approvers?|approved by|signed off by):\s+{_WHO}",
    rf"(?P<who>(?:[\w'’-]+ ){{0,3}}?{PEOPLE}) for (?:their |his |her |final )?(?:{_NOUN}|review)\b",
    rf"\b(?:wait|hold|pause)s?\b[^.;]{{0,40}}?\b(?:until|till|for)\s+(?P<who>[^.,;:"
    rf"()\n]{{1,60}}?)\s+"
    rf"(?:to\s+|has\s+|have\s+)?(?:{_AGREE}|{_AGREED})\b",
    r"\b(?:confirm|check|clear|agree|verify|align|consult|coordinate)(?:\s+"
    r"(?:\w+\s+){0,3}?with)?\s+"
    r"(?P<people>(?!(?:who|what|which|whether|that|if|how)\b)[^.,;:()\n]{1,60}?)\s+"
    r"(?:(?:that\s+[^.;]{0,80}?\s+)?before\b|whether to\b"
    r"|if you (?:may|can)|that you (?:may|can)|to proceed)",
    rf"\b(?<!logs )(?<!alerts ){_MUST}\s+(?:\w+ly\s+)?be\s+(?:\w+ly\s+"
    rf"|peer-)?reviewed\b(?!{_AGAIN})",
    r"^review\s+(?:and\s+\w+\s+)?(?:[\w'’-]+\s+){0,4}?(?:mrs?|prs?|(?:pull|merge) requests?)\b",
    r"\b(?:let|have)\s+(?P<people>[^.,;:()\n]{1,50}?)\s+(?:approve|confirm|opt in|decide|agree"
    r"|choose"
    r"|sign off|countersign)\b",
    rf"\b(?:(?:submit|send|put|open|pass|hand|(?:e-?)?mail|contact|route|forward|refer|escalate"
    rf"|present)(?:s|t?ed|red|d)?|sent|brought|given|taken)\b(?:[^.;]|\.(?=\w)){{1,60}}?\bfor\s+"
    rf"(?:an? |the |their |his |her )?(?:\w+\s+(?:and\s+)?)?"
    rf"(?:review|approval|sign-?off|authori[sz]ation|ratification|decision)\b{_FROM}",
    r"\b(?:gets?|requests?|asks? for|obtains?|needs?|requires?|waits? for|seeks?)\s+(?:an?\s+"
    r"|the\s+"
    rf"|one\s+|two\s+)?(?:code\s+|peer\s+|pr\s+|legal\s+|security\s+)?reviews?\b{_FROM}",
    rf"^(?:an? |the |one |next,? an? )?(?P<who>(?:[\w-]+ )?reviewers?)\b"
    rf"(?:\s*\([^)]*\))?\s+{_MUST}",
    r"\b(?P<two>two-?\s?(?:person|people|man) (?:rule|integrity|control|approval|sign-?off"
    r"|review)|four-?\s?eyes"
    r"|dual (?:control|authori[sz]ation)|second pair of eyes|another pair of eyes)\b",
    r"\b(?:a|the)\s+(?P<second>second\s+(?:[\w-]+\s+)?(?:person|engineer|operator|admin\w*|member"
    rf"|reviewer|colleague|team member|approver|pair))\s+{_MUST}",
    r"^(?P<who>(?:the |an? )?(?:[\w'’-]+ ){0,4}?" + PEOPLE + r")\s+(?:then\s+)?(?:decides?"
    r"|determines?|rules?)\s+(?:whether|if|on|about)\b",
    r"\b(?:final\s+)?decision\s+(?:is|will be|must be|should be)\s+(?:made|taken)\s+by\s+"
    rf"{_WHO}",
    rf"\bat the discretion of\s+{_WHO}",
    rf"\b(?:go|goes|went)\s+(?:through|to|before)\s+(?P<who>(?:the |an? |our )?(?:[\w-]+ ){{0,4}}?"
    rf"{_BODY})\b",
    rf"\b(?:submit|put|refer|present|bring|take)(?:s|ted|red|ed)?\b[^.;]{{0,40}}?\b{_PROPOSAL}\b"
    rf"[^.;]{{0,40}}?\b(?:to|before)\s+(?P<who>(?:the |an? |our )?(?:[\w-]+ ){{0,4}}?{_BODY})\b",
    rf"^(?P<who>(?:the |an? |our )?(?:[\w-]+ ){{0,4}}?{_BODY})\s+(?:then\s+)?(?:reviews?|votes?"
    r"|decides?|considers?)\b",
    rf"(?:^|\b(?:to|by|from|with|of)\s+){_PEOPLE},?\s+who\s+(?:then |also |either )?(?:{_AGREE}"
    r"|accepts?|rejects?)\b",
    rf"^{_PEOPLE}\s+(?:then |either )?(?:\w+s\s+[^.,;:]{{1,60}}?\s+and\s+(?:then |either )?)?"
    rf"(?:{_AGREE}|accepts?|grants?)\s+or\s+(?:rejects?|den(?:y|ies)|declines?|refuses?)\b",
    rf"^{_PEOPLE}\s+(?:(?:{_MUST}|then)\s+)?votes?\b",
    r"\b(?:have|let|get|ask)\s+(?:an?|some|another)\s+(?P<who>(?:[\w-]+ )?(?:colleague|peer"
    r"|co-?worker|team-?mate|engineer|reviewer))\s+(?:to\s+)?(?:look|check|verify|go|read"
    r"|double-check|proof-?read|vet)\b",
    r"\b(?P<who>some(?:one|body)(?: else)?|a (?:second|different) (?:person|pair))(?:\s+(?:from|on"
    rf"|in|of)\s+[\w -]{{1,40}}?)?\s+(?:{_MUST}|has|have)\s+(?:reviewed|review|looked|look"
    r"|check(?:ed)?|verif(?:y|ied)|gone over|go over|read)\b",
    r"\bexceptions?\b[^.;]{0,40}?\b(?:made|granted|allowed|given|decided)\s+(?:only\s+)?by\s+"
    r"(?!\w+ing\b)(?P<people>[^.,;:()\n]{1,60})",
    r"\bup to\s+(?P<people>[^.,;:()\n]{1,60}?)\s+to\s+(?:decide|approve|agree|judge)\b",
    r"\bdecision\b[^.;]{0,60}?\s(?:rests|lies|sits)\s+with\s+(?P<people>[^.,;:()\n]{1,60})",
    rf"^{_PEOPLE}\s+(?:then\s+)?(?:makes?|takes?)\s+the\s+(?:\w+ )?(?:call|decision)\s+(?:on|to"
    r"|about|whether|as)\b",
    rf"^{_PEOPLE}\s+(?:then\s+)?decides?\s+(?:whether|if)\b",
    r"\bask(?:s|ed)?\s+(?P<people>[^.,;:()\n]{1,40}?)\s+(?:whether|if)\s+(?:they|he|she|it|we"
    r"|you|I)\s+(?:agrees?|accepts?|approves?|consents?|may|(?:is|are) (?:ok|okay|happy|fine))\b",
    r"\brun\s+(?:it|this|that|them|the [\w ]{1,30}?|your [\w ]{1,30}?)\s+(?:by|past)\s+"
    r"(?P<people>[^.,;:()\n]{1,60})",
    r"^(?:clear|agree(?: on)?)\s[^.;:]{1,60}?\bwith\s+(?P<people>[^.,;:()\n]{1,60})",
    rf"^(?:ensure|make sure|check|verify|confirm)\s+(?:that\s+)?{_PEOPLE}\s+{_HAS_AGREED}\b",
    rf"^only\s+{_PEOPLE}\s+(?:may|can|must|should)\s+(?:declare|lift|waive|order|allow)\b",
    r"\b(?:nobody|no[ -]one|none|no \w+)\s+(?:(?:on|in|of|from) [\w ]{1,30}?\s)?"
    r"(?:has\s+|have\s+)?(?:objects?|objected|veto(?:e[sd])?"
    r"|disagrees?)\b|\bfor objections\b|\blazy consensus\b",
    rf"^{_PEOPLE}\s+(?:is|are|will be|gets?|must be)\s+asked\s+(?:to\s+(?:confirm|approve|agree"
    rf"|consent|accept)|for\s+{_FEW}{_NOUN})\b",
    r"\b(?:is|are|be|been)\s+(?:\w+ly )?(?:signed off|approved|ratified|agreed(?: on)?|decided"
    r"(?: on)?)\s+(?:in|at|during)\s+(?:the|an?|our)\s+(?:[\w-]+ ){0,3}?(?:meeting|session"
    r"|stand-?up|call|assembly|vote)\b",
    rf"\b(?:{_GET}|without|with)\s+(?:[\w'’-]+\s+){{0,3}}?(?:their|his|her|\w+['’]s?)\s+(?:\w+ )?"
    r"(?:ok|okay|agreement|acceptance|assent|nod)\b",
)
_BESIDE = (
    r"\b(?:deemed|considered|judged)\s+(?:to be )?(?:necessary|appropriate|acceptable|suitable|fit"
    r"|justified|safe|needed|required)\s+by\s+(?P<who>[^.,;:()\n]{1,60})",
    rf"\b(?:until|till|unless|once|after|before|as soon as|only if|only when)\s+{_PEOPLE}\s+"
    rf"(?:has\s+|have\s+)?(?:sign(?:s|ed)?(?! (?:in|up|on|out)\b)|accept(?:s|ed)?|confirm(?:s|ed)?"
    r"(?! (?:their|his|her|your|its|receipt)\b)|says? (?:so|otherwise|yes)|(?:is|are) (?:satisfied"
    r"|happy|content)\b|decid(?:es?|ed) (?:to|that|on)\b|clear(?:s|ed)?\b|permits?|allows?)"
    r"(?=\W|$)",
    r"\bunless\s+(?:otherwise\s+)?(?:instructed|directed|told|authori[sz]ed|agreed|permitted)\b"
    rf"(?:\s+otherwise)?(?:\s+by\s+{_WHO})?",
    r"\b(?:after|following|upon|pending|without|subject to)\s+(?:the\s+)?(?:[\w-]+ ){0,2}?"
    r"(?:validation|review|acceptance|verification|vote|instructions?)\s+(?:by|from|of)\s+"
    r"(?P<people>[^.,;:()\n]{1,60})",
    r"\b(?:on|at|upon|under)\s+(?:the\s+)?(?:\w+ )?(?:instructions?|orders|direction)\s+(?:of"
    r"|from)\s+(?P<people>[^.,;:()\n]{1,60})",
    rf"\b(?:with|without|upon|after|following|pending|on|under|absent|subject to"
    rf"|by)\s+{_FEW}{_NOUN}\b"
    rf"{_FROM}",
    r"\b(?:without|before|after)\s+(?:first\s+)?(?:consulting|asking|checking with"
    r"|speaking (?:to|with)|talking"
    r" (?:to|with))\s+(?P<people>[^.,;:()\n]{1,50})",
    r"\bwithout\s+(?:[\w'’-]+\s+){0,3}?(?:second|written|countersigned|\w+['’]s)\s+signature\b",
    r"\b(?:before|until|till|unless|once|after|when|as soon as"
    r"|only if)\s+(?P<people>[^.,;:()\n]{1,60}?)\s+"
    rf"(?:has|have)\s+(?:{_LOOKED}|said (?:yes|ok|okay)|given (?:\w+ ){{0,2}}?(?:{_NOUN}|ok"
    rf"|okay|yes))(?=\W|$)",
    rf"\b(?:until|till|once|with|after|upon|without)\s+{_FEW}(?:{_NOUN}|agreement)\s+(?:with"
    rf"|from|by|of)\s+{_WHO}",
    rf"\b(?:once|after|when|until|unless|as soon as|only if|provided(?: that)?)\s+"
    rf"(?P<who>[^.,;:()\n]{{1,60}}?)\s+(?:has\s+|have\s+)?(?:{_AGREED}|{_AGREE})\b(?!\s+by)",
    rf"\b(?:once|after|when|until|unless|as soon as|only if|if)\s+(?:it|this|that|they"
    rf"|the [\w ]{{1,30}}?"
    rf"|[\w ]{{0,30}}?{_NOUN})?\s*(?:(?:is|are|has been|have been|was|gets?)\s+)?(?:\w+ly\s+)?"
    rf"(?:{_AGREED}|granted|obtained|received|given)(?:\s+by\s+{_WHO})?(?=\W|$)",
)
_STATED = tuple(re.compile(one, re.IGNORECASE) for one in _STATES)
_BESIDES = tuple(re.compile(one, re.IGNORECASE) for one in _BESIDE)
_NO_CONSENT = re.compile(
    rf"\bno\s+(?:\w+\s+)?{_NOUN}\s+(?:is |are )?(?:needed|required|necessary)\b"
    rf"|\b(?:no need|not need|n['’]t need|need not|not required|not necessary)\s+"
    rf"(?:[\w'’-]+\s+){{0,4}}?{_NOUN}\b|\b{_NOUN}\s+(?:is|are)\s+not\s+(?:needed|required"
    rf"|necessary)\b|^(?!(?:nobody|no|none|neither|never|only)\b)[^.,;]{{0,60}}?\b(?:can|may)\s+"
    rf"(?!not\b|never\b|only\b)[^.,;]{{0,60}}?\bwithout\s+(?:\w+\s+){{0,3}}?"
    rf"{_NOUN}\b"
    r"|\bconfirmation\s+(?:e-?mails?|messages?|codes?|links?|letters?|numbers?|pages?|screens?"
    r"|dialogs?)\b|"
    r"\b(?:root|sudo|admin\w*|file|read|write|iam|execute|ssh|user|access|delivery|order|booking"
    r"|e-?mail|service level|licen[sc]e)\s+(?:confirmation e|permissions?|agreements?)\b"
    r"|\b(?:permissions?|authori[sz]ation)\s+(?:to (?:access|read|write|use|run|view)\b|header"
    r"|error"
    r"|token|code|denied|service|server|set|bits?|on the (?:file|folder|bucket))"
    r"|\b(?:have|has)\s+(?:\w+ )?permissions?\s+(?:to|for|on)\b"
    r"|^(?:this|the)\s+(?:page|document|policy|procedure|section|guide|runbook|sop|chapter)\s+"
    r"(?:describes?|explains?|defines?|covers?|outlines?|tells?|sets? out)\b"
    r"|\b(?:right|correct|sufficient|appropriate|necessary|enough|proper|required|needed)\s+"
    r"(?:\w+ )?"
    r"permissions?\b|\bpermissions?\s+(?:are|is) (?:correct|set|missing|required|needed)\b",
    re.IGNORECASE,
)
_MACHINE = re.compile(
    r"\b(?:servers?|systems?|services?|brokers?|scripts?|pipelines?|tools?|jobs?|controllers?"
    r"|queues?"
    r"|api|ca|clusters?|nodes?|bots?|webhooks?|gateways?|daemons?|process(?:es)?|software|apps?"
    r"|applications?|programs?|browsers?)$",
    re.IGNORECASE,
)
_SUBORDINATE = re.compile(
    r"\S\s+(?:once|after|when|until|till|unless|before|as soon as|only if)\s[^.,;:]{0,80}$"
)
"""A clause behind the main one, up to where it says that somebody agrees."""
_ASKING = re.compile(
    r"(?:get|obtain|seek|request|secure|await|receive|wait|gain|acquire|have|ask|require|need"
    r"|confirm"
    r"|check|submit|collect|ensure|verify|clear|agree|make sure|let|send|put|open|hold|pause"
    r"|consult"
    r"|solicit|coordinate|align|pass|review|double-check|do not proceed|don't proceed)\b",
    re.IGNORECASE,
)
_WAITING = re.compile(
    r"(?:get|obtain|seek|request|secure|await|receive|wait|gain|acquire|have|ask|require|need"
    r"|confirm|ensure|make sure|hold|pause|proceed|continue|do not proceed|don't proceed)\b",
    re.IGNORECASE,
)
"""What one does until somebody has agreed, and no act of its own."""
_WHO_ENDS = re.compile(
    r"\s+(?:before|prior|via|in|on|for|to|when|if|and (?:then|wait|only|proceed|continue"
    r"|document|record)"
    r"|that|whether|using|through|by|at|as|who|which|about|unless|until|after|first|but|has"
    r"|have)\b.*",
    re.IGNORECASE | re.DOTALL,
)
_SIGNATURE = re.compile(
    r"^(?P<whose>.*?)['’]s?\s+(?:counter)?signatures?\b.*|^.*?\bsignatures?\s+(?:from|by|of)\s+"
    r"(?P<whom>.*)",
    re.IGNORECASE,
)
_ARTICLE = re.compile(r"^(?:the|a|an|your|our|at least one|one of the|any)\s+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Consent:
    """``by`` is who has to agree, as far as the text says; ``text`` the words that say it.
    ``alone``: the sentence tells to do nothing else."""

    by: tuple[str, ...]
    text: str
    alone: bool


@lru_cache(maxsize=1024)
def read_consent(text: str) -> Consent | None:
    """The consent that a sentence asks for; None where nobody has to agree."""
    text = text.replace("*", "").strip()
    if len(text) > MAX_PHRASE or _NO_CONSENT.search(text):
        return None
    told = core(text)
    for one in dict.fromkeys((text, text[len(text) - len(told) :])):
        said = masked(one)
        for pattern in _STATED:
            found = pattern.search(said)
            if found and (people := _people(found, one)) is not None:
                beside = any(each.match(said.strip()) for each in _BESIDES)
                beside = beside or bool(_SUBORDINATE.search(said[: found.start()]))
                alone = not beside or not is_order(told) or bool(_ASKING.match(told))
                return Consent(people, _words(found, one), alone)
    said = masked(text)
    for pattern in _BESIDES:
        found = pattern.search(said)
        if found and (people := _people(found, text)) is not None:
            does = is_order(text) and not _WAITING.match(told)
            return Consent(people, _words(found, text), not does)
    return None


def _words(found: re.Match[str], text: str) -> str:
    return text[found.start() : found.end()].strip(" *_,;:")


def _people(found: re.Match[str], text: str) -> tuple[str, ...] | None:
    """Who has to agree; None where those who would have to are no people."""
    groups = found.groupdict()
    told = groups.get("who") or ""
    if groups.get("people") is not None:
        told = groups["people"]
        if not has_somebody(text[found.start("people") : found.end("people")]):
            return None
    if groups.get("second"):
        told = groups["second"]
    name = next((one for one in ("who", "people") if groups.get(one)), "")
    at = found.start(name) if name else -1
    who = text[at : at + len(told)] if at >= 0 else told
    if signed := _SIGNATURE.match(who):
        who = signed["whose"] or signed["whom"]
    who = _ARTICLE.sub("", _WHO_ENDS.sub("", who).strip(" *_`\"'"))
    if _MACHINE.search(who):
        return None
    return (who.replace("`", "").replace("*", ""),) if who else ()
