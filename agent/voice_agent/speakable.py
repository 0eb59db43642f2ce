"""The words of a text without its markup, for a voice to say."""

import html
import re

_FENCED_CODE = re.compile(
    r"^[ \t]*(`{3,}|~{3,})[^`\n]*(?:\n.*?(?:^[ \t]*\1[`~]*[ \t]*$|\Z)|\Z)", re.MULTILINE | re.DOTALL
)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_AUTOLINK = re.compile(r"<((?:https?://|mailto:)[^<>\s]+|[^<>\s@]+@[^<>\s@]+)>")
_BREAKING_TAG = re.compile(r"</?(?:br|p|div|li|ul|ol|t[rdh]|h[1-6]|hr|break)\b[^<>]*>", re.I)
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_LINK = re.compile(r"!?\[([^\[\]]*)\](?:\((?:[^()]|\([^()]*\))*\)|\[[^\[\]]*\])")
_LINK_TARGET_LINE = re.compile(r"^[ \t]*\[[^\]]+\]:[ \t]+\S+.*$", re.MULTILINE)
_REFERENCE = re.compile(r"[ \t]?\[\^?\d{1,3}\]")
_RULE = re.compile(r"^[ \t]*(?:(?:[-*_=][ \t]*){3,}|\|[ \t:|-]*-[ \t:|-]*)$", re.MULTILINE)
_TABLE_ROW = re.compile(r"^[ \t]*\|(.+?)\|?[ \t]*$", re.MULTILINE)
_LINE_MARKER = re.compile(
    r"^[ \t]*(?:(?:#{1,6}|>|[-*+•◦▪‣·])(?:[ \t]+|$)(?:\[[ xX]\][ \t]+)?)+", re.MULTILINE
)
_CODE_SPAN = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)
_EMPHASIS = re.compile(r"(?<!\w)(\*{1,3}|_{1,3}|~~)(?=\S)(.+?)(?<=\S)\1(?!\w)", re.DOTALL)
_ASTERISKS = re.compile(r"(\*{1,3})(?=\S)(.+?)(?<=\S)\1", re.DOTALL)
# What is left of emphasis or code that another chunk closes.
_STRAY = re.compile(r"\*\*+|~~+|`+|(?<!\S)[*_]+(?=\w)|(?<=[\w.!?,;:])[*_]+(?=[\s.,;:!?)]|$)")
_ESCAPE = re.compile(r"\\([\\`*_{}\[\]()#+.!|~>-])")


def speakable(text: str) -> str:
    """Return the words of ``text``, markup gone, white space single.

    Fenced code goes wholly, and so do tags, rules, references and the markers of headings, bullets
    and quotations; of a link its text stays, of a code span its content, of a table row its
    cells. Numbers, addresses and emoji stay as they are: to say them is the voice's work.

    Args:
        text: One chunk, or any text.

    Returns:
        What to say; ``""`` when there is nothing, as for ``"---"`` or a block of code.
    """
    text = _FENCED_CODE.sub(" ", text)
    text = _COMMENT.sub(" ", text)
    text = _AUTOLINK.sub(r"\1", text)
    text = _BREAKING_TAG.sub(" ", text)
    text = _TAG.sub("", text)
    text = _LINK_TARGET_LINE.sub(" ", text)
    text = _LINK.sub(r"\1", text)
    text = _REFERENCE.sub("", text)
    text = _RULE.sub(" ", text)
    text = _TABLE_ROW.sub(_cells, text)
    text = _LINE_MARKER.sub("", text)
    text = _CODE_SPAN.sub(r"\2", text)
    for emphasis in (_EMPHASIS, _EMPHASIS, _ASTERISKS):  # twice: one may hold another
        text = emphasis.sub(r"\2", text)
    text = _STRAY.sub("", text)
    text = html.unescape(_ESCAPE.sub(r"\1", text))
    text = " ".join(text.split())
    return text if any(character.isalnum() for character in text) else ""


def _cells(row: re.Match[str]) -> str:
    return ", ".join(cell.strip() for cell in row[1].split("|") if cell.strip())
