"""Serves the page in `web/`, and tells it where the agent is."""

import argparse
import asyncio
from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from local.aws_wire.serving import run_until_signalled, serve_app

WEB = Path(__file__).resolve().parent.parent / "web"


def make_app(agent_url: str) -> Starlette:
    """The page's server; `/config.json` gives the page the address of the agent's `/ws`."""

    async def config(_: Request) -> JSONResponse:
        return JSONResponse({"agent_ws_url": agent_url.replace("http", "ws", 1) + "/ws"})

    return Starlette(
        routes=[Route("/config.json", config), Mount("/", StaticFiles(directory=WEB, html=True))]
    )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m local.page", description=__doc__)
    parser.add_argument("--agent-url", required=True, help="http://host:port of the agent")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0, help="0, the default, takes a free one")
    return parser.parse_args()


if __name__ == "__main__":
    options = _options()
    server = serve_app(make_app(options.agent_url), options.host, options.port)
    asyncio.run(run_until_signalled(server, options.host))
