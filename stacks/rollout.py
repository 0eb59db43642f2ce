"""Durations of a rollout of the endpoint, for the templates and for the estimates of `ops`."""

BAKE_S = 600
"""Seconds for which the alarms watch new instances, first with a part of the traffic and then with
all of it, before the rollout continues. This is twice the period of the slowest alarm."""

START_S = 320
"""Seconds from the request for an instance to its first served request. AWS's sample measured this
once on ml.g5.xlarge (aws-samples/sample-kokoro-tts-for-ai-agents)."""
