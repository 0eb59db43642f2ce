"""Letters said one by one, against words in capitals; contractions."""

import regex

from kokoro_text.english.frame import Rule, after, before
from kokoro_text.english.numerals import Numerals, letters, plural_letters, word_set

_SPELLED = word_set(
    "US IT WHO AI ID UN EU UK UAE USA OS TV PC PR HR CEO CFO CTO COO CIO IP UI UX IRS FBI "
    "CIA NSA FAA FDA EPA IEEE ATM USB URL URI API APIS OTP EST PDT CET ETA FAQ MIT UCLA USC "
    "NBA IBM AOL BBC NBC ABC CBS HBO MRI CPU GPU GUI IDE SDK SSD HDD AC DC AM FM PM AD BC CE "
    "MSN DVD CD EP LP VIP DIY IPO ROI KPI EIN SSN DOB EMT EMS ER ICU OR IV IQ GPA SAT ACT "
    "GED MBA MD RN DDS JD LLC NGO IMF OECD ACLU AAA AARP NAACP NCAA UFO UAV RV SUV ATV ADHD "
    "HIV DNA RNA UV LED LCD OLED AR VR IoT SAAS IVF IMO AFK AKA FYI ASL ESL IEP UPS USPS EIA "
    "ISO ISBN ISP AWS EC IAM VPC EKS ECS IDK OMG UFC AMA AOC APR IRA AML EEOC IUD OB ECG EKG "
    "ENT OTC OCD IOU UEFA AFC EPS ESPN ETF EV GE AMD RPI TTS ASR STT LLM NLP AGI SUV UDP UPC "
    "EOD EOB COB OOO ASAP USD EUR AUD CAD DIV EULA IKE OBE CBE MP VAT HIIT IOS UTC IST AEST "
    "BMI BMW CNN"
) - word_set("OR ACT SAT DIV IKE UEFA EULA EUR CAD")
_AS_WORDS = word_set(
    "NASA NATO UNESCO UNICEF RAM ROM OPEC FIFA NAFTA AIDS COVID PIN SIM SWAT SARS FEMA OSHA "
    "HIPAA NASDAQ LEGO IKEA YAML JSON MIDI CRUD REST SOAP NOAA DARPA CERN ASCII BIOS RAID "
    "LAN WAN ZIP POTUS SCOTUS FOMO YOLO LASER RADAR SCUBA SONAR UEFA EULA ASEAN BASIC COBOL "
    "UNIX LATEX GIF VISA EURO BRICS DACA MERCOSUR OPEC SPAC TED AMBER BART LASIK NERF PETA "
    "QANTAS SEAL SALT START TASER TESOL TOEFL WASP WIFI MERS ECHO ALEXA SIRI NIMBY CAPTCHA "
    "HEPA MAGA NIMH ICANN PEMEX"
)
_COMMON = word_set(
    "A I OR AND NOT NO YES IF IN ON AT TO BY OF DO GO SO UP WE HE ME MY BE AN AS IS ALL ANY "
    "ARE BUT CAN DID END FOR GET HAD HAS HER HIM HIS HOW ITS LET MAY MIX NEW NOW OFF OLD ONE "
    "OUR OUT RUN SAY SEE SET SHE THE TOO TRY TWO USE WAS WAY WHY WIN YET YOU BIG ASK ADD BAD "
    "BUY CALL CARE DONE DOWN EACH EVEN EVER FIND FREE FROM FULL GIVE GOOD HATE HAVE HELP "
    "HERE HOME INTO JUST KEEP KNOW LAST LATE LEFT LIKE LIVE LONG LOOK LOVE MADE MAKE MANY "
    "MORE MOST MUST NAME NEED NEXT NICE ONLY OPEN OVER PAY READ REAL SALE SAME SEND SIGN "
    "SOON STOP SURE TAKE TELL THAT THEM THEN THEY THIS TIME UNTIL VERY WAIT WANT WARNING "
    "WELL WERE WHAT WHEN WHERE WILL WITH WORK YOUR PUT OWN PER TOP TURN SALE DANGER EXIT "
    "FIRE HOT COLD WET DRY RED SIX TEN BOX CAR DAY DOG EAT FAR FEW FUN HIT JOB KEY LAW LIE "
    "LOT LOW MAN NEVER PLEASE ALWAYS IMPORTANT SORRY THANK THANKS HELLO GREAT SUPER DIV"
)
_LETTERS = r"\p{Lu}{2,6}"
_PLURAL = regex.compile(r"(?<![\p{L}\p{N}_'])(?P<word>\p{Lu}{2,5})s(?![\p{L}\p{N}_])")
_SAID_PLURAL = regex.compile(r"(?<=(?<![\p{L}\p{N}'])\p{Lu} )(?P<word>\p{Lu})s(?![\p{L}\p{N}_'])")
_ACRONYM = regex.compile(rf"(?<![\p{{L}}\p{{N}}_'])(?P<word>{_LETTERS})(?P<own>'s)?(?![\p{{L}}_'])")
_SHOUTED = regex.compile(r"(?<![\p{L}\p{N}_'])(?P<word>\p{Lu}+(?:'\p{Lu}+)?)(?![\p{L}\p{N}_'])")
_LOWER_I = regex.compile(
    r"(?<![\p{L}\p{N}_])i(?P<word>\p{Lu}{2,3})(?![\p{L}\p{N}])|(?<=\b(?:mac|tv|watch"
    r"|iPad))(?P<word>OS)(?![\p{L}\p{N}])"
)
_AMPERSAND = regex.compile(
    r"(?<=[\p{L}\p{N}.)%] ?)(?P<said>&{1,2})(?= ?[\p{L}\p{N}(\"“'])|(?<!\S)(?P<said>&{1,2})(?!\S)"
)
_PAIR = regex.compile(
    r"(?<![\p{L}\p{N}_'&])(?P<first>\p{Lu}{1,3})&(?P<second>\p{Lu}{1,2})(?P<own>'?s\b)?"
    r"(?![\p{L}\p{N}])"
)
_SHARP = regex.compile(r"(?<![\p{L}\p{N}])(?P<letter>[A-G])#(?![\p{L}\p{N}])")
_CPP = regex.compile(r"(?<![\p{L}\p{N}])C\+\+")
_GRADE = regex.compile(r"(?<![\p{L}\p{N}])(?P<letter>[A-F])(?P<sign>[+-])(?![\p{L}\p{N}+])")
_SLASHED = regex.compile(
    r"(?<![\p{L}\p{N}/])(?P<first>\p{Lu}{1,4})/(?P<second>\p{Lu}{1,4})(?![\p{L}\p{N}/])"
)
_LONE_A = regex.compile(r"(?<![\p{L}\p{N}'.])A(?![\p{L}\p{N}'])")
_ITEM = regex.compile(
    r"(?<![\p{L}\p{N}'(])(?P<letter>\p{L})\)|(?<=(?<![\p{L}\p{N}])\()(?P<letter>\p{Ll})(?=\))"
)
_CONTRACTIONS = {"how're": "how are", "what're": "what are", "who're": "who are",
    "where're": "where are",
                 "when're": "when are", "why're": "why are", "there're": "there are",
                 "that're": "that are"}  # fmt: skip
_CONTRACTION = regex.compile(
    rf"(?i)(?<![\p{{L}}\p{{N}}'])(?P<word>{'|'.join(_CONTRACTIONS)})(?![\p{{L}}\p{{N}}'])"
)


def _spelled(word: str) -> bool:
    if word in _AS_WORDS or word in _COMMON:
        return False
    if word in _SPELLED or len(word) == 2 or not regex.search("[AEIOUY]", word):
        return True
    return len(word) <= 3 or (len(word) == 4 and not regex.search("[^AEIOUY][AEIOUY]", word))


def _is_shouting(match: "regex.Match[str]") -> bool:
    """Whether a word in capitals is a part of text in capitals, and not an acronym."""
    around = (
        regex.findall(r"[\p{L}']+", before(match)[-40:])[-3:]
        + regex.findall(r"[\p{L}']+", match["word"] + after(match)[:40])[:4]
    )
    capital = [word for word in around if word.isupper() and len(word) > 1]
    words = [word for word in capital if word in _COMMON or len(word) > 5 or "'" in word]
    return len(capital) >= 2 and len(words) >= 2 and 2 * len(capital) > len(around)


def _acronym(match: "regex.Match[str]", numerals: Numerals) -> str | None:
    word = match["word"]
    if not _spelled(word) or (
        _is_shouting(match)
        and regex.search("[AEIOUY]", word)
        and len(word) > 2
        and (word not in _SPELLED or word in ("WHO", "US", "IT"))
    ):
        return None
    if _is_shouting(match) and word in ("US", "IT", "AM"):
        return None
    if word == "AM" and regex.search(r"\bI $", before(match)):
        return None
    if word == "IEEE":
        return "I triple E"
    said = letters(word)
    if not match["own"]:
        return said
    return f"{said}'s"


def _plural(match: "regex.Match[str]", numerals: Numerals) -> str | None:
    word = match["word"]
    if word in _AS_WORDS:
        return None
    return plural_letters(word)


def _said_plural(match: "regex.Match[str]", numerals: Numerals) -> str:
    return f"{match['word']}'s"


def _shouted(match: "regex.Match[str]", numerals: Numerals) -> str | None:
    word = match["word"]
    if word in ("I", "A"):
        return "a" if word == "A" and _is_shouting(match) else None
    if len(word) < 2 or word in _AS_WORDS:
        return None
    return word.lower() if word in _COMMON or _is_shouting(match) else None


def _lower_i(match: "regex.Match[str]", numerals: Numerals) -> str:
    return f"{'I ' if match[0][0] == 'i' else ' '}{letters(match['word'])}"


def _pair(match: "regex.Match[str]", numerals: Numerals) -> str:
    said = f"{letters(match['first'])} and {letters(match['second'])}"
    return f"{said}'s" if match["own"] else said


def _grade(match: "regex.Match[str]", numerals: Numerals) -> str:
    return f"{letters(match['letter'])} {'plus' if match['sign'] == '+' else 'minus'}"


def _slashed(match: "regex.Match[str]", numerals: Numerals) -> str:
    parts = [match["first"], match["second"]]
    said = [letters(part) if _spelled(part) or len(part) == 1 else part for part in parts]
    return " ".join(said)


def _lone_a(match: "regex.Match[str]", numerals: Numerals) -> str | None:
    """Decide whether `A` is the letter or the article."""
    previous, following = before(match), after(match)
    if regex.match(
        r" (?:\p{Lu}(?![\p{L}'])(?! ?(?:am|was)\b)|\p{Lu}s\b)|$|[.,;:!?)”\"&/+-](?!\.)"
        r"|'(?![\p{L}])",
        following,
    ) and not regex.match(r"\"|“", following):
        return letters("A")
    if regex.match(
        r" (?:to|or|and|through|versus|vs\.?|is|was|equals) (?=\p{Lu}\b|(?<= (?:is|was|equals) ))",
        following,
    ):
        return letters("A")
    if regex.match(r"[\"”]", following) and regex.search(r"[\"“]$", previous):
        return letters("A")
    if regex.search(r"(?<![\p{L}])\p{Lu} $", previous) or regex.search(
        r"(?i)\b(?:vitamin|grade|plan|class|type|section|appendix|exhibit|gate|terminal"
        r"|hepatitis|option|"
        r"part|team|group|an|row|platform|block|level|letter|size|point|an?) $",
        previous,
    ):
        return letters("A")
    if regex.search(r"\p{Ll} $", previous) and regex.match(r" \p{Ll}", following):
        return letters("A")
    return None


def _item(match: "regex.Match[str]", numerals: Numerals) -> str | None:
    """Return the letter of a list item, but not the last letter within parentheses."""
    previous = before(match)
    if previous.count("(") > previous.count(")") and not previous.endswith("("):
        return None
    return letters(match["letter"]) + "," if match["letter"].isascii() else None


def _contraction(match: "regex.Match[str]", numerals: Numerals) -> str:
    said = _CONTRACTIONS[match["word"].lower()]
    return said.capitalize() if match["word"][0].isupper() else said


RULES: tuple[Rule, ...] = (
    (_CONTRACTION, _contraction),
    (_CPP, lambda match, numerals: "C plus plus"),
    (_SHARP, lambda match, numerals: f"{letters(match['letter'])} sharp"),
    (_GRADE, _grade),
    (_SLASHED, _slashed),
    (_AMPERSAND, lambda match, numerals: " and "),
    (_LOWER_I, _lower_i),
    (_PLURAL, _plural),
    (_SAID_PLURAL, _said_plural),
    (_ACRONYM, _acronym),
    (_SHOUTED, _shouted),
    (_LONE_A, _lone_a),
)
PAIRS: tuple[Rule, ...] = ((_PAIR, _pair),)
"""They must come before titles, because of `M&Ms`."""
ITEMS: tuple[Rule, ...] = ((_ITEM, _item),)
