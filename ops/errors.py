"""Runs a command, and prints its error with the next step."""

import sys
from collections.abc import Callable

from ops.aws import AWS_ERRORS, OpsError, UsageError, explain, with_next_step
from stacks.settings import SettingsError, environment_names


def run(command: Callable[[], int], environment: str) -> int:
    """Run a command, and print the error that ends it.

    Args:
        command: The command, which returns its exit code.
        environment: The name of the environment, as the user typed it.

    Returns:
        The exit code: that of the command; 1 if AWS returned an error or the command cannot
        continue; 2 for wrong usage; 130 after Ctrl-C.
    """
    try:
        return command()
    except SettingsError as error:
        print_error(str(error), _settings_step(environment))
        return 2
    except OpsError as error:
        print_error(str(error))
        return 2 if isinstance(error, UsageError) else 1
    except AWS_ERRORS as error:
        print_error(*explain(error))
        return 1
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130


def print_error(message: str, next_step: str = "") -> None:
    """Print an error, and the next step on a line of its own."""
    print(f"error: {with_next_step(message, next_step)}", file=sys.stderr)


def _settings_step(environment: str) -> str:
    if environment in environment_names():
        return f"correct environments/{environment}.toml; docs/settings.md describes every key"
    return "choose one of these environments"
