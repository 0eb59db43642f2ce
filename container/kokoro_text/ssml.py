"""A subset of SSML (https://www.w3.org/TR/speech-synthesis11/), read into spans.

What the voices cannot do is an error, because markup without effect would be hard to notice.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from xml.parsers import expat

import regex

from kokoro_text.phonemes import from_ipa, unknown_phonemes
from kokoro_text.say_as import KINDS, readings
from kokoro_text.spans import MarkupError, Spans, duration_s, shown
from kokoro_voice.languages import LANGUAGES

MIN_RATE, MAX_RATE = 0.5, 2.0

RATES = {"x-slow": 0.5, "slow": 0.75, "medium": 1.0, "default": 1.0, "fast": 1.25, "x-fast": 1.5}
STRENGTHS_S = {
    "none": 0.0, "x-weak": 0.1, "weak": 0.15, "medium": 0.3, "strong": 0.6, "x-strong": 1.0,
}  # fmt: skip
"""The pauses of `<break strength>`, in seconds."""

ELEMENTS: Mapping[str, tuple[str, ...]] = {
    "speak": ("version", "xmlns", "xml:lang", "xmlns:xsi", "xsi:schemaLocation"),
    "p": (),
    "s": (),
    "break": ("time", "strength"),
    "prosody": ("rate",),
    "say-as": ("interpret-as", "format"),
    "sub": ("alias",),
    "phoneme": ("ph", "alphabet"),
    "lang": ("xml:lang",),
}
"""The supported elements and their attributes."""
_REQUIRED = {
    "prosody": "rate", "say-as": "interpret-as", "sub": "alias", "phoneme": "ph",
    "lang": "xml:lang",
}  # fmt: skip
_WITH_TEXT_ONLY = ("say-as", "sub", "phoneme")

_SSML = regex.compile(r"\s*<speak[\s/>]")
_RATE = regex.compile(r"([+-]?)(\d{1,4}(?:\.\d{1,4})?)(%?)")
_BRACKETS = str.maketrans("[]()", "    ")
_MAX_LINK_CHARS = 100
# Words of another language that are said together. Their punctuation is the sentence's.
_PHRASE_CHARS = 80
_FIRST_SIGN = regex.compile(r"[\p{L}\p{M}\p{N}]")
_LAST_SIGN = regex.compile(r"(?r)[\p{L}\p{M}\p{N}]")


def is_ssml(text: str) -> bool:
    """Whether `text` begins with `<speak`."""
    return _SSML.match(text) is not None


def read(text: str, language: str, spans: Spans) -> None:
    """Read an SSML document, which begins with `<speak`.

    It has no document type, because that would have to come before `<speak`. So it cannot define
    entities.

    Args:
        text: The document.
        language: The voice's language, one of the values of `kokoro_voice.languages.LANGUAGES`.
        spans: The spans of the document are added to these.

    Raises:
        MarkupError: It is not well-formed, or uses what is not supported.
    """
    parser = expat.ParserCreate()
    parser.buffer_text = True
    reader = _Reader(language, spans)
    line = column = 0

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal line, column
        line, column = parser.CurrentLineNumber, parser.CurrentColumnNumber + 1
        reader.start(name, attributes)

    parser.StartElementHandler = start
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.text
    try:
        parser.Parse(text.encode("utf-8", "replace"), True)
    except expat.ExpatError as error:
        raise MarkupError(
            f"the SSML is not well-formed at line {error.lineno}, column {error.offset + 1}: "
            f"{expat.ErrorString(error.code)}; write & as &amp; and < as &lt;"
        ) from None
    except MarkupError as error:
        # An error in the text of an element is found at its end, and belongs to its tag.
        raise MarkupError(f"{error} (line {line}, column {column})") from None


@dataclass(frozen=True)
class _Element:
    name: str
    attributes: Mapping[str, str]
    rate: float
    language: str | None


class _Reader:
    """Turns the events of the XML parser into spans."""

    def __init__(self, language: str, spans: Spans) -> None:
        self._language = language
        self._spans = spans
        self._open: list[_Element] = []
        self._content = ""

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Begin an element."""
        if name not in ELEMENTS:
            raise MarkupError(f"<{shown(name)}> is not supported; the elements are {_elements()}")
        _check_attributes(name, attributes)
        parent = self._open[-1] if self._open else _Element("", {}, 1.0, None)
        if name == "speak" and self._open:
            raise MarkupError("<speak> is inside another element; use it once, around everything")
        if parent.name in (*_WITH_TEXT_ONLY, "break"):
            raise MarkupError(
                f"<{name}> is inside <{parent.name}>, which "
                + ("must be empty" if parent.name == "break" else "may contain text only")
            )
        rate, language = parent.rate, parent.language
        match name:
            case "p" | "s":
                self._spans.add_text("\n\n", rate)
            case "break":
                self._spans.add_pause(_pause_s(attributes))
            case "prosody":
                rate = _rate(attributes["rate"])
            case "lang":
                language = _served(attributes["xml:lang"], self._language)
        self._open.append(_Element(name, attributes, rate, language))
        self._content = ""

    def end(self, name: str) -> None:
        """End the innermost element."""
        element = self._open.pop()
        if name in ("p", "s"):
            self._spans.add_text("\n\n", element.rate)
        elif name in _WITH_TEXT_ONLY:
            self._say(element, " ".join(self._content.translate(_BRACKETS).split()))

    def text(self, data: str) -> None:
        """Take the text between two tags, or a part of it."""
        element = self._open[-1]
        if element.name in _WITH_TEXT_ONLY:
            self._content += data
        elif element.name == "break" and data.strip():
            raise MarkupError("<break> must be empty")
        elif element.language is not None:
            foreign = partial(_foreign, language=element.language)
            self._spans.add_text(data, element.rate, foreign)
        else:
            self._spans.add_text(regex.sub(r"\s+", " ", data), element.rate)

    def _say(self, element: _Element, content: str) -> None:
        """Add an element that says in another way what it contains."""
        if not content:
            raise MarkupError(f"<{element.name}> is empty; give it a text")
        language = element.language or self._language
        match element.name:
            case "phoneme":
                phonemes = _phonemes(element.attributes, language)
                if len(content) > _MAX_LINK_CHARS:
                    raise MarkupError(
                        f"the text of <phoneme> has {len(content)} characters; give at most "
                        f"{_MAX_LINK_CHARS}"
                    )
                self._spans.add_text(f"[{content}](/{phonemes}/)", element.rate)
                return
            case "sub":
                said = [(content, element.attributes["alias"])]
            case _:
                said = readings(content, element.attributes, language)
        separator = ", " if element.attributes.get("interpret-as") == "telephone" else " "
        for number, (written, spoken) in enumerate(said):
            if number:
                self._spans.add_text(separator, element.rate)
            if element.language is not None:
                self._spans.add_text(_foreign(spoken or written, language), element.rate)
            else:
                self._spans.add_text(_respelled(written, spoken), element.rate)


def _respelled(written: str, spoken: str) -> str:
    """Return text that is written in one way and said in another."""
    spoken = " ".join(spoken.translate(_BRACKETS).split())
    if not spoken:
        return written
    if max(len(written), len(spoken) + 1) > _MAX_LINK_CHARS:
        return spoken
    return f"[{written}](={spoken})"


def _foreign(text: str, language: str) -> str:
    """Return text whose words are of another language, in phrases."""
    phrases: list[str] = []
    phrase = ""
    for word in text.translate(_BRACKETS).split():
        if phrase and len(phrase) + len(word) >= _PHRASE_CHARS:
            phrases.append(phrase)
            phrase = ""
        phrase = f"{phrase} {word}".lstrip()
        if not word[-1].isalnum():
            phrases.append(phrase)
            phrase = ""
    foreign = " ".join(_in_language(phrase, language) for phrase in (*phrases, phrase) if phrase)
    before, after = (" " if edge.isspace() else "" for edge in (text[:1], text[-1:]))
    return f"{before}{foreign}{after}"


def _in_language(phrase: str, language: str) -> str:
    first, last = _FIRST_SIGN.search(phrase), _LAST_SIGN.search(phrase)
    if first is None or last is None or last.end() - first.start() > _MAX_LINK_CHARS:
        return phrase
    start, end = first.start(), last.end()
    return f"{phrase[:start]}[{phrase[start:end]}]({language}){phrase[end:]}"


def _check_attributes(name: str, attributes: Mapping[str, str]) -> None:
    for attribute in attributes:
        if attribute not in ELEMENTS[name]:
            accepted = ", ".join(ELEMENTS[name]) or "none"
            raise MarkupError(
                f"the attribute {shown(attribute)} of <{name}> is not supported; its attributes: "
                f"{accepted}; the elements are {_elements()}"
            )
    required = _REQUIRED.get(name)
    if required is not None and not attributes.get(required, "").strip():
        raise MarkupError(f"<{name}> needs the attribute {required}")
    kind = attributes.get("interpret-as")
    if kind is not None and kind not in KINDS:
        raise MarkupError(
            f'<say-as interpret-as="{shown(kind)}"> is not supported; the values are '
            f"{', '.join(KINDS)}"
        )


def _elements() -> str:
    return ", ".join(ELEMENTS)


def _pause_s(attributes: Mapping[str, str]) -> float:
    if "time" in attributes:
        return duration_s(attributes["time"], f'<break time="{shown(attributes["time"])}">')
    strength = attributes.get("strength", "medium")
    if strength not in STRENGTHS_S:
        raise MarkupError(
            f'<break strength="{shown(strength)}"> is not supported; the values are '
            f"{', '.join(STRENGTHS_S)}"
        )
    return STRENGTHS_S[strength]


def _rate(value: str) -> float:
    rate = RATES.get(value.strip())
    if rate is None and (match := _RATE.fullmatch(value.strip())):
        rate = float(match[2]) / (100 if match[3] else 1)
        if match[1]:
            rate = 1 + rate if match[1] == "+" else 1 - rate
    if rate is None or not MIN_RATE <= rate <= MAX_RATE:
        raise MarkupError(
            f'<prosody rate="{shown(value)}"> is not accepted; give {", ".join(RATES)}, or '
            f"{100 * MIN_RATE:g}% to {100 * MAX_RATE:g}%"
        )
    return rate


def _served(tag: str, own: str) -> str | None:
    """Return the language of a tag such as `fr-CA`; None if it is the voice's own."""
    tag = tag.strip().lower()
    served = [own, *LANGUAGES.values()]
    exact = [language for language in served if language == tag]
    related = [language for language in served if language[:2] == tag.partition("-")[0]]
    if not exact + related:
        raise MarkupError(
            f'<lang xml:lang="{shown(tag)}">: this language is not served; the languages are '
            f"{', '.join(sorted(set(LANGUAGES.values())))}"
        )
    language = (exact + related)[0]
    return None if language == own else language


def _phonemes(attributes: Mapping[str, str], language: str) -> str:
    alphabet = attributes.get("alphabet", "ipa")
    if alphabet not in ("ipa", "kokoro"):
        raise MarkupError(
            f'<phoneme alphabet="{shown(alphabet)}"> is not supported; the values are ipa, kokoro'
        )
    ph = " ".join(attributes["ph"].split())
    phonemes = from_ipa(ph, language) if alphabet == "ipa" else ph
    unknown = unknown_phonemes(phonemes)
    if unknown or any(char in phonemes for char in "()"):
        raise MarkupError(
            f'<phoneme ph="{shown(ph)}">: the voices have no phoneme '
            f"{', '.join(unknown[:10]) or '( or )'}"
        )
    if len(phonemes) + 2 > _MAX_LINK_CHARS:
        raise MarkupError(
            f'<phoneme ph="{shown(ph)}"> is too long; give at most {_MAX_LINK_CHARS - 2} phonemes'
        )
    return phonemes
