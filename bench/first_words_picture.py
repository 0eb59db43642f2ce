"""Draw one turn of `bench.first_words` in both modes on one time axis, as SVG.

    python -m bench.first_words_picture [--result bench/results/first_words.json]
                                        [--out docs/turn.svg]

The turns went over the WebSocket. For each mode, the picture shows the turn with the median time to
first audio.
"""

import argparse
import math
from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import escape

from bench.first_words import Result
from local.timeline import Report

RESULT = Path("bench/results/first_words.json")
PICTURE = Path("docs/turn.svg")

# The layout, in the units of the SVG: pixels at its natural size.
_WIDTH, _HEIGHT = 800, 432
_PLOT_LEFT, _PLOT_RIGHT = 132, 772
_BIDI_TOP, _BRACKET_Y, _BATCH_TOP, _AXIS_Y = 100, 222, 262, 376
_LANE_HEIGHT = 28

_STYLE = """\
    .page { fill: #ffffff; stroke: #d1d9e0; }
    text { fill: #1f2328; font-size: 15px; }
    text { stroke: #ffffff; stroke-width: 6px; paint-order: stroke; }
    .heading { font-size: 20px; font-weight: 600; }
    .row { font-size: 17px; font-weight: 600; }
    .quiet { fill: #59636e; }
    .grid { stroke: #d1d9e0; }
    .written { fill: #d1d9e0; }
    .heard { fill: #0969da; }
    .in-written { font-size: 14px; stroke: none; }
    .in-heard { fill: #ffffff; font-weight: 600; stroke: none; }
    .first { fill: #1a7f37; font-size: 17px; font-weight: 700; }
    .mark { stroke: #1a7f37; stroke-width: 2.5; fill: none; }
    @media (prefers-color-scheme: dark) {
      .page { fill: #0d1117; stroke: #3d444d; }
      text { fill: #f0f6fc; stroke: #0d1117; }
      .quiet { fill: #9198a1; }
      .grid { stroke: #3d444d; }
      .written { fill: #3d444d; }
      .heard { fill: #1f6feb; }
      .in-heard { fill: #ffffff; }
      .first { fill: #3fb950; }
      .mark { stroke: #3fb950; }
    }"""


class _Axis:
    """The time axis: seconds since the prompt, from 0 to the first mark at or after `end_s`."""

    def __init__(self, end_s: float) -> None:
        self.step_s = 5 if end_s <= 40 else 10
        self.end_s = math.ceil(end_s / self.step_s) * self.step_s

    def x(self, at_s: float) -> float:
        """Return the abscissa of a time."""
        return round(_PLOT_LEFT + at_s / self.end_s * (_PLOT_RIGHT - _PLOT_LEFT), 1)

    def svg(self) -> list[str]:
        """Return the grid, which is drawn first, with the figures below it."""
        lines = []
        for at_s in range(0, self.end_s + 1, self.step_s):
            x = self.x(at_s)
            lines.append(f'<path class="grid" d="M{x} {_BIDI_TOP + 12}V{_AXIS_Y}"/>')
            lines.append(_text(x, _AXIS_Y + 19, str(at_s), "quiet", "middle"))
        caption = "seconds since the prompt"
        middle = (_PLOT_LEFT + _PLOT_RIGHT) / 2
        return [*lines, _text(middle, _AXIS_Y + 38, caption, "quiet", "middle")]


def median_turn(turns: Sequence[Report]) -> Report:
    """Return the turn with the median time to first audio; of an even number, the lower median."""
    return sorted(turns, key=lambda turn: turn.ttfa_s or 0.0)[(len(turns) - 1) // 2]


def picture(result: Result) -> str:
    """Return the picture as SVG.

    Raises:
        ValueError: A turn that is shown has no text or no audio.
    """
    bidi = median_turn(result.turns_of("bidi", "ws"))
    batch = median_turn(result.turns_of("batch", "ws"))
    first_s, late_s = _first_audio_s(bidi), _first_audio_s(batch)
    # The difference of the figures as they are printed, so that a reader can check it.
    gained_s = round(late_s, 1) - round(first_s, 1)
    axis = _Axis(max(_heard_until_s(bidi), _heard_until_s(batch)))
    first_x, late_x = axis.x(first_s), axis.x(late_s)
    description = (
        f"A reply of {len(bidi.sentences)} sentences. Sentence by sentence: {_in_words(bidi)} "
        f"The whole reply in one request: {_in_words(batch)} "
        f"Sentence by sentence, the first audio is heard {gained_s:.1f} seconds sooner."
    )
    number = len(bidi.sentences)
    body = [
        f'<rect class="page" x="0.5" y="0.5" width="{_WIDTH - 1}" height="{_HEIGHT - 1}" rx="8"/>',
        _text(20, 38, "When the model writes, and when you hear it", "heading"),
        _text(
            20, 62, f"A reply of {number} sentences, {bidi.audio_s:.1f} s of speech; "
            f"{result.machine}", "quiet",
        ),
        *axis.svg(),
        *_row(axis, bidi, _BIDI_TOP, "Sentence by sentence", [str(n + 1) for n in range(number)]),
        *_row(axis, batch, _BATCH_TOP, "Whole reply in one request", [f"1 – {number}"]),
        f'<path class="mark" d="M{first_x} {_BIDI_TOP + 42}V{_BRACKET_Y}H{late_x}'
        f'V{_BATCH_TOP + 98}"/>',
        _text(late_x + 12, _BRACKET_Y + 6, f"speech begins {gained_s:.1f} s sooner", "first"),
    ]  # fmt: skip
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
            f'width="{_WIDTH}" height="{_HEIGHT}" role="img" aria-labelledby="title description" '
            "font-family=\"system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif\">",
            '  <title id="title">One turn, sentence by sentence and as a whole reply</title>',
            f'  <desc id="description">{escape(description)}</desc>',
            f"  <style>\n{_STYLE}\n  </style>",
            *(f"  {line}" for line in body),
            "</svg>\n",
        ]
    )


def _row(axis: _Axis, turn: Report, top: float, title: str, labels: Sequence[str]) -> list[str]:
    """Return one mode: the title, when its sentences are written, and when they are heard.

    Args:
        axis: The time axis.
        turn: The turn to show.
        top: The baseline of the title.
        title: What the mode is called.
        labels: For each sentence of the turn, the text in its bars.
    """
    written_y, heard_y = top + 12, top + 46
    lines = [
        _text(20, top, title, "row"),
        _text(20, written_y + 19, "model writes", "quiet"),
        _text(20, heard_y + 19, "you hear", "quiet"),
    ]
    from_s = turn.ttft_s or 0.0
    for sentence, label in zip(turn.sentences, labels, strict=True):
        # The agent sends a sentence as soon as it is written. Its clock starts when the prompt
        # arrives, a few milliseconds after the axis does.
        last = sentence is turn.sentences[-1]
        until_s = (turn.last_text_s if last else sentence.sent_s) or 0.0
        lines += _bar(axis, from_s, until_s, written_y, label, "written")
        heard_s = sentence.heard_from_s or 0.0, sentence.heard_until_s or 0.0
        lines += _bar(axis, *heard_s, heard_y, label, "heard")
        from_s = until_s
    first_s = _first_audio_s(turn)
    return [
        *lines,
        _text(
            axis.x(first_s) + 10,
            heard_y + _LANE_HEIGHT + 20,
            f"first audio {first_s:.1f} s",
            "first",
        ),
    ]


def _bar(axis: _Axis, from_s: float, until_s: float, y: float, label: str, name: str) -> list[str]:
    # A gap of one pixel keeps sentences apart that follow each other.
    left, right = axis.x(from_s), axis.x(until_s) - 1
    return [
        f'<rect class="{name}" x="{left}" y="{y}" width="{right - left:.1f}" '
        f'height="{_LANE_HEIGHT}" rx="2"/>',
        _text(round((left + right) / 2, 1), y + 19, label, f"in-{name}", "middle"),
    ]


def _text(x: float, y: float, text: str, name: str, anchor: str = "start") -> str:
    return f'<text class="{name}" x="{x}" y="{y}" text-anchor="{anchor}">{escape(text)}</text>'


def _in_words(turn: Report) -> str:
    return (
        f"the model writes from {turn.ttft_s:.1f} to {turn.last_text_s:.1f} seconds after the "
        f"prompt; the reply is heard from {_first_audio_s(turn):.1f} to "
        f"{_heard_until_s(turn):.1f} seconds."
    )


def _first_audio_s(turn: Report) -> float:
    if turn.ttfa_s is None:
        raise ValueError(f"the turn {turn.mode} over {turn.transport} has no audio")
    return turn.ttfa_s


def _heard_until_s(turn: Report) -> float:
    return max(sentence.heard_until_s or 0.0 for sentence in turn.sentences)


def main() -> None:
    """Read the figures and write the picture."""
    parser = argparse.ArgumentParser(
        "python -m bench.first_words_picture", description="draw one turn in both modes, as SVG"
    )
    parser.add_argument(
        "--result", type=Path, default=RESULT, help="figures that bench.first_words wrote"
    )
    parser.add_argument("--out", type=Path, default=PICTURE, help="SVG file to write")
    arguments = parser.parse_args()
    result = Result.model_validate_json(arguments.result.read_text(encoding="utf-8"))
    arguments.out.write_text(picture(result), encoding="utf-8")


if __name__ == "__main__":
    main()
