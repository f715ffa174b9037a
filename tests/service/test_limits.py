"""Limits of the service, on an application that waits."""

import asyncio
from typing import Any

from evroute.service.app import LimitedService


def ask(service: LimitedService, body: bytes = b"", path: str = "/v1/plan") -> Any:
    """Return a coroutine of the messages of an answer to a body without a stated length."""
    parts = [
        {"type": "http.request", "body": body[k : k + 10], "more_body": True}
        for k in range(0, len(body), 10)
    ] + [{"type": "http.request", "body": b"", "more_body": False}]

    async def answer() -> list[dict[str, Any]]:
        sent: list[dict[str, Any]] = []

        async def receive() -> dict[str, Any]:
            return parts.pop(0)

        async def send(message: Any) -> None:
            sent.append(message)

        await service({"type": "http", "path": path, "headers": []}, receive, send)
        return sent

    return answer()


def test_more_requests_than_may_wait_are_answered_with_429() -> None:
    go_on = asyncio.Event()

    async def slow(scope: Any, receive: Any, send: Any) -> None:
        assert (await receive())["body"] == b"0123456789abc"
        await go_on.wait()
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def main() -> None:
        service = LimitedService(slow, token="", most_bytes=20, most_waiting=2)
        waiting = [asyncio.create_task(ask(service, b"0123456789abc")) for _ in range(2)]
        await asyncio.sleep(0)
        (start, _) = await ask(service, b"0123456789abc")
        assert start["status"] == 429
        assert (b"retry-after", b"1") in start["headers"]
        go_on.set()
        assert [sent[0]["status"] for sent in await asyncio.gather(*waiting)] == [200, 200]
        assert (await ask(service, b"0123456789abc"))[0]["status"] == 200, "free again"
        assert (await ask(service, b"0" * 21))[0]["status"] == 413, "counted without a length"

    asyncio.run(main())
