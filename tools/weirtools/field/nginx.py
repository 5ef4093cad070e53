"""nginx in front of a case's host A, for HTTP/2 over TLS and what else it does as the web's servers do."""

import pathlib
import subprocess
import time

CONFIGURATION = """daemon off; pid {folder}/nginx.pid; error_log {folder}/error.log; worker_processes 1;
events {{ worker_connections 256; }}
http {{
  access_log off; client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/f;
  uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
  server {{
    listen {address}:443 ssl http2;
    ssl_certificate {chain}; ssl_certificate_key {key};
    {more}
    location / {{ proxy_pass http://{address}:80; proxy_http_version 1.1; proxy_set_header Host $host;
      proxy_set_header X-Protocol $server_protocol; }}
  }}
}}
"""


def start(stack, folder, case, authority):
    folder = pathlib.Path(folder) / "nginx"
    folder.mkdir()
    address = case.address("A")
    host = case.hosts["A"]
    chain, key = authority.host([case.host_name("A")], host.tls or "good", case.number * 32)
    (folder / "nginx.conf").write_text(CONFIGURATION.format(
        folder=folder, address=address, chain=chain, key=key, more=host.tls_options.get("nginx", "")))
    child = subprocess.Popen(["nginx", "-p", str(folder), "-e", str(folder / "error.log"), "-c", str(folder / "nginx.conf")],
                             stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def end():
        child.terminate()
        child.wait()
    stack.callback(end)
    for _ in range(200):
        if (folder / "nginx.pid").exists() or child.poll() is not None:
            break
        time.sleep(0.02)
