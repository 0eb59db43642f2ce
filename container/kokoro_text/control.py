"""Control by the text: pauses, pronunciations and SSML in the text of a request.

`spans` is the entrance. It turns the text into spans of text that the normalizer takes.
"""

from kokoro_text import ssml
from kokoro_text.phonemes import unknown_phonemes
from kokoro_text.reading import LINK
from kokoro_text.spans import MarkupError, Span, Spans


def spans(text: str, language: str) -> tuple[Span, ...]:
    """Divide `text` where it controls its pauses and its rate, in linear time.

    A text that begins with `<speak` is SSML. In any text, `[pause:0.5s]` is a pause.

    Args:
        text: The text of a request.
        language: The voice's language, one of the values of `kokoro_voice.languages.LANGUAGES`.

    Raises:
        MarkupError: A pause, a pronunciation or the SSML is not accepted.
    """
    collected = Spans()
    if ssml.is_ssml(text):
        ssml.read(text, language, collected)
    else:
        collected.add_text(text)
    result = collected.closed()
    for span in result:
        _check_phonemes(span.text)
    return result


def said(text: str) -> str:
    """Return `text` with the words that are said in place of links. The cost depends on them."""
    words: str = LINK.sub(lambda link: link[2][1:] if link[2][0] == "=" else link[1], text)
    return words


def without_links(text: str) -> str:
    """Return `text` without the words whose pronunciation or language it gives."""
    rest: str = LINK.sub(" ", text)
    return rest


def _check_phonemes(text: str) -> None:
    for link in LINK.finditer(text):
        target = link[2]
        if len(target) > 1 and target[0] == target[-1] == "/":
            unknown = unknown_phonemes(target[1:-1])
            if unknown:
                raise MarkupError(
                    f"{link[0]}: the voices have no phoneme {', '.join(unknown)}; use Kokoro's "
                    "alphabet"
                )
