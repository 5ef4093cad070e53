"""Tests of weirtools/origins/server.py: what tools/origin, whose tests are in TestSupportTests, does not use. Run by `swift test`."""

import contextlib
import socket
import threading
import unittest

from weirtools.origins import server

GET = b"GET /a/b?c=%20d HTTP/1.1\r\nHost: origin\r\n\r\n"


def exchange(origin, *requests):
    """All bytes that come back on one connection until the server closes it, or nothing more comes."""
    got = b""
    host, port = origin.listeners[0].getsockname()
    with socket.create_connection((host, port), timeout=5) as client, contextlib.suppress(TimeoutError):
        for request in requests:
            client.sendall(request)
        client.shutdown(socket.SHUT_WR)
        while more := client.recv(65536):
            got += more
    return got


class Answers(unittest.TestCase):
    def serving(self, answer):
        origin = server.Server(answer)
        origin.listen()
        self.addCleanup(origin.close)
        return origin

    def test_bytes_are_sent_as_they_are_and_end_the_connection(self):
        self.assertEqual(exchange(self.serving(lambda request: b"no HTTP at all"), GET), b"no HTTP at all")

    def test_a_callable_has_the_connection_and_the_head(self):
        def answer(connection, head):
            connection.sendall(b"<%b>" % head.split(b"\r\n")[0])
        self.assertEqual(exchange(self.serving(lambda request: answer), GET), b"<GET /a/b?c=%20d HTTP/1.1>")

    def test_a_request_is_read_by_its_parts(self):
        seen = []
        exchange(self.serving(lambda request: seen.append(request) or server.Reply(b"x")),
                 b"POST /a/b?c=%20d HTTP/1.1\r\nCookie: e=f; g=h\r\nContent-Length: 3\r\n\r\nxyz" + GET)
        one, other = seen
        self.assertEqual((one.method, one.path, one.query, one.cookies, one.body),
                         ("POST", "/a/b", {"c": " d"}, {"e": "f", "g": "h"}, b"xyz"))
        self.assertEqual((other.method, other.body), ("GET", b""))

    def test_a_cut_before_the_head_sends_nothing(self):
        reply = server.Reply(b"body")
        reply.cut = -1
        self.assertEqual(exchange(self.serving(lambda request: reply), GET), b"")

    def test_a_wrong_length_ends_the_connection_and_may_stand_on_a_chunked_body(self):
        reply = server.Reply(b"body")
        reply.framing, reply.claimed = "chunked", 0
        text = exchange(self.serving(lambda request: reply), GET)
        self.assertIn(b"Transfer-Encoding: chunked\r\nContent-Length: 0\r\n", text)
        self.assertTrue(text.endswith(b"4\r\nbody\r\n0\r\n\r\n"))
        short = server.Reply(b"body")
        short.claimed = 9
        self.assertTrue(short.ends_connection(4))
        self.assertFalse(server.Reply(b"body").ends_connection(4))

    def test_a_pause_beyond_the_end_is_none_unless_it_counts_there(self):
        for at_end, expected in ((False, 0), (True, 1)):
            held, reply = [], server.Reply(b"body")
            reply.pauses.append(server.Pause(100, lambda *_, held=held: held.append(True), at_end))
            exchange(self.serving(lambda request, reply=reply: reply), GET)
            self.assertEqual(len(held), expected)

    def test_a_client_that_leaves_is_noticed_while_a_reply_waits(self):
        ended, reply, states = threading.Event(), server.Reply(b"body"), []
        reply.pauses.append(server.Pause(2, lambda conversation, _: conversation.wait()))
        origin = self.serving(lambda request: reply)
        origin.has_sent = lambda request: (states.append(request.entry["state"]), ended.set())
        exchange(origin, GET)
        self.assertTrue(ended.wait(5))
        self.assertEqual(states, ["gone"])


class Ranges(unittest.TestCase):
    def test_conditions_are_heeded_only_where_they_are_told(self):
        class Asked:
            headers = {"range": "bytes=1-2", "if-range": '"old"'}
        plain, guarded = server.Reply(b"body"), server.Reply(b"body")
        guarded.guards = ('"new"',)
        self.assertEqual((plain.choose(Asked, 4), plain.status), ((1, 3), 206))
        self.assertEqual((guarded.choose(Asked, 4), guarded.status), ((0, 4), 200))
