"""Actions of a case's origin: each function returns an action for a rule, which changes a reply.

    ("*.ts", needs(cookie="token"))        a rule: a glob over the path (or LETTER:PATH), and an action
"""

import base64
import email.utils
import gzip
import struct
import time
import zlib

from weirtools.origins import server


def needs(cookie=None, header=None, value=None, query=None, user=None, peer=None, agent=None, status=403, challenge=None):
    """Refuses a request without a cookie (NAME or NAME=VALUE), a header field, a query item, a user or an address."""
    def action(request, reply):
        passes = [True]
        if cookie:
            name, has_value, wanted = cookie.partition("=")
            passes.append(request.cookies.get(name) == wanted if has_value else name in request.cookies)
        if header:
            given = request.headers.get(header.lower())
            passes.append(given == request.server.text(value) if value else given is not None)
        if query:
            name, has_value, wanted = query.partition("=")
            passes.append(request.query.get(name) == wanted if has_value else name in request.query)
        if user:
            wanted = "Basic " + base64.b64encode(user.encode()).decode()
            passes.append(request.headers.get("authorization") == wanted)
        if agent:
            passes.append(any(part in request.headers.get("user-agent", "") for part in agent))
        if peer:
            passes.append(request.peer == request.server.text(peer))
        if not all(passes):
            reply.refuse(status, **({"WWW_Authenticate": challenge} if challenge else {}))
    return action


def must_not(header=None, cookie=None, contains=None):
    """Answers 400 to a request that has the field or the cookie."""
    def action(request, reply):
        given = request.headers.get(header.lower()) if header else request.cookies.get(cookie)
        if given is not None and (contains is None or contains in given):
            reply.refuse(400)
    return action


def sets(*cookies, **headers):
    """Adds Set-Cookie fields (with expires in an hour for the word SOON) and other fields."""
    def action(request, reply):
        soon = time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(time.time() + 3600))
        reply.cookies += [request.server.text(cookie).replace("SOON", soon) for cookie in cookies]
        for name, value in headers.items():
            reply.headers[name.replace("_", "-")] = request.server.text(value)
    return action


def redirect(target, status=302, cookies=(), keep_query=False):
    """Redirects; {name} is the last part of the path."""
    def action(request, reply):
        sets(*cookies)(request, reply)
        set_cookies, location = reply.cookies, request.server.text(target).replace("{name}", request.path.rpartition("/")[2])
        if keep_query and "?" in request.target:
            location += "?" + request.target.partition("?")[2]
        reply.refuse(status, b"moved\n", Location=location)
        reply.cookies = set_cookies
    return action


def gives(status=None, body=None, reason=None, **headers):
    """Another status, body or field; a field given as None is left out."""
    def action(request, reply):
        if status:
            reply.status, reply.reason = status, reason or "As Told"
            if status not in (200, 201, 203, 206):
                reply.has_ranges = False
        if body is not None:
            reply.body = body if isinstance(body, bytes) else request.server.text(body).encode()
        for name, value in headers.items():
            if value is None:
                reply.headers.pop(name.replace("_", "-"), None)
            else:
                reply.headers[name.replace("_", "-")] = request.server.text(value)
    return action


def frames(**fields):
    """Sets fields of the reply: framing, claimed, has_ranges, delay, rate, cut, is_reset, keep, hold."""
    def action(_, reply):
        for name, value in fields.items():
            assert hasattr(reply, name)
            setattr(reply, name, value)
    return action


def pauses(count, seconds):
    """Holds a body back after so many bytes."""
    def action(_, reply):
        reply.pauses.append(server.Pause(count, lambda conversation, _: conversation.stay(seconds)))
    return action


def claims(difference=None, length=None, framing="length", factor=None):
    """A Content-Length that is not the body's."""
    def action(_, reply):
        size = len(reply.body)
        reply.claimed = length if length is not None else int(size * factor) if factor else size + difference
        reply.framing, reply.has_ranges = framing, False
    return action


def ends_early(count, step=0):
    """Only the first bytes, as if they were all; `step` bytes fewer in each further answer."""
    def action(request, reply):
        seen = request.server.memory("ends early")
        earlier = seen[request.path] = seen.get(request.path, -1) + 1
        reply.body, reply.has_ranges = reply.body[:count - step * earlier], False
    return action


def weakens(is_other=False, rest='W/"2"'):
    """A strong ETag on what begins at 0 and a weak one on later ranges, or that of `rest`, whatever If-Range says; with `is_other` these
    are of other bytes. None is no ETag."""
    def action(request, reply):
        is_range = not request.headers.get("range", "bytes=0-").startswith("bytes=0-")
        tag = rest if is_range else '"1"'
        if tag:
            reply.headers["ETag"] = tag
        if is_range and is_other:
            reply.body = bytes(byte ^ 0xFF for byte in reply.body)
    return action


def ages(age, is_other=False):
    """A Last-Modified alone, that is so many seconds ago; with `is_other` later ranges are of other bytes, whatever If-Range says."""
    def action(request, reply):
        reply.headers["Last-Modified"] = email.utils.formatdate(time.time() - age, usegmt=True)
        if is_other and not request.headers.get("range", "bytes=0-").startswith("bytes=0-"):
            reply.body = bytes(byte ^ 0xFF for byte in reply.body)
    return action


def misstates(end=0, total=None, status=206, claims=0, is_placed=True):
    """Answers a range with an end that is off by `end`, another total, status or length, or without Content-Range."""
    def action(request, reply):
        first, _, last = request.headers.get("range", "").removeprefix("bytes=").partition("-")
        if not first or not last or not reply.has_ranges:
            return
        start, stop, size = int(first), int(last) + 1 + end, len(reply.body)
        reply.body, reply.status, reply.reason, reply.has_ranges = reply.body[start:stop], status, "Part", False
        if is_placed:
            reply.headers["Content-Range"] = "bytes %d-%d/%s" % (start, stop - 1, size if total is None else total(stop - start))
        if claims:
            reply.claimed = len(reply.body) + claims
    return action


def coded(coding, label=None):
    """Compresses the body whatever the request accepts."""
    def action(_, reply):
        reply.body, reply.headers["Content-Encoding"] = CODERS[coding](reply.body), label or coding
    return action


def cut_at(share, is_reset=False):
    """Ends the connection after a share of the body."""
    def action(_, reply):
        reply.cut, reply.is_reset = int(len(reply.body) * share), is_reset
    return action


def moves(host, to):
    """From now on the host's name has another host's address, and this one ends each connection without a reply."""
    def action(request, reply):
        site = request.server
        site.names[site.text(host)] = [site.text(to)]
        reply.cut = -1
    return action


def sometimes(every, action):
    """The action on each n-th request for the rule."""
    def chosen(request, reply):
        memory = request.server.memory(id(chosen))
        memory["count"] = memory.get("count", 0) + 1
        if memory["count"] % every == 0:
            action(request, reply)
    return chosen


def first(count, action):
    """The action on the first requests for each path."""
    def chosen(request, reply):
        memory = request.server.memory(id(chosen))
        memory[request.path] = memory.get(request.path, 0) + 1
        if memory[request.path] <= count:
            action(request, reply)
    return chosen


def after(count, action):
    """The action on all but the first requests for the rule."""
    def chosen(request, reply):
        memory = request.server.memory(id(chosen))
        memory["count"] = memory.get("count", 0) + 1
        if memory["count"] > count:
            action(request, reply)
    return chosen


def both(*actions):
    def action(request, reply):
        for one in actions:
            if not reply.is_final:
                one(request, reply)
    return action


def unless_range(action):
    """The action on requests for the whole."""
    def chosen(request, reply):
        if request.headers.get("range", "bytes=0-") == "bytes=0-":
            action(request, reply)
    return chosen


def brotli(data):
    """Brotli with stored blocks alone (RFC 7932, 9.2)."""
    bits, count, out = 0, 0, bytearray()

    def put(value, size):
        nonlocal bits, count
        bits |= value << count
        count += size
        while count >= 8:
            out.append(bits & 255)
            bits, count = bits >> 8, count - 8
    put(0, 1)  # a window of 16 bits
    for position in range(0, len(data), 65536):
        block = data[position:position + 65536]
        put(0, 1)  # not the last
        put(0, 2)  # four nibbles of length
        put(len(block) - 1, 16)
        put(1, 1)  # stored
        put(0, -count % 8)
        out += block
    put(3, 2)  # the last, empty
    put(0, -count % 8)
    return bytes(out)


def zstandard(data):
    """Zstandard with raw blocks alone (RFC 8878)."""
    out = b"\x28\xb5\x2f\xfd" + b"\xa0" + struct.pack("<I", len(data))
    blocks = [data[position:position + 65536] for position in range(0, len(data), 65536)] or [b""]
    for index, block in enumerate(blocks):
        out += struct.pack("<I", len(block) << 3 | (index == len(blocks) - 1))[:3] + block
    return out


def raw_deflate(data):
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


CODERS = {"gzip": gzip.compress, "x-gzip": gzip.compress, "deflate": zlib.compress, "raw-deflate": raw_deflate, "br": brotli,
          "zstd": zstandard, "as-is": lambda data: data}
