"""Fractions, powers, operators, comparisons and Greek letters."""

import unicodedata

import regex

from kokoro_text.english.frame import BEFORE, NUMBER, Rule, after, around, before
from kokoro_text.english.numerals import Numerals, letters
from kokoro_text.english.units import fraction

_VULGAR = "½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞⅐⅑⅒"
_MIXED = regex.compile(
    rf"{BEFORE}(?P<whole>\d{{1,4}})(?: ?(?P<part>[{_VULGAR}])|[ -](?P<part>\d{{1,2}}/\d{{1,3}})"
    rf"(?![\p{{N}}/]))(?P<hyphen>-)?"
)
_VULGAR_ALONE = regex.compile(rf"(?P<part>[{_VULGAR}])(?P<hyphen>-)?")
_SLASHED = regex.compile(
    rf"(?<![/\p{{L}}])(?P<first>{NUMBER})/(?P<second>{NUMBER})(?P<hyphen>-"
    rf"(?=\p{{L}}))?(?![/\p{{L}}\p{{N}}])"
)
_PART_OF = regex.compile(
    r"(?i)\b(?:part|step|page|slide|chapter|episode|round|lesson|question|level|day|item|attempt|"
    r"stage|phase|module|task|batch|volume|file|image|photo|frame|week|track|disc|game|set|section|"
    r"player|seat|lot|entry|message|row|line)s?:? \(?$"
)
_MEASURE = (
    r"cups?|inch(?:es)?|miles?|pounds?|hours?|teaspoons?|tablespoons?|ounces?|gallons?|pints?"
    r"|quarts?|"
    r"feet|foot|yards?|acres?|liters?|litres?|days?|price|off|page|pint|dozen|marathon|portion|"
    r"tsp|tbsp|onion|lemon|bunch|size|turn|length|speed|scale"
)
_LETTER = r"(?<![\p{L}\p{N}'_])\p{L}(?![\p{L}'_])"
_DIVIDED = regex.compile(r"(?<=\d) ?(?:/(?=[\d.]{1,12} ?=)| /) ?(?=\d)")
_SCIENTIFIC = regex.compile(
    rf"{BEFORE}(?P<number>{NUMBER})e(?P<sign>[-+]?)(?P<power>\d{{1,3}})(?![\p{{L}}\p{{N}}_])"
)
_PRODUCT = regex.compile(r"(?<=\d) ?x ?(?=[\d.,]{1,20} ?=)")
_POWER = regex.compile(
    r"(?<=[\p{L}\p{N})])(?:\^ ?(?P<power>[-−]?\d{1,3}|\p{L})(?!\p{L})"
    r"|(?P<power>[⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹ⁿ]+)|\*\*(?P<power>\d{1,3}))"
)
_FORMULA = regex.compile(r"(?<![\p{L}\p{N}])(?=\p{L}{1,8}[₀-₉])[\p{L}₀-₉]{2,30}(?![\p{L}\p{N}])")
_SUBSCRIPT = regex.compile(r"(?<=[\p{L}\)])(?P<digits>[₀-₉]+)")
_ROOT = regex.compile(r"(?P<root>[√∛]) ?")
_COEFFICIENT = regex.compile(
    rf"{BEFORE}(?P<number>{NUMBER})(?P<letter>[abcknmpqrtuvwxyz])(?![\p{{L}}\p{{N}}_'])"
)
_OPERAND = r"[\p{L}\p{N})\]²³%°]"
_OPERATORS = {
    "!=": "is not equal to", "≠": "is not equal to", "=/=": "is not equal to", "==": "equals",
    "===": "equals", "<=": "is less than or equal to", "≤": "is less than or equal to",
    ">=": "is greater than or equal to", "≥": "is greater than or equal to",
    "=": "equals", "≈": "is approximately", "≅": "is approximately", "≡": "is equivalent to",
    "±": "plus or minus", "+/-": "plus or minus", "∓": "minus or plus", "×": "times", "✕": "times",
    "*": "times", "·": "times", "∙": "times", "÷": "divided by", "+": "plus", "∞": "infinity",
    "√": "the square root of", "∛": "the cube root of", "∑": "the sum of", "∏": "the product of",
    "∫": "the integral of", "∂": "partial", "∈": "is in", "∉": "is not in", "∪": "union",
    "∩": "intersection", "∅": "the empty set", "∴": "therefore", "∵": "because",
    "∝": "is proportional to",
    "∀": "for all", "∃": "there exists", "⊂": "is a subset of", "∆": "delta", "∇": "nabla",
    "∧": "and", "∨": "or", "¬": "not", "++": "plus plus",
}  # fmt: skip
_SHORT = {
    "<=": "less than or equal to", "≤": "less than or equal to", "<": "less than",
    ">=": "greater than or equal to", "≥": "greater than or equal to", ">": "greater than",
}  # fmt: skip
_ARROW = regex.compile(r" ?(?:<?[-=]{1,3}>|[→⟶⇒➔➜➡⟹]) ?")
_LEFT_ARROW = regex.compile(r" ?(?:<-{1,3}|[←⇐]) ?")
_BOTH_WAYS = regex.compile(r" ?[↔⇔⟷] ?")
_MENU = regex.compile(r"(?<=\p{L}) > (?=[\p{Lu}“\"'])")
_COMPARISON = regex.compile(rf"(?<={_OPERAND}) ?(?P<sign>[<>]) ?(?=[\p{{L}}\p{{N}}(.$£€-])")
_BEFORE_NUMBER = regex.compile(r"(?<![^\s(])(?P<sign><=|>=|[<>≤≥])(?=[\p{Sc}]?[\d.])")
_ABOUT = regex.compile(r"(?<![\p{L}\p{N}])(?:[~∼]|(?<![\p{L}\p{N}] )≈) ?(?=[\p{Sc}]?[\d.])")
_KEYS = regex.compile(
    r"(?<![\p{L}\p{N}])(?P<key>Ctrl|Cmd|Alt|Shift|Option|Opt|Win|Command|Control|Fn"
    r"|Esc)(?P<sign>[+-])(?=[\p{L}\p{N}])"
)
_LAST_KEY = regex.compile(
    r"(?<=(?:[\p{L}\d][+-]|\b(?i:press|hit|tap|the) ))(?P<key>Del|Esc|Ins|PgUp|PgDn|PrtSc|Ctrl)"
    r"(?![\p{L}\p{N}])"
)
_KEY_NAMES = {
    "Ctrl": "Control", "Cmd": "Command", "Opt": "Option", "Win": "Windows", "Fn": "Function",
    "Esc": "Escape", "Del": "Delete", "Ins": "Insert", "PgUp": "Page Up", "PgDn": "Page Down",
    "PrtSc": "Print Screen",
}  # fmt: skip
_FUNCTION_OF = regex.compile(r"(?<=(?<![\p{L}\p{N}'])[fghpqksuvyFGP])\((?=[a-zA-Z]\)|-?\d{1,3}\))")
_FUNCTION_END = regex.compile(r"(?<=(?<![\p{L}\p{N}'])[fghpqksuvyFGP]\((?:[a-zA-Z]|-?\d{1,3}))\)")
_SIGNS = regex.compile(
    " ?(?:"
    + "|".join(regex.escape(sign) for sign in sorted(_OPERATORS, key=len, reverse=True))
    + ") ?"
)
_MINUS = regex.compile(
    r"(?<=(?:\p{N}|(?<![\p{L}'])\p{L}|[)²³]))(?P<gap> ?)[-–](?P<after> ?)"
    r"(?=(?:\(|\d+(?:\.\d+)?(?![\p{N}])|\p{L}(?![\p{L}'])))"
)
_EQUATION = regex.compile(
    r"^[\p{L}\p{N}.,()²³^ ]{0,12}(?: ?[-–+×÷*/] ?[\p{L}\p{N}.,()²³^]{1,8}){0,4} ?(?:=|≤|≥|<|>|≠|==)"
)
_ASKED = regex.compile(
    r"(?i)\b(?:what is|what's|calculate|compute|solve|evaluate|subtract|simplify|how much is"
    r"|equals?) "
    r"[\p{L}\p{N}.,() ^²³+×÷*/-]{0,30}$|[=] ?[\p{L}\p{N}.,()^²³+×÷*/ -]{0,20}$"
)
_GREEK = regex.compile(r"(?<!\p{Greek})\p{Greek}(?!\p{Greek})")
_LONE_LETTER = regex.compile(
    r"(?<![\p{L}\p{N}'_])a(?= ?[=+*×÷<>≤≥²³^])|(?<=[=+*×÷<>≤≥] ?)a(?![\p{L}\p{N}'])(?! \p{L})"
)


def _hyphen(match: "regex.Match[str]") -> str:
    return " " if match["hyphen"] else ""


def _mixed(match: "regex.Match[str]", numerals: Numerals) -> str | None:
    part = match["part"]
    if "/" in part:
        above, below = map(int, part.split("/"))
        if above >= below or below > 64:
            return None
    said = fraction(part, numerals)
    article = {"one half": "a half", "one quarter": "a quarter", "one third": "a third"}
    return f"{numerals.number(match['whole'])} and {article.get(said, said)}{_hyphen(match)}"


def _vulgar(match: "regex.Match[str]", numerals: Numerals) -> str:
    said = fraction(match["part"], numerals)
    if match["hyphen"]:
        return {"one half": "half", "one quarter": "quarter"}.get(
            said, said.removesuffix("s")
        ) + "-"
    return _of_measure(said, match)


def _of_measure(said: str, match: "regex.Match[str]") -> str:
    if said == "one half" and regex.match(rf" (?:{_MEASURE})\b", after(match)):
        unit = after(match).strip()
        if regex.search(r"(?i)\b(?:a|an|the|another|per|my|your|one|every|each) $", before(match)):
            return "half"
        return "half an" if unit[:4] in ("hour", "inch", "ounc", "acre", "onio") else "half a"
    if said == "three quarters" and regex.match(r" (?:inch|mile|pound|cup|hour)\b", after(match)):
        return "three quarter"
    return said


def _slashed(match: "regex.Match[str]", numerals: Numerals) -> str | None:
    first, second = match["first"], match["second"]
    says_first, says_second = numerals.number(first), numerals.number(second)
    if (first, second) == ("24", "7"):
        return "twenty-four seven"
    if (first, second) in (("9", "11"), ("7", "11")) and match["first"] != "7":
        return "nine eleven"
    if first == second and first in ("20", "50"):
        return f"{says_first} {says_second}"
    if _PART_OF.search(before(match)):
        return f"{says_first} of {says_second}"
    if not (first.isdecimal() and second.isdecimal()):
        return f"{says_first} over {says_second}"
    above, below = int(first), int(second)
    if below >= 40 and above >= 60 and above > below:
        return f"{numerals.pairs(first)} over {numerals.pairs(second)}"
    if (
        below in (5, 10, 100)
        and (above == below or not regex.match(rf" (?:of|{_MEASURE})\b", after(match)))
        and (below != 5 or regex.match(r" (?:stars?|rating|points)", after(match)) or above == 5)
    ):
        return f"{says_first} out of {says_second}"
    if 0 < above < below and (below <= 20 or below in (25, 32, 50, 60, 64, 1000)):
        said = fraction(match[0].removesuffix("-"), numerals)
        if match["hyphen"]:
            return {"one half": "half", "one quarter": "quarter"}.get(
                said, said.removesuffix("s")) + " "  # fmt: skip
        return _of_measure(said, match)
    if above == 1 and below <= 1000 and below > 20:
        return fraction(match[0], numerals)
    if above == 3 and below == 2:
        return "three halves"
    return f"{says_first} {'out of' if above <= below else 'over'} {says_second}"


def _power(match: "regex.Match[str]", numerals: Numerals) -> str:
    power = unicodedata.normalize("NFKC", match["power"]).replace("−", "-")
    named = {"2": " squared ", "3": " cubed "}.get(power)
    if named and not regex.search(r"\d$", before(match)[-1:] if power == "9" else ""):
        return named
    if power.isalpha():
        return f" to the {letters(power)} "
    negative = "minus " if power.startswith("-") else ""
    number = int(power.lstrip("-") or 0)
    if negative or number > 20:
        return f" to the power of {negative}{numerals.cardinal(number)} "
    if numerals.british:
        return f" to the power of {numerals.cardinal(number)} "
    return f" to the {numerals.ordinal(number)} "


def _subscript(match: "regex.Match[str]", numerals: Numerals) -> str:
    return f" {numerals.cardinal(int(unicodedata.normalize('NFKC', match['digits'])))} "


def _formula(match: "regex.Match[str]", numerals: Numerals) -> str:
    return numerals.code(unicodedata.normalize("NFKC", match[0]).upper())


def _scientific(match: "regex.Match[str]", numerals: Numerals) -> str:
    power = numerals.cardinal(int(match["power"]))
    negative = "minus " if match["sign"] == "-" else ""
    return f"{numerals.number(match['number'])} times ten to the power of {negative}{power}"


def _divided(match: "regex.Match[str]", numerals: Numerals) -> str | None:
    """Say that a number is divided, unless the two are a fraction below one."""
    above, below = before(match).split()[-1], after(match)
    fraction_below_one = (
        " " not in match[0]
        and above.isdecimal()
        and (int(above) < int(regex.match(r"\d+", below)[0]))
    )
    return None if fraction_below_one else " divided by "


def _root(match: "regex.Match[str]", numerals: Numerals) -> str:
    return "the square root of " if match["root"] == "√" else "the cube root of "


def _coefficient(match: "regex.Match[str]", numerals: Numerals) -> str:
    return f"{numerals.number(match['number'])} {letters(match['letter'])}"


def _comparison(match: "regex.Match[str]", numerals: Numerals) -> str:
    return f" is {_SHORT[match['sign']]} "


def _short_comparison(match: "regex.Match[str]", numerals: Numerals) -> str:
    return f"{_SHORT[match['sign']]} "


def _keys(match: "regex.Match[str]", numerals: Numerals) -> str:
    return f"{_KEY_NAMES.get(match['key'], match['key'])} "


def _operator(match: "regex.Match[str]", numerals: Numerals) -> str | None:
    sign = match[0].strip()
    if sign == "*" and not (
        regex.search(r"[\p{N}\p{L})]$", before(match))
        and regex.match(r"[\p{N}(\p{L}]", after(match))
    ):
        return " star " if regex.match(r"\d", after(match)) or not after(match).strip() else None
    if sign in ("·", "∙") and not regex.search(r"\d$", before(match)):
        return None
    return f" {_OPERATORS[sign]} "


def _minus(match: "regex.Match[str]", numerals: Numerals) -> str | None:
    """Say `minus` within an equation or a request to calculate."""
    following = match.string[match.end() : match.end() + 40]
    if len(match["gap"]) != len(match["after"]):
        return None
    spaced = bool(match["gap"])
    letter = regex.search(r"(?<![\p{L}\p{N}'])\p{Ll}$", before(match)) and (
        spaced or regex.match(r"\p{N}|\p{Ll}\b", following)
    )
    if (
        _EQUATION.match(following)
        or _ASKED.search(before(match))
        or (letter and (regex.search("[=+<>≤≥]", around(match)) and spaced))
    ):
        return " minus "
    return None


def _greek(match: "regex.Match[str]", numerals: Numerals) -> str | None:
    name = unicodedata.name(match[0], "").split(" LETTER ")
    if len(name) < 2:
        return "pi" if "PI" in name[0] else None
    said = name[1].split(" WITH ")[0].lower().replace("lamda", "lambda")
    return f" {said.replace('final sigma', 'sigma')} "


RULES: tuple[Rule, ...] = (
    (_KEYS, _keys),
    (_LAST_KEY, _keys),
    (_FUNCTION_OF, lambda match, numerals: " of "),
    (_FUNCTION_END, lambda match, numerals: " "),
    (_SCIENTIFIC, _scientific),
    (_PRODUCT, lambda match, numerals: " times "),
    (_MIXED, _mixed),
    (_VULGAR_ALONE, _vulgar),
    (_DIVIDED, _divided),
    (_SLASHED, _slashed),
    (_ABOUT, lambda match, numerals: "about "),
    (_LONE_LETTER, lambda match, numerals: letters("A")),
    (_POWER, _power),
    (_FORMULA, _formula),
    (_SUBSCRIPT, _subscript),
    (_ROOT, _root),
    (_ARROW, lambda match, numerals: " to "),
    (_LEFT_ARROW, lambda match, numerals: " from "),
    (_BOTH_WAYS, lambda match, numerals: " to and from "),
    (_MENU, lambda match, numerals: ", "),
    (_BEFORE_NUMBER, _short_comparison),
    (_COMPARISON, _comparison),
    (_MINUS, _minus),
    (_SIGNS, _operator),
    (_COEFFICIENT, _coefficient),
    (_GREEK, _greek),
)
