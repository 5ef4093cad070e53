"""S37: the package holds the link conditioner whole."""

import pathlib
import re
import subprocess
import tempfile
import unittest

from weirtools import ROOT


class PackageTests(unittest.TestCase):
    def test_the_conditioner_runs_from_the_package_alone(self):
        script = (ROOT / "tools" / "package").read_text(encoding="utf-8")
        lines = re.search(r"# The conditioner.*?\n\n", script, re.DOTALL)[0]
        with tempfile.TemporaryDirectory() as tree:
            put = 'put() { install -D -m "$1" "$2" "$tree/$3"; }\n'
            subprocess.run(["bash", "-euc", "tree=$1\n" + put + lines, "_", tree], cwd=ROOT, check=True)
            program = pathlib.Path(tree) / "usr" / "bin" / "weir-link"
            done = subprocess.run([program, "--help"], cwd="/", capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("--preset", done.stdout)


if __name__ == "__main__":
    unittest.main()
