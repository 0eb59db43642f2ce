"""The CDK app: the stacks of the environment that `-c env=<name>` names."""

import sys

import aws_cdk as cdk
from cdk_nag import AwsSolutionsChecks

from stacks.agent import AgentStack
from stacks.images import ImagesStack
from stacks.network import NetworkStack
from stacks.observability import ObservabilityStack
from stacks.settings import Settings, SettingsError, environment_names, load
from stacks.speech import SpeechStack


def build(app: cdk.App, settings: Settings) -> None:
    """Add the stacks of an environment to the app, and connect them."""
    images = ImagesStack(app, settings=settings)
    network = NetworkStack(app, settings=settings) if settings.network else None
    observability = ObservabilityStack(app, settings=settings)
    speech = SpeechStack(
        app, settings=settings, image=images.speech, alarm_topic=observability.alarm_topic
    )
    agent = AgentStack(
        app, settings=settings, image=images.agent, endpoint=speech.endpoint, network=network
    )
    for user in (speech, agent):
        # The URI of an image that Docker pushes is plain text, which implies no order.
        user.add_stack_dependency(images)


def chosen(app: cdk.App) -> Settings:
    """Load the settings of the environment that the command line names.

    Raises:
        SettingsError: The command line names no environment, or its settings are invalid.
    """
    name = app.node.try_get_context("env")
    if not name:
        raise SettingsError(
            "name an environment with -c env=<name>, or with ENV=<name>; there are: "
            + ", ".join(environment_names())
        )
    return load(str(name))


def _next_step(app: cdk.App) -> str:
    """Return the line that says which file to correct; empty if there is no such file."""
    name = app.node.try_get_context("env")
    if name in environment_names():
        # Rules across keys are checked only once each of these keys is valid.
        return (
            f"\n→ correct environments/{name}.toml; docs/settings.md describes every key. "
            "There may be more errors; correct these first"
        )
    return ""


def main() -> None:
    """Synthesize the app; report each mistake in the settings in one line, without a traceback."""
    app = cdk.App(analytics_reporting=False)
    try:
        settings = chosen(app)
    except SettingsError as error:
        sys.exit(f"error: {error}{_next_step(app)}")
    build(app, settings)
    cdk.Validations.of(app).add_plugins(AwsSolutionsChecks(app, verbose=True))
    app.synth()


if __name__ == "__main__":
    main()
