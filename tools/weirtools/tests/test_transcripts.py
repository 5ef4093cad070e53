"""Reading and comparing transcripts."""

import unittest

from weirtools import ROOT
from weirtools.transcripts import Load, fetch_seconds, is_same, plain, transcripts, verdict

PAGE = r"""# A page

```
weir get URL
```

```
$ weir list
NAME  TIME
$ weir stop
```

```terminal
$ weir get -- curl URL \
> -b 'session=1'
> is printed
$ weir remove film
remove film, 2 MB? [y/N] y
```

```
$ tools/link --preset 3G
```

```
$ weir record https://tv.example/news/master.m3u8
```
"""


class TranscriptTests(unittest.TestCase):
    def test_blocks_with_commands_are_found(self):
        found = transcripts("page", PAGE)
        self.assertEqual([one.place for one in found], ["page:7", "page:13", "page:21", "page:25"])
        self.assertEqual([step.command for step in found[0].steps], ["weir list", "weir stop"])
        self.assertEqual([step.printed for step in found[0].steps], [["NAME  TIME"], []])
        self.assertEqual([one.kind for one in found], ["", "terminal", "", ""])
        self.assertEqual([one.needs_checkout for one in found], [False, False, True, False])
        self.assertEqual([one.needs_host for one in found], [False, False, False, True])

    def test_commands_of_several_lines_and_answers_are_read(self):
        paste, removal = transcripts("page", PAGE)[1].steps
        self.assertEqual(paste.command, "weir get -- curl URL \\\n-b 'session=1'")
        self.assertEqual(paste.printed, ["> is printed"])
        self.assertEqual(removal.answers, ["y"])

    def test_rates_durations_and_progress_may_differ(self):
        written = ["0%  0:00/0:12  847 B  3.3 KB/s", "fetched 226 KB in 0:01, 9.2 MB/s, 21 requests"]
        self.assertTrue(is_same(plain(written), plain([" 50% ███ 0:06", "fetched 226 KB in 0:02, 812 KB/s, 21 requests"])))
        self.assertTrue(is_same(plain(written), plain(["fetched 226 KB in less than a second, 812 KB/s, 21 requests"])))
        self.assertFalse(is_same(plain(written), plain(["fetched 226 KB in 0:02, 812 KB/s, 22 requests"])))

    def test_an_ellipsis_stands_for_any_lines(self):
        self.assertTrue(is_same(["a", "…", "d"], ["a", "b", "c", "d"]))
        self.assertTrue(is_same(["a", "…", "d"], ["a", "d"]))
        self.assertFalse(is_same(["a", "…", "d"], ["a", "b"]))
        self.assertFalse(is_same(["a"], ["a", "b"]))

    def test_a_slow_installation_is_a_fault_unless_others_use_the_machine(self):
        self.assertEqual(fetch_seconds("Get:1 a\nFetched 61.2 MB in 1min 2s (980 kB/s)\nSelecting b"), 62)
        self.assertEqual(fetch_seconds("Fetched 61.2 MB in 9s (6,800 kB/s)\n"), 9)
        self.assertEqual(fetch_seconds("nothing"), 0)
        self.assertIsNone(verdict(59, Load(50, 9)))
        self.assertIn("70 s are work", verdict(300, Load(30, 40)))
        self.assertIn("more than 60 s", verdict(72, Load(33, 9)))
        self.assertIsNone(verdict(217, Load(33, 9)))

    def test_the_first_transcript_of_the_readme_goes_from_nothing_to_a_picture_in_two_commands(self):
        first = transcripts("README.md", (ROOT / "README.md").read_text(encoding="utf-8"))[0]
        self.assertTrue(first.installs)
        self.assertEqual([step.command.split()[:2] for step in first.steps], [["sudo", "apt"], ["weir", "play"]])


if __name__ == "__main__":
    unittest.main()
