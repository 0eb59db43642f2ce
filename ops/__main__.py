"""`python -m ops <command> --env <environment>`: operate what is deployed."""

import argparse
import asyncio
import inspect
import os
import sys
from collections.abc import Callable

from ops.aws import AWS_ERRORS, OpsError, connect, explain
from ops.findings import report
from stacks.names import QUALIFIER
from stacks.settings import Settings, SettingsError, load


def _preflight(settings: Settings, arguments: argparse.Namespace) -> int:
    from ops.preflight import preflight

    return report(preflight(connect(settings, arguments.region)))


def _smoke(settings: Settings, arguments: argparse.Namespace) -> int:
    from ops.smoke import smoke

    account = connect(settings, arguments.region)
    token = os.environ.get("VOICE_AGENT_TOKEN")
    return report(smoke(account, token=token, qualifier=arguments.qualifier, wait_s=arguments.wait))


def _presign(settings: Settings, arguments: argparse.Namespace) -> int:
    from ops.presign import presign

    print(
        presign(
            connect(settings, arguments.region),
            session_id=arguments.session or None,
            expires_s=arguments.expires,
            qualifier=arguments.qualifier,
        )
    )
    return 0


def _capacity(settings: Settings, arguments: argparse.Namespace) -> int:
    from ops import capacity

    return asyncio.run(
        capacity.measure(
            connect(settings, arguments.region),
            endpoint_name=arguments.endpoint or settings.endpoint_name,
            ladder=arguments.ladder,
            utterances=arguments.utterances,
            demand=_gather(capacity.Demand, arguments),
        )
    )


def _cost(settings: Settings, arguments: argparse.Namespace) -> int:
    from ops import cost

    usage = _gather(cost.Usage, arguments)
    print("\n".join(cost.lines(settings, arguments.region or settings.region, usage)))
    return 0


def _orphans(settings: Settings, arguments: argparse.Namespace) -> int:
    from ops.orphans import clear

    return clear(connect(settings, arguments.region), delete=arguments.delete)


def _gather[T](kind: Callable[..., T], arguments: argparse.Namespace) -> T:
    """Make what takes the options by their names."""
    return kind(**{name: getattr(arguments, name) for name in inspect.signature(kind).parameters})


def _ladder(text: str) -> list[int]:
    steps = [int(step) if step.isdigit() else 0 for step in text.split(",")]
    if steps != sorted(set(steps)) or steps[0] < 1:
        raise argparse.ArgumentTypeError(f"{text!r}: must be growing numbers, such as 1,2,4")
    return steps


def _fraction(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"{text!r}: must lie between 0 and 1")
    return value


type Options = tuple[tuple[str, Callable[[str], object], object, str], ...]
"""Flag, type, default and meaning of each."""

_CAPACITY_OPTIONS: Options = (
    ("--ladder", _ladder, "1,2,4,8,16,32", "sessions a step"),
    ("--utterances", int, 10, "by each session of a step"),
    ("--talk-ratio", _fraction, 0.4, "share of a conversation the agent speaks"),
    ("--overload", _fraction, 0.01, "share of the time it may be too many"),
    ("--headroom", _fraction, 0.2, "kept free while an instance is added"),
    ("--conversations", int, 100, "at once, at the busiest time"),
)
_COST_OPTIONS: Options = (
    ("--turn-s", float, 20, "from prompt to end of playback"),
    ("--turns", int, 8, "of a conversation, on average"),
    ("--input-tokens", int, 800, "of the model, a turn"),
    ("--output-tokens", int, 120, "of the model, a turn"),
    ("--vcpu", float, 0.1, "in use by the agent, on average"),
    ("--memory-gb", float, 0.4, "in use by the agent"),
)


def parser() -> argparse.ArgumentParser:
    """The command line."""
    root = argparse.ArgumentParser(prog="python -m ops", description=__doc__)
    commands = root.add_subparsers(required=True)

    def command(name: str, run: object, text: str) -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=text, description=text)
        added.add_argument("--env", required=True, help="the environment, as in environments/")
        added.add_argument("--region", help="where the environment's file names none")
        added.set_defaults(run=run)
        return added

    command("preflight", _preflight, "check the account before a deploy")

    smoke = command("smoke", _smoke, "check what is in service, and speak on every way in")
    smoke.add_argument("--wait", type=float, default=0, metavar="S", help="wait for the endpoint")
    presign = command("presign", _presign, "print a browser's address of the agent's WebSocket")
    presign.add_argument("--session", help="conversation's id, 33-256 characters (default: new)")
    presign.add_argument("--expires", type=int, default=300, metavar="S", help="at most 300")
    for asking in (smoke, presign):
        asking.add_argument("--qualifier", default=QUALIFIER, help="the runtime's endpoint")

    capacity = command("capacity", _capacity, "measure how many conversations an instance holds")
    capacity.add_argument("--endpoint", help="measure this one instead of the environment's")
    cost = command("cost", _cost, "what the environment costs at list prices")
    for added, options in ((capacity, _CAPACITY_OPTIONS), (cost, _COST_OPTIONS)):
        for flag, kind, default, text in options:
            added.add_argument(flag, type=kind, default=default, help=f"{text} (%(default)s)")

    orphans = command("orphans", _orphans, "list what the environment left behind")
    orphans.add_argument("--delete", action="store_true", help="delete what is certainly its own")
    return root


def main(argv: list[str] | None = None) -> int:
    """Run a command: 0 all is well, 1 a check found a problem or AWS failed, 2 bad usage."""
    arguments = parser().parse_args(argv)
    try:
        return int(arguments.run(load(arguments.env), arguments))
    except SettingsError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except OpsError as error:
        print(f"error: {error}", file=sys.stderr)
    except AWS_ERRORS as error:
        print("error: " + "\n→ ".join(filter(None, explain(error))), file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
