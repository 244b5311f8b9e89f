"""Whether an answer declines to answer, in English, Russian, Hindi, German, French or Spanish."""

from __future__ import annotations

import re

from karat.core.text.blocks import drop_blocks
from karat.core.text.citations import spoken
from karat.core.text.sentences import sentences

# What answers are drawn from. Other things that may lack information (a licence, a letter, a disk) are what a
# question is about: that they lack it is an answer.
_THE = r"(?:the |these |this |those |any |any of the |my |your |a )?"
_GIVEN = r"(?:provided|given|retrieved|available|supplied|above|cited|attached|search|reference|source)"
_SOURCE = (
    rf"{_THE}(?:{_GIVEN} (?:results|information|data)"
    rf"|(?:{_GIVEN} )*(?:(?:\w+ )?(?:contexts?|passages?|excerpts?|snippets?|extracts?)"
    r"|documents?|documentation|texts?|sources?|articles?|pages?|materials?|knowledge base"
    r"|(?:results|information|data)(?= (?:provided|given|available|above|i have))))"
    r"(?: (?:you |i (?:was|am|have) |that (?:is|are|was|were) )?(?:provided|given|supplied|above|here))?"
)
_TELLS = (
    r"(?:contain|mention|provide|say|specify|include|state|discuss|give|answer|address|cover|tell|explain|describe"
    r"|name|list|indicate|reveal|refer|offer|have|hold)"
)
_TOLD = (
    r"(?:mentioned|specified|provided|stated|found|given|available|discussed|contained|included|covered|present"
    r"|addressed|described|explained|indicated|disclosed|listed|clear)"
)
_MATTER = r"(?:information|mention|details?|reference|answer|evidence|data|context|indication|knowledge)"
_KNOW = r"(?:answer|find|determine|provide|say|tell|help|locate|confirm|identify|infer|assist|give|know|see|verify)"
_ENOUGH = r"(?:not (?:\w+ )?(?:enough|sufficient)|insufficient|too little)"
_MATTER_RU = r"(?:информаци\w+|сведени\w+|данны[ех]|ответа?|упоминани\w+|контекст\w*|подробност\w+)"
_SOURCE_RU = (
    r"(?:контекст|документ(?!альн)|текст|отрыв(?:ок|к)|фрагмент|источник|материал|стать[еяию]|выдержк|страниц"
    r"|результат\w* поиска|баз\w+ знаний)\w*"
)
_TELLS_RU = (
    r"(?:содерж|упомина|упомян|указ|сказан|говор|опис|освещ|рассматрив|рассказ|привед|привод|предостав|дает|дают|назва"
    r"|уточн|сообща|раскры|обсужда|отража|отраж|поясн|нашлось|найден|представлен|затрагива)"
)
_SOLVE_RU = r"(?:ответить|определить|установить|сказать|узнать|дать ответ|найти ответ|понять)"

# Looked for in one clause, in which "can't" reads "can not", "I'm" reads "i am" and "ё" reads "е".
_PATTERNS = (
    r"\b(?:i|we) (?:really |simply |just )?(?:do|did) not (?:really |actually )?(?:know|have)\b",
    r"\b(?:i|we) (?:am|are|was|were) (?:not (?:\w+ )?(?:sure|able to|certain|aware)|unable to)",
    rf"\b(?:i|we) (?:can|could|will|would) not (?:be able to )?{_KNOW}\b",
    rf"\b(?:i|we) (?:have|had|found|find|see|could find|can find) (?:{_ENOUGH}|no) (?:\w+ )?(?:{_MATTER}|idea)\b",
    rf"\b(?:i|we) lack (?:\w+ )?{_MATTER}\b",
    r"\bi (?:must|have to|will|would rather) (?:decline|refuse|not answer)",
    rf"\b(?:i|we) (?:would )?need (?:more|additional|further) {_MATTER}",
    rf"^please (?:provide|give|share) (?:\w+ )?(?:more|additional|further) {_MATTER}",
    r"\bas an ai\b(?: \w+)? (?:model|assistant)\b",
    rf"^(?:unable|not able|impossible|not possible) to {_KNOW}\b",
    rf"\b(?:unable|not able|impossible|not possible) to {_KNOW}\b.* (?:from|in|with|by|on|using) {_SOURCE}\b",
    rf"^(?:based|judging|going|relying)? ?(?:on|by|from) {_SOURCE},? .*\b(?:not|im)\s?possible to {_KNOW}\b",
    rf"^(?:{_SOURCE}|it|this|that|(?:\w+ ){{0,3}}(?:answer|question|query))(?: \w+)? (?:can|could) not be "
    r"(?:answered|determined|inferred|established|derived)",
    r"^(?:can|could) not (?:be )?(?:answered?|determined?|inferred|found|say)\b",
    rf"\banswer\b.* (?:can|could) not be (?:found|given|located)|\b(?:can|could) not be {_TOLD} in {_SOURCE}\b",
    rf"\b{_ENOUGH} (?:\w+ )?{_MATTER}\b(?: \w+){{0,6}} (?:to|for) (?:\w+ )?(?:answer|determine|say|tell|decide)",
    rf"\b{_ENOUGH} (?:\w+ )?{_MATTER}\b.* (?:in|from|within) {_SOURCE}\b",
    rf"^(?:there is )?{_ENOUGH} (?:\w+ )?{_MATTER}(?: (?:is |was )?(?:provided|given|available))?$",
    rf"^(?:there (?:is|was|are) )?no (?:\w+ )?(?!evidence){_MATTER}(?: (?:is |was |are )?{_TOLD})?$",
    rf"^there (?:is|was|are) (?:no|not any) (?:\w+ )?(?:{_MATTER}) (?:about|on|regarding|concerning|as to)\b",
    rf"\b(?:(?:no|not any) (?:\w+ )?{_MATTER}|nothing)\b.* (?:in|within|from|by) {_SOURCE}(?: about\b|$)",
    rf"^(?:nothing|none) (?:in|of|from) {_SOURCE}",
    rf"^(?:\w+ )?{_SOURCE}(?: \w+)? (?:(?:do|does|did) not|neither) (?:\w+ )?{_TELLS}s?\b",
    rf"^{_SOURCE}(?: alone)? (?:\w+ )?(?:{_TELLS}s?|makes?) (?:nothing|no (?:\w+ )?{_MATTER})\b",
    rf"\b(?:not|never) (?:\w+ )?{_TOLD} (?:in|by|within|from|anywhere in) {_SOURCE}\b",
    rf"^(?:it is )?(?:not {_TOLD}|unanswerable|unknown|unclear)"
    rf"(?: (?:in|from|by|(?:based )?on|to) (?:{_SOURCE}|me)\b.*)?$",
    rf"\bunclear (?:from|in) {_SOURCE}",
    rf"^(?:that|this|such|the(?: requested)?|{_MATTER}) (?:{_MATTER}|about .*|on .*) (?:is|was|are) not "
    rf"(?:\w+ )?{_TOLD}$",
    r"\b(?:question|query) (?:is|seems|appears) (?:unanswerable|not answerable)",
    r"\bquestion .*\b(?:outside|beyond)\b|\boutside (?:of )?(?:the|my) (?:scope|knowledge)",
    r"^(?:n/?a|no answer|none of the above|no idea)$",
    r"\bне (?:знаю|могу (?:\w+ )?(?:\w+ть|помочь)|смог(?:ла)? (?:\w+ть|найти)|располагаю|нашел|нашла|обладаю)\b",
    r"\b(?:ответить|сказать|помочь|определить)(?: \w+){0,3} (?:я )?не могу\b|^(?:я )?не (?:\w+ )?уверена?\b",
    r"\bпонятия не имею|\bзатрудняюсь\b|\bя (?:вынужден|должен)\w* отказ|\bкак (?:языковая модель|ии)\b",
    rf"^(?:мне |нам )?не удалось (?:\w+ть|найти)|\bне удалось найти (?:\w+ )?{_MATTER_RU}",
    rf"\bу меня (?:\w+ )?(?:нет|недостаточно|не хватает)\b (?:\w+ )?{_MATTER_RU}",
    rf"^(?:здесь |тут )?(?:недостаточно|нет|мало) (?:\w+ )?{_MATTER_RU}(?: (?:для|чтобы|об?|по|в)\b.*)?$",
    rf"\bнедостаточно (?:\w+ )?{_MATTER_RU}.* (?:чтобы|для) ответ",
    rf"^(?:\w+ )?{_MATTER_RU}(?: (?:на|об?|про|по)\b.*)? (?:нет|отсутству\w+|недоступн\w+|не {_TELLS_RU}\w*)$",
    rf"\b{_SOURCE_RU} .*\b(?:не {_TELLS_RU}|нет {_MATTER_RU}|отсутству|ничего (?:не|нет))",
    rf"\b{_SOURCE_RU} .*\b{_MATTER_RU}.* (?:нет|не {_TELLS_RU}\w*)",
    rf"\b(?:не {_TELLS_RU}|нет {_MATTER_RU}|отсутству|ничего (?:не|нет)).*\b(?:в|во|из) (?:\w+ ){{0,2}}{_SOURCE_RU}",
    rf"^(?:неизвестно|не {_TELLS_RU}\w*|нет ответа|ответа нет)$",
    r"\b(?:ответить|дать ответ)\b.* (?:нельзя|невозможно|не представляется)|\b(?:нельзя|невозможно) ответить",
    rf"\b(?:нельзя|невозможно) {_SOLVE_RU}\b.*\b{_SOURCE_RU}|\b{_SOLVE_RU}\b.*\b{_SOURCE_RU}.* (?:нельзя|невозможно)",
    r"\bвопрос\w* .*\bвыход\w+ за (?:рамки|пределы)|^(?:пожалуйста,? )?уточните\b",
    rf"\b(?:нужн|требу|необходим)\w* (?:больше|дополнительн\w+) {_MATTER_RU}",
    r"(?:मुझे|हमें) (?:\S+ ){0,2}(?:नहीं पता|पता नहीं|ज्ञात नहीं|मालूम नहीं|नहीं मालूम)",
    r"(?:जानकारी|सूचना) (?:\S+ ){0,3}नहीं|पर्याप्त (?:जानकारी|सूचना) नहीं",
    r"उत्तर (?:\S+ ){0,2}(?:नहीं दे|नहीं दिया|देने में असमर्थ|नहीं मिल)",
    r"(?:संदर्भ|दस्तावेज़|दस्तावेज|पाठ) (?:\S+ ){0,5}(?:उल्लेख नहीं|नहीं मिल|नहीं दी|नहीं है)",
    r"\bich (?:weiß|weiss) (?:es |das )?(?:leider )?nicht",
    r"\b(?:ich kann|kann ich) (?:\S+ ){0,4}?nicht (?:beantworten|finden|sagen|bestimmen)",
    r"^(?:leider )?(?:keine|nicht genügend|nicht genug|unzureichende) (?:\S+ )?(?:informationen|angaben|daten)"
    r"(?: (?:dazu|zu|über|im|vorhanden|verfügbar)\b.*)?$",
    r"\b(?:kontext|dokument|text|quelle)\S* (?:\S+ ){0,3}(?:enthält|enthalten|nennt|erwähnt|gibt es) "
    r"(?:\S+ ){0,3}(?:nicht|keine)",
    r"\bje (?:ne sais pas|ne peux pas (?:répondre|trouver|déterminer)|ne dispose pas|suis incapable|n'ai pas)",
    r"\b(?:pas (?:assez|suffisamment) d'|aucune |pas d')informations?\b"
    r"(?= (?:sur|à|dans|concernant|pour|disponible)|$)",
    r"\ble (?:contexte|document|texte) (?:fourni )?ne (?:contient|mentionne|précise|fournit) pas",
    r"\bno (?:lo )?(?:sé|puedo (?:responder|encontrar|determinar|contestar)|tengo (?:suficiente )?información)",
    r"\b(?:no hay|no se dispone de|no existe) (?:suficiente )?información|\binformación insuficiente",
    r"\bel (?:contexto|documento|texto) (?:proporcionado )?no (?:contiene|menciona|proporciona|especifica)",
)
_REFUSAL = re.compile("|".join(f"(?:{pattern})" for pattern in _PATTERNS))
_APOLOGY = re.compile(
    r"^(?:well )?(?:(?:i am|we are) (?:\w+ )?(?:sorry|afraid)|sorry|(?:i |we )?(?:apologi[sz]e|regret)"
    r"|(?:my )?apologies|unfortunately|regrettably|извините|простите|(?:к )?сожалению|сожалею|क्षमा करें|माफ़ करें|खेद है"
    r"|entschuldigung|leider|es tut mir leid|désolé|je suis désolé|lo siento|lamento)\b[\s,]*(?:but |но |that |что )?"
)
_ABOUT_THE_SOURCE = re.compile(
    rf"{_SOURCE}(?: \w+)? (?:(?:only|mainly|mostly|do|does) )*"
    r"(?:discuss|describe|mention|cover|talk|deal|focus|refer|concern|is about|are about)"
    rf"|{_SOURCE_RU} (?:\w+ )?(?:опис|посвящ|рассказ|говор|касает|освеща|упомина|рассматрива)"
)
_IT_LACKS = re.compile(
    rf"(?:it|they|these|this) (?:(?:do|does|did) not|neither) (?:\w+ )?{_TELLS}|.*\bв (?:них|нем|ней) .*\bне "
)
_CONTRAST = re.compile(r"^(?:but|however|yet|still|nevertheless|though|although|но|однако|хотя|все же)\b,? ?")
_OFFER = re.compile(
    r"(?:it|they|this|the (?:text|context|passages?|documents?)) (?:\w+ )?"
    r"(?:discuss|describe|mention|cover|talk|focus|contain)"
    r"|(?:if )?you (?:can|could|may|might|should|want|would)|i (?:can|could|would|will|am happy)"
    r"|please|feel free|let me"
    r"|(?:вы )?(?:можете|могу|обратитесь|попробуйте)|пожалуйста|если"
)
_CONDITION = re.compile(r"(?:if|when|whenever|unless|who|because|если|когда)\b")
_CLAUSE = re.compile(
    r"\s*(?:[;:]|\s[-–—]\s|,?\s(?=(?:but|however|although|though|но|однако|хотя)\b)"
    r"|,?\s(?=(?:so|therefore|hence|поэтому)\s))\s*"
)
_QUOTED = re.compile(r"\"[^\"]*\"|«[^»]*»|“[^”]*”")
_CONTRACTIONS = (
    (r"\bcan't|\bcannot", "can not"),
    (r"\bwon't", "will not"),
    (r"n't\b", " not"),
    (r"\bi'm\b", "i am"),
    (r"\b(it|that|there)'s\b", r"\1 is"),
    (r"\bi'd\b", "i would"),
    (r"\bi've\b", "i have"),
)
_READ = 600


def declines(answer: str) -> bool:
    """Whether the answer declines: says that it does not know, cannot answer or finds nothing to go by.

    A refusal speaks of the one who answers or of the texts that the answer is drawn from; that the thing asked about
    is missing, unknown or impossible ("No data was lost.") is an answer. The first clause decides, after apologies and
    words about the texts, unless a contrast follows that answers ("I do not know the day, but it was in May."): a
    caveat after an answer is no refusal. An empty answer declines nothing: it is empty.

    >>> declines("I'm sorry, but I don't know."), declines("Paris. The text does not say since when."), declines("")
    (True, False, False)
    """
    clauses = [clause for sentence in _opening(answer) for clause in _CLAUSE.split(sentence) if clause]
    source_named = False
    for place, clause in enumerate(clauses):
        statement = _APOLOGY.sub("", _CONTRAST.sub("", clause)).strip(" ,")
        if not statement:
            continue
        if not _CONDITION.match(statement) and (
            _REFUSAL.search(statement) or (source_named and _IT_LACKS.match(statement))
        ):
            return not _answers_after_all(clauses[place + 1 :])
        if not _ABOUT_THE_SOURCE.match(statement):
            return False
        source_named = True
    return False


def abstains(answer: str | None) -> bool:
    """Whether a system abstains: it declines, or says nothing, thoughts and marks of citation aside.

    >>> abstains("I don't know."), abstains("[1][2]"), abstains(None), abstains("Paris [1].")
    (True, True, True, False)
    """
    return not spoken(answer).strip() or declines(answer or "")


def _opening(answer: str) -> list[str]:
    """The first sentences in small letters, contractions written out, without their stops and what they quote."""
    opening = []
    for sentence in sentences(drop_blocks(answer)[:_READ].replace("’", "'"))[:3]:
        text = _QUOTED.sub(" ", sentence.lower().replace("ё", "е").strip(" \n\"'«»“”.!?…।"))
        for contraction, words in _CONTRACTIONS:
            text = re.sub(contraction, words, text)
        opening.append(text)
    return opening


def _answers_after_all(clauses: list[str]) -> bool:
    """Whether the clause after a refusal sets an answer against it."""
    if not clauses or not (contrast := _CONTRAST.match(clauses[0])):
        return False
    rest = clauses[0][contrast.end() :]
    return not (_REFUSAL.search(rest) or _OFFER.match(rest))
