"""Removes markup from text, so that a voice can speak it."""

import html
import re
import string

from sentences.control import with_valid_control

_FENCED_CODE = re.compile(
    r"^[ \t]*(`{3,}|~{3,})[^`\n]*(?:\n.*?(?:^[ \t]*\1[`~]*[ \t]*$|\Z)|\Z)", re.MULTILINE | re.DOTALL
)
_LITERAL = re.compile(
    r"\\([\\`*_{}()\[\]#+.!|~>$\n-])"  # an escaped character, or a line break
    r"|(?<!`)(`+)(?!`)(.+?)(?<!`)\2(?!`)"  # a code span
    r"|\$\$(.+?)\$\$|(?<![\w$])\$(?=[^\s\d$])([^$\n]*[^\s$])\$(?!\w)",  # mathematics
    re.DOTALL,
)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_AUTOLINK = re.compile(r"<((?:https?://|mailto:)[^<>\s]+|[^<>\s@]+@[^<>\s@]+)>")
_BREAKING_TAG = re.compile(
    r"</?(?:br|hr|p|div|li|ul|ol|d[ltd]|t[rdh]|table|thead|tbody|h[1-6]|pre|blockquote|details"
    r"|summary|section|article|break|think|thinking)\b[^<>]*>",
    re.IGNORECASE,
)
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_LINK = re.compile(r"!?\[(?!\^)([^\[\]]*)\](?:\((?:[^()]|\([^()]*\))*\)|\[[^\[\]]*\])")
_LINK_TARGET_LINE = re.compile(r"^[ \t]*\[[^\]]+\]:[ \t]+\S+.*$", re.MULTILINE)
_REFERENCE = re.compile(r"[ \t]?\[(?:\d{1,3}|\^[^\]\s]{1,32})\]")
_RULE = re.compile(r"^[ \t]*(?:(?:[-*_=][ \t]*){3,}|\|[ \t:|-]*-[ \t:|-]*)$", re.MULTILINE)
_TABLE_ROW = re.compile(r"^[ \t]*\|(.+?)\|?[ \t]*$", re.MULTILINE)
_CELL_BORDER = re.compile(r"[ \t]+\|[ \t]+")
_HEADING_END = re.compile(r"^([ \t]*#{1,6}[ \t].*?)[ \t]+#+[ \t]*$", re.MULTILINE)
_LINE_MARKER = re.compile(
    r"^[ \t]*(?:(?:#{1,6}|>|[-*+•◦▪‣·])(?:[ \t]+|$)(?:\[[ xX]\][ \t]+)?)+", re.MULTILINE
)
_EMPHASIS = re.compile(
    r"(?<![\w*])(\*{1,3}|_{1,3}|~~)(?=\S)((?:(?!\1).)+?)(?<=\S)\1(?![\w*])", re.DOTALL
)
# Two or three asterisks may stand within a word. A single one may not, so that "2*3*4" stays.
_WITHIN_WORD = re.compile(r"(\*{2,3}|(?<![0-9A-Za-z])\*)(?=\S)((?:(?!\1).)+?)(?<=\S)\1", re.DOTALL)
# The marks of emphasis or code that opens or closes in another chunk.
_STRAY = re.compile(r"\*\*+|~~+|`+|(?<!\S)[*_]+(?=\w)|(?<=[\w.!?,;:])[*_]+(?=[\s.,;:!?)]|$)")
_PRIVATE_USE = 0xE000
_SHIELD = {ord(mark): _PRIVATE_USE + ord(mark) for mark in string.punctuation}
_UNSHIELD = {shielded: mark for mark, shielded in _SHIELD.items()}


def speakable(text: str) -> str:
    """Return the words of `text` without markup, separated by single spaces.

    Fenced code is removed completely. Tags, rules, references and the markers of headings, bullets
    and quotations are removed as well. The text of a link, the content of code spans and of
    mathematics, and the cells of a table row are kept. Pauses such as `[pause:0.5s]` are kept if
    the speech server accepts them; what it would refuse is removed. Numbers, addresses and emoji
    are kept unchanged, because the voice handles them.

    Args:
        text: One chunk, or any other text.

    Returns:
        The text to speak; `""` if nothing can be spoken, as in `"---"` or a block of code.
    """
    text = _FENCED_CODE.sub(" ", text)
    text = _LITERAL.sub(_shielded, text)
    text = _COMMENT.sub("", text)
    text = _AUTOLINK.sub(r"\1", text)
    text = _BREAKING_TAG.sub(" ", text)
    text = _TAG.sub("", text)
    text = _LINK_TARGET_LINE.sub(" ", text)
    for _ in range(2):  # an image may be the text of a link
        text = _LINK.sub(r"\1", text)
    text = _REFERENCE.sub("", text)
    text = _RULE.sub(" ", text)
    text = _TABLE_ROW.sub(_cells, text)
    text = _CELL_BORDER.sub(", ", text)
    text = _HEADING_END.sub(r"\1", text)
    text = _LINE_MARKER.sub("", text)
    for emphasis in (_EMPHASIS, _EMPHASIS, _WITHIN_WORD, _WITHIN_WORD):  # emphasis may be nested
        text = emphasis.sub(r"\2", text)
    text = _STRAY.sub("", text)
    text = html.unescape(text).translate(_UNSHIELD)
    text = " ".join(with_valid_control(text).split())
    return text if any(character.isalnum() for character in text) else ""


def _shielded(literal: re.Match[str]) -> str:
    """Return the text of the literal, with its marks replaced by characters that are not markup."""
    escaped, _, code, *mathematics = literal.groups()
    if escaped is not None:
        return "" if escaped in "()[]" else escaped.translate(_SHIELD)
    return (code or "".join(filter(None, mathematics))).replace("`", "").translate(_SHIELD)


def _cells(row: re.Match[str]) -> str:
    return ", ".join(cell.strip() for cell in row[1].split("|") if cell.strip())
