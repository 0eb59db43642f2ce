"""`capacity`: from a measured ladder of speaking sessions to the settings of scaling."""

import itertools
import math
from dataclasses import dataclass

from ops.aws import Account
from ops.load import Step, climb

SCALE_OUT_S = 320
"""From asking for an instance to its first request: measured once on ml.g5.xlarge by AWS's sample
(aws-samples/sample-kokoro-tts-for-ai-agents)."""

REFUSED = "sessions are open, no more are taken"
"""What the container says when it admits no more."""


@dataclass(frozen=True)
class Demand:
    """What an instance's capacity is reckoned against.

    Attributes:
        talk_ratio: The fraction of a conversation in which the agent speaks.
        overload: The fraction of the time in which more conversations than an instance holds may
            speak at once.
        headroom: The fraction of an instance kept free for who comes while another is being added.
        conversations: Open at once at the busiest time.
    """

    talk_ratio: float
    overload: float
    headroom: float
    conversations: int


@dataclass(frozen=True)
class Advice:
    """The settings that follow from a ladder.

    Attributes:
        speaking: Sessions that speak at once within the limits.
        conversations: Open ones of which no more than that speak at once, but for the overload.
        sessions_per_instance: The target of scaling.
        instances: For the demand, with every instance at the target.
    """

    speaking: int
    conversations: int
    sessions_per_instance: int
    instances: int


def speaking_limit(steps: list[Step], first_audio_p95_ms: float) -> int:
    """The most sessions that spoke within the limits, up to the first step that did not.

    Args:
        steps: Of the ladder, upwards.
        first_audio_p95_ms: The alarm's threshold, in milliseconds.
    """
    within = itertools.takewhile(lambda step: step.within(first_audio_p95_ms), steps)
    return max((step.sessions for step in within), default=0)


def conversations_for(speaking: int, talk_ratio: float, overload: float) -> int:
    """How many conversations an instance holds that carries `speaking` at once.

    Conversations speak independently, so that the number that do at one moment is binomial. The
    result is the largest n with P(X > speaking) ≤ overload for X ~ B(n, talk_ratio).

    Args:
        speaking: Sessions that may speak at once; none hold no conversation.
        talk_ratio: Chance that one speaks at a moment.
        overload: Accepted chance that more do.
    """
    if speaking < 1:
        return 0
    n = speaking
    while _chance_of_more(speaking, n + 1, talk_ratio) <= overload:
        n += 1
    return n


def _chance_of_more(limit: int, n: int, p: float) -> float:
    within = sum(math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(limit + 1))
    return 1 - within


def advise(speaking: int, demand: Demand) -> Advice:
    """The settings for a measured capacity, `speaking` sessions at once on one instance."""
    conversations = conversations_for(speaking, demand.talk_ratio, demand.overload)
    target = max(1, math.floor(conversations * (1 - demand.headroom))) if conversations else 0
    instances = math.ceil(demand.conversations / target) if target else 0
    return Advice(speaking, conversations, target, instances)


def explain(advice: Advice, demand: Demand) -> list[str]:
    """The arithmetic, a line a step, and the settings to write."""
    if not advice.speaking:
        return ["not even one session speaks within the limits: use a larger instance type"]
    arrivals = advice.conversations - advice.sessions_per_instance
    return [
        f"{advice.speaking} sessions speak at once on one instance within the limits",
        f"a conversation speaks {demand.talk_ratio:.0%} of its time: of {advice.conversations} "
        f"open ones more than {advice.speaking} speak at once in {demand.overload:.1%} of the time "
        "or less",
        f"{demand.headroom:.0%} headroom: {advice.conversations} × {1 - demand.headroom:.2f} → "
        f"{advice.sessions_per_instance}; the other {arrivals} may come in the {SCALE_OUT_S} s "
        "that an instance takes to start",
        f"{demand.conversations} conversations ÷ {advice.sessions_per_instance} → "
        f"{advice.instances} instances",
        "",
        "[speech.instances]",
        f"sessions_per_instance = {advice.sessions_per_instance}",
        f"maximum = {advice.instances}",
    ]


async def measure(
    account: Account, *, endpoint_name: str, ladder: list[int], utterances: int, demand: Demand
) -> int:
    """Climb the ladder against an endpoint of one instance, and print what follows.

    Args:
        account: Where the endpoint is.
        endpoint_name: Of an endpoint that serves nobody else meanwhile.
        ladder: Sessions of each step, upwards; it ends at the first step beyond the limits.
        utterances: How many each session speaks in a step.
        demand: What to reckon with.

    Returns:
        The exit code: 1 if not even one session speaks within the limits.
    """
    limit_ms = account.settings.alarms.first_audio_p95_ms
    print(f"{endpoint_name}: limits are p95 of first audio {limit_ms} ms, no underrun", flush=True)
    print("sessions  p50 ms  p95 ms  underruns  errors  s of speech", flush=True)
    steps: list[Step] = []
    async for step in climb(account, endpoint_name, ladder, utterances):
        steps.append(step)
        print(step.line(), flush=True)
        if not step.within(limit_ms):
            break
    if any(REFUSED in error for step in steps for error in step.errors):
        print(
            "the container admits no more: raise speech.instances.sessions_per_instance, deploy, "
            "and measure again"
        )
    speaking = speaking_limit(steps, limit_ms)
    if speaking == ladder[-1]:
        print("the last step held: the instance may carry more, try a longer --ladder")
    print("\n".join(explain(advise(speaking, demand), demand)))
    return 0 if speaking else 1
