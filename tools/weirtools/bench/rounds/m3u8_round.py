"""One round of tools/bench playlist: PyPI's m3u8 loads a playlist again and again and dumps it.

    m3u8_round.py FILE COUNT

Prints the median of loading and that of loading with dumping, in microseconds.
"""

import pathlib
import statistics
import sys
import time

import m3u8


def main():
    text = pathlib.Path(sys.argv[1]).read_text()
    loading, whole = [], []
    for _ in range(int(sys.argv[2])):
        start = time.perf_counter()
        playlist = m3u8.loads(text)
        middle = time.perf_counter()
        if len(playlist.dumps()) < 100:
            sys.exit("nothing was dumped")
        whole.append(time.perf_counter() - start)
        loading.append(middle - start)
    print(statistics.median(loading) * 1e6, statistics.median(whole) * 1e6)


if __name__ == "__main__":
    main()
