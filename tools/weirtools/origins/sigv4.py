"""AWS Signature Version 4 of HTTP requests, reckoned from its specification: what tools/lab/object-store holds requests against."""

import hashlib
import hmac
import re
import time
import urllib.parse

AUTHORIZATION = re.compile(r"AWS4-HMAC-SHA256 Credential=([^,]+),\s*SignedHeaders=([^,]+),\s*Signature=([0-9a-f]{64})")


class Refusal(Exception):
    """A code of S3's, with the reason."""

    def __init__(self, code, reason):
        super().__init__("%s: %s" % (code, reason))
        self.code, self.reason = code, reason


def signature(secret, method, path, query, headers, signed, payload, date, scope):
    """The signature: `headers` by their names in lower case, `scope` as DAY/REGION/SERVICE/aws4_request."""
    pairs = urllib.parse.parse_qsl(query, keep_blank_values=True)
    encoded = sorted((urllib.parse.quote(name, safe="-_.~"), urllib.parse.quote(value, safe="-_.~")) for name, value in pairs)
    request = "\n".join([
        method, path, "&".join("%s=%s" % pair for pair in encoded),
        *["%s:%s" % (name, " ".join(headers[name].split())) for name in signed], "", ";".join(signed), payload])
    text = "\n".join(["AWS4-HMAC-SHA256", date, "/".join(scope), hashlib.sha256(request.encode()).hexdigest()])
    key = ("AWS4" + secret).encode()
    for word in scope:
        key = hmac.new(key, word.encode(), hashlib.sha256).digest()
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


def check(method, target, headers, keys, region, token=None, now=None):
    """Raises `Refusal` unless a request to S3 is signed as it must be.

    `keys` are secrets by access key; every x-amz- field, and Host, must be signed; `token` is the session token that must come."""
    match = AUTHORIZATION.fullmatch(headers.get("authorization", ""))
    if not match:
        raise Refusal("AccessDenied", "no signature of version 4")
    (access, *scope), signed, given = match[1].split("/"), match[2].split(";"), match[3]
    date, payload = headers.get("x-amz-date", ""), headers.get("x-amz-content-sha256", "")
    if access not in keys:
        raise Refusal("InvalidAccessKeyId", "no such access key")
    if scope != [date[:8], region, "s3", "aws4_request"]:
        raise Refusal("AuthorizationHeaderMalformed", "the scope %s is not that of %s" % ("/".join(scope), region))
    if abs(time.mktime(time.strptime(date, "%Y%m%dT%H%M%SZ")) - time.timezone - (now or time.time())) > 900:
        raise Refusal("RequestTimeTooSkewed", date)
    must = {name for name in headers if name.startswith("x-amz-")} | {"host", "x-amz-content-sha256"}
    if signed != sorted(signed) or not must <= set(signed) <= set(headers):
        raise Refusal("AccessDenied", "%s is not signed" % ", ".join(sorted(must - set(signed))))
    if token and headers.get("x-amz-security-token") != token:
        raise Refusal("InvalidToken", "another session token")
    path, _, query = target.partition("?")
    if not hmac.compare_digest(signature(keys[access], method, path, query, headers, signed, payload, date, scope), given):
        raise Refusal("SignatureDoesNotMatch", "the signature is another one")
