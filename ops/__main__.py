"""Operates a deployed environment: `python -m ops <command> --env <environment>`."""

import argparse
import asyncio
import difflib
import functools
import inspect
import os
import sys
from collections.abc import Callable, Sequence
from typing import NoReturn

from ops import errors, values
from ops.aws import OpsError, check_region, connect_with_credentials
from ops.findings import report
from stacks.names import QUALIFIER
from stacks.settings import Settings, environment_names, load
from voice_agent_client.addresses import MAX_PRESIGNED_S

COMMANDS = ("preflight", "smoke", "presign", "capacity", "cost", "orphans")


def _preflight(settings: Settings, arguments: argparse.Namespace) -> int:
    from ops.preflight import preflight

    return report(preflight(connect_with_credentials(settings, arguments.region)))


def _smoke(settings: Settings, arguments: argparse.Namespace) -> int:
    from ops.smoke import smoke

    account = connect_with_credentials(settings, arguments.region)
    token = os.environ.get("VOICE_AGENT_TOKEN")
    return report(smoke(account, token=token, qualifier=arguments.qualifier, wait_s=arguments.wait))


def _presign(settings: Settings, arguments: argparse.Namespace) -> int:
    from ops.presign import presign

    print(
        presign(
            connect_with_credentials(settings, arguments.region),
            session_id=arguments.session,
            expires_s=arguments.expires,
            qualifier=arguments.qualifier,
        )
    )
    return 0


def _capacity(settings: Settings, arguments: argparse.Namespace) -> int:
    from ops import capacity

    return asyncio.run(
        capacity.measure(
            connect_with_credentials(settings, arguments.region),
            endpoint_name=arguments.endpoint or settings.endpoint_name,
            ladder=arguments.ladder,
            utterances=arguments.utterances,
            demand=_gather(capacity.Demand, arguments),
        )
    )


def _cost(settings: Settings, arguments: argparse.Namespace) -> int:
    from ops import cost

    check_region(settings, arguments.region)
    usage = _gather(cost.Usage, arguments)
    print("\n".join(cost.lines(settings, arguments.region or settings.region, usage)), flush=True)
    if unpriced := cost.unpriced(settings):
        raise OpsError(
            f"ops/{cost.PRICES.name} has no price for {' and '.join(unpriced)}, so the estimate is "
            "incomplete",
            "add the price there, with its source",
        )
    return 0


def _orphans(settings: Settings, arguments: argparse.Namespace) -> int:
    from ops.orphans import clear

    return clear(connect_with_credentials(settings, arguments.region), delete=arguments.delete)


def _gather[T](kind: Callable[..., T], arguments: argparse.Namespace) -> T:
    """Call `kind` with the options that are named like its parameters."""
    return kind(**{name: getattr(arguments, name) for name in inspect.signature(kind).parameters})


type Options = tuple[tuple[str, str, Callable[[str], object], object, str], ...]
"""Flag, placeholder, type, default and meaning of each option."""

_CAPACITY_OPTIONS: Options = (
    ("--ladder", "N,N,…", values.ladder, "1,2,4,8,16,32", "numbers of sessions that speak at once"),
    ("--utterances", "N", values.count, 10, "utterances of each session in each step"),
    (
        "--talk-ratio",
        "SHARE",
        values.fraction,
        0.4,
        "share of a conversation in which the agent speaks",
    ),
    (
        "--overload",
        "SHARE",
        values.fraction,
        0.01,
        "accepted share of the time in which more sessions speak than an instance can serve",
    ),
    (
        "--headroom",
        "SHARE",
        values.fraction,
        0.2,
        "share of an instance that stays free for new conversations while an instance starts",
    ),
    ("--conversations", "N", values.count, 100, "open conversations at the busiest time"),
)
_COST_OPTIONS: Options = (
    (
        "--turn-s",
        "S",
        values.seconds,
        20,
        "average seconds of a turn, from the prompt to the end of playback",
    ),
    ("--turns", "N", values.count, 8, "average number of turns in a conversation"),
    (
        "--input-tokens",
        "N",
        functools.partial(values.whole, least=0),
        800,
        "input tokens of a turn",
    ),
    (
        "--output-tokens",
        "N",
        functools.partial(values.whole, least=0),
        120,
        "output tokens of a turn",
    ),
    ("--vcpu", "N", values.number, 0.1, "average number of vCPUs that the agent uses"),
    ("--memory-gb", "GB", values.number, 0.4, "memory that the agent uses, in GB"),
)

_EPILOG = """\
examples:
  python -m ops preflight --env dev --region eu-central-1
  python -m ops smoke --env dev --wait 3600
  python -m ops cost --env prod

The Region comes from --region, from the environment's file, from AWS_REGION or the AWS profile.
Credentials come from the usual sources of the AWS SDKs. docs/operations.md is the runbook.

exit codes: 0 success; 1 a check found a problem, or AWS returned an error; 2 wrong usage
"""


class _Parser(argparse.ArgumentParser):
    """A parser that reports a mistake as one message, without the usage of every option."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"error: {message}\n→ see `{self.prog} --help`\n")


def parser() -> argparse.ArgumentParser:
    """Build the parser of the command line."""
    root = _Parser(
        prog="python -m ops",
        description="Check, measure and clean up one environment of the voice agent.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = root.add_subparsers(required=True, metavar="COMMAND", title="commands")
    environments = ", ".join(environment_names())

    def command(
        name: str, run: object, summary: str, *more: str, example: str = ""
    ) -> argparse.ArgumentParser:
        added = commands.add_parser(
            name,
            help=summary[0].lower() + summary[1:].rstrip("."),
            description="\n".join([summary, *more]),
            epilog=f"example:\n  python -m ops {name} --env dev {example}".rstrip(),
            formatter_class=argparse.RawDescriptionHelpFormatter,
            # `--del` must not delete.
            allow_abbrev=False,
        )
        added.add_argument(
            "--env", metavar="ENV", help=f"environment, required: one of {environments}"
        )
        added.add_argument(
            "--region", type=values.region, help="AWS Region, if the environment's file names none"
        )
        added.set_defaults(run=run, parser=added)
        return added

    command(
        "preflight",
        _preflight,
        "Check before a deploy whether the account is ready.",
        "Looks at credentials, Region, CDK bootstrap, stuck stacks, taken names, alarms, quotas,",
        "model access and service-linked roles. Changes nothing.",
    )

    smoke = command(
        "smoke",
        _smoke,
        "Check after a deploy that everything is in service and speaks.",
        "Speaks by a batch request, by a bidirectional stream and through the agent.",
        'An agent with auth = "jwt" needs a caller\'s token in VOICE_AGENT_TOKEN.',
        example="--wait 3600",
    )
    smoke.add_argument(
        "--wait",
        type=values.number,
        default=0,
        metavar="S",
        help="seconds to wait for an endpoint that is being created or updated (%(default)s)",
    )
    presign = command(
        "presign",
        _presign,
        "Print a wss:// address of the agent that a browser can open without credentials.",
        "The address is a secret until it expires.",
        example="--expires 60",
    )
    presign.add_argument(
        "--session",
        type=values.session,
        metavar="ID",
        help="id of the conversation, 33 to 256 characters (default: a new conversation)",
    )
    presign.add_argument(
        "--expires",
        type=functools.partial(values.whole, least=1, most=MAX_PRESIGNED_S),
        default=MAX_PRESIGNED_S,
        metavar="S",
        help=f"seconds until the address expires, 1 to {MAX_PRESIGNED_S} (%(default)s)",
    )
    for added in (smoke, presign):
        added.add_argument(
            "--qualifier",
            type=values.qualifier,
            default=QUALIFIER,
            metavar="NAME",
            help="endpoint of the AgentCore runtime (%(default)s)",
        )

    capacity = command(
        "capacity",
        _capacity,
        "Measure how many conversations one instance holds, and print the settings that follow.",
        "Needs an endpoint of one instance that serves nobody else during the measurement.",
        example="--ladder 1,2,4 --conversations 100",
    )
    capacity.add_argument(
        "--endpoint",
        type=values.endpoint,
        metavar="NAME",
        help="measure this SageMaker endpoint instead of the environment's",
    )
    cost = command(
        "cost",
        _cost,
        "Estimate what the environment costs at list prices.",
        "Needs no credentials. The prices and their sources are in ops/prices.toml.",
        example="--turns 12",
    )
    for added, options in ((capacity, _CAPACITY_OPTIONS), (cost, _COST_OPTIONS)):
        for flag, placeholder, kind, default, text in options:
            added.add_argument(
                flag, type=kind, default=default, metavar=placeholder, help=f"{text} (%(default)s)"
            )

    orphans = command(
        "orphans",
        _orphans,
        "List what the environment left behind after `cdk destroy`.",
        "Exits with 1 while something is left that could be deleted.",
        example="--delete",
    )
    orphans.add_argument(
        "--delete", action="store_true", help="delete what certainly belongs to the environment"
    )
    return root


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """Parse the command line; a mistake ends the process with exit code 2 and one message."""
    root = parser()
    known = f"Choose one of: {', '.join(COMMANDS)}."
    if not argv:
        root.error(f"no command. {known}")
    command = argv[0]
    if command.startswith("-") and command not in ("-h", "--help"):
        root.error(f"{command!r} is not a command, and the command comes first. {known}")
    if not command.startswith("-") and command not in COMMANDS:
        root.error(f"unknown command {command!r}{_similar(command, COMMANDS)} {known}")
    arguments, unknown = root.parse_known_args(argv)
    chosen: argparse.ArgumentParser = arguments.parser
    if unknown:
        options = sorted(option for option in chosen._option_string_actions if option != "-h")
        chosen.error(
            f"unknown argument {unknown[0]!r}{_similar(unknown[0], options)} "
            f"`{command}` accepts: {', '.join(options)}."
        )
    if arguments.env is None:
        chosen.error(f"--env is missing; choose one of: {', '.join(environment_names())}")
    return arguments


def _similar(typed: str, choices: Sequence[str]) -> str:
    found = difflib.get_close_matches(typed.partition("=")[0], choices, n=1)
    return f"; did you mean {found[0]!r}?" if found else "."


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command.

    Args:
        argv: The arguments; None for those of the process.

    Returns:
        The exit code: 0 for success; 1 if a check found a problem or AWS returned an error; 2 for
        wrong usage; 130 after Ctrl-C.
    """
    arguments = parse(sys.argv[1:] if argv is None else argv)
    return errors.run(
        lambda: int(arguments.run(load(arguments.env), arguments)), environment=arguments.env
    )


if __name__ == "__main__":
    sys.exit(main())
