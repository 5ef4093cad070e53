"""Films of known packets in every shape that HLS has, and what is in a file of them: for tools/check/exports."""
