"""Answers in words whose order, or whose meaning as no answer, is common knowledge."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

# Levels from lowest to highest; "|" stands between words for the same level. All answers must be of one line.
_SCALES = [
    [line.split("|") for line in scale.split(" < ")]
    for scale in (
        "never|not ever < almost never|hardly ever|very rarely < rarely|seldom|infrequently"
        " < occasionally|once in a while < sometimes|some of the time < about half the time|half of the time"
        " < often|frequently|regularly < very often|very frequently"
        " < usually|most of the time|mostly|nearly always|almost always < always|all of the time|all the time",
        "never < less than once a year|less often < once a year|yearly|annually"
        " < a few times a year|several times a year < less than once a month < once a month|monthly"
        " < a few times a month|several times a month|2-3 times a month < once a week|weekly"
        " < a few times a week|several times a week|2-3 times a week < 4-6 times a week"
        " < once a day|daily|every day < several times a day|multiple times a day",
        "awful|terrible|very poor|very bad < poor|bad < below average < fair|average|ok|okay|acceptable|so-so"
        " < above average < good < very good < excellent|outstanding",
        "none < very low < low < below average < medium|mid|moderate|middle|average|intermediate|normal"
        " < above average < high < very high",
        "not at all < several days < more than half the days < nearly every day",
        "much lower|a lot lower < lower < somewhat lower|slightly lower < about the same|the same|same"
        " < somewhat higher|slightly higher < higher < much higher|a lot higher",
        "lower class|working class < lower middle class < middle class < upper middle class < upper class",
        "none < mild < moderate < severe < very severe|extreme",
        "very small|tiny < small < medium < large|big < very large|huge",
        "not at all < a little|a little bit|slightly|very little|not much < somewhat|to some extent|some"
        " < moderately|a moderate amount < quite|quite a bit|a lot|mostly|very|very much|to a large extent"
        " < extremely|a great deal|completely|totally",
        "none|nothing|none at all < a little|very little|not much|not very much < some|a fair amount|a moderate amount"
        " < quite a bit|quite a lot|a lot|most < a great deal|all|everything",
        "beginner|novice|basic < elementary < intermediate < upper intermediate < advanced < expert|fluent|native",
        "definitely not|definitely no < probably not|probably no < possibly|maybe|might or might not|perhaps"
        " < probably|probably yes < definitely|definitely yes",
        "much worse|a lot worse < worse < somewhat worse|a little worse|slightly worse < about the same|the same|same"
        " < somewhat better|a little better|slightly better < better < much better|a lot better",
        "no formal education|none < primary|primary school|elementary school"
        " < less than high school|less than high school degree|some high school|lower secondary|middle school"
        " < high school|high school degree|high school diploma|high school graduate|high school or less|secondary"
        "|secondary school|upper secondary|high school degree or equivalent"
        " < some college|some college, no degree|some college or associate degree|vocational"
        " < associate degree|associate's degree|associates degree"
        " < college|bachelor degree|bachelor's degree|bachelors degree|college degree|bachelor|bachelors|university"
        " < some graduate school"
        " < graduate degree|graduate school|postgraduate|master's degree|masters degree|master degree|master|masters"
        " < doctorate|phd|doctoral degree",
    )
]

# "somewhat likely" is a degree and a pole: its score is the degree's, below 0 for the pole on the left.
_DEGREES = {
    **dict.fromkeys(["not at all", "definitely not"], -6.0),
    **dict.fromkeys(["not"], -3.0),
    **dict.fromkeys(["not very", "not too", "not so", "not really", "not particularly"], -2.0),
    **dict.fromkeys(["slightly", "a little", "a bit", "tend to", "a little bit", "lean", "of little"], 1.0),
    **dict.fromkeys(["somewhat", "rather", "fairly", "partly", "mildly", "more or less", "probably"], 2.0),
    **dict.fromkeys(["moderately", "reasonably"], 2.5),
    "": 3.0,
    **dict.fromkeys(["mostly", "quite", "generally", "largely"], 3.5),
    **dict.fromkeys(["very", "strongly", "highly", "definitely", "a lot", "much"], 4.0),
    **dict.fromkeys(["extremely", "completely", "totally", "fully", "entirely", "absolutely", "wholly"], 5.0),
}
_POLES = [
    tuple(frozenset(pole.split("|")) for pole in pair.split(" < "))
    for pair in (
        "disagree < agree",
        "dissatisfied|unsatisfied|not satisfied < satisfied",
        "unlikely|improbable < likely|probable",
        "unimportant < important|importance",
        "unfavorable|unfavorably|unfavourable|unfavourably < favorable|favorably|favourable|favourably",
        "oppose|opposed|against < favor|favour|support|in favor|in favour",
        "disapprove < approve",
        "unhappy|sad < happy",
        "difficult|hard < easy",
        "unsafe < safe",
        "uncomfortable < comfortable",
        "negative|negatively < positive|positively",
        "untrue|false < true|true of me",
        "unhealthy < healthy",
        "inaccurate < accurate",
        "unfamiliar < familiar",
        "uninterested < interested",
        "useless < useful",
        "unhelpful < helpful",
        "unwilling < willing",
        "unacceptable < acceptable",
        "ineffective < effective",
        "dislike < like",
        "distrust < trust",
        "bad < good",
        "liberal|left < conservative|right",
    )
]
# What has no opposite: "not at all confident" to "extremely confident".
_LONE = ["confident|confidence", "concerned", "worried", "aware", "serious", "proud", "attractive", "stressful"]
_LONE += ["closely", "engaged", "clear", "well"]
_NEUTRAL = re.compile(
    r"neutral|neither|neither .+|undecided|indifferent|in between|in the middle|no preference|mixed"
    r"|moderate|middle of the road|neutral/.*|.* \((neutral|neither .*)\)"
)

_NO = {
    "no",
    "n",
    "false",
    "f",
    "0",
    "disagree",
    "never",
    "absent",
    "off",
    "none",
    "nothing",
    "negative",
    "fail",
    "failed",
}
_NO |= {"unlikely", "dissatisfied", "nein", "non", "nao", "não", "nej", "nee", "unchecked", "unticked"}
_NO |= {"not selected", "not checked", "not mentioned", "not ticked", "not chosen"}
_YES = {"yes", "y", "true", "t", "1", "agree", "always", "ever", "present", "on", "some", "positive", "pass", "passed"}
_YES |= {"likely", "satisfied", "ja", "oui", "si", "sí", "sim", "checked", "ticked"}
_YES |= {"selected", "mentioned", "chosen"}

_NO_ANSWER = re.compile(
    r"(refused?|refusal|don'?t know|do not know|dk|dk/na|no answer|n/?a|not applicable"
    r"|prefer not to (say|answer|respond)|(prefer|choose|decline)d? not to (say|answer)|no response"
    r"|declined?( to answer)?|missing|unknown|not stated|not answered|skipped|can'?t say|rather not say)"
    r"|.*\((n/?a|don'?t know|refused)\)|(refused|don'?t know)\s*[/(].*"
)

_NUMBER = r"[-+]?\d[\d,]*\.?\d*"
_AMOUNT = rf"[$€£¥]?\s*({_NUMBER})\s*(k|m|thousand|million)?\s*[$€£¥%]?"
_UNIT = (
    r"(?:\s*(?:years?|yrs?|of age|old|months?|weeks?|days?|hours?|hrs?|minutes?|mins?|times|people|persons|employees"
)
_UNIT += r"|children|kids|usd|eur|euros?|dollars|pounds|kg|cm|km|miles|per \w+|a \w+|/\w+))*\.?"
_UNDER = r"(?:(?:just )?(?:under|less than|below)\s*)?"
_TO = r"\s*(?:-|\u2013|\u2014|to|and|until)\s*"
_RANGE = re.compile(rf"(?:between |from )?{_AMOUNT}{_UNIT}{_TO}{_UNDER}{_AMOUNT}{_UNIT}", re.I)
_BELOW = re.compile(
    rf"(?:<=?|≤|less than|fewer than|under|below|up to|at most|younger than|no more than)\s*{_AMOUNT}{_UNIT}"
    rf"|{_AMOUNT}{_UNIT}\s*(?:or|and)\s*(?:less|fewer|under|below|younger|lower)",
    re.I,
)
_ABOVE = re.compile(
    rf"(?:>=?|≥|more than|over|above|at least|older than|greater than)\s*{_AMOUNT}{_UNIT}"
    rf"|{_AMOUNT}{_UNIT}\s*(?:\+|(?:or|and|&)\s*(?:more|over|above|older|up|higher|greater)){_UNIT}",
    re.I,
)
_SINGLE = re.compile(rf"{_AMOUNT}{_UNIT}", re.I)
_NUMBERED = re.compile(r"\(?([-+]?\d{1,2})\)?(?:\s*[-.:=)\u2013]+\s*|\s+|\s*(?=\())(.*)")


def known_order(texts: Sequence[str]) -> tuple[list[str], str] | None:
    """Put the answers of a well-known scale in order, and say which kind of scale it is; None if it is none.

    >>> known_order(["often", "never", "sometimes"])
    (['never', 'sometimes', 'often'], 'a known scale')
    >>> known_order(["> 60", "18-29", "30-60"])
    (['18-29', '30-60', '> 60'], 'ranges of numbers')
    >>> known_order(["red", "green", "blue"])
    """
    for ordered, what in (
        (_by_words, "a known scale"),
        (_by_ranges, "ranges of numbers"),
        (_by_marks, "their numbers"),
    ):
        found = ordered(texts)
        if found:
            return found, what
    return None


def no_then_yes(texts: Sequence[str]) -> list[str]:
    """Put two answers in order, the one that says yes second; others as a scale or the alphabet has them.

    >>> no_then_yes(["Yes", "No"]), no_then_yes(["male", "female"])
    (['No', 'Yes'], ['female', 'male'])
    """
    first, second = sorted(texts)
    for no, yes in ((first, second), (second, first)):
        if _says(no, _NO) and _says(yes, _YES):
            return [no, yes]
    order = known_order(texts)
    return order[0] if order else [first, second]


def says_no(text: str) -> bool:
    """Tell whether a text says no."""
    return _normal(text) in _NO


def no_answer(text: str) -> bool:
    """Tell whether a text says that there was no answer.

    >>> no_answer("Don't know"), no_answer("Dakota")
    (True, False)
    """
    return bool(_NO_ANSWER.fullmatch(_normal(text)))


def _normal(text: str) -> str:
    return " ".join(text.lower().replace("\u2019", "'").split()).strip(" .")


def _says(text: str, words: set[str]) -> bool:
    normal = _normal(text)
    return normal in words or re.split(r"[,;:(.\-\u2013]", normal)[0].strip() in words


def _sorted(texts: Sequence[str], score: Callable[[str], float | None]) -> list[str] | None:
    """Sort texts by their scores; None if one has none or two have the same."""
    scores = [score(text) for text in texts]
    if None in scores or len(set(scores)) < len(texts):
        return None
    return [text for _, text in sorted(zip(scores, texts, strict=True))]


def _by_words(texts: Sequence[str]) -> list[str] | None:
    spelt = {text: _normal(text) for text in texts}
    marked = [_NUMBERED.fullmatch(text) for text in spelt.values()]
    if all(marked):  # "1 - never", "2 - often"
        spelt = {text: match.group(2).strip("() ") for text, match in zip(spelt, marked, strict=True) if match}
    for scale in _SCALES:
        level = {word: float(number) for number, words in enumerate(scale) for word in words}
        found = _sorted(texts, lambda text, level=level: level.get(spelt[text]))  # type: ignore[misc]
        if found:
            return found
    poles = [*_POLES, *((frozenset[str](), frozenset(word.split("|"))) for word in _LONE)]
    for low, high in poles:
        found = _sorted(texts, lambda text, low=low, high=high: _score(spelt[text], low, high))  # type: ignore[misc]
        if found:
            return found
    return None


def _score(text: str, low: frozenset[str], high: frozenset[str]) -> float | None:
    if _NEUTRAL.fullmatch(text):
        return 0.0
    words = text.split()
    for cut in range(len(words) + 1):  # the degree stands before the pole ("agree strongly": after it)
        for degree, pole in ((words[:cut], words[cut:]), (words[cut:], words[:cut])):
            score = _DEGREES.get(" ".join(degree))
            if score is not None and " ".join(pole) in high:
                return score
            if score is not None and score > 0 and " ".join(pole) in low:
                return -score
    return None


def _by_ranges(texts: Sequence[str]) -> list[str] | None:
    """Sort brackets such as "18-29" and "$50k or more" by their bounds, if they do not overlap."""
    bounds = {text: _bounds(text) for text in texts}
    found = [bound for bound in bounds.values() if bound]
    if len(found) < len(texts) or all(low == high for low, high in found):
        return None
    ordered = sorted(found)
    if any(low[0] >= high[0] or low[1] > high[1] or low[1] > high[0] for low, high in pairwise(ordered)):
        return None
    return sorted(texts, key=lambda text: bounds[text] or (0, 0))


def _bounds(text: str) -> tuple[float, float] | None:
    text = re.sub(r"\s+", " ", text.strip())
    if match := _RANGE.fullmatch(text):
        low, low_unit, high, high_unit = match.groups()
        same = not low_unit and _amount(low, "") <= _amount(high, "")  # "$75-125k"
        bounds = _amount(low, high_unit if same else low_unit), _amount(high, high_unit)
        return bounds if bounds[0] <= bounds[1] else None
    for pattern, below in ((_BELOW, True), (_ABOVE, False)):
        if match := pattern.fullmatch(text):
            number, unit = (match.group(1), match.group(2)) if match.group(1) else (match.group(3), match.group(4))
            return (-np.inf, _amount(number, unit)) if below else (_amount(number, unit), np.inf)
    if match := _SINGLE.fullmatch(text):
        return _amount(*match.groups()), _amount(*match.groups())
    return (0, 0) if text.lower() in ("none", "zero") else None


def _amount(number: str, unit: str | None) -> float:
    times = {"k": 1e3, "thousand": 1e3, "m": 1e6, "million": 1e6}
    return float(number.replace(",", "")) * times.get((unit or "").lower(), 1)


def _by_marks(texts: Sequence[str]) -> list[str] | None:
    """Sort scales of which only some points have words: "1 (not at all)", "2", "3 (very)"."""
    marked = {text: _NUMBERED.fullmatch(text.strip()) for text in texts}
    marks = {text: match.group(1) if match else text.strip() for text, match in marked.items()}
    if (
        all(marked.values())
        or not any(marked.values())
        or not all(re.fullmatch(r"[-+]?\d{1,2}", mark) for mark in marks.values())
    ):
        return None
    return _sorted(texts, lambda text: float(marks[text]))
