"""A made-up corpus on machines and clean questions on it, for what is planted in it to be found."""

import random
from dataclasses import dataclass, field

from karat.core.docs import Chunk, Chunks
from karat.core.types import Gold, Question, TestSet

# what is told, asked in its words, asked in other words, and of what the value is made; {e} is the machine
EN = {
    "load": ("The rated load of the {e} is {v}.", "What is the rated load of the {e}?",
             "How heavy may goods get before the {e} gives way?", "{n} kilograms"),
    "check": ("Inspectors examine the {e} every {v}.", "How often do inspectors examine the {e}?",
              "After what stretch of time is the {e} looked over again?", "{s} weeks"),
    "seller": ("The {e} was bought from {v} after long talks about the price.", "From which firm was the {e} bought?",
               "Which supplier sold us the {e}?", "{name} and Sons"),
    "place": ("The {e} stands in {v} beside the northern gate.", "In which hall does the {e} stand?",
              "Where would a visitor walk to see the {e}?", "hall {s}"),
    "grease": ("The bearings of the {e} are greased with {v}.", "With what are the bearings of the {e} greased?",
               "Which lubricant keeps the {e} turning smoothly?", "{stuff} paste"),
    "noise": ("At full speed the {e} reaches a noise level of {v}.",
              "What noise level does the {e} reach at full speed?",
              "How loud is it when you are working next to the {e}?", "{s} decibels"),
    "keeper": ("The keeper of the {e} is {v}, who also signs the log.", "Who is the keeper of the {e}?",
               "Whom should I call if I have trouble with the {e}?", "{person}"),
    "course": ("Operators of the {e} need a course of {v}.", "How long a course do operators of the {e} need?",
               "What training must I finish to be allowed on the {e}?", "{s} hours"),
    "lamp": ("The warning lamp of the {e} glows {v} when the pressure falls.",
             "In which colour does the warning lamp of the {e} glow?",
             "What shade of light signals danger on the {e}?", "{colour}"),
    "warranty": ("The maker gives a warranty of {v} on the {e}.", "How long is the warranty on the {e}?",
                 "Until when would repairs to the {e} cost us nothing?", "{s} months"),
    "start": ("Before the {e} is started, {v} must be shut by hand.",
              "What must be shut by hand before the {e} is started?",
              "Which part has to be closed if I want to set the {e} in motion?", "the {stuff} valve"),
    "spare": ("Spare belts for the {e} are kept in {v}.", "Where are spare belts for the {e} kept?",
              "I tore the band of the {e}; in what box is another one?", "locker {n}"),
}  # fmt: skip
RU = {
    "load": ("Номинальная нагрузка установки {e} составляет {v}.", "Какова номинальная нагрузка установки {e}?",
             "Сколько весит самый тяжёлый груз, который выдержит {e}?", "{n} килограммов"),
    "check": ("Инспекторы осматривают установку {e} каждые {v}.", "Как часто инспекторы осматривают установку {e}?",
              "Через какой срок {e} снова проверят?", "{s} недель"),
    "seller": ("Установка {e} куплена у фирмы {v} после долгих переговоров.", "У какой фирмы куплена установка {e}?",
               "Какой поставщик продал нам {e}?", "{name}"),
    "place": ("Установка {e} стоит в цехе {v} возле северных ворот.", "В каком цехе стоит установка {e}?",
              "Куда пойти посетителю, чтобы увидеть {e}?", "{s}"),
    "grease": ("Подшипники установки {e} смазывают пастой {v}.", "Какой пастой смазывают подшипники установки {e}?",
               "Что помогает {e} крутиться плавно?", "{stuff}"),
    "noise": ("На полной скорости установка {e} достигает шума {v}.",
              "Какого шума достигает установка {e} на полной скорости?", "Насколько громко работать рядом с {e}?",
              "{s} децибел"),
    "keeper": ("За установку {e} отвечает {v}, он же подписывает журнал.", "Кто отвечает за установку {e}?",
               "Кому звонить, если {e} сломается?", "{person}"),
    "course": ("Операторам установки {e} нужен курс длиной {v}.", "Какой длины курс нужен операторам установки {e}?",
               "Какое обучение пройти, чтобы меня допустили к {e}?", "{s} часов"),
    "warranty": ("Изготовитель даёт на установку {e} гарантию {v}.",
                 "Какую гарантию даёт изготовитель на установку {e}?", "До каких пор ремонт {e} будет бесплатным?",
                 "{s} месяцев"),
    "spare": ("Запасные ремни для установки {e} хранят в шкафу {v}.",
              "В каком шкафу хранят запасные ремни для установки {e}?", "Порвалась лента у {e}, где взять другую?",
              "{n}"),
}  # fmt: skip
FILLER = {
    "en": ("The floor around it is painted every spring.", "Visitors keep behind the yellow line.",
           "A copy of this sheet hangs by the door.", "Dust is swept away at the end of each shift.",
           "Nobody eats or drinks nearby.", "The old drawings were lost in a flood."),
    "ru": ("Пол вокруг неё красят каждую весну.", "Гости остаются за жёлтой чертой.",
           "Копия этого листа висит у двери.", "Пыль убирают в конце смены.", "Рядом нельзя есть и пить.",
           "Старые чертежи пропали во время паводка."),
}  # fmt: skip
NOUNS = ("crane", "press", "lathe", "boiler", "winch", "mixer", "furnace", "pump", "saw", "loom")
COLOURS = ("crimson", "amber", "violet", "turquoise", "scarlet", "emerald", "ivory", "indigo")
CONSONANTS, VOWELS = "bdfgklmnprstvz", "aeiou"
RU_CONSONANTS, RU_VOWELS = "бвгдклмнпрст", "аеиоу"


def word(rng, language="en", syllables=3):
    consonants, vowels = (RU_CONSONANTS, RU_VOWELS) if language == "ru" else (CONSONANTS, VOWELS)
    return "".join(rng.choice(consonants) + rng.choice(vowels) for _ in range(syllables)) + rng.choice(consonants)


@dataclass
class World:
    """A corpus and clean questions on it; `told` is the sentence behind each question."""

    language: str
    chunks: list
    questions: list
    told: dict = field(default_factory=dict)
    docs: object = None

    @property
    def table(self):
        return Chunks.ordered(self.chunks)

    @property
    def testset(self):
        return TestSet(self.questions, name="planted")


def world(seed, language="en", docs=40, per_doc=1, kinds=("literal", "paraphrase")):
    """Documents on machines, each machine with every fact in a random order, three or four facts a chunk."""
    rng = random.Random(f"{seed}-{language}")
    facts = RU if language == "ru" else EN
    made = World(language, [], [])
    used = set()
    for d in range(docs):
        doc, number = f"{'listok' if language == 'ru' else 'sheet'}-{d:02}.md", 0
        for _ in range(per_doc):
            machine = _machine(rng, language, used)
            names = rng.sample(sorted(facts), len(facts))
            for start in range(0, len(names), 4):
                id_, lines = f"{doc}#{number:02}", []
                number += 1
                for name in names[start : start + 4]:
                    tells, literal, other, value = facts[name]
                    v = _value(rng, value, language)
                    sentence = tells.format(e=machine, v=v)
                    sentence = sentence[0].upper() + sentence[1:]
                    lines.append(sentence)
                    for kind, asks in (("literal", literal), ("paraphrase", other)):
                        if kind in kinds and rng.random() < (0.5 if per_doc == 1 else 0.25):
                            q = Question(f"c{len(made.questions):04}", asks.format(e=machine), answers=(v,),
                                         gold=(Gold(chunk=id_),), kind=kind)  # fmt: skip
                            made.questions.append(q)
                            made.told[q.id] = sentence
                            break
                    if rng.random() < 0.4:
                        lines.append(rng.choice(FILLER[language]))
                made.chunks.append(Chunk(id_, doc, " ".join(lines), title=machine))
    return made


def _machine(rng, language, used):
    while True:
        name = word(rng, language, rng.choice((2, 3))).capitalize()
        if name not in used:
            used.add(name)
            return f"«{name}»" if language == "ru" else f"{name} {rng.choice(NOUNS)}"


def _value(rng, shape, language):
    return shape.format(
        n=rng.randrange(100, 9900), s=rng.randrange(11, 99), colour=rng.choice(COLOURS),
        stuff=word(rng, language), name=word(rng, language, 3).capitalize(),
        person=f"{word(rng, language, 2).capitalize()} {word(rng, language, 3).capitalize()}",
    )  # fmt: skip


def with_holes(made, seed, holes):
    """Takes out every question about some documents: the names of these, and of the rest."""
    rng = random.Random(f"holes-{seed}")
    docs = sorted({chunk.doc for chunk in made.chunks})
    gone = set(rng.sample(docs, holes))
    made.questions = [q for q in made.questions if q.gold[0].chunk.partition("#")[0] not in gone]
    return gone, set(docs) - gone
