"""`capacity`: measures how many sessions can speak at once, and derives the scaling settings."""

import itertools
import math
from dataclasses import dataclass

from ops.advice import next_step
from ops.aws import Account, OpsError
from ops.load import Step, climb
from stacks.rollout import START_S

REFUSED = "sessions are open, no more are taken"
"""The text in the container's refusal of one session too many."""


@dataclass(frozen=True)
class Demand:
    """The demand for which the settings are calculated.

    Attributes:
        talk_ratio: The fraction of a conversation in which the agent speaks.
        overload: The accepted fraction of the time in which more conversations speak at once than
            an instance can serve.
        headroom: The fraction of an instance that stays free for the conversations that begin
            while another instance starts.
        conversations: The number of open conversations at the busiest time.
    """

    talk_ratio: float
    overload: float
    headroom: float
    conversations: int


@dataclass(frozen=True)
class Advice:
    """The settings that follow from a measurement.

    Attributes:
        speaking: The number of sessions that can speak at once within the limits.
        conversations: The number of open conversations of which at most `speaking` speak at once,
            except for the accepted overload.
        sessions_per_instance: The scaling target.
        instances: The number of instances for the demand, with every instance at the target.
    """

    speaking: int
    conversations: int
    sessions_per_instance: int
    instances: int


def speaking_limit(steps: list[Step], first_audio_p95_ms: float) -> int:
    """Return the largest number of sessions within the limits, before the first step beyond them.

    Args:
        steps: The measured steps of the ladder, in increasing order.
        first_audio_p95_ms: The threshold of the alarm, in milliseconds.
    """
    within = itertools.takewhile(lambda step: step.within(first_audio_p95_ms), steps)
    return max((step.sessions for step in within), default=0)


def conversations_for(speaking: int, talk_ratio: float, overload: float) -> int:
    """Return how many conversations an instance can hold if `speaking` of them may speak at once.

    Conversations speak independently of each other, so the number that speak at one moment follows
    a binomial distribution. The result is the largest n with P(X > speaking) ≤ overload for
    X ~ B(n, talk_ratio).

    Args:
        speaking: The number of sessions that can speak at once; the result is 0 for 0.
        talk_ratio: The probability that a conversation speaks at a given moment.
        overload: The accepted probability that more than `speaking` conversations speak.
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
    """Calculate the settings for an instance on which `speaking` sessions can speak at once."""
    conversations = conversations_for(speaking, demand.talk_ratio, demand.overload)
    target = max(1, math.floor(conversations * (1 - demand.headroom))) if conversations else 0
    instances = math.ceil(demand.conversations / target) if target else 0
    return Advice(speaking, conversations, target, instances)


def explain(advice: Advice, demand: Demand) -> list[str]:
    """Return the calculation, one line for each step, and the settings to write."""
    if not advice.speaking:
        return ["not even one session can speak within the limits: use a larger instance type"]
    arrivals = advice.conversations - advice.sessions_per_instance
    return [
        f"{advice.speaking} sessions can speak at once on one instance within the limits",
        f"the agent speaks {demand.talk_ratio:.0%} of a conversation: of {advice.conversations} "
        f"open conversations, more than {advice.speaking} speak at once in at most "
        f"{demand.overload:.1%} of the time",
        f"{demand.headroom:.0%} headroom: {advice.conversations} × {1 - demand.headroom:.2f} → "
        f"{advice.sessions_per_instance}; the other {arrivals} may begin in the {START_S} s "
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
    """Measure an endpoint of one instance, and print the settings that follow.

    Args:
        account: The account of the endpoint.
        endpoint_name: The name of an endpoint that serves nobody else during the measurement.
        ladder: The number of sessions in each step, in increasing order. The measurement ends at
            the first step beyond the limits.
        utterances: The number of utterances that each session speaks in a step.
        demand: The demand for which the settings are calculated.

    Returns:
        The exit code: 1 if not even one session can speak within the limits.

    Raises:
        OpsError: No session of the first step could speak at all.
    """
    limit_ms = account.settings.alarms.first_audio_p95_ms
    print(
        f"{endpoint_name}: limits: p95 of first audio {limit_ms} ms, no buffer underrun", flush=True
    )
    print("sessions  p50 ms  p95 ms  underruns  errors  s of speech", flush=True)
    steps: list[Step] = []
    async for step in climb(account, endpoint_name, ladder, utterances):
        steps.append(step)
        print(step.line(), flush=True)
        if not step.within(limit_ms):
            break
    if any(REFUSED in error for step in steps for error in step.errors):
        print(
            "the container refused sessions: raise speech.instances.sessions_per_instance, deploy, "
            "and measure again"
        )
    elif steps[0].errors and not steps[0].first_audio_ms:
        smoke = f"run `python -m ops smoke --env {account.settings.name}`"
        raise OpsError(
            f"{endpoint_name}: no session could speak", next_step(steps[0].errors[0]) or smoke
        )
    speaking = speaking_limit(steps, limit_ms)
    if speaking == ladder[-1]:
        print("the last step was within the limits: try a longer --ladder to find the limit")
    print("\n".join(explain(advise(speaking, demand), demand)))
    return 0 if speaking else 1
