"""Finds an OpenAI-compatible server and the model that it serves."""

import os
import re
from dataclasses import dataclass
from http import HTTPStatus

import httpx

from local.bedrock.http_client import CONNECT_TIMEOUT_S, UpstreamError, is_loopback, reason

LIST_TIMEOUT_S = 10.0
"""How long the server may take to list its models."""

_BASE_URL_ADVICE = "is it the base URL of an OpenAI-compatible server? It usually ends in /v1"
_API_KEY_ADVICE = "set OPENAI_API_KEY to a key that the server accepts"


@dataclass(frozen=True)
class Server:
    """An OpenAI-compatible server and the model that answers.

    Attributes:
        url: The base URL as the user typed it, such as `http://127.0.0.1:11434/v1`.
        model: The model's name.
        listed: The models that the server lists.
    """

    url: str
    model: str
    listed: tuple[str, ...] = ()

    @classmethod
    def find(cls, url: str, model: str | None = None) -> "Server":
        """Check that the server answers, and choose the model.

        Args:
            url: The base URL.
            model: The model's name; None takes the first that the server lists. A server that
                answers `/models` with an error may still have the model, unless another base URL,
                such as the same with `/v1`, lists models.

        Raises:
            UpstreamError: The server does not answer, answers with an error, has no model, or
                lists its models without `model`.
        """
        try:
            listed = _list_models(url)
        except httpx.HTTPStatusError as error:
            status = error.response.status_code
            problem = f"{url} answers /models with status {status}"
            if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
                raise UpstreamError(f"{problem}: {_API_KEY_ADVICE}") from error
            advice = _advice(url)
            if model and advice == _BASE_URL_ADVICE:
                return cls(url, model)  # not every server lists its models
            raise UpstreamError(f"{problem}: {advice}") from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise UpstreamError(
                f"no OpenAI-compatible server answers at {url} ({reason(error)}): start it first, "
                "for example with `ollama serve`, or correct the URL"
            ) from error
        except (KeyError, TypeError, ValueError) as error:
            raise UpstreamError(f"{url} does not list models: {_advice(url)}") from error
        if not listed:
            raise UpstreamError(
                f"the server at {url} has no model: add one first, for example with "
                "`ollama pull llama3.2`"
            )
        if model and not any(_is_same(model, name) for name in listed):
            raise UpstreamError(
                f"the server at {url} has no model {model!r}; it lists {', '.join(listed)}; choose "
                "one with MODEL=… (make) or --model … (python -m local)"
            )
        return cls(url, model or listed[0], listed)

    def __str__(self) -> str:
        """Say in one line which model answers, and which others there are."""
        others = ", ".join(name for name in self.listed if not _is_same(self.model, name))
        return f"{self.model} at {self.url}" + (f" (also there: {others})" if others else "")


def usual_url(url: str) -> str | None:
    """Return the base URL that `url` was probably meant to be; None if it looks like one."""
    base = re.sub(r"/(models|(chat/)?completions)$", "", url.rstrip("/"))
    if not re.search(r"/v\d", base):
        base += "/v1"
    return None if base == url.rstrip("/") else base


def _advice(url: str) -> str:
    """Return what to do about a base URL at which no models are listed."""
    usual = usual_url(url)
    try:
        if usual and _list_models(usual):
            return f"did you mean BEDROCK={usual}?"
    except (httpx.HTTPError, KeyError, TypeError, ValueError):
        pass
    return _BASE_URL_ADVICE


def api_key() -> str:
    """Return `OPENAI_API_KEY`, or a placeholder for servers that need no key."""
    return os.environ.get("OPENAI_API_KEY") or "no-key"


def _is_same(model: str, listed: str) -> bool:
    """Return whether a server that lists `listed` has `model`.

    Ollama adds the tag `latest` to names without one, and ignores upper and lower case.
    """
    return listed.casefold() in (model.casefold(), f"{model.casefold()}:latest")


def _list_models(url: str) -> tuple[str, ...]:
    response = httpx.get(
        f"{url.rstrip('/')}/models",
        headers={"authorization": f"Bearer {api_key()}"},
        trust_env=not is_loopback(url),
        timeout=httpx.Timeout(LIST_TIMEOUT_S, connect=CONNECT_TIMEOUT_S),
    )
    response.raise_for_status()
    # Ollama without a model lists null.
    return tuple(str(model["id"]) for model in response.json()["data"] or ())
