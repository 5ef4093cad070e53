"""A certificate authority with openssl(1), for the field laboratory."""

import pathlib
import ssl
import subprocess
import threading

EXTENSIONS = {
    "authority": "basicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign,cRLSign\nsubjectKeyIdentifier=hash\n",
    "host": "basicConstraints=CA:FALSE\nextendedKeyUsage=serverAuth\nsubjectAltName=%s\n",
    "client": "basicConstraints=CA:FALSE\nextendedKeyUsage=clientAuth\n",
}


def openssl(*words):
    subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True)


class Authority:
    """A root that the laboratory's trust store has, one that it lacks, an intermediate under the first, and their certificates."""

    def __init__(self, folder):
        self.folder, self.lock, self.count = pathlib.Path(folder), threading.Lock(), 0
        self.folder.mkdir()
        for name in ("root", "unknown"):
            self.make_key(name)
            openssl("req", "-x509", "-new", "-key", self.path(name, "key"), "-out", self.path(name, "pem"), "-days", 30,
                    "-subj", "/CN=Field %s" % name)
        self.issue("intermediate", "root", EXTENSIONS["authority"])

    def path(self, name, suffix):
        return self.folder / ("%s.%s" % (name, suffix))

    @property
    def root(self):
        return self.path("root", "pem").read_text()

    def make_key(self, name):
        openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", self.path(name, "key"))

    def issue(self, name, issuer, extensions, *validity):
        """Makes NAME.key and NAME.pem."""
        self.make_key(name)
        self.path(name, "cnf").write_text(extensions)
        openssl("req", "-new", "-key", self.path(name, "key"), "-out", self.path(name, "csr"), "-subj", "/CN=%s" % name)
        with self.lock:
            self.count += 1
            serial = self.count
        openssl("x509", "-req", "-in", self.path(name, "csr"), "-CA", self.path(issuer, "pem"), "-CAkey",
                self.path(issuer, "key"), "-set_serial", serial, "-extfile", self.path(name, "cnf"),
                "-out", self.path(name, "pem"), *(validity or ("-days", 20)))
        return self.path(name, "pem"), self.path(name, "key")

    def client(self):
        """(certificate, key) files of a client."""
        with self.lock:
            is_there = self.path("client", "pem").exists()
        return (self.path("client", "pem"), self.path("client", "key")) if is_there else self.issue(
            "client", "root", EXTENSIONS["client"])

    def host(self, names, kind, number):
        """(chain, key) files for hosts. Kinds: good, expired, wrong-host, unknown, self-signed, chain, no-intermediate."""
        if kind == "wrong-host":
            names = ["elsewhere.example.org"]
        subjects = ["IP:" + name if name.replace(".", "").isdigit() or ":" in name else "DNS:" + name for name in names]
        extensions = EXTENSIONS["host"] % ",".join(subjects)
        # A negative lifetime gives a certificate that has ended.
        validity = ("-days", -1) if kind == "expired" else ()
        issuer = {"unknown": "unknown", "self-signed": "unknown", "chain": "intermediate",
                  "no-intermediate": "intermediate"}.get(kind, "root")
        chain, key = self.issue("host-%d" % number, issuer, extensions, *validity)
        if kind == "chain":
            chain.write_text(chain.read_text() + self.path("intermediate", "pem").read_text())
        return chain, key

    def context(self, names, kind, number, newest=None, oldest=None, needs_client=False):
        """A server's TLS context; `oldest` and `newest` are versions such as TLSv1_2."""
        chain, key = self.host(names, kind, number)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(chain, key)
        if newest:
            context.set_ciphers("ALL:@SECLEVEL=0")
            context.minimum_version = ssl.TLSVersion.TLSv1
            context.maximum_version = getattr(ssl.TLSVersion, newest)
        if oldest:
            context.minimum_version = getattr(ssl.TLSVersion, oldest)
        if needs_client:
            context.verify_mode = ssl.CERT_REQUIRED
            context.load_verify_locations(self.path("root", "pem"))
        return context
