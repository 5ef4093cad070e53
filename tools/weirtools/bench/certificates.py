"""A certificate for origins of the benchmarks that speak TLS."""

import subprocess


def make(folder):
    """(certificate, key) of 127.0.0.1, which is its own authority."""
    chain, key = folder / "authority.pem", folder / "key.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", key,
                    "-out", chain, "-days", "30", "-subj", "/CN=bench", "-addext", "subjectAltName=IP:127.0.0.1"],
                   check=True, capture_output=True)
    return chain, key
