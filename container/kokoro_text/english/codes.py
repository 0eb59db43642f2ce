"""Telephone numbers, codes, and numbers that name things."""

import regex

from kokoro_text.english.frame import BEFORE, Rule, after, before
from kokoro_text.english.numerals import Numerals, digits, letters

_PHONE = regex.compile(
    r"(?<![\p{L}\p{N}.,/$£€-]|\d )(?P<said>(?P<plus>\+)?(?:\d{1,3}[ .-])?(?:\(\d{2,5}\)[ .-]?"
    r"|\d{2,5}[ .-])"
    r"\d{2,4}[ .-]\d{3,5}(?:[ .-]\d{2,4})?|\+\d{6,15}|\d{3}[-.]\d{4}|0\d{3,4} \d{5,6}"
    r"|\+\d{1,3}(?: \d{1,5}){2,6}"
    r"|\d{3}-\d{2}-\d{4}|\(\d{3}\) ?\d{3}-?\d{4}|\d{4}(?:[ -]\d{4}){2,3}|1-\d{3}-[A-Z\d-]{4,9})"
    r"(?![\p{L}\p{N}_]|[-.]\d| \d{3}(?!\p{N}))"
)
_PHONE_CUE = regex.compile(
    r"(?i)\b(?:call|phone|text|dial|ring|number|cell|mobile|fax|tel|telephone|at|whatsapp|line"
    r"|hotline|"
    r"reach|contact|desk|support|is|to|us|on|ssn|card|account)[:.]? ?(?:us |me |at |on |is |now "
    r"|the )?$"
)
_RUN_CUE = regex.compile(
    r"(?i)\b(?:(?:call|phone|text|dial|ring)(?: us| me)?(?: (?:at|on))?|(?:phone|cell|mobile|fax"
    r"|tel\w*|contact) "
    r"?(?:number|no\.?|line)?(?: is)?:?) ?$"
)
_EXTENSION = regex.compile(
    r"(?<=\d{3}[-. ]\d{4})(?P<said>,? ?x ?(?P<digits>\d{1,6}))(?![\p{L}\p{N}])"
)
_DIALLED = regex.compile(
    r"(?i:\b(?:call|calls|called|calling|dial|dials|dialed|dialled|ring|text"
    r"|phone)(?: to)? )(?P<said>\d{3,6})(?![\p{N}\p{L}]|[.,:/-]\d| (?:more|people|of|or|"
    r"times|customers|clients|guests|minutes|\p{Ll}{3,}s\b))"
    r"|(?i:\btext (?:the word )?\S{1,20} to )(?P<said>\d{4,7})(?![\p{N}\p{L}]|[.,:/-]\d)"
    r"|(?<![\p{L}\p{N}.,$-])(?P<said>911|999(?= (?:call|operator|emergency)))(?![\p{L}\p{N}]"
    r"|[.,/-]\d| \p{Ll}+s\b)"
)
_STAR = regex.compile(r"(?<![\p{L}\p{N}])\*(?P<digits>\d{2,6})#?(?![\p{L}\p{N}])")
_RETIREMENT = regex.compile(
    rf"{BEFORE}(?P<number>\d{{3}})(?:\((?P<letter>\p{{L}})\)|(?P<letter>[kb])(?=s? (?:plan"
    rf"|account|match|contribution|balance|rollover)|[.,;!?]|$))(?:\((?P<part>\d)\))?"
)
_CUE = (
    r"(?i:pin|otp|passcode|password|code|codes|zip|zip code|postcode|postal code|serial|tracking|"
    r"confirmation|reference|ref|account|acct|invoice|ending in|ends in|ending with|ends with"
    r"|last four(?: digits)?|"
    r"routing|imei|passport|license plate|licence plate|plate|booking|reservation|order|ticket"
    r"|case|"
    r"claim|policy|member|customer|id|ext|extension|cvv|cvc|sort code|isbn|sku|barcode|employee"
    r"|vin|enter|type in|mastercard|visa)"
)
_CODE = regex.compile(
    rf"\b{_CUE}(?:\.|:)?(?: (?i:code|number|numbers|no\.?|id|is|was|are|will be|of"
    rf"|the))*[: ]*[ (“\"'-]{{0,3}}"
    r"(?P<said>#?(?:\d{3,12}(?:[ -]\d{2,10}){1,5}|\d{4,40}(?:-\d{1,10}){0,5})|(?<=(?i:cvv|cvc"
    r"|pin)[^\d]{1,10})\d{3})(?![\p{L}\p{N}_]|[.,:/]\d|-\p{L}|%)"
)
_GROUPED_CODE = regex.compile(
    rf"\b{_CUE}(?:\.|:)?(?: (?i:code|number|numbers|no\.?|id|is|was|are|will be))*"
    r"[: ]*[ (“\"'-]{0,3}"
    r"(?P<said>(?=[A-Z\d ]{0,40}[A-Z]\d|[A-Z\d ]{0,40}\d[A-Z])[A-Z\d]{2,12}(?: [A-Z\d]{2,12}){1,7})"
    r"(?![\p{L}\p{N}_]|[.,:/-]\d)"
)
_LONG_CUED = regex.compile(
    r"(?i)\b(?:order|ticket|case|invoice|claim|policy|member|customer|booking|reservation"
    r"|type in|enter|visa|employee)\b"
)
_STATE_ZIP = regex.compile(
    r"(?P<comma>(?<=\p{Ll}),? )(?P<said>(?P<state>A[LKZR]|C[AOT]|D[CE]|FL|GA|HI|I[DLNA]|K[SY]|LA"
    r"|M[EDAINSOT]|"
    r"N[EVHJMYCD]|O[HKR]|PA|RI|S[CD]|T[NX]|UT|V[TA]|W[AVIY])(?: (?P<zip>\d{5})"
    r"(?:-(?P<more>\d{4}))?)?)(?![\p{L}\p{N}-])"
)
_STATES = {
    "AL": "Alabama", "AK": "Alaska", "AZ": "Arizona", "AR": "Arkansas", "CA": "California",
    "CO": "Colorado", "CT": "Connecticut", "DE": "Delaware", "DC": "D C", "FL": "Florida",
    "GA": "Georgia", "HI": "Hawaii", "ID": "Idaho", "IL": "Illinois", "IN": "Indiana", "IA": "Iowa",
    "KS": "Kansas", "KY": "Kentucky", "LA": "Louisiana", "ME": "Maine", "MD": "Maryland",
    "MA": "Massachusetts", "MI": "Michigan", "MN": "Minnesota", "MS": "Mississippi",
    "MO": "Missouri", "MT": "Montana", "NE": "Nebraska", "NV": "Nevada", "NH": "New Hampshire",
    "NJ": "New Jersey", "NM": "New Mexico", "NY": "New York", "NC": "North Carolina",
    "ND": "North Dakota", "OH": "Ohio", "OK": "Oklahoma", "OR": "Oregon", "PA": "Pennsylvania",
    "RI": "Rhode Island", "SC": "South Carolina", "SD": "South Dakota", "TN": "Tennessee",
    "TX": "Texas", "UT": "Utah", "VT": "Vermont", "VA": "Virginia", "WA": "Washington",
    "WV": "West Virginia", "WI": "Wisconsin", "WY": "Wyoming",
}  # fmt: skip
_UNSURE_STATES = {
    "OK",
    "OR",
    "IN",
    "ME",
    "HI",
    "OH",
    "MA",
    "PA",
    "ID",
    "LA",
    "AL",
    "DE",
    "CO",
    "MD",
    "MS",
    "RI",
}
_NAMED = regex.compile(
    r"(?:\b(?i:room|rooms|rm\.?|suite|ste\.?|apt\.?|apartment|flight|highway|hwy\.?|route|rt\.?"
    r"|bus|train|gate|exit|"
    r"channel|studio|area|box|error|http|status|form|locker|extension|ext\.?|interstate|unit"
    r"|boeing|airbus|"
    r"fahrenheit|building|bldg\.?|psalm|hymn|agent|model|code|line|peugeot|porsche|windows"
    r"|district|"
    r"platform|lot|seat|bay|terminal|rule|regulation|section|title|page|pages|i|us|"
    r"flight [A-Z]{2})(?<!\b(?:i|us|Us))[ -]?#?|(?<![\p{L}\p{N}'])[A-Z]{2}[ -]"
    r")(?P<said>(?P<number>\d{3,4})(?P<letter>[A-Z])?)(?![\p{L}\p{N}_]|[.,:/]\d|[-–]\d|%)"
)
_PLANE = regex.compile(
    r"(?<![\p{L}\p{N}.,$#-])(?P<plane>7[0-8]7)(?:-(?P<type>\d{1,3}))?(?![\p{L}\p{N}]|[.,:/]\d|-\d)"
)
_HTTP_ERROR = regex.compile(
    r"(?<![\p{L}\p{N}.,$-])(?P<said>[1-5]\d\d)(?= (?:error|page|status|response|code|not found"
    r"|redirect|area code)s?\b)"
)
_HOUSE = regex.compile(
    r"(?<![\p{L}\p{N}.,$#/-])(?P<said>\d{1,5}(?P<letter>[A-Z])?)(?= (?:(?:[NSEW]\.?"
    r"|\p{Lu}\p{Ll}+\.?|\d{1,3}(?:st|nd|rd|th)) ){1,3}"
    r"(?:St|Street|Ave?|Avenue|Blvd|Boulevard|Rd|Road|Dr|Drive|Ln|Lane|Ct|Court|Pl|Place|Sq"
    r"|Square|Hwy|"
    r"Highway|Expy|Pkwy|Parkway|Way|Ter|Terrace|Cir|Circle|Close|Crescent|Gardens|Row|Mews"
    r"|Broadway)\b)"
)
_HASH_CODE = regex.compile(r"#(?P<number>\d{1,12})(?![\p{L}\p{N}]|[.,]\d)")
_HASH_BEFORE_CODE = regex.compile(r"(?<![\p{L}\p{N}&])#(?=\p{Lu}{0,4}-?\d)")
_NUMBER_SIGN = regex.compile(
    r"(?<=\b(?i:confirmation|order|account|phone|tracking|case|invoice|reference|ticket|room|flight|"
    r"policy|member|id|part|serial|model|po|apt|contact) )#(?=:| is\b| was\b)"
)
_HEX = regex.compile(r"(?<![\p{L}\p{N}])0x(?P<digits>[\da-fA-F]{1,32})(?![\p{L}\p{N}])")
_CHAIN = regex.compile(
    r"(?<![\p{L}\p{N}_.,/$-])\d{1,12}(?:-\d{1,12}){2,6}(?![\p{L}\p{N}_]|[.,/-]\d|-\p{L})"
)
_UK_POSTCODE = regex.compile(
    r"(?<![\p{L}\p{N}])(?P<out>[A-Z]{1,2}\d[A-Z\d]?) (?P<in>\d[A-Z]{2})(?![\p{L}\p{N}])"
)
_HYPHENATED = regex.compile(
    r"(?<![\p{L}\p{N}_.@/-])(?=[\p{Lu}\d-]{0,40}\d)"
    r"(?=[\p{Lu}\d-]{0,40}\p{Lu})\p{L}{0,3}[\p{Lu}\d]{1,12}(?:-[\p{Lu}\d]{1,12}){1,5}"
    r"(?![\p{L}\p{N}_]|-\p{L})"
)
_WORD_NUMBER = regex.compile(r"(?<=\p{L})-(?P<number>\d{1,6})(?![\p{N}\p{L}]|[.,:]\d)")
_MIXED = regex.compile(
    r"(?<![\p{L}\p{N}_'])(?=\p{L}{0,24}\d)(?=\d{0,12}\p{L})[\p{L}\d]{2,40}"
    r"(?![_\p{N}])(?P<plural>'s)?"
)
_SPELLED_PART = regex.compile(r"\d+|\p{L}+")


def _phone(match: "regex.Match[str]", numerals: Numerals) -> str | None:
    written = match["said"]
    count = sum(char.isdecimal() for char in written)
    vanity = regex.search(r"[A-Z].*", written)
    if (
        (count < 7 and not vanity)
        or count > 16
        or regex.fullmatch(r"[1-9]\d{0,2}(?: \d{3})+", written)
    ):
        return None
    if regex.fullmatch(r"\d{1,3}(?:\.\d+)+", written) and not regex.fullmatch(
        r"(?:1\.)?\d{3}\.\d{3}\.\d{4}", written
    ):
        return None
    if regex.fullmatch(r"\d{1,2}[.-]\d{1,2}[.-]\d{4}", written):
        return None
    if regex.fullmatch(r"[1-9]\d*(?: \d+)+", written) and not (
        regex.fullmatch(r"(?:1 )?\d{3} \d{3} \d{4}|\d{4}(?: \d{4}){2,3}", written)
        or _PHONE_CUE.search(before(match))
    ):
        return None
    if regex.fullmatch(r"(?:1[0-9]|20)\d\d-\d{4}", written):
        return None
    if vanity:
        start = written[: vanity.start()]
        words = regex.sub("-", " ", vanity[0]).capitalize()
        return f"{_spoken(start, numerals)}, {words}"
    return ("plus " if written[0] == "+" else "") + _spoken(written.lstrip("+"), numerals)


def _spoken(written: str, numerals: Numerals) -> str:
    groups = regex.findall(r"\d+", written)
    said = [digits(group, "oh") for group in groups]
    if len(groups) > 2 and groups[0] == "1" and regex.fullmatch("8[0-9][0-9]", groups[1]):
        if groups[1] == "800":
            said[1] = "eight hundred"
        return " ".join(said[:2]) + (", " + ", ".join(said[2:]) if said[2:] else "")
    if groups[0] == "800":
        said[0] = "eight hundred"
    if len(groups) == 1 and len(groups[0]) > 7:
        group = groups[0]
        said = [digits(group[:-7], "oh"), digits(group[-7:-4], "oh"), digits(group[-4:], "oh")]
    if len(said) > 2 and len(groups[0]) == 1:
        said[:2] = [f"{said[0]} {said[1]}"]
    return ", ".join(said)


def _dialled(match: "regex.Match[str]", numerals: Numerals) -> str:
    return digits(match["said"], "oh")


_RUN = regex.compile(r"(?<![\p{L}\p{N}.,$/-])(?P<said>\d{7,15})(?![\p{L}\p{N}]|[.,:/-]\d)")


def _run(match: "regex.Match[str]", numerals: Numerals) -> str | None:
    return _spoken(match["said"], numerals) if _RUN_CUE.search(before(match)) else None


def _star(match: "regex.Match[str]", numerals: Numerals) -> str:
    return f"star {digits(match['digits'])}"


def _retirement(match: "regex.Match[str]", numerals: Numerals) -> str:
    part = f" {numerals.cardinal(int(match['part']))}" if match["part"] else ""
    return f"{numerals.pairs(match['number'])} {letters(match['letter'])}{part}"


def _code(match: "regex.Match[str]", numerals: Numerals) -> str | None:
    hashed = "number " if match["said"][0] == "#" else ""
    written = match["said"].lstrip("#")
    cue = match.string[match.start() : match.start("said")]
    following = match.string[match.end() : match.end() + 30]
    if regex.match(
        r" (?!is\b|was\b|has\b|as\b)\p{Ll}{2,}s\b(?! in)| (?:people|more|new|different)\b",
        following,
    ):
        return None
    if _LONG_CUED.search(cue) and len(written) == 4 and written[0] != "0":
        return hashed + (digits(written) if "code" in cue else numerals.pairs(written))
    return hashed + ", ".join(digits(part) for part in regex.split("[ -]", written))


def _grouped_code(match: "regex.Match[str]", numerals: Numerals) -> str:
    return ", ".join(
        " ".join(
            digits(run) if run.isdecimal() else letters(run) for run in _SPELLED_PART.findall(group)
        )
        for group in match["said"].split()
    )


def _state_zip(match: "regex.Match[str]", numerals: Numerals) -> str | None:
    state = match["state"]
    if match["zip"] is None:
        following = match.string[match.end() : match.end() + 1]
        previous = match.string[max(0, match.start() - 30) : match.start()]
        city = regex.search(r"(?:^|\s)\p{Lu}\p{Ll}+$", previous)
        if state in _UNSURE_STATES or "," not in match["comma"] or not city or following == "'":
            return None
    said = _STATES[state]
    if match["zip"]:
        said += f" {digits(match['zip'], 'oh')}"
    if match["more"]:
        said += f", {digits(match['more'], 'oh')}"
    return said


def _named(match: "regex.Match[str]", numerals: Numerals) -> str | None:
    if regex.match(
        r" (?!is\b|was\b|has\b|as\b|this\b|us\b|its\b|always\b|across\b)\p{Ll}{2,}s\b(?<!ss)"
        r"| (?:people|miles|km|million|thousand)\b",
        match.string[match.end() : match.end() + 30],
    ):
        return None
    cue = match.string[match.start() : match.start("said")].strip(" -#")
    if cue == "Agent" or match["said"] == "007":
        return digits(match["said"]).replace("zero zero", "double oh")
    if cue.isupper() and cue in ("AD", "BC", "CE", "FY", "USD", "EUR"):
        return None
    return f"{numerals.pairs(match['number'])} {letters(match['letter'] or '')}"


def _plane(match: "regex.Match[str]", numerals: Numerals) -> str | None:
    if not match["type"] and not regex.search(
        r"(?i)\b(?:an?|the|boeing|flew|on|our|this|that|of|old|new|two|three) $", before(match)
    ):
        return None
    if regex.match(
        r" (?!is\b|was\b|has\b|as\b|jets\b|planes\b)\p{Ll}{2,}s\b| (?:people|million)", after(match)
    ):
        return None
    return (
        f"{numerals.pairs(match['plane'])} {numerals.pairs(match['type']) if match['type'] else ''}"
    )


def _pairs(match: "regex.Match[str]", numerals: Numerals) -> str:
    return numerals.pairs(match["said"])


def _house(match: "regex.Match[str]", numerals: Numerals) -> str | None:
    written = match["said"]
    if match["letter"]:
        number = written[:-1]
        said = numerals.pairs(number) if len(number) != 3 else digits(number)
        return f"{said} {letters(match['letter'])}"
    return digits(written, "oh") if len(written) > 4 else numerals.pairs(written)


def _hash_code(match: "regex.Match[str]", numerals: Numerals) -> str:
    number = match["number"]
    said = (
        numerals.cardinal(int(number))
        if len(number) < 4 and number[0] != "0"
        else (numerals.pairs(number) if len(number) == 4 else digits(number))
    )
    return said if regex.search(r"(?i)(?:number|no\.) $", before(match)) else f"number {said}"


def _hex(match: "regex.Match[str]", numerals: Numerals) -> str:
    said = [digits(char) if char.isdecimal() else letters(char) for char in match["digits"]]
    return " ".join(["zero X", *said])


def _chain(match: "regex.Match[str]", numerals: Numerals) -> str:
    return ", ".join(digits(group) for group in match[0].split("-"))


def _postcode(match: "regex.Match[str]", numerals: Numerals) -> str:
    return f"{numerals.code(match['out'])}, {numerals.code(match['in'])}"


def _hyphenated(match: "regex.Match[str]", numerals: Numerals) -> str | None:
    said: list[str] = []
    for part in match[0].split("-"):
        if part.isalpha() and len(part) > 3 and not part.isupper():
            return None
        if part.isalpha() and len(part) > 4:
            said.append(part)
        elif part.isdecimal():
            said.append(
                numerals.cardinal(int(part)) if len(part) <= 2 and part[0] != "0" else digits(part)
            )
        else:
            said.append(_code_part(part, numerals))
    if all(part.isalpha() for part in match[0].split("-")):
        return None
    return " ".join(said)


def _code_part(part: str, numerals: Numerals) -> str:
    runs = _SPELLED_PART.findall(part)
    one_by_one = len(runs) > 2 or (len(runs) == 2 and runs[0].isdecimal())
    return " ".join(
        (
            digits(run)
            if one_by_one or len(run) > 2 or run[0] == "0"
            else numerals.cardinal(int(run))
        )
        if run.isdecimal()
        else letters(run)
        for run in runs
    )


def _word_number(match: "regex.Match[str]", numerals: Numerals) -> str:
    """Say the number of a name such as `COVID-19`. The hyphen is no minus."""
    number = match["number"]
    if len(number) > 3 or number[0] == "0":
        said = numerals.pairs(number) if len(number) == 4 else digits(number)
    else:
        said = numerals.pairs(number)
    return f" {said}"


def _mixed(match: "regex.Match[str]", numerals: Numerals) -> str:
    word = match[0].removesuffix("'s")
    said = numerals.code(word)
    return f"{said}'s" if match["plural"] else said


PHONES: tuple[Rule, ...] = (
    (_RETIREMENT, _retirement),
    (_EXTENSION, lambda match, numerals: f", extension {digits(match['digits'], 'oh')}"),
    (_PHONE, _phone),
    (_RUN, _run),
    (_DIALLED, _dialled),
    (_STAR, _star),
)
"""They must come before dates and ranges."""

RULES: tuple[Rule, ...] = (
    (_STATE_ZIP, _state_zip),
    (_GROUPED_CODE, _grouped_code),
    (_CODE, _code),
    (_HTTP_ERROR, _pairs),
    (_PLANE, _plane),
    (_NAMED, _named),
    (_HOUSE, _house),
    (_NUMBER_SIGN, lambda match, numerals: "number"),
    (_HEX, _hex),
    (_CHAIN, _chain),
    (_HASH_CODE, _hash_code),
    (_HASH_BEFORE_CODE, lambda match, numerals: "number "),
    (_UK_POSTCODE, _postcode),
    (_HYPHENATED, _hyphenated),
)
MIXED: tuple[Rule, ...] = ((_WORD_NUMBER, _word_number), (_MIXED, _mixed))
"""Letters with digits. They must come after quantities such as `5km`."""
