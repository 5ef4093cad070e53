"""Asks for one path again and again on fresh and kept connections, until SIGTERM, and prints how long each answer took."""

import contextlib
import json
import signal
import socket
import sys
import time


# How a kept connection looks that the server has closed.
ENDED = ("closed", "ConnectionResetError", "BrokenPipeError")


def ask(connection, request):
    """The status of one whole answer."""
    connection.sendall(request)
    got = b""
    while b"\r\n\r\n" not in got:
        if not (part := connection.recv(65536)):
            return "closed"
        got += part
    head, _, body = got.partition(b"\r\n\r\n")
    length = next((int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")), 0)
    left = length - len(body)
    while left > 0:
        if not (part := connection.recv(65536)):
            return "cut"
        left -= len(part)
    return head.split(b" ", 2)[1].decode()


def main():
    port, path = int(sys.argv[1]), sys.argv[2]
    request = ("GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n" % (path, port)).encode()
    times, failures, ended, kept, count = [], {}, [], None, 0
    signal.signal(signal.SIGTERM, lambda *_: ended.append(True))
    print("ready", flush=True)
    while not ended:
        begin, count, is_new = time.monotonic(), count + 1, False
        while True:
            try:
                # A player's first request comes on a new connection, the others on that one.
                if kept is None or count % 5 == 0:
                    if kept:
                        kept.close()
                    kept, is_new = socket.create_connection(("127.0.0.1", port), timeout=30), True
                status = ask(kept, request)
            except OSError as error:
                status = type(error).__name__
            # A server may close a connection between two requests: a client asks again on a new one (RFC 9112 §9.3.1).
            if is_new or status not in ENDED:
                break
            kept.close()
            kept = None
        times.append(time.monotonic() - begin)
        if status != "200":
            failures[status] = failures.get(status, 0) + 1
            with contextlib.suppress(OSError, AttributeError):
                kept.close()
            kept = None
        time.sleep(0.01)
    print(json.dumps({"times": times, "failures": failures}))


main()
