"""Whether an answer declines to answer, in English, Russian, Hindi, German, French or Spanish."""

from __future__ import annotations

import re

from karat.core.text.blocks import drop_blocks
from karat.core.text.sentences import sentences

_SOURCE_EN = (
    r"(?:(?:provided|given|retrieved|available|supplied) )?"
    r"(?:context|contexts|document|documents|text|passage|passages|source|sources|information|article|articles|excerpts?)"
)
_PATTERNS = (
    r"\bi (?:really )?(?:do not|don't|did not|didn't) (?:know|have (?:enough|sufficient|any|the|access))",
    r"\bi(?:'m| am) (?:not (?:sure|able to|certain)|unable to|afraid i (?:can|do))",
    r"\bi (?:can't|cannot|can not|could not|couldn't|won't be able to) "
    r"(?:answer|find|determine|provide|say|tell|help|locate|confirm)",
    r"\b(?:unable|not able|impossible|not possible) to (?:answer|find|determine|provide|say|tell)",
    r"\b(?:can't|cannot|can not|could not|couldn't) be (?:answered|determined|found|inferred)",
    r"\b(?:not enough|insufficient|no (?:relevant |specific |such )?) ?(?:information|context|evidence|data)\b",
    rf"\b{_SOURCE_EN} (?:does not|doesn't|do not|don't|did not|didn't) "
    r"(?:\S+ )?(?:contain|mention|provide|say|specify|include|state|discuss|give|answer|address)",
    rf"\b(?:not|isn't|wasn't|aren't|never) (?:\S+ )?"
    rf"(?:mentioned|specified|provided|stated|found|given|available|discussed|contained|included) (?:in|by|within) "
    rf"(?:the |any (?:of the )?|these |this )?{_SOURCE_EN}",
    r"\b(?:question|query) (?:is|seems|appears) (?:unanswerable|not answerable)|^[\"'«“\s]*unanswerable\b",
    r"\bсожалению[^.]{0,60}\b(?:не могу|не знаю|нет|не удалось)",
    r"\b(?:я )?не (?:знаю|могу (?:ответить|найти|определить|сказать|предоставить)|удалось найти|располагаю)",
    r"\b(?:недостаточно|нет) (?:\S+ )?(?:информации|данных|сведений|контекста)",
    r"\bне (?:содерж|упомина|указан|сказано|говорится)\S*[^.]{0,40}\b(?:контекст|документ|текст|источник)",
    r"\b(?:контекст|документ|текст|источник)\S*[^.]{0,40}\bне (?:содерж|упомина|указ|сказано|говорится)",
    r"\bневозможно (?:ответить|определить|установить)",
    r"(?:मुझे|हमें) (?:\S+ ){0,2}(?:नहीं पता|पता नहीं|ज्ञात नहीं|मालूम नहीं|नहीं मालूम)",
    r"(?:जानकारी|सूचना) (?:\S+ ){0,3}नहीं|पर्याप्त (?:जानकारी|सूचना) नहीं",
    r"उत्तर (?:\S+ ){0,2}(?:नहीं दे|नहीं दिया|देने में असमर्थ|नहीं मिल)",
    r"(?:संदर्भ|दस्तावेज़|दस्तावेज|पाठ) (?:\S+ ){0,5}(?:उल्लेख नहीं|नहीं मिल|नहीं दी|नहीं है)",
    r"\bich (?:weiß|weiss) (?:es |das )?(?:leider )?nicht",
    r"\b(?:ich kann|kann ich) (?:\S+ ){0,4}?nicht (?:beantworten|finden|sagen|bestimmen)",
    r"\b(?:keine|nicht genügend|nicht genug|unzureichende) (?:\S+ )?(?:informationen|angaben|daten)\b",
    r"\b(?:kontext|dokument|text|quelle)\S* (?:\S+ ){0,3}(?:enthält|enthalten|nennt|erwähnt) "
    r"(?:\S+ ){0,3}(?:nicht|keine)",
    r"\bje (?:ne sais pas|ne peux pas (?:répondre|trouver|déterminer)|ne dispose pas|suis incapable|n'ai pas)",
    r"\b(?:pas (?:assez|suffisamment) d'|aucune |pas d')informations?\b",
    r"\ble (?:contexte|document|texte) (?:fourni )?ne (?:contient|mentionne|précise|fournit) pas",
    r"\bno (?:lo )?(?:sé|puedo (?:responder|encontrar|determinar|contestar)|tengo (?:suficiente )?información)",
    r"\b(?:no hay|no se dispone de|no existe) (?:suficiente )?información|\binformación insuficiente",
    r"\bel (?:contexto|documento|texto) (?:proporcionado )?no (?:contiene|menciona|proporciona|especifica)",
)
_REFUSAL = re.compile("|".join(f"(?:{pattern})" for pattern in _PATTERNS), re.IGNORECASE)
_APOLOGY = re.compile(
    r"[\"'«“\s]*(?:i(?:'m| am) )?(?:very )?(?:sorry|apologi[sz]e|i apologi[sz]e|unfortunately|my apologies"
    r"|извините|простите|к сожалению|क्षमा|माफ़|खेद|entschuldigung|leider"
    r"|es tut mir leid|désolé|je suis désolé|lo siento|lamento)",
    re.IGNORECASE,
)
_READ = 600


def declines(answer: str) -> bool:
    """Whether the answer opens by declining: says that it does not know, cannot answer or finds nothing to go by.

    Only the first sentence is read, and the one after an apology, so that a caveat after a real answer is no
    refusal. An empty answer declines nothing: it is empty.

    >>> declines("I'm sorry, but I don't know."), declines("Paris. The text does not say since when."), declines("")
    (True, False, False)
    """
    opening = sentences(drop_blocks(answer)[:_READ].replace("’", "'"))[:2]
    if not opening:
        return False
    if _REFUSAL.search(opening[0]):
        return True
    return len(opening) > 1 and _APOLOGY.match(opening[0]) is not None and _REFUSAL.search(opening[1]) is not None
