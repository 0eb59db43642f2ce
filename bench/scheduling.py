"""Simulate which listener is served next: deadlines and windows against queues and locks.

    python -m bench.scheduling [--out bench/results/scheduling.md]

This is a discrete-event simulation of speaking sessions on one engine. The server's own
`Scheduler`, `Listener`, `Admission` and `Decoding` make the decisions. The cost of the work and the
lengths of the sentences are inputs. `bench.server` measures both, and compares the simulation with
the real server.
"""

import heapq
import itertools
import math
import random
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import numpy as np

from bench.report import argument_parser, document, publish, table
from bench.turns import POOL, Turn, turns
from kokoro_server.admission import Admission
from kokoro_server.playback import Listener
from kokoro_server.scheduler import Scheduler
from kokoro_server.settings import Settings
from kokoro_server.utterance import SpeechRequest, Tally, Utterance
from kokoro_voice.decoding import Decoding
from kokoro_voice.voices import Voice
from kokoro_voice.windows import (
    CONTEXT_FRAMES,
    FRAME_S,
    WINDOW_LIMITS,
    SpokenFrames,
    WindowLimits,
)

SESSIONS = range(1, 9)
RUN_S = 3600.0
VOICE = Voice("af_heart", (("af_heart", 1.0),))
HEADROOM = Settings.model_fields["admission_headroom"].default


@dataclass(frozen=True)
class Costs:
    """The time that work takes: pairs of seconds for each call and seconds for each frame.

    The defaults were measured with two threads on two cores of an AMD EPYC without other load.
    `bench.server` measures them.
    """

    prosody: tuple[float, float] = (0.01, 0.0010)
    whole: tuple[float, float] = (0.0, 0.0052)
    """For decoding a whole sentence."""
    window: tuple[float, float] = (0.01, 0.0044)
    """For decoding a window. The frames are those of the window and its context."""
    pronounce_s: float = 0.003
    """The seconds from text to phonemes for a sentence. This is not work of the engine."""


@dataclass(frozen=True)
class Spoken:
    """A sentence as the model speaks it. Lengths are in frames of 25 ms."""

    chars: int
    frames: int
    """All frames, including the silence around the sentence."""
    spoken: SpokenFrames
    """The frames that windows cover."""
    audible: tuple[int, int]
    """The first frame that trimming leaves, and the frame after the last one."""
    pause_s: float = 0.3
    """The seconds of silence that are sent after the sentence."""

    @property
    def audio_s(self) -> float:
        """The seconds of audio that are sent."""
        return FRAME_S * (self.audible[1] - self.audible[0]) + self.pause_s


def estimated(sentence: str) -> Spoken:
    """Estimate how a sentence is spoken: 19 characters a second, as af_heart speaks."""
    frames = round(len(sentence) / 19 / FRAME_S)
    return Spoken(
        len(sentence), frames + 25, SpokenFrames(9, 15, frames + 13), audible=(10, frames + 10)
    )


@dataclass(eq=False)
class Work:
    """One item of work for the engine."""

    session: "_Session"
    work_s: float
    audio_s: float
    """The seconds of audio that it yields; 0 for prosody."""


class FirstComeFirstServed[Item](Scheduler[Item]):
    """The order that servers usually have: a queue, or a lock, which is a queue of waiting tasks.

    A sentence takes its place in the queue once. Its items of work follow one another directly.
    """

    def __init__(self) -> None:
        super().__init__()
        self._served: Listener | None = None

    def rank(self, listener: Listener) -> tuple[float, int]:
        """Rank the listener being served first, and the others by arrival."""
        return float(listener is not self._served), super().rank(listener)[1]

    def next(self) -> Item | None:
        """Take the next work, or return None if nothing waits."""
        self._served = min(self._waiting, key=self.rank, default=None)
        return super().next()


@dataclass(frozen=True)
class Strategy:
    """How a server synthesizes speech, and in which order."""

    name: str
    scheduler: Callable[[], Scheduler[Work]]
    headroom: float
    """The headroom of admission. With 0, every turn is accepted."""
    windows: bool = False
    limits: WindowLimits = WINDOW_LIMITS
    whole_reply: bool = False
    """Whether a reply is one request, which is sent and synthesized when it is complete."""


WINDOWS = Strategy("deadlines, windows", Scheduler, HEADROOM, windows=True)
SENTENCES = Strategy("deadlines, sentences", Scheduler, HEADROOM)
QUEUE = Strategy("first come, first served, sentences", FirstComeFirstServed, 0.0)
LOCK = Strategy("one lock, whole replies", FirstComeFirstServed, 0.0, whole_reply=True)
STRATEGIES = [WINDOWS, SENTENCES, QUEUE, LOCK]


@dataclass
class Outcome:
    """What the listeners of a run experience.

    A gap is a buffer underrun: playback stops until more audio arrives.
    """

    first_sound_s: list[float] = field(default_factory=list)
    """For each turn, the time from the arrival of its first sentence to the first sound."""
    gaps_s: list[float] = field(default_factory=list)
    """For each turn, for how long playback stopped in all."""
    refused: int = 0
    """The number of turns that were refused as `busy`."""
    work_s: float = 0.0
    audio_s: float = 0.0

    @property
    def turns_with_gaps(self) -> int:
        """The number of turns with a gap."""
        return sum(gap_s > 0 for gap_s in self.gaps_s)

    @property
    def gap_share(self) -> float:
        """The share of turns with a gap, among those that were not refused."""
        return self.turns_with_gaps / len(self.gaps_s)

    @property
    def refused_share(self) -> float:
        """The share of refused turns among all turns."""
        return self.refused / (len(self.gaps_s) + self.refused)

    def first_sound(self, percentile: float) -> float:
        """Return a percentile of the times to first sound in seconds, or NaN without turns."""
        return (
            float(np.percentile(self.first_sound_s, percentile)) if self.first_sound_s else math.nan
        )


def _cost_s(line: tuple[float, float], frames: int) -> float:
    return line[0] + line[1] * frames


def _utterance(sentences: list[Spoken], listener: Listener, received_s: float) -> Utterance:
    text = "x" * sum(sentence.chars for sentence in sentences)
    return Utterance(SpeechRequest("", text, VOICE), listener, received_s)


def _warm(strategy: Strategy, costs: Costs) -> Utterance:
    """Return what a server has measured when it is ready: a sentence, whole or in three windows."""
    one = estimated(POOL[12])
    work_s = _cost_s(costs.prosody, one.frames)
    chunks = 3 if strategy.windows else 1
    if strategy.windows:
        frames = (one.spoken.end - one.spoken.start) // chunks + 2 * CONTEXT_FRAMES
        work_s += chunks * _cost_s(costs.window, frames)
    else:
        work_s += _cost_s(costs.whole, one.frames)
    utterance = _utterance([one], Listener(), 0.0)
    utterance.tally = Tally(work_s, one.audio_s, chunks)
    return utterance


class _Spells:
    """A shared machine, on which work takes longer for 5 to 40 s at a time."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        self._slowdown, self._until_s = 1.0, 0.0

    def work_s(self, work_s: float, now_s: float) -> float:
        """Return how long work takes if it begins now and takes `work_s` on an idle machine."""
        while now_s >= self._until_s:
            self._slowdown = self._chance.choice((1.0, 1.0, 1.25, 1.5))
            self._until_s += self._chance.uniform(5.0, 40.0)
        return work_s * self._slowdown


class _World:
    """The simulated time, the scheduler and the engine."""

    def __init__(
        self, strategy: Strategy, costs: Costs, run_s: float, spells: _Spells | None
    ) -> None:
        self._spells = spells
        self.strategy = strategy
        self.costs = costs
        self.run_s = run_s
        self.now_s = 0.0
        self.scheduler = strategy.scheduler()
        self.admission = Admission(strategy.headroom)
        self.admission.learn(_warm(strategy, costs))
        self.outcome = Outcome()
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._places = itertools.count()
        self._busy = False

    def after(self, wait_s: float, event: Callable[[], None]) -> None:
        heapq.heappush(self._events, (self.now_s + wait_s, next(self._places), event))

    def run(self) -> None:
        while self._events:
            self.now_s, _, event = heapq.heappop(self._events)
            event()

    def pick(self) -> None:
        """Let the engine begin the next work if it is free."""
        if self._busy or (work := self.scheduler.next()) is None:
            return
        self._busy = True
        if self._spells is not None:
            work.work_s = self._spells.work_s(work.work_s, self.now_s)
        self.outcome.work_s += work.work_s

        def done() -> None:
            self._busy = False
            work.session.finished(work)
            self.pick()

        self.after(work.work_s, done)


class _Session:
    """One caller: the turns, the texts in flight, and the playback."""

    def __init__(
        self, world: _World, to_come: Iterator[Turn], spoken: Callable[[str], Spoken]
    ) -> None:
        self._world = world
        self._turns = to_come
        self._spoken = spoken
        self._listener = Listener()
        self._texts: deque[tuple[Utterance, list[Spoken]]] = deque()
        self._work: Iterator[Work] | None = None
        self._to_arrive: deque[tuple[float, list[Spoken]]] = deque()
        self._texts_to_end = 0
        self._began_s = 0.0
        self._heard_until_s: float | None = None
        self._gap_s = 0.0
        self._begin_turn()

    def _begin_turn(self) -> None:
        turn = next(self._turns)
        if self._world.now_s + turn.silence_s > self._world.run_s:
            return
        sentences = [self._spoken(sentence) for sentence in turn.sentences]
        self._heard_until_s = None
        self._gap_s = 0.0
        if self._world.strategy.whole_reply:
            arrivals = [(turn.offsets_s[-1], sentences)]
        else:
            arrivals = [(at_s, [one]) for at_s, one in zip(turn.offsets_s, sentences, strict=True)]
        self._texts_to_end = len(arrivals)
        self._began_s = self._world.now_s + turn.silence_s
        self._to_arrive = deque(arrivals)
        self._world.after(turn.silence_s + arrivals[0][0], self._arrives)

    def _arrives(self) -> None:
        """Handle the arrival of the turn's next text."""
        world = self._world
        at_s, sentences = self._to_arrive.popleft()
        utterance = _utterance(sentences, self._listener, world.now_s)
        if not world.admission.accept(utterance):
            world.outcome.refused += 1
            self._begin_turn()
            return
        self._texts.append((utterance, sentences))
        if self._to_arrive:
            world.after(self._to_arrive[0][0] - at_s, self._arrives)
        if self._work is None:
            self._next_text()

    def _next_text(self) -> None:
        utterance, sentences = self._texts[0]
        utterance.begin(self._world.now_s)
        self._work = self._work_for(sentences)
        self._world.after(self._world.costs.pronounce_s, self._next_work)

    def _next_work(self) -> None:
        assert self._work is not None
        work = next(self._work, None)
        if work is not None:
            self._world.scheduler.submit(self._texts[0][0], work)
            self._world.pick()
            return
        utterance, _ = self._texts.popleft()
        utterance.complete()
        self._world.admission.end(utterance)
        self._work = None
        self._texts_to_end -= 1
        if self._texts:
            self._next_text()
        elif not self._texts_to_end:
            assert self._heard_until_s is not None
            self._world.outcome.gaps_s.append(self._gap_s)
            self._world.after(self._heard_until_s - self._world.now_s, self._begin_turn)

    def _work_for(self, sentences: list[Spoken]) -> Iterator[Work]:
        costs, strategy = self._world.costs, self._world.strategy
        if strategy.whole_reply:
            work_s = sum(
                _cost_s(costs.prosody, one.frames) + _cost_s(costs.whole, one.frames)
                for one in sentences
            )
            yield Work(self, work_s, sum(one.audio_s for one in sentences))
            return
        shared_frames = strategy.limits.longest_shared_frames
        for one in sentences:
            yield Work(self, _cost_s(costs.prosody, one.frames), 0.0)
            decoding = Decoding(
                one.frames,
                one.spoken,
                windowed=strategy.windows,
                frame_work_s=_cost_s(costs.window, shared_frames) / shared_frames,
                limits=strategy.limits,
            )
            while True:
                span = decoding.next(
                    self._listener.buffered_s(self._world.now_s),
                    self._world.scheduler.is_contended(self._texts[0][0]),
                )
                if span is None:
                    break
                cost = costs.whole if span.whole else costs.window
                heard = min(span.end, one.audible[1]) - max(span.start, one.audible[0])
                pause_s = one.pause_s if span.end >= one.spoken.end else 0.0
                audio_s = FRAME_S * max(0, heard) + pause_s
                yield Work(self, _cost_s(cost, span.work_frames), audio_s)

    def finished(self, work: Work) -> None:
        """Handle the end of `work`."""
        utterance, _ = self._texts[0]
        utterance.tally.engine_s += work.work_s
        now_s = self._world.now_s
        if work.audio_s > 0:
            utterance.add_audio(work.audio_s, now_s)
            self._world.outcome.audio_s += work.audio_s
            if self._heard_until_s is None:
                self._world.outcome.first_sound_s.append(now_s - self._began_s)
                self._heard_until_s = now_s
            late_s = max(0.0, now_s - self._heard_until_s)
            self._gap_s += late_s
            self._heard_until_s += late_s + work.audio_s
        self._next_work()


def simulate(
    strategy: Strategy,
    sessions: int,
    costs: Costs,
    spoken: Callable[[str], Spoken] = estimated,
    run_s: float = RUN_S,
    seed: int = 1,
    slow_spells: bool = False,
) -> Outcome:
    """Simulate sessions whose turns begin within `run_s` seconds.

    Args:
        strategy: How the server works.
        sessions: The number of simultaneous sessions.
        costs: What the work costs.
        spoken: Returns how the model speaks a sentence.
        run_s: The simulated time in seconds.
        seed: The seed of the turns.
        slow_spells: Whether work sometimes takes up to 50 % longer.
    """
    world = _World(strategy, costs, run_s, _Spells(seed) if slow_spells else None)
    for number in range(sessions):
        _Session(world, turns(seed, number), spoken)
    world.run()
    return world.outcome


def outcomes_table(runs: dict[tuple[int, str], Outcome]) -> str:
    """Return the outcomes by number of sessions and name, as a table in Markdown."""
    return table(
        "sessions | | first sound, s: median | 95th | turns with a gap | gaps, s | refused turns",
        (
            f"{sessions} | {name} | {outcome.first_sound(50):.2f} | {outcome.first_sound(95):.2f} "
            f"| {outcome.gap_share:.1%} | {sum(outcome.gaps_s):.1f} | {outcome.refused_share:.1%}"
            for (sessions, name), outcome in runs.items()
        ),
    )


def plot(runs: dict[tuple[int, str], Outcome], file: Path) -> None:
    """Draw first sound, gaps and refusals over the number of sessions."""
    # Imported here because it is a development package, which `bench.server` does not need.
    import matplotlib
    import matplotlib.pyplot as plt

    matplotlib.rcParams["svg.hashsalt"] = "scheduling"  # the same numbers give the same file
    figure, (sound, gaps, refused) = plt.subplots(1, 3, figsize=(12, 4), layout="constrained")
    for strategy in STRATEGIES:
        outcomes = [runs[sessions, strategy.name] for sessions in SESSIONS]
        for panel, values in (
            (sound, [outcome.first_sound(95) for outcome in outcomes]),
            (gaps, [100 * outcome.gap_share for outcome in outcomes]),
            (refused, [100 * outcome.refused_share for outcome in outcomes]),
        ):
            panel.plot(SESSIONS, values, marker="o", label=strategy.name)
    sound.set(title="first sound, 95th percentile", ylabel="seconds", yscale="log")
    gaps.set(title="turns with a gap", ylabel="%")
    refused.set(title="turns refused as busy", ylabel="%")
    for panel in (sound, gaps, refused):
        panel.set(xlabel="speaking sessions")
        panel.grid(alpha=0.3)
    gaps.legend(fontsize="small", loc="upper left")
    figure.savefig(file, metadata={"Date": None})
    plt.close(figure)


def choices() -> dict[tuple[int, str], Outcome]:
    """Simulate four sessions on a machine with slow spells, varying the values chosen by it."""

    def outcome(strategy: Strategy = WINDOWS) -> Outcome:
        return simulate(strategy, 4, Costs(), run_s=3 * RUN_S, slow_spells=True)

    runs = {(4, QUEUE.name): outcome(QUEUE)}
    for headroom in (1.0, 1.2, 1.35, 1.5):
        runs[4, f"headroom: {headroom}"] = outcome(replace(WINDOWS, headroom=headroom))
    for reserve_s in (0.0, 1.0, 1.5, 2.0, 2.5):
        scheduler = partial(Scheduler[Work], reserve_s)
        runs[4, f"reserve, s: {reserve_s}"] = outcome(replace(WINDOWS, scheduler=scheduler))
    for frames in (32, 64, 96, 192):
        limits = WindowLimits(longest_shared_frames=frames)
        runs[4, f"shared window, frames: {frames}"] = outcome(replace(WINDOWS, limits=limits))
    return runs


def main() -> None:
    """Simulate, print the report, and write it and the plot if `--out` names a file."""
    arguments = argument_parser("scheduling", __doc__).parse_args()
    runs = {
        (sessions, strategy.name): simulate(strategy, sessions, Costs())
        for sessions in SESSIONS
        for strategy in STRATEGIES
    }
    report = document(
        "# Which sentence is synthesized next: a simulation",
        f"`python -m bench.scheduling`. Each line is {RUN_S / 3600:g} h of simulated turns: "
        "replies of 2 to 5 sentences of 5 to 25 words at a language model's pace, with 2 to 8 s of "
        f"silence between them. The work costs `{Costs()}`.",
        "First sound counts from the arrival of a reply's first sentence. A gap is a buffer "
        "underrun: playback stops until more audio arrives. Only the strategies with deadlines "
        "have admission control. They refuse turns that the other strategies keep waiting.",
        "![First sound, turns with a gap and refused turns by number of sessions](scheduling.svg)",
        outcomes_table(runs),
        "Four sessions on a machine on which work takes up to 50 % longer for 5 to 40 s at a time, "
        "3 h for each line. The defaults of headroom, reserve and shared window were chosen by "
        "this table:",
        outcomes_table(choices()),
    )
    publish(report, arguments.out)
    if arguments.out:
        plot(runs, arguments.out.with_suffix(".svg"))


if __name__ == "__main__":
    main()
