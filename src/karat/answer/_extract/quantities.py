"""Numbers in a sentence with their units, and what kind of quantity each is. English and Russian words are known."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from karat.answer._extract.words import Word

_NUMBERS_WORDS = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion half dozen
once twice quarter third tenth tenths thirds quarters ноль один одна одно одного одной два две двух три трёх трех
четыре четырёх четырех пять пяти шесть шести семь семи восемь восьми девять девяти десять десяти одиннадцать
двенадцать двадцать тридцать сорок пятьдесят шестьдесят сто двести тысяча тысячи тысяч миллион миллиона миллионов
миллиард миллиарда миллиардов половина полтора дважды четверть треть
"""
_NUMBERS = frozenset(_NUMBERS_WORDS.split())
_UNITS: dict[str, str] = {
    "length": """metre metres meter meters m kilometre kilometres kilometer kilometers km centimetre centimetres
        centimeter centimeters cm millimetre millimetres millimeter millimeters mm mile miles foot feet inch inches yard
        yards pace paces step steps breadth
        метр метра метров км километр километра километров сантиметр сантиметра сантиметров см миллиметр миллиметра
        миллиметров мм шаг шага шагов верста верст вёрст""",
    "time": """second seconds minute minutes hour hours day days week weeks fortnight month months year years season
        seasons decade decades century centuries night nights h min
        секунда секунды секунд минута минуты минуту минут час часа часов день дня дней сутки суток неделя недели
        неделю недель месяц месяца месяцев год года лет век века веков""",
    "mass": """gram grams g kilogram kilograms kilo kilos kg tonne tonnes ton tons pound pounds ounce ounces
        микрограмм грамм грамма граммов килограмм килограмма килограммов кг тонна тонны тонн""",
    "volume": """litre litres liter liters l millilitre millilitres ml gallon gallons pint pints barrel barrels
        литр литра литров л кубометр кубометра кубометров""",
    "money": """dollar dollars cent cents euro euros pound pounds crown crowns rouble roubles ruble rubles rupee rupees
        franc francs mark marks penny pence yen usd eur $ € £ ₽ ¥ ₹
        рубль рубля рублей руб доллар доллара долларов евро копейка копеек крона кроны крон""",
    "pressure": "bar bars millibar millibars hectopascal hectopascals pascal psi atm бар атмосфер атмосферы паскаль",
    "power": """watt watts kilowatt kilowatts megawatt megawatts kw mw volt volts amp amps ampere amperes ватт киловатт
        вольт""",
    "data": "byte bytes kilobyte kilobytes megabyte megabytes gigabyte gigabytes kb mb gb байт мегабайт гигабайт",
    "heat": "degree degrees celsius fahrenheit kelvin ° градус градуса градусов",
    "share": "percent per cent % ‰ percentage процент процента процентов",
    "age": "years old year-old лет года год",
}
_CLASS = {unit: name for name, units in _UNITS.items() for unit in units.split()}
_COMPOUND_WORDS = """
newton kilowatt watt square cubic light nautical квадратный кубический квадратных кубических
"""
_COMPOUND = frozenset(_COMPOUND_WORDS.split())
_RATES_WORDS = """
a an per each every in в за на
"""
_RATES = frozenset(_RATES_WORDS.split())
_MODIFIERS = re.compile(
    r"(?:\b(?:at least|at most|more than|less than|fewer than|no more than|no less than|up to|about|around|almost"
    r"|nearly|over|under|within|roughly|approximately|minus"
    r"|не более|не менее|более|менее|около|почти|примерно|до|свыше|минус|порядка) )+$",
    re.I,
)
_LOOK_BACK = 40  # characters
_OFTEN = re.compile(r"(?:\b(?:once every|twice every|every|each|once a|раз в|каждые|каждый|каждую|каждое) )$", re.I)
_ASKED: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "plain",
        (
            r"\b(?:telephone|phone|fax|room|account|serial|house|flight) numbers?\b",
            r"\b(?:which|what) number\b|\bномер",
        ),
    ),
    ("speed", (r"\bspeeds?\b|\bhow fast\b|\bскорост",)),
    ("often", (r"\bhow (?:often|frequently)\b|\bкак часто\b",)),
    ("extent", (r"\bhow long (?:is|are|was|were) (?:the|an?|your|its|this|that) (?:\w{1,30} ?){1,3}\?",)),
    (
        "time",
        (
            r"\bhow (?:long|soon|quickly|many (?:hours|minutes|days|weeks|months|years|seconds))\b",
            r"\bкак (?:долго|скоро)\b|\bсколько (?:времени|час|минут|дн|недел|месяц|лет|суток)",
        ),
    ),
    (
        "length",
        (
            r"\bhow (?:far|thick|deep|high|tall|wide|big|close)\b|\b(?:distance|depth|height|width|length)\b",
            r"\bдалеко\b|\bрасстояни|\bвысот|\bглубин|\bширин|\bдлин",
        ),
    ),
    ("mass", (r"\bhow heavy\b|\bweigh|\bвес(?:ит|ят|а)?\b|\bмасс",)),
    (
        "money",
        (
            r"\b(?:cost|costs|price|pay|paid|salary|fee|wage|fare|postage|worth|budget)\b",
            r"\bсто(?:ит|ят|имость)|\bцен[аыу]|\bплат",
        ),
    ),
    ("pressure", (r"\bpressures?\b|\bдавлени",)),
    ("heat", (r"\btemperatures?\b|\bhow (?:hot|cold|warm)\b|\bтемператур",)),
    ("share", (r"\bpercent|\bпроцент",)),
    ("time", (r"\bhow old\b|\bage\b|\bвозраст",)),
)
_ASKED_RULES = tuple((name, re.compile("|".join(rules), re.I)) for name, rules in _ASKED)


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number with its unit: words `first` to `last`, characters `start` to `end`, and its class, "" if unknown."""

    first: int
    last: int
    start: int
    end: int
    kind: str
    unit: tuple[str, ...]  # stems of the words behind the number


def asked_class(question: str) -> str:
    """The class of quantity that a question asks for, "" if any will do."""
    return next((name for name, rule in _ASKED_RULES if rule.search(question)), "")


def suits(kind: str, number: str, wanted: str) -> bool:
    """Whether a quantity of a class is one of the class that is asked for."""
    if wanted == "plain":
        return kind == "" and number.isdecimal()
    return kind == wanted or (wanted == "extent" and kind in ("time", "length"))


def is_number(word: Word) -> bool:
    return word.lower[:1].isdecimal() or word.lower in _NUMBERS


def quantities(text: str, words: Sequence[Word]) -> list[Quantity]:
    """The quantities of a sentence, in order."""
    found = []
    i = 0
    while i < len(words):
        if not is_number(words[i]) or (words[i].lower == "one" and i + 1 < len(words) and words[i + 1].stop):
            i += 1
            continue
        first = last = i
        while last + 1 < len(words) and is_number(words[last + 1]) and _joined(text, words, last):
            last += 1
        number_end = last
        kind = ""
        for _ in range(2):
            if last + 1 >= len(words) or not _joined(text, words, last):
                break
            following = words[last + 1]
            if following.lower in _CLASS and (following.lower not in _RATES or kind == ""):
                kind, last = _CLASS[following.lower], last + 1
                break
            if following.stop or (last > number_end and words[last].lower not in _COMPOUND):
                break
            last += 1
            if following.lower not in _COMPOUND:
                break
        if kind == "" and first and words[first - 1].lower in _CLASS and _CLASS[words[first - 1].lower] == "money":
            kind, first = "money", first - 1
        unrated = last
        last = _with_rate(text, words, last)
        if kind == "length" and last > unrated and _CLASS.get(words[last].lower) == "time":
            kind = "speed"
        opening = max(words[first].start - _LOOK_BACK, 0)
        before = _OFTEN.search(text[opening : words[first].start])
        often = before is not None
        before = before or _MODIFIERS.search(text[opening : words[first].start])
        start = opening + before.start() if before else words[first].start
        unit = tuple(word.stem for word in words[number_end + 1 : last + 1])
        found.append(Quantity(first, last, start, words[last].end, "often" if often else kind, unit))
        i = last + 1
    return found


def _with_rate(text: str, words: Sequence[Word], last: int) -> int:
    """With "an hour", "per litre", "in a millilitre" behind it."""
    i = last + 1
    if i + 1 < len(words) and words[i].lower in _RATES and _joined(text, words, last):
        if words[i].lower == "in" and words[i + 1].lower in ("a", "an", "each", "every") and i + 2 < len(words):
            return i + 2
        if words[i].lower in ("a", "an", "per", "each", "every", "в", "за") and _joined(text, words, i):
            known = words[i + 1].lower in _CLASS or words[i + 1].lower in ("person", "head", "piece", "человека")
            return i + 1 if known else last
    return last


def _joined(text: str, words: Sequence[Word], i: int) -> bool:
    """Whether only a space, a hyphen or nothing stands between a word and the next."""
    return text[words[i].end : words[i + 1].start] in (" ", "-", "", "\u00a0")
