"""Abbreviations, titles, addresses, initials and Roman numerals."""

import regex

from kokoro_text.english.frame import Rule, after, around, before, full_stop
from kokoro_text.english.numerals import Numerals, letters

_START = r"(?<![\p{L}\p{N}'])"
_TITLES = {
    "Mr": "Mister", "Mrs": "Missus", "Ms": "Miz", "Mx": "Mix", "Prof": "Professor",
    "Sen": "Senator",
    "Gen": "General", "Rep": "Representative", "Gov": "Governor", "Capt": "Captain",
    "Lt": "Lieutenant", "Col": "Colonel", "Sgt": "Sergeant", "Maj": "Major", "Cmdr": "Commander",
    "Adm": "Admiral", "Cpl": "Corporal", "Rev": "Reverend", "Hon": "Honorable", "Fr": "Father",
    "Pres": "President", "Supt": "Superintendent", "Det": "Detective", "Messrs": "Messieurs",
    "Mt": "Mount", "Ft": "Fort", "Pvt": "Private", "Sr": "Sister", "Br": "Brother",
    "Insp": "Inspector",
    "Amb": "Ambassador", "Pte": "Private", "Sec": "Secretary",
}  # fmt: skip
_TITLE = regex.compile(
    rf"{_START}(?P<title>{'|'.join(_TITLES)})(?:\. ?(?=[\p{{Lu}}“\"])|(?<=\b(?:Mr|Mrs|Ms|Mx|Prof"
    rf"|Mt|Capt|Sgt|Lt|Col|Rev)) (?=\p{{Lu}}))"
)
_TITLE_ALONE = regex.compile(rf"{_START}(?P<title>Mr|Mrs|Ms)\b\.?")
_RIGHT_HON = regex.compile(rf"{_START}(?:Rt\.? Hon\.?)(?= \p{{L}})")
_DOCTOR = regex.compile(
    rf"{_START}(?P<word>Dr|St)(?![\p{{L}}\p{{N}}'])(?P<stop>\.?)(?P<gap> ?)(?=(?P<next>\S)|)"
)
_DOCTORS = regex.compile(rf"{_START}Drs\.(?= \p{{Lu}})")
_STREETS = {
    "Ave": "Avenue", "Av": "Avenue", "Blvd": "Boulevard",
    "Rd": "Road",
    "Ln": "Lane", "Ct": "Court", "Pl": "Place", "Sq": "Square", "Hwy": "Highway",
    "Expy": "Expressway", "Pkwy": "Parkway", "Ter": "Terrace", "Cir": "Circle", "Cres": "Crescent",
    "Tpke": "Turnpike", "Fwy": "Freeway", "Trl": "Trail",
}  # fmt: skip
_STREET = regex.compile(
    r"(?<=(?:\p{Lu}[\p{L}'.]{1,30}|\d(?:st|nd|rd|th)|\b[A-Z]) )"
    rf"(?P<street>{'|'.join(_STREETS)})(?![\p{{L}}\p{{N}}'])\.?"
)
_COMPASS = {"N": "North", "S": "South", "E": "East", "W": "West"}
_QUARTER = regex.compile(
    r"(?<=\b(?:St|Ave?|Blvd|Rd|Ln|Ct|Pl|Dr|Street|Avenue|Road|Boulevard"
    r"|Drive)\.?,? )(?P<one>[NS])\.?(?P<two>[EW])\.?(?![\p{L}\p{N}])"
)
_DIRECTION = regex.compile(
    r"(?<=(?:\d{1,5}|on|at|from|to|of|near|and) )(?P<one>[NSEW])\.(?= (?:\p{Lu}\p{Ll}+"
    r"|\d{1,3}(?:st|nd|rd|th)) (?:St|Ave?|Blvd|Rd|Dr|Ln|Street|Avenue|Road|Boulevard|Drive|Main)\b)"
)
_JUNIOR = regex.compile(r"(?<=\p{Lu}\p{L}{1,30},? )(?P<word>Jr|Sr|Esq)\b\.?")
_JUNIORS = {"Jr": "Junior", "Sr": "Senior", "Esq": "Esquire"}
_NUMBERED = regex.compile(rf"{_START}(?:Nos?|nos?|NO|№)\.? ?(?=#?\d)(?<=[.№] ?)")
_WORDS = {
    "approx": "approximately", "apt": "apartment", "bldg": "building", "etc": "etc",
    "dept": "department", "est": "established", "max": "maximum", "min": "minimum",
    "avg": "average",
    "vol": "volume", "vols": "volumes", "fig": "figure", "figs": "figures", "ed": "edition",
    "tel": "telephone", "ext": "extension", "temp": "temperature", "misc": "miscellaneous",
    "govt": "government", "assn": "association", "assoc": "associate", "esp": "especially",
    "incl": "including", "cont": "continued", "inc": "incorporated", "ltd": "limited",
    "corp": "corporation", "co": "company", "bros": "brothers", "mfg": "manufacturing",
    "intl": "international", "univ": "university", "appt": "appointment", "ave": "avenue",
    "blvd": "boulevard", "ste": "suite", "rm": "room", "fl": "floor", "hwy": "highway",
    "qty": "quantity", "amt": "amount", "pkg": "package", "ref": "reference", "acct": "account",
    "attn": "attention", "asst": "assistant", "mgr": "manager", "dir": "director", "ch": "chapter",
    "chap": "chapter", "sec": "section", "para": "paragraph", "p": "page", "pp": "pages",
    "vs": "versus", "viz": "namely", "cf": "compare", "ca": "circa", "c": "circa",
    "wt": "weight", "ht": "height", "hrs": "hours", "hr": "hour", "mins": "minutes",
    "secs": "seconds",
    "lbs": "pounds", "yrs": "years", "mos": "months", "tbsp": "tablespoon", "tsp": "teaspoon",
    "pt": "part", "sq": "square", "ft": "feet", "oz": "ounces", "wk": "week", "yr": "year",
    "mo": "month",
    "prev": "previous", "reg": "regular", "orig": "original", "std": "standard",
    "tech": "technical",
    "dist": "district", "div": "division", "exec": "executive", "adj": "adjective",
}  # fmt: skip
_ANYWHERE = {
    "approx", "etc", "dept", "esp", "incl", "misc", "govt", "assn", "vs", "bldg", "blvd", "avg",
    "appt", "acct", "attn", "asst", "intl", "univ", "qty", "amt", "pkg", "bros", "ltd", "mfg",
    "hwy",
    "viz", "hrs", "lbs", "yrs", "mins", "secs", "vols", "figs", "cf", "assoc", "tbsp", "tsp", "mgr",
    "prev", "orig", "std",
}  # fmt: skip
_BEFORE_NUMBER = {"apt", "vol", "fig", "ext", "ste", "rm", "fl", "ch", "chap", "sec", "para", "p",
                  "pp", "ca", "c", "ref", "tel", "pt", "ed", "est"}  # fmt: skip
_AFTER_NAME = {"inc", "corp", "co"}
_NOT_AT_END = {"est", "max", "min", "temp", "cont", "dir", "reg", "tech", "dist", "div", "exec",
               "ext", "sq", "wt", "ht", "hr", "yr", "wk", "mo", "ft", "oz"}  # fmt: skip
_ABBREVIATION = regex.compile(
    rf"{_START}(?P<word>(?i:{'|'.join(sorted(_WORDS, key=len, reverse=True))}))"
    r"\.(?!\p{L}(?!\p{L}))"
)
_BARE = regex.compile(
    rf"{_START}(?P<word>etc|approx|vs|Inc|Ltd|Corp|Apt|apt|Ext|ext|dept|Dept|hrs|yrs|mins|secs"
    rf"|lbs)(?![\p{{L}}\p{{N}}'.])"
)
_EG = regex.compile(
    rf"{_START}(?:(?P<eg>[eE]\. ?[gG]\b)|(?P<ie>[iI]\. ?[eE]\b))(?:\.,?|(?=,|\s))"
    rf"|(?<![\p{{L}}\p{{N}}])(?:(?P<eg>eg)|(?P<ie>ie))(?=[.,] )[.]?,?"
)
_ET_CETERA = regex.compile(r"\bet cetera\b")
_ET_AL = regex.compile(r"(?<= )et al\.?(?!\p{L})")
_VERSUS = regex.compile(r"(?<=\p{Lu}\p{L}* )v\.?(?= \p{Lu}\p{Ll})(?<=v\.)|(?<= )vs\.?(?= )")
_SLASHED = regex.compile(
    rf"{_START}(?P<word>[wW]/o|[wW]/|[bB]/c|[cC]/o|[nN]/[aA]|(?<=\d ?)p/[mwa])(?![\p{{L}}\p{{N}}/])"
    rf"|{_START}(?P<word>w/)(?=\p{{L}})"
)
_SLASHED_WORDS = {
    "w/o": "without",
    "w/": "with ",
    "b/c": "because",
    "c/o": "care of",
    "n/a": "N A",
    "p/m": "per month",
    "p/w": "per week",
    "p/a": "per annum",
}
_DEGREE = regex.compile(rf"{_START}(?:Ph\.? ?D|PhD)(?P<end>\.?)(?P<plural>'?s\b)?")
_DEGREES = regex.compile(
    rf"{_START}(?P<word>B\.?Sc|M\.?Sc|Ed\.?D|Psy\.?D|LL\.?[BM]|M\.?Ed|B\.?Ed|M\.?Phil"
    rf"|Pharm\.?D)\b\.?"
)
_CIRCA = regex.compile(rf"{_START}(?:c\.|ca\.?)(?= ?\d)")
_ESTIMATED = regex.compile(r"(?<=[(, ])[eE]st\.(?= ?(?:1[0-9]|20)\d\d)")
_STATE_ABBREVIATIONS = regex.compile(
    rf"{_START}(?P<word>Calif|Penn|Mass|Conn|Fla|Wash|Tenn|Colo|Ariz|Minn|Mich)\."
)
_STATES = {
    "Calif": "California", "Penn": "Pennsylvania", "Mass": "Massachusetts", "Conn": "Connecticut",
    "Fla": "Florida", "Wash": "Washington", "Tenn": "Tennessee", "Colo": "Colorado",
    "Ariz": "Arizona", "Minn": "Minnesota", "Mich": "Michigan",
}  # fmt: skip
_DOSE = regex.compile(
    r"(?<=(?:\d|\b(?i:one|two|three|four|half a|an?)) )"
    r"(?P<word>tab|cap)(?P<plural>s?)\.(?= \p{Ll}|$)"
)
_DOSES = {"tab": "tablet", "cap": "capsule"}
_ROAD_DIRECTION = regex.compile(
    r"(?<=\b(?:I-|I |US-|US |SR-|Route |Rte\.? |Highway |Hwy\.? )\d{1,3} )"
    r"(?P<one>[NSEW])(?![\p{L}\p{N}'.])"
)
_INTERSTATE = regex.compile(r"(?<![\p{L}\p{N}'])I-(?=\d{1,3}(?!\d))")

_ROMAN_DIGITS = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}
_ROMAN = r"(?=[IVXLCDM])M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})"
_SMALL_ROMAN = r"(?:X{1,3}(?:IX|IV|V?I{0,3})|IX|IV|VI{0,3}|I{1,3}|XL(?:IX|IV|V?I{0,3}))"
_CUED_ROMAN = regex.compile(
    rf"\b(?:War|Act|Scene|Chapter|Part|Book|Volume|Vol\.|Phase|Type|Class|Level|Section|Article"
    rf"|Title|Appendix|"
    rf"Grade|Stage|Tier|Bowl|Olympiad|Canto|Division|Group|Figure|Table|Question|Mark|Episode"
    rf"|Season|Round|"
    rf"Unit|Module|Lesson|Step|Generation|Schedule|Annex|Exhibit|Rocky|Rambo|Fantasy|Diablo"
    rf"|Quest|Symphony No\.|Civilization|Apollo|"
    rf"chapter|part|act|scene|section|volume|phase|type|stage|book|article|grade|class) "
    rf"(?P<said>{_ROMAN})(?![\p{{L}}\p{{N}}'-]|\.\p{{L}})(?<!C|D|M|L)"
    rf"|\b(?:Chapter|Bowl|Part|Section|Volume|Appendix) (?P<said>(?:XC|XL|LX{{0,3}}|C{{1,3}}X"
    rf"|X{{1,3}}|L)[IVXL]{{0,5}})(?<=[IVXLC]{{2}})(?![\p{{L}}\p{{N}}'])"
)
_ROYAL = (
    "George|Elizabeth|Charles|Henry|Edward|William|James|Richard|Louis|John|Paul|Benedict|Francis|"
    "Pius|Leo|Gregory|Clement|Innocent|Alexander|Nicholas|Catherine|Philip|Felipe|Ferdinand|"
    "Frederick|Wilhelm|Napoleon|Ramesses|Ramses|Rameses|Thutmose|Ptolemy|Mary|Peter|Ivan|"
    "Constantine|Carlos|Leopold|Albert|Carl|Gustav|Gustaf|Christian|Haakon|Harald|Abdullah|"
    "Mohammed|Muhammad|Amenhotep|Cleopatra|Darius|Xerxes|Otto|Urban|Sixtus|Boniface|Alfonso|"
    "Umberto|Emmanuel|Rama|Margrethe|Christina|Joseph|Franz|Maximilian|Rudolf|Robert|David|"
    "Malcolm(?= I)|Stephen|Edmund|Baldwin|Justinian|Theodosius|Selim|Murad|Mehmed|Suleiman|Pedro|"
    "Manuel|Tiglath|Seti|Julius|Callixtus|Adrian|Celestine|Martin|Sigismund|Casimir|Vladislaus|"
    "Kamehameha|Hassan|Hussein|Faisal|Mindaugas|Naresuan|Bonaparte"
)
_REGNAL = regex.compile(
    rf"\b(?:(?:King|Queen|Pope|Emperor|Empress|Tsar|Czar|Kaiser|Sultan|Prince|Pharaoh"
    rf"|Shah) (?:\p{{Lu}}\p{{Ll}}+ ){{1,2}}|(?:{_ROYAL}) )"
    rf"(?P<said>{_SMALL_ROMAN})(?P<own>'s)?(?![\p{{L}}\p{{N}}'-]|\.\p{{L}})"
)
_NAME_ROMAN = regex.compile(
    r"(?<=\b\p{Lu}\p{Ll}{1,20} )(?P<said>II|III|IV|VI{1,3}|IX|XI{1,3}|XIV|XV(?:I{0,3})|XIX"
    r"|XX(?:I{0,3}))(?![\p{L}\p{N}'-]|\.\p{L}| (?:drip|bag|line|fluid|fluids))"
)
_PERSON = regex.compile(r"(?:^|[\s(“\"])(?:\p{Lu}\p{Ll}+|\p{Lu}\.) (?:\p{Lu}\. )?\p{Lu}\p{Ll}+,? $")
_GIVEN = regex.compile(
    r"\b(?:John|William|James|Robert|Thomas|Charles|George|Henry|Edward|Richard|Joseph|David"
    r"|Michael|Walter|"
    r"Frank|Samuel|Sammy|Cornelius|Harry|Ted|Arthur|Albert|Paul|Peter|Daniel|Mark|Steven|Loudon"
    r"|Jack)\b"
)
_ITEM_ROMAN = regex.compile(r"\((?P<said>i{1,3}|iv|vi{0,3}|ix|x)\)")

_INITIALS = regex.compile(
    r"(?<![\p{L}\p{N}.'])(?P<letters>\p{Lu}(?:\. ?\p{Lu}(?!\p{L}))+)(?P<stop>\.?)(?P<own>'s\b"
    r"|s\b)?(?!\p{L}|\.\p{L})"
)
_GLUED_INITIALS = regex.compile(
    r"(?<![\p{L}\p{N}.'])(?P<letters>(?:\p{Lu}\. ?){1,4})(?=\p{Lu}\p{Ll})"
)
_LOWER_DOTTED = regex.compile(
    r"(?<![\p{L}\p{N}.'])(?P<letters>\p{Ll}(?:\.\p{Ll}){1,5})(?P<stop>\.)(?!\p{L})"
)


def _title(match: "regex.Match[str]", numerals: Numerals) -> str:
    name = _TITLES[match["title"]]
    if name == "Honorable" and numerals.british:
        name = "Honourable"
    return f"{name} "


def _right_hon(match: "regex.Match[str]", numerals: Numerals) -> str:
    return "Right Honourable"


def _doctor(match: "regex.Match[str]", numerals: Numerals) -> str | None:
    """Decide between Doctor and Drive, and between Saint and Street, by the words around."""
    title, street = {"Dr": ("Doctor", "Drive"), "St": ("Saint", "Street")}[match["word"]]
    previous, following = before(match), after(match)
    named = regex.search(
        r"(?:(?P<start>^|[.!?:;,“\"(] ?)(?P<number>\d+\w? )?)?(?P<word>\p{Lu}[\p{L}'.-]*"
        r"|\d+(?:st|nd|rd|th)) $",
        previous,
    )
    before_name = bool(regex.match(r"\p{Lu}", following))
    if not before_name:
        return (
            street + full_stop_at(match)
            if named
            else (title if match["word"] == "Dr" and match["stop"] else None)
        )
    if named is None:
        return f"{title} "
    word = named["word"]
    if regex.match(r"(?:St|Mount|Mt|and|Mr|Mrs|Ms|Prof|Hon|Sir|The)\b", word) or (
        named["start"] is not None
        and not named["number"]
        and not regex.search(r"\d\w? (?:\p{Lu}\p{Ll}+ ){0,2}$", previous)
    ):
        return f"{title} "
    if (
        match["word"] == "St"
        and not match["stop"]
        and not regex.match(
            r"(?:It|The|He|She|We|They|I|You|Then|There|This|That|NW|NE|SW|SE|N|S|E|W)\b", following
        )
    ):
        return f"{title} "
    return f"{street}{'.' if match['stop'] and match['gap'] else ''} "


def full_stop_at(match: "regex.Match[str]") -> str:
    """Return the full stop of an abbreviation and the gap after it, at the end of a sentence."""
    ends = match["stop"] and not after(match).strip(" \"”')")
    gap: str = match["gap"]
    return f".{gap}" if ends else gap


def _street(match: "regex.Match[str]", numerals: Numerals) -> str:
    return _STREETS[match["street"]] + full_stop(match)


def _quarter(match: "regex.Match[str]", numerals: Numerals) -> str:
    return f"{_COMPASS[match['one']]}{_COMPASS[match['two']].lower()}" + full_stop(match)


def _direction(match: "regex.Match[str]", numerals: Numerals) -> str:
    return _COMPASS[match["one"]]


def _dose(match: "regex.Match[str]", numerals: Numerals) -> str:
    return f"{_DOSES[match['word']]}{match['plural']}{full_stop(match)}"


def _junior(match: "regex.Match[str]", numerals: Numerals) -> str:
    return _JUNIORS[match["word"]] + (full_stop(match) if not after(match).strip() else "")


def _abbreviation(match: "regex.Match[str]", numerals: Numerals) -> str | None:
    written = match["word"]
    word = written.lower()
    following, stop = after(match), full_stop(match)
    if word in _BEFORE_NUMBER and regex.match(r" ?[#(]?[\d]|: ?[+(\d]", following):
        stop = ""
    elif word in _AFTER_NAME:
        if not (written[0].isupper() and regex.search(r"[\p{Lu}&][\p{L}.&']*,? $", before(match))):
            return None
    elif word not in _ANYWHERE and (
        word in _BEFORE_NUMBER - _NOT_AT_END
        or (stop and word in _NOT_AT_END)
        or not regex.match(r" [\p{Ll}\d]", following)
    ):
        return None
    said = _WORDS[word]
    if word == "min" and regex.search(r"\d $", before(match)):
        return None
    return (said.capitalize() if written[0].isupper() else said) + stop


def _bare(match: "regex.Match[str]", numerals: Numerals) -> str | None:
    written = match["word"]
    if written.lower() in ("apt", "ext") and not regex.match(r" ?#?\d", after(match)):
        return None
    return _WORDS[written.lower()]


def _eg(match: "regex.Match[str]", numerals: Numerals) -> str:
    return "for example" if match["eg"] else "that is"


def _slashed(match: "regex.Match[str]", numerals: Numerals) -> str:
    said = _SLASHED_WORDS[match["word"].lower()]
    return "N [A](/ˈA/)" if said == "N A" else said


def _phd(match: "regex.Match[str]", numerals: Numerals) -> str:
    return "P H D" + ("'s" if match["plural"] else "") + (full_stop(match) if match["end"] else "")


def _degrees(match: "regex.Match[str]", numerals: Numerals) -> str:
    return letters(match["word"]) + full_stop(match)


def _roman_value(roman: str) -> int:
    values = [_ROMAN_DIGITS[digit] for digit in roman.upper()]
    return sum(
        -value if value < max(values[place:]) else value for place, value in enumerate(values)
    )


def _cued_roman(match: "regex.Match[str]", numerals: Numerals) -> str | None:
    roman = match["said"]
    if not roman:
        return None
    following = match.string[match.end("said") : match.end("said") + 20]
    if roman == "I" and regex.match(
        r" (?!and\b|or\b|is\b|was\b|of\b|on\b|in\b|to\b|for\b|ended\b|began\b|starts\b|by\b|at\b"
        r"|diabetes\b)\p{Ll}",
        following,
    ):
        return None
    return numerals.cardinal(_roman_value(roman))


def _regnal(match: "regex.Match[str]", numerals: Numerals) -> str | None:
    following = match.string[match.end() : match.end() + 20]
    royal = match[0].split()[0] in (
        "King",
        "Queen",
        "Pope",
        "Emperor",
        "Tsar",
        "Czar",
        "Kaiser",
        "Prince",
    )
    if (
        match["said"] == "I"
        and not royal
        and regex.match(
            r" (?:am|have|will|would|think|thought|know|knew|saw|said|told|met|can|could|do|did"
            r"|love|"
            r"like|want|need|hope|believe|guess|mean|should|just|really|never|always|also)\b",
            following,
        )
    ):
        return None
    if (
        match["said"] == "I"
        and not royal
        and regex.search(r"\b(?:told|asked|with|to|for) $", before(match))
    ):
        return None
    return f"the {numerals.ordinal(_roman_value(match['said']))}"


def _name_roman(match: "regex.Match[str]", numerals: Numerals) -> str:
    value = _roman_value(match["said"])
    if _PERSON.search(before(match)) and _GIVEN.search(before(match)) and value < 10:
        return f"the {numerals.ordinal(value)}"
    return numerals.cardinal(value)


def _item_roman(match: "regex.Match[str]", numerals: Numerals) -> str | None:
    if match["said"] in ("v", "x") and "(i" not in around(match):
        return None
    return numerals.cardinal(_roman_value(match["said"]))


def _initials(match: "regex.Match[str]", numerals: Numerals) -> str:
    said = letters(match["letters"])
    own = match["own"]
    if own:
        return f"{said}'s" if not said.endswith(")") or own == "'s" else f"{said[:-10]}A's"
    return said + (
        "." if match["stop"] and not regex.match(r" ?\p{L}|[,;:)]", after(match)) else ""
    )


def _glued_initials(match: "regex.Match[str]", numerals: Numerals) -> str | None:
    if len(match["letters"].strip()) == 2 and regex.search(
        r"(?i)\b(?:vitamin|grade|plan|type|class|section|appendix|option|part|hepatitis|group"
        r"|letter|an?|"
        r"row|gate|terminal|to|and|or|than|is|was|size|box|exhibit|platform|zone|model"
        r"|generation|gen) $",
        before(match),
    ):
        return None
    return f"{letters(match['letters'])} "


def _state(match: "regex.Match[str]", numerals: Numerals) -> str:
    return _STATES[match["word"]] + full_stop(match)


def _initial(match: "regex.Match[str]", numerals: Numerals) -> str | None:
    return letters(match["letters"])


RULES: tuple[Rule, ...] = (
    (_RIGHT_HON, _right_hon),
    (_DOCTORS, lambda match, numerals: "Doctors"),
    (_EG, _eg),
    (_ET_CETERA, lambda match, numerals: "etc"),
    (_ET_AL, lambda match, numerals: "et al"),
    (_DEGREE, _phd),
    (_DEGREES, _degrees),
    (_TITLE, _title),
    (_TITLE_ALONE, _title),
    (_DOCTOR, _doctor),
    (_STREET, _street),
    (_QUARTER, _quarter),
    (_DIRECTION, _direction),
    (_ROAD_DIRECTION, _direction),
    (_DOSE, _dose),
    (_JUNIOR, _junior),
    (_NUMBERED, lambda match, numerals: "number "),
    (_VERSUS, lambda match, numerals: "versus"),
    (_SLASHED, _slashed),
    (_CIRCA, lambda match, numerals: "circa "),
    (_ESTIMATED, lambda match, numerals: "established "),
    (_STATE_ABBREVIATIONS, _state),
    (_INTERSTATE, lambda match, numerals: "I "),
    (_CUED_ROMAN, _cued_roman),
    (_REGNAL, _regnal),
    (_NAME_ROMAN, _name_roman),
    (_ITEM_ROMAN, _item_roman),
    (_GLUED_INITIALS, _glued_initials),
    (_INITIALS, _initials),
    (_LOWER_DOTTED, _initial),
)
ABBREVIATIONS: tuple[Rule, ...] = ((_ABBREVIATION, _abbreviation), (_BARE, _bare))
"""Abbreviations that may also be units. They must come after quantities."""
