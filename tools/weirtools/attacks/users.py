"""Another user of this machine: his requests, and his listener in the place of a daemon that has died."""

import os
import pathlib
import shutil
import subprocess
import sys
import time

from weirtools.attacks.stage import split

OTHER = 65534
ASK = """
import socket, sys
connection = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
connection.sendall(sys.stdin.buffer.read())
while part := connection.recv(65536):
    sys.stdout.buffer.write(part)
"""
# Connects to the commands' socket, and prints what it says, or the error.
REACH = """
import socket, sys
try:
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(sys.argv[1])
    connection.sendall(b"GET /api/v1/assets HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\n\\r\\n")
    print(connection.recv(65536))
except OSError as error:
    print(type(error).__name__)
"""
# Accepts, answers with an empty object, and prints all that it is sent.
LISTEN = """
import socket, sys
listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
print("ready", flush=True)
while True:
    connection, _ = listener.accept()
    connection.settimeout(2)
    print(connection.recv(65536), flush=True)
    connection.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\n\\r\\n{}")
    connection.close()
"""


def as_other(script, *words, **options):
    def become():
        os.setgroups([])
        os.setgid(OTHER)
        os.setuid(OTHER)

    return subprocess.Popen(
        [shutil.which("python3", path="/usr/bin:/bin") or sys.executable, "-I", "-c", script, *map(str, words)],
        preexec_fn=become,
        cwd="/",
        stdout=subprocess.PIPE,
        **options,
    )


def ask(stage, path, method="GET"):
    head = "%s %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n" % (method, path, stage.host)
    child = as_other(ASK, stage.weir.port, stdin=subprocess.PIPE)
    return split(child.communicate(head.encode(), timeout=30)[0])


def run(stage):
    if os.geteuid() != 0:
        stage.notes.append("not played: another user is become only by root")
        return
    before = stage.api("GET", "/assets")[1]
    for path in (
        "/",
        "/metrics",
        "/api/v1/assets",
        "/offline/film.m3u8",
        stage.stored,
        "/%s/film/media.m3u8" % stage.origin.url,
        "/auto/%s/other/media.m3u8" % stage.origin.url,
    ):
        status, _, body = ask(stage, path)
        stage.case("another user's GET of " + path, None if 400 <= status < 500 and b"film" not in body else "status %d" % status)
    for path in sorted(pathlib.Path(stage.weir.state).rglob("*")):
        if path.is_socket():
            child = as_other(REACH, path)
            said = child.communicate(timeout=30)[0]
            stage.case("another user at %s" % path.name, None if b"PermissionError" in said else said.decode("utf-8", "replace")[-80:])
    stage.case("the library", None if stage.api("GET", "/assets")[1] == before else "has changed")
    readable = [
        path
        for root in (stage.weir.store, stage.weir.state)
        for path in pathlib.Path(root).rglob("*")
        if path.is_file()
        and "film" not in path.name
        and path.stat().st_mode & 0o077
        and not any(parent.stat().st_mode & 0o005 == 0 for parent in path.parents if pathlib.Path(stage.folder) in parent.parents)
    ]
    stage.case("files of the store and the state", "%s is open to others" % readable[0] if readable else None)
    # The daemon has died, and another user listens in its place.
    port = stage.weir.port
    stage.weir.kill()
    thief = as_other(LISTEN, port)
    try:
        if not thief.stdout.readline():
            stage.notes.append("not played: the port could not be taken")
            return
        for words in (["list"], ["add", stage.origin.url + "/film/media.m3u8"], ["mode"], ["doctor"]):
            status, output, _ = stage.weir.command(*words)
            if words != ["doctor"]:  # It reports, and need not fail.
                stage.case("weir %s at another user's listener" % words[0], None if status else "exit 0: " + output[:80])
    finally:
        time.sleep(0.2)
        thief.kill()
        heard = thief.communicate()[0]
    stage.case("the token", "was sent to another user" if stage.token.encode() in heard else None)
    stage.weir.start()
