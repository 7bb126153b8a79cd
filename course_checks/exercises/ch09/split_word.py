"""Exercise 09.7: the longest piece first. The oracle asks which pieces of the vocabulary the word begins with."""

from random import Random

from ..common import Case, FunctionExercise, refusal


def split_word(word: str, vocabulary: list[str]) -> list[str]:
    if not word:
        raise ValueError("the word is empty")
    found, start = [], 0
    while start < len(word):
        mark = "##" if start else ""
        ends = [end for end in range(start + 1, len(word) + 1) if mark + word[start:end] in vocabulary]
        if not ends:
            return ["[UNK]"]
        end = max(ends)
        found.append(mark + word[start:end])
        start = end
    return found


def oracle(word: str, vocabulary: list[str]) -> list[str]:
    pieces: list[str] = []
    rest = word
    while rest:
        mark = "##" if pieces else ""
        piece = max((p for p in vocabulary if p != mark and (mark + rest).startswith(p)), key=len, default="[UNK]")
        if piece == "[UNK]":
            return [piece]
        pieces, rest = [*pieces, piece], rest[len(piece) - len(mark) :]
    return pieces


def case(label: str, word: str, vocabulary: str, part: str = "values") -> Case:
    args = {"word": word, "vocabulary": vocabulary.split()}
    return Case(label, args, part) if word else refusal(label, args, "empty", part=part)


def draw(seed: int) -> list[Case]:
    """Some letters and syllables, each in both forms or one; ``x`` is never in the vocabulary."""
    g, syllables = Random(seed), ("un", "kind", "ness", "play", "er", "ing", "s", "re", "form", "at")
    some = "a d e f g i k l m n o p r s t u y U un kind ##kind ##ness ##ne ##nes kin ##er play".split()
    pieces = {*some, *("##" + p for p in some if len(p) == 1), *g.sample([mark + s for s in syllables for mark in ("", "##")], 8)}
    vocabulary = " ".join(g.sample(sorted(pieces), len(pieces)))
    word = "".join(g.sample(syllables, 3))
    return [
        case("unkindness", "unkindness", vocabulary),
        case(word, word, vocabulary),
        case("a word with an unknown letter at its end", "playerx", vocabulary, "unknown"),
    ]


def fixed() -> list[Case]:
    greedy, fewer = "a ab ##cd ##c ##de ##d bc abc ##cde", "abc ##defg ##h abcd ##e ##f ##gh"
    return [
        case("a word that is a piece", "abc", greedy),
        case("abc and bc exist only as beginnings of words", "abbc", greedy + " ##b", "unknown"),
        case("bc may only begin a word", "abbc", greedy, "unknown"),
        case("longest first finds no split, although one exists", "abcde", "ab abc ##cde ##c ##d", "unknown"),
        case("longest first, although two pieces would be enough", "abcde", "ab abc ##cde ##d ##e"),
        case("four pieces from the left, although three would be enough", "abcdefgh", fewer),
        case("a longer piece further right has to wait", "abcdefg", "a ab ##bcdef ##cd ##ef ##g"),
        case("a word of 24 letters", "abcd" * 6, "a ab ##cd ##ab ##dab ##cda"),
        case("a word of 132 letters", "ha" * 66, "h ha ##ha ##hahaha ##a"),
        case("capitals are other letters", "Ab", "a ab A ##b"),
        case("a letter that occurs only inside words", "d", greedy, "unknown"),
        case("one letter", "a", greedy),
        case("an unknown letter in the middle", "abxcd", greedy, "unknown"),
        case("an empty word", "", greedy, "unknown"),
    ]


FORBIDDEN = tuple("course_utils.text.wordpiece." + name for name in ("split_word", "WordPiece.word_ids", "tokenize"))
EXERCISE = FunctionExercise(right=split_word, oracle=oracle, draw=draw, fixed=fixed, forbidden=FORBIDDEN)
