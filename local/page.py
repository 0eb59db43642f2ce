"""Serves the page in `web/`, and tells it where the agent is and who writes the replies."""

import asyncio
from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from local.aws_wire.serving import run_until_signalled, serve_app, stand_in_parser

WEB = Path(__file__).resolve().parent.parent / "web"


def make_app(agent_url: str, replies: str) -> Starlette:
    """Return the page's server.

    `/config.json` gives the page the address of the agent's `/ws`, and a sentence for people about
    who writes the replies.
    """

    async def config(_: Request) -> JSONResponse:
        agent_ws_url = agent_url.replace("http", "ws", 1) + "/ws"
        return JSONResponse({"agent_ws_url": agent_ws_url, "replies": replies})

    return Starlette(
        routes=[Route("/config.json", config), Mount("/", StaticFiles(directory=WEB, html=True))]
    )


if __name__ == "__main__":
    parser = stand_in_parser("python -m local.page", __doc__)
    parser.add_argument("--agent-url", required=True, help="http://host:port of the agent")
    parser.add_argument("--replies", required=True, help="who writes the replies, for people")
    options = parser.parse_args()
    server = serve_app(make_app(options.agent_url, options.replies), options.host, options.port)
    asyncio.run(run_until_signalled(server, options.host))
