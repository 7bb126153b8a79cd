"""The town gazette: a small language made by code, with facts about people, recaps, interviews and reviews.

Every word is one token. What a reader has to understand is known, because the code decided it: which animal is a dog, where a baker
works, whether a word praises, whether a sentence follows from the one before ("so"), contradicts it ("but") or is new ("also").
A document is a list of sentences, a sentence a list of words. Labelled tasks are made from the same language with other seeds.
"""

from collections.abc import Iterable
from random import Random
from typing import NamedTuple

from .wordpiece import SPECIAL, WordPiece

SHE = (
    "alice anna beth carol clara dora edith ella emma fiona grace hanna helen irene jane julia kate laura lily lucy maria nora "
    "olga petra rosa ruth sarah vera"
).split()
HE = (
    "adam alan albert ben carl daniel david edgar felix frank george harold henry hugo ivan jack james john karl leo mark martin "
    "oscar paul peter simon thomas victor"
).split()
SHE_OR_TOWN, HE_OR_TOWN = "florence victoria charlotte adelaide".split(), "chester lincoln jackson austin".split()
TOWNS = (
    "bath bergen bristol cork delft dover exeter geneva ghent hull leeds lisbon malmo milan oslo oxford porto rome turin york".split()
    + SHE_OR_TOWN
    + HE_OR_TOWN
)
KINDS = {
    "dog": "beagle collie poodle spaniel terrier whippet",
    "bird": "canary finch magpie parrot robin sparrow",
    "fish": "carp guppy perch pike salmon trout",
    "horse": "cob foal mare pony shire stallion",
    "flower": "daisy pansy peony poppy rose tulip",
    "cheese": "brie cheddar comte feta gouda stilton",
    "boat": "barge canoe dinghy ferry raft yacht",
    "hat": "beret bonnet bowler cap fez turban",
}
KIND_OF = {thing: kind for kind, things in KINDS.items() for thing in things.split()}
_JOBS = "baker banker brewer chemist clerk farmer gardener judge miller nurse pilot priest sailor singer teacher waiter"
_PLACES = "bakery bank brewery laboratory office farm park court mill hospital airport church harbour theatre school restaurant"
PLACE_OF = dict(zip(_JOBS.split(), _PLACES.split(), strict=True))
COLOURS = "black blue brown golden green grey red white".split()
REVIEWED = {
    "food": "bread cake pie roast salad sauce soup stew",
    "stage": "ballet comedy drama farce musical opera play revue",
    "books": "chapter diary essay letter memoir novel poem tale",
    "music": "ballad choir concert march song sonata tune waltz",
    "hotels": "bath bed corridor dinner lift pillow room view",
    "sport": "final game match race regatta relay sprint tournament",
}
GOOD = (
    "admirable amazing amusing brilliant charming clever delightful elegant enchanting enjoyable excellent exquisite fabulous fine "
    "flawless glorious good gorgeous graceful great impressive inspired lovely magical magnificent marvellous memorable nice perfect "
    "pleasant remarkable splendid stunning superb sweet terrific thrilling triumphant wonderful worthy"
).split()
BAD = (
    "abysmal annoying appalling atrocious awful bad boring clumsy careless crude dire disappointing dismal dreadful drab dreary dull "
    "feeble foul ghastly grim hopeless horrible horrid inferior lousy mediocre miserable nasty pathetic pitiful pointless poor sloppy "
    "tedious terrible ugly unbearable unpleasant wretched"
).split()
PLEASED, DISPLEASED = "cheered clapped danced laughed rejoiced smiled".split(), "booed complained frowned left yawned wept".split()
OTHER = (
    ". ? so but also and the a of in is was not port new everyone she he her his it they lives works job home has bought own owns "
    "where what which colour does liked hated found we very quite"
).split()
TYPES = ("job", "town", "thing", "colour")
Sentence = list[str]
Document = list[Sentence]


def vocabulary() -> list[str]:
    """The five special tokens, then every word of the language once."""
    nouns = " ".join(REVIEWED.values()).split()
    groups = (OTHER, SHE, HE, TOWNS, KINDS, KIND_OF, PLACE_OF, PLACE_OF.values(), COLOURS, nouns, GOOD, BAD, PLEASED, DISPLEASED)
    return [*SPECIAL, *dict.fromkeys(word for group in groups for word in group)]


def tokenizer() -> WordPiece:
    """Words to ids and back; [PAD] [UNK] [CLS] [SEP] [MASK] are 0 to 4, as everywhere in this course."""
    return WordPiece(vocabulary())


class Person(NamedTuple):
    """Somebody the gazette writes about, with the words for her or him and the four facts of ``TYPES``."""

    name: str
    she: str
    her: str
    facts: dict[str, str]


def other_than(draw: Random, words: Iterable[str], not_this: str) -> str:
    return draw.choice([word for word in words if word != not_this])


def town_name(draw: Random, not_this: str = "") -> str:
    """A town, one in four with "new" or "port" before it."""
    town = other_than(draw, TOWNS, not_this)
    return draw.choice(("new ", "port ")) + town if draw.random() < 0.25 else town


def person(draw: Random, besides: Person | None = None) -> Person:
    """A new person, of another name than ``besides`` and without a fact in common."""
    while True:
        women = draw.random() < 0.5
        name = draw.choice(SHE + SHE_OR_TOWN if women else HE + HE_OR_TOWN)
        facts = {
            "job": draw.choice(list(PLACE_OF)),
            "town": town_name(draw),
            "thing": draw.choice(list(KIND_OF)),
            "colour": draw.choice(COLOURS),
        }
        kind = KIND_OF[facts["thing"]]
        if besides is None or (
            name != besides.name and kind != KIND_OF[besides.facts["thing"]] and all(facts[t] != besides.facts[t] for t in TYPES)
        ):
            return Person(name, *(("she", "her") if women else ("he", "his")), facts)


def fact_sentence(draw: Random, who: Person, kind: str, subject: str, owner: str) -> str:
    """One fact in the words of a report; ``subject`` and ``owner`` name the person ("anna", "of anna"; "she", "")."""
    fact = who.facts[kind]
    if kind == "colour":
        thing = who.facts["thing"]
        return f"the {thing} {owner} is {fact} ." if owner else f"{who.her} {thing} is {fact} ."
    if kind == "thing":
        return f"{subject} {draw.choice(('has', 'bought'))} a {fact} ."
    return f"{subject} lives in {fact} ." if kind == "town" else f"{subject} is a {fact} ."


def recap(who: Person, kind: str, fact: str, subject: str, owner: str) -> str:
    """The same fact in other words: a place for a job, a kind for a thing."""
    if kind == "colour":
        return f"the {KIND_OF[who.facts['thing']]} {owner} is {fact} ." if owner else f"{who.her} {KIND_OF[who.facts['thing']]} is {fact} ."
    if kind == "thing":
        return f"{subject} owns a {fact} ."
    if kind == "job":
        return f"{subject} works in the {fact} ."
    return f"the home {owner} is {fact} ." if owner else f"{who.her} home is {fact} ."


def in_other_words(who: Person, kind: str) -> str:
    fact = who.facts[kind]
    return PLACE_OF[fact] if kind == "job" else KIND_OF[fact] if kind == "thing" else fact


def wrong(draw: Random, who: Person, kind: str) -> str:
    """A fact of the same kind, in other words, that is not true."""
    fact = in_other_words(who, kind)
    if kind == "town":
        return town_name(draw, fact.split()[-1])
    return other_than(draw, {"job": PLACE_OF.values(), "thing": KINDS, "colour": COLOURS}[kind], fact)


def question(who: Person, kind: str) -> str:
    if kind == "colour":
        return f"which colour is the {KIND_OF[who.facts['thing']]} of {who.name} ?"
    return {
        "job": f"what is the job of {who.name} ?",
        "town": f"where is the home of {who.name} ?",
        "thing": f"what does {who.name} own ?",
    }[kind]


def some(draw: Random, count: int) -> list[str]:
    """Types of facts in the order of telling; a colour needs its thing before it."""
    while True:
        kinds = draw.sample(TYPES, count)
        if "colour" not in kinds or "thing" in kinds[: kinds.index("colour")]:
            return kinds


def report(draw: Random, who: Person, kinds: list[str]) -> list[str]:
    """These facts about one person, who is "she" or "he" in more than half of the sentences after the first."""
    return [
        fact_sentence(draw, who, kind, *((who.she, "") if k and draw.random() < 0.6 else (who.name, f"of {who.name}")))
        for k, kind in enumerate(kinds)
    ]


def _one_person(draw: Random, linked: bool) -> list[str]:
    """Two or three facts; then as many sentences that begin with so, but or also, or an interview."""
    who = person(draw)
    facts = some(draw, draw.choice((2, 3, 3)))
    lines = report(draw, who, facts)
    if linked and draw.random() < 0.35:
        for kind in draw.sample(facts, len(facts)):
            lines += [question(who, kind), f"{who.facts[kind]} ."]
        return lines
    new = [kind for kind in TYPES[:3] if kind not in facts]
    for kind in draw.sample(facts, len(facts)):
        names = (who.she, "") if draw.random() < 0.6 else (who.name, f"of {who.name}")
        word = draw.choices(("so", "but", "also"), (6, 2, 2 if new else 0))[0] if linked else "so"
        if word == "also":
            kind = new.pop()
        fact = wrong(draw, who, kind) if word == "but" else in_other_words(who, kind)
        lines.append(f"{word} {recap(who, kind, fact, *names)}")
    return lines


def _two_people(draw: Random) -> list[str]:
    """Two facts of each of two people, then three in other words: the reader has to keep apart whose is what."""
    first = person(draw)
    both = (first, person(draw, first))
    facts = [(who, kind) for who in both for kind in some(draw, 2)]
    lines = [fact_sentence(draw, who, kind, who.name, f"of {who.name}") for who, kind in facts]
    for who, kind in draw.sample(facts, 3):
        lines.append(f"so {recap(who, kind, in_other_words(who, kind), who.name, f'of {who.name}')}")
    return lines


def judged(draw: Random, noun: str, good: bool, two: float = 0.0) -> str:
    """An opinion in one sentence, a share ``two`` of them with two words that agree; one in ten denies the opposite."""
    denied = draw.random() < 0.1
    words = GOOD if good != denied else BAD
    word = draw.choice(words)
    if draw.random() < two and not denied:
        word = f"{word} and {other_than(draw, words, word)}"
    word = f"not {word}" if denied else draw.choice(("", "", "very ", "quite ")) + word
    return draw.choice((f"the {noun} was {word} .", f"we found the {noun} {word} ."))


def verdict(draw: Random, good: bool, loud: bool | None = None) -> str:
    """What people did, if ``loud``, or whether they liked it; one of the two by chance if it is None."""
    if draw.random() < 0.5 if loud is None else loud:
        return f"everyone {draw.choice(PLEASED if good else DISPLEASED)} ."
    return f"they {'liked' if good else 'hated'} it ."


def _review(draw: Random, linked: bool) -> list[str]:
    """Perhaps where it was, three opinions on one page of the gazette, and what people made of it: nearly always of one mind."""
    good, where, town = draw.random() < 0.5, draw.random() < 0.3, town_name(draw)
    nouns = draw.sample(draw.choice(list(REVIEWED.values())).split(), 3)
    lines = [f"the {nouns[0]} was in {town} ."] if where else []
    if where and linked and draw.random() < 0.3:
        lines.append(f"also {verdict(draw, good)}")
    lines += [("and " if linked and k and draw.random() < 0.5 else "") + judged(draw, noun, good, two=0.4) for k, noun in enumerate(nouns)]
    for loud, doubt in zip(draw.sample((True, False), 2), (0.0, 0.2), strict=True):
        word = "but" if linked and draw.random() < doubt else "so"
        lines.append(f"{word} {verdict(draw, good != (word == 'but'), loud)}")
    if draw.random() < 0.25:
        true = not where or draw.random() < 0.75 or not linked
        word = "so" if where and true or not linked else "but" if where else "also"
        lines.append(f"{word} it was in {town if true else town_name(draw, town.split()[-1])} .")
    return lines


def documents(count: int, seed: int = 0, linked: bool = True) -> list[Document]:
    """``count`` documents of 5 to 9 sentences, about 40 words: 35 % on one person, 15 % on two, 50 % reviews.

    ``linked=False`` writes them without interviews and without the links "also" and "but": all last parts repeat what was said before.
    ValueError for a count below 1.
    """
    if count < 1:
        raise ValueError(f"count={count} must be at least 1")
    draw, found = Random(f"gazette {seed}"), []
    for _ in range(count):
        kind = draw.random()
        lines = _one_person(draw, linked) if kind < 0.35 else _two_people(draw) if kind < 0.5 else _review(draw, linked)
        found.append([line.split() for line in lines])
    return found


def held_out(count: int = 512, linked: bool = True) -> list[Document]:
    """Documents of another seed. Single sentences are short and occur in other documents as well; whole documents do not."""
    return documents(count, seed=-1, linked=linked)
