"""Languages by their function words (stop words), and which one a text is in, guessed from these and its script."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import cache
from typing import Literal, get_args

from karat.core.text.normalise import Norm, tokenise

Language = Literal["en", "ru", "hi", "de", "fr", "es"]
LANGUAGES: tuple[Language, ...] = get_args(Language)
NAMES: dict[str, str] = {
    "en": "English", "ru": "Russian", "hi": "Hindi", "de": "German", "fr": "French", "es": "Spanish",
}  # fmt: skip

_SCRIPTS = {
    "latin": re.compile("[A-Za-z\u00c0-\u024f]+"),
    "cyrillic": re.compile("[\u0400-\u052f]+"),
    "devanagari": re.compile("[\u0900-\u097f]+"),
}
_LATIN: tuple[Language, ...] = ("en", "de", "fr", "es")
_ENOUGH = 4000
_SAMPLE = 200  # texts of many that are looked at

# Function words, which say nothing about what an answer claims. Numbers are never among them.
STOP_WORDS: dict[str, str] = {
    "en": """
a about above after again against all also although am among an and any are aren't as at be because been before
being below between both but by can can't cannot could couldn't did didn't do does doesn't doing don't down during
each either else ever every few for from further had hadn't has hasn't have haven't having he he'd he'll he's hence
her here here's hers herself him himself his how how's however i i'd i'll i'm i've if in into is isn't it it's its
itself just let's may me might more most much must mustn't my myself neither no nor not of off on once only onto or
other ought our ours ourselves out over own per rather same shall shan't she she'd she'll she's should shouldn't
since so some such than that that's the their theirs them themselves then there there's therefore these they they'd
they'll they're they've this those though through thus to too under until up upon us very via was wasn't we we'd
we'll we're we've were weren't what what's when when's where where's whether which while who who's whom whose why
why's will with within without won't would wouldn't yet you you'd you'll you're you've your yours yourself
yourselves
""",
    "ru": """
а без более бы был была были было быть в вам вами вас ваш ваша ваше ваши вдоль ведь весь во вот все всего всей всем
всеми всех всё вся вы где да даже для до его ее ей ему если есть еще ещё её же за здесь и из из-за или им ими иногда
их к как какая какие какой когда кого кому которая которого которое которой котором которому которую которые который
которым которыми которых кто куда ли либо лишь между меня мне много могут может можно мой моя моё мои мы на над надо
нам нами нас наш наша наше наши не него нее ней нельзя нем нему нет неё ни нибудь ним ними них но ну о об обо однако
он она они оно от ото очень перед по под после потому почему почти при про раз разве с сам сама сами само свой
своего своей своём свою своя себе себя сейчас со собой так такая также такие такое такой там тебе тебя тем теми
теперь тех то тобой тогда того тоже той только том тому тот ту тут ты у уже хотя чего чей чем через что чтобы чье
чья эта эти этим этими этих это этого этой этом этому этот эту я является являются
""",
    "hi": """
अतः अथवा अपना अपनी अपने अब अभी आदि आप इस इसका इसकी इसके इसने इसमें इससे इसी इसे इन इनका इनकी इनके इन्हें उन उनका
उनकी उनके उन्हें उन्होंने उस उसका उसकी उसके उसने उसमें उससे उसी उसे एवं ऐसा ऐसी ऐसे और कब कभी कर करता करते करती करना
करने कहा कहाँ का काफी कि किंतु किन किन्तु किया किस किसका किसी किसे की कुछ के केवल को कोई कौन क्या क्यों क्योंकि गया
गई गए चाहिए जब जहाँ जा जाता जाती जाते जाना जिन जिस जिसका जिसकी जिसके जिसमें जिसे जैसा जैसी जैसे जो तक तब तथा तरह तुम
तू तो था थी थीं थे द्वारा दिया न नहीं ना ने पर परंतु परन्तु पास फिर बहुत बाद बारे भी मगर मुझे मेरा मेरी मेरे मैं में
यदि यह यहाँ यही या ये रहा रही रहे लिए लिये लेकिन व वह वहाँ वही वाला वाली वाले वे सकता सकती सकते सब सभी साथ से सो हम
हमारा हमारी हमारे ही हुआ हुई हुए हूँ है हैं हो होता होती होते होना होने
""",
    "de": """
ab aber als also am an andere anderen auch auf aus bei beim bin bis bist da dabei dadurch dafür damit dann darauf
daraus darin das dass dein deine dem den denn der deren des deshalb dessen die dies diese diesem diesen dieser
dieses doch dort du durch ein eine einem einen einer eines er es etwa etwas euch euer für gegen gewesen hab habe
haben hat hatte hatten hier hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im in indem ins ist ja jede jedem
jeden jeder jedes jene jener kann kein keine keinem keinen keiner können könnte man mehr mein meine mit muss musste
müssen nach neben nicht nichts noch nun nur ob oder ohne sehr sein seine seinem seinen seiner seit sich sie sind so
sogar solche soll sollte sondern sowie über um und uns unser unsere unter vom von vor wann war waren warum was weil
welche welchem welchen welcher welches wenn wer werde werden wie wieder wird wo wurde wurden während würde zu zum
zur zwar zwischen
""",
    "fr": """
à afin ai ainsi alors après as au aucun aucune aura aussi autre autres aux avait avant avec avoir c'est ça car ce
ceci cela celle celles celui ces cet cette ceux chaque chez ci comme comment d' dans de depuis des dont du elle
elles en encore entre es est et étaient était étant été être eu eux fait fut ici il ils j' je jusque l' la le les
leur leurs lors lorsque lui m' ma mais me même mêmes mes moi moins mon n' ne ni non nos notre nous on ont ou où par
parce pas pendant peu peut peuvent plus pour pourquoi pouvait qu' quand que quel quelle quelles quels qui quoi s' sa
sans se selon sera ses si son sont sous sur t' ta te tes toi ton tous tout toute toutes très tu un une vers via vos
votre vous y
""",
    "es": """
a al algo algunas algunos ante antes aquel aquella aquellos aquí así aun aunque cada casi como con contra cual
cuales cuando cuyo da de del desde donde durante e el él ella ellas ellos en entonces entre era eran eres es esa
esas ese eso esos esta está están estas este esto estos fue fueron ha había habían han hasta hay he la las le les lo
los más me mediante mi mis mucho muy nada ni no nos nosotros nuestra nuestro nuestros o os otra otras otro otros
para pero poco por porque pues puede pueden que qué quien quién quienes se según sea ser si sí sido sin sino sobre
solo sólo son su sus también tan tanto te tiene tienen toda todas todo todos tras tu tus un una unas unos usted
ustedes y ya yo
""",
}


@cache
def stop_words(language: str | None, norm: Norm) -> frozenset[str]:
    """The stop words of a language as a normaliser leaves them ("don't" is "dont" under `unicode`); none if unknown."""
    return frozenset(tokenise(STOP_WORDS.get(language or "", ""), norm))


def guess_language(text: str) -> Language | None:
    """The language of a text, or None when it is in a script that karat has no stop words for.

    Cyrillic counts as Russian and Devanagari as Hindi. Latin script goes to the language most of whose function words
    it holds; English when none or several do equally.

    >>> guess_language("Wo liegt die Stadt?"), guess_language("Где находится город?"), guess_language("東京")
    ('de', 'ru', None)
    """
    text = text[:_ENOUGH]
    size = {script: sum(map(len, letters.findall(text))) for script, letters in _SCRIPTS.items()}
    script = max(size, key=lambda name: size[name])
    if size[script] == 0:
        return None if any(c.isalpha() for c in text) else "en"
    if script == "cyrillic":
        return "ru"
    if script == "devanagari":
        return "hi"
    words = tokenise(text, "words")
    hits = {language: sum(map(stop_words(language, "words").__contains__, words)) for language in _LATIN}
    best = max(hits.values())
    return "en" if hits["en"] == best else next(language for language in _LATIN if hits[language] == best)


def count_languages(texts: Sequence[str]) -> Counter[Language | None]:
    """How many of some texts are in each language: of many, some 200 are looked at. Those without letters are none."""
    some = texts[:: max(1, len(texts) // _SAMPLE)]
    return Counter(guess_language(text) for text in some if any(c.isalpha() for c in text[:_SAMPLE]))


def main_language(texts: Sequence[str]) -> Language | None:
    """The language that most of some texts are in; English where none has letters.

    >>> main_language(["Паром уходит утром.", "Маяк погас.", "The end."])
    'ru'
    """
    return commonest(count_languages(texts))


def commonest(counts: Counter[Language | None]) -> Language | None:
    """The language of the most texts, the first counted of several; English where there is none."""
    return counts.most_common(1)[0][0] if counts else "en"
