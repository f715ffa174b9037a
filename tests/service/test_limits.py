"""Limits of the service, on applications that wait, fail or echo."""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from evroute.service.guard import BODY, LimitedService, Limits, LoggedFailures

OWN = [(b"host", b"127.0.0.1:8000")]
Messages = list[dict[str, Any]]


def limited(application: Any, token: str = "", **limits: Any) -> LimitedService:
    return LimitedService(
        application, token=token, hosts=("127.0.0.1", "*.lan"), limits=Limits(**limits)
    )


async def echo(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": bytes(scope[BODY])})


async def ask(
    service: LimitedService,
    body: bytes = b"",
    path: str = "/v1/plan",
    headers: Any = OWN,
    receive: Callable[[], Awaitable[Any]] | None = None,
) -> tuple[int, bytes]:
    """Return the answer to a body without a stated length, in parts of ten bytes; 0 if none."""
    sent: Messages = []
    parts = [
        {"type": "http.request", "body": body[k : k + 10], "more_body": True}
        for k in range(0, len(body), 10)
    ] + [{"type": "http.request", "body": b"", "more_body": False}]

    async def part() -> dict[str, Any]:
        return parts.pop(0)

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": path, "headers": headers}
    await service(scope, receive or part, send)
    if not sent:
        return 0, b""
    return sent[0]["status"], b"".join(each.get("body", b"") for each in sent[1:])


class Waiting:
    """An application that answers when it is allowed to, and the bodies that it got."""

    def __init__(self) -> None:
        self.go_on = asyncio.Event()
        self.bodies: list[bytes] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.bodies.append(bytes(scope[BODY]))
        await self.go_on.wait()
        await echo(scope, receive, send)

    async def reached(self, n: int) -> None:
        """Wait until n requests are here."""
        while len(self.bodies) < n:
            await asyncio.sleep(0)


def test_more_requests_than_may_wait_are_answered_with_429() -> None:
    async def main() -> None:
        slow = Waiting()
        service = limited(slow, waiting=2)
        waiting = [asyncio.create_task(ask(service, b"0123456789abc")) for _ in range(2)]
        await slow.reached(2)
        assert slow.bodies == [b"0123456789abc"] * 2
        status, content = await ask(service)
        assert (status, json.loads(content)["detail"][:8]) == (429, "too many")
        slow.go_on.set()
        assert [each for each, _ in await asyncio.gather(*waiting)] == [200, 200]
        assert await ask(service, b"free again") == (200, b"free again")

    asyncio.run(main())


def test_a_body_is_counted_without_a_stated_length() -> None:
    service = limited(echo, body_bytes=20)
    assert asyncio.run(ask(service, b"0" * 20)) == (200, b"0" * 20)
    status, content = asyncio.run(ask(service, b"0" * 21))
    assert status == 413
    assert json.loads(content) == {"detail": "a body has at most 20 bytes. Send fewer rows"}


@pytest.mark.parametrize("length", [b"21", b"9" * 5000, b"-1", b"1e3", b""])
def test_a_stated_length_that_is_too_large_or_no_number_is_refused(length: bytes) -> None:
    headers = [*OWN, (b"content-length", length)]
    assert asyncio.run(ask(limited(echo, body_bytes=20), b"", headers=headers))[0] == 413


def test_all_bodies_together_are_bounded_and_their_bytes_are_given_back() -> None:
    async def main() -> None:
        slow = Waiting()
        service = limited(slow, bodies_bytes=50)
        first = asyncio.create_task(ask(service, b"0" * 30))
        await slow.reached(1)
        assert (await ask(service, b"0" * 21))[0] == 429
        second = asyncio.create_task(ask(service, b"0" * 20))
        await slow.reached(2)
        slow.go_on.set()
        assert [each for each, _ in await asyncio.gather(first, second)] == [200, 200]
        assert (await ask(service, b"0" * 50))[0] == 200
        assert service.held.body_bytes == 0

    asyncio.run(main())


def test_large_bodies_are_answered_one_after_the_other_and_small_ones_meanwhile() -> None:
    async def main() -> None:
        slow = Waiting()
        service = limited(slow, large_bytes=10)
        tasks = [asyncio.create_task(ask(service, b"0" * 11)) for _ in range(2)]
        await slow.reached(1)
        tasks.append(asyncio.create_task(ask(service, b"0" * 10)))
        await slow.reached(2)
        assert slow.bodies == [b"0" * 11, b"0" * 10]
        slow.go_on.set()
        assert [each for each, _ in await asyncio.gather(*tasks)] == [200] * 3

    asyncio.run(main())


def test_a_body_that_does_not_come_is_answered_with_408() -> None:
    async def never() -> dict[str, Any]:
        await asyncio.Event().wait()
        raise AssertionError

    service = limited(echo, read_s=0.01)
    status, content = asyncio.run(ask(service, receive=never))
    assert status == 408
    assert json.loads(content) == {"detail": "the body did not come within 0.01 s"}


def test_a_client_that_is_gone_has_no_answer_and_holds_nothing() -> None:
    messages: Messages = [
        {"type": "http.request", "body": b"half", "more_body": True},
        {"type": "http.disconnect"},
    ]

    async def gone() -> dict[str, Any]:
        return messages.pop(0)

    service = limited(echo)
    assert asyncio.run(ask(service, receive=gone)) == (0, b"")
    assert (service.held.body_bytes, service.held.requests) == (0, 0)


@pytest.mark.parametrize(
    ("host", "status"),
    [
        (b"127.0.0.1", 200),
        (b"127.0.0.1:80", 200),
        (b"a.lan:1", 200),
        (b"lan", 400),
        (b"evil.example", 400),
        (b"127.0.0.1.evil", 400),
        (b"127.0.0.1:evil.example", 400),
        (b"127.0.0.1:80:80", 400),
        (b"127.0.0.1:", 200),
        (b"[::1]:80", 400),
        (b"", 400),
    ],
)
def test_the_host_is_one_of_the_service(host: bytes, status: int) -> None:
    found, content = asyncio.run(ask(limited(echo), headers=[(b"host", host)]))
    assert found == status
    assert status == 200 or "Host" in json.loads(content)["detail"]


def test_health_needs_no_token_and_does_not_wait() -> None:
    async def main() -> None:
        service = limited(echo, token="secret", waiting=0)
        assert (await ask(service))[0] == 401
        assert (await ask(service, path="/healthz"))[0] == 200
        right = [*OWN, (b"authorization", b"Bearer secret")]
        assert (await ask(service, headers=right))[0] == 429

    asyncio.run(main())


def test_an_unexpected_error_is_logged_with_the_id_of_its_answer(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def fails(scope: Any, receive: Any, send: Any) -> None:
        raise KeyError("secret of the server")

    with caplog.at_level(logging.ERROR, logger="evroute.service"):
        status, content = asyncio.run(ask(limited(LoggedFailures(fails))))
    answer = json.loads(content)
    assert status == 500
    assert set(answer) == {"detail", "id"}
    assert "secret" not in content.decode()
    assert len(answer["id"]) == 32
    assert answer["id"] in caplog.records[0].getMessage()
    assert caplog.records[0].exc_info


def test_workers_together_keep_the_limits_of_the_service() -> None:
    limits = Limits(bodies_bytes=100, body_bytes=20, waiting=9)
    of_each = limits.of_worker(4)
    assert (of_each.bodies_bytes, of_each.waiting) == (25, 2)
    assert (of_each.body_bytes, of_each.large_bytes) == (limits.body_bytes, limits.large_bytes)
    many = limits.of_worker(50)
    assert (many.bodies_bytes, many.waiting) == (20, 1), "always one body and one request"
    assert limits.of_worker(1) == limits


def test_numbers_need_the_token_and_never_wait() -> None:
    async def main() -> None:
        service = limited(echo, token="secret", waiting=0)
        assert (await ask(service, path="/metrics"))[0] == 401
        right = [*OWN, (b"authorization", b"Bearer secret")]
        assert (await ask(service, path="/metrics", headers=right))[0] == 200

    asyncio.run(main())
