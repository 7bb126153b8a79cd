"""Exercise 02.5: a map drawn by hand. The oracle looks each digit's word up in the number's own words."""

from course_utils.text.numbers import number_words, split_german

from ..common import Case, Prediction

WORD = "dreihundertsechsundneunzig"


def oracle() -> dict[str, str]:
    pieces = split_german(WORD)
    number = next(n for n in range(1000) if number_words(n, "de") == WORD)
    hundreds, tens, units = (int(digit) for digit in str(number))
    wanted = (number_words(hundreds, "de"), number_words(10 * tens, "de"), number_words(units, "de"))
    places = ("first", "second", "third")
    return {f"{place} digit written": pieces[pieces.index(word)] for place, word in zip(places, wanted, strict=True)}


EXERCISE = Prediction(oracle=oracle, draw=lambda seed: [Case("your three words", {})], choices=tuple(split_german(WORD)))
