"""Ranking of names by a text with typing errors: "Walnt Stret & 33" finds "Walnut Street & 33rd".

How, in plain words: a text and all names are cut into words. Each word of the text is compared with
each different word of the names, of which a city has far fewer than names. A name scores by the
words of the text that it has, and a little by how much of it they cover. Rare words count more.

Words are alike if they are equal, if one begins with the other, if one abbreviates the other, or by
the mean of the Jaro-Winkler similarity and of the Damerau-Levenshtein similarity in its restricted
form (https://rapidfuzz.github.io/RapidFuzz). Numbers are alike if their digits are equal.
"""

import re
import unicodedata
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from evroute.arrays import FloatArray, IntArray

LEAST_SCORE = 0.55
"""Least score of a name that is a hit."""
LEAST_ALIKE = 0.66
"""Least similarity of two words that may be one."""
MOST_WORDS = 10
LONGEST_TEXT = 200
COVER = 0.15
"""Share of the score by the part of a name that the text covers. The rest is by the text."""
ABBREVIATIONS = {
    "st": ("street", "saint", "sankt"),
    "ste": ("sainte",),
    "str": ("strasse", "street"),
    "ave": ("avenue",),
    "av": ("avenue",),
    "bd": ("boulevard",),
    "blvd": ("boulevard",),
    "dr": ("drive", "doctor"),
    "hwy": ("highway",),
    "ln": ("lane",),
    "rd": ("road",),
    "rte": ("route",),
}
_ABBREVIATED = 0.97
_BEGUN = 0.85
_BEGUN_NUMBER = 0.7
_ACCENT = re.compile("[\u0300-\u036f]")
_WORD = re.compile(r"\d+[^\W\d_]*|[^\W\d_]+")
_JOINING = {"and", "und", "et"}
_APOSTROPHES = str.maketrans("", "", "'’`")


def words_of(text: str) -> tuple[str, ...]:
    """Return the words of a text, without case, accents, apostrophes and words for "and".

    Letters and a number after them are two words: "model3" is "model" and "3".
    """
    plain = unicodedata.normalize("NFKD", text.casefold().translate(_APOSTROPHES))
    found = _WORD.findall(_ACCENT.sub("", plain))
    return tuple(word for word in found if word not in _JOINING)


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """Names prepared for `scores` and `best`.

    Parameters
    ----------
    words
        The v different words of all names, sorted.
    weight
        Weight of each word, (v,): the logarithm of the number of names for each name with it.
    names_start, names
        The names with word k are ``names[names_start[k] : names_start[k + 1]]``, rows.
    total
        Sum of the weights of the words of each name, (n,).
    by_digits
        Rows of the words that begin with a number, by its digits.
    """

    words: list[str]
    weight: FloatArray
    names_start: IntArray
    names: IntArray
    total: FloatArray
    by_digits: dict[str, list[int]]

    @classmethod
    def of(cls, names: Sequence[str]) -> "Ranking":
        """Prepare n names."""
        named = defaultdict(list)
        for row, name in enumerate(names):
            for word in dict.fromkeys(words_of(name)):
                named[word].append(row)
        words = sorted(named)
        counts = np.array([len(named[word]) for word in words], dtype=np.int64)
        rows = np.array([row for word in words for row in named[word]], dtype=np.int64)
        weight = np.log1p(len(names) / np.maximum(counts, 1))
        total = np.bincount(rows, np.repeat(weight, counts), len(names))
        by_digits = defaultdict(list)
        for k, word in enumerate(words):
            if digits := _digits(word):
                by_digits[digits].append(k)
        start = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        return cls(words, weight, start, rows, np.maximum(total, 1e-9), dict(by_digits))

    def best(self, text: str, most: int) -> list[int]:
        """Return the rows of the names that fit a text best, at most ``most``, the best first.

        Of names that fit equally, the one with the least further words is first.
        """
        score = self.scores(text)
        rows = np.flatnonzero(score >= LEAST_SCORE)
        order = np.lexsort((rows, self.total[rows], -score[rows].round(6)))
        return rows[order[:most]].tolist()

    def scores(self, text: str) -> FloatArray:
        """Return the score of each name, (n,) from 0 to 1. 0 for a text without words."""
        words = words_of(text[:LONGEST_TEXT])[:MOST_WORDS]
        if not words or not self.words:
            return np.zeros(len(self.total))
        alike = [self._alike(word, last=k == len(words) - 1) for k, word in enumerate(words)]
        joined = [self._joined(*pair) for pair in pairwise(words)]
        weights = [self._weight(each) for each in alike]
        parts = [
            weight * self._spread(rows, similar / np.sqrt(similar.max(initial=0.1)))
            for weight, (rows, similar) in zip(weights, alike, strict=True)
        ]
        sum_of_parts = np.sum(parts, axis=0)
        found = sum_of_parts.copy()
        for k, (rows, similar) in enumerate(joined):
            if len(rows):  # two words of the text that are one of the names
                both = (weights[k] + weights[k + 1]) * self._spread(rows, similar)
                found = np.maximum(found, sum_of_parts - parts[k] - parts[k + 1] + both)
        cover = self._cover([*alike, *joined])
        score: FloatArray = (1 - COVER) * found / sum(weights) + COVER * cover
        return score

    def _alike(self, word: str, *, last: bool) -> tuple[IntArray, FloatArray]:
        """Return the rows of the words that are like a word of a text, and how much, 0 to 1."""
        if digits := _digits(word):
            return self._like_number(digits, last=last)
        found = dict(self._fuzzy(word))
        first, end = bisect_left(self.words, word), bisect_left(self.words, word + "\U0010ffff")
        for k in range(first, end):
            begun = _BEGUN + (1 - _BEGUN) * len(word) / len(self.words[k])
            found[k] = max(found.get(k, 0.0), begun)
        for whole in ABBREVIATIONS.get(word, ()):
            k = bisect_left(self.words, whole)
            if self.words[k : k + 1] == [whole]:
                found[k] = max(found.get(k, 0.0), _ABBREVIATED)
        return _arrays(found)

    def _like_number(self, digits: str, *, last: bool) -> tuple[IntArray, FloatArray]:
        """Return the words of the same number. Of a text's last one also those it begins."""
        found = {}
        if last:
            end = bisect_left(self.words, digits + "\U0010ffff")
            found = dict.fromkeys(range(bisect_left(self.words, digits), end), _BEGUN_NUMBER)
        return _arrays(found | dict.fromkeys(self.by_digits.get(digits, ()), 1.0))

    def _joined(self, first: str, second: str) -> tuple[IntArray, FloatArray]:
        """Return the words like two words of a text without the space between them."""
        if _digits(first) or _digits(second) or len(first) + len(second) < 3:
            return _arrays({})
        return _arrays(dict(self._fuzzy(first + second)))

    def _fuzzy(self, word: str) -> Iterator[tuple[int, float]]:
        """Yield rows and similarities of the words that are spelt like a word."""
        from rapidfuzz import process
        from rapidfuzz.distance import OSA, JaroWinkler

        near = process.cdist(
            [word],
            self.words,
            scorer=JaroWinkler.normalized_similarity,
            score_cutoff=LEAST_ALIKE,
            dtype=np.float32,
        )[0]
        for k in np.flatnonzero(near).tolist():
            if not _digits(self.words[k]):
                spelt = OSA.normalized_similarity(word, self.words[k])
                similar = (float(near[k]) + spelt) / 2
                if similar >= LEAST_ALIKE:
                    yield k, similar

    def _weight(self, alike: tuple[IntArray, FloatArray]) -> float:
        """Return the weight of a word of a text: the least of the words that it is like most."""
        rows, similar = alike
        if not len(rows):
            return float(self.weight.max())
        return float(self.weight[rows[similar > similar.max() - 0.02]].min())

    def _spread(self, rows: IntArray, similar: FloatArray) -> FloatArray:
        """Return the greatest similarity of the words of each name with a word, (n,)."""
        found = np.zeros(len(self.total))
        names, values = self._names(rows, similar)
        np.maximum.at(found, names, values)
        return found

    def _cover(self, alike: Sequence[tuple[IntArray, FloatArray]]) -> FloatArray:
        """Return the share of the weight of each name by its words that are in a text, (n,)."""
        most: Counter[int] = Counter()
        for rows, similar in alike:
            for row, value in zip(rows.tolist(), similar.tolist(), strict=True):
                most[row] = max(most[row], value)
        rows, similar = _arrays(dict(most))
        names, values = self._names(rows, similar**2 * self.weight[rows])
        found: FloatArray = np.bincount(names, values, len(self.total)) / self.total
        return found

    def _names(self, rows: IntArray, values: FloatArray) -> tuple[IntArray, FloatArray]:
        """Return the names with each of several words, and the word's value for each of them."""
        start, counts = self.names_start[rows], np.diff(self.names_start)[rows]
        before = np.cumsum(counts) - counts
        at = np.arange(counts.sum()) + np.repeat(start - before, counts)
        return self.names[at], np.repeat(values, counts)


def _arrays(found: dict[int, float]) -> tuple[IntArray, FloatArray]:
    return np.array(list(found), dtype=np.int64), np.array(list(found.values()), dtype=np.float64)


def _digits(word: str) -> str:
    """Return the number that a word begins with, or "" if it begins with a letter."""
    return word[: len(word) - len(word.lstrip("0123456789"))]
