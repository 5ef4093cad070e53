"""Tests of weirtools/link/renaming.py. Run by `swift test`."""

import unittest

from weirtools.link import renaming


def made():
    return renaming.Renaming(["127.0.0.1:9", "localhost:9"], "example.com:80")


class Requests(unittest.TestCase):
    def test_own_names_become_the_upstreams_wherever_the_bytes_are_cut(self):
        sent = (b"GET /a HTTP/1.1\r\nhost:LocalHost:9\r\nOrigin: http://127.0.0.1:9\r\nX: 127.0.0.1:9\r\n\r\n"
                b"POST /b HTTP/1.1\r\nHost: 127.0.0.1:9\r\nContent-Length: 23\r\n\r\nHost: 127.0.0.1:9\r\n\r\nab"
                b"GET /c HTTP/1.1\r\nHost: other:9\r\nOrigin: null\r\n\r\n")
        wanted = (b"GET /a HTTP/1.1\r\nHost: example.com:80\r\nOrigin: http://example.com:80\r\nX: 127.0.0.1:9\r\n\r\n"
                  b"POST /b HTTP/1.1\r\nHost: example.com:80\r\nContent-Length: 23\r\n\r\nHost: 127.0.0.1:9\r\n\r\nab"
                  b"GET /c HTTP/1.1\r\nHost: other:9\r\nOrigin: null\r\n\r\n")
        for step in (1, 2, 7, len(sent)):
            requests = made()
            parts = [requests.feed(sent[at:at + step]) for at in range(0, len(sent), step)]
            self.assertEqual(b"".join(parts) + requests.rest(), wanted)

    def test_what_is_no_request_goes_through_as_it_is(self):
        for sent in (b"EHLO 127.0.0.1:9\r\n", b"\x16\x03\x01 Host: 127.0.0.1:9\r\n\r\n", b"A" * 70_000):
            with self.subTest(sent[:20]):
                self.assertEqual(made().feed(sent), sent)

    def test_the_end_lets_go_what_is_held(self):
        requests = made()
        self.assertEqual(requests.feed(b"Host: 127.0.0.1:9"), b"")
        self.assertEqual(requests.rest(), b"Host: 127.0.0.1:9")

    def test_after_a_body_of_unknown_length_nothing_is_touched(self):
        head = b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
        body = b"5\r\nabcde\r\n0\r\n\r\nGET / HTTP/1.1\r\nHost: 127.0.0.1:9\r\n\r\n"
        requests = made()
        self.assertEqual(requests.feed(head + body[:3]) + requests.feed(body[3:]), head + body)


if __name__ == "__main__":
    unittest.main()
