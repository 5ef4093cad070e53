#!/usr/bin/env python3
"""Packages from PyPI for the tools, in virtual environments under .build: the system's Python stays as it is (PEP 668).

    tools/weirtools/packages.py NAME REQUIREMENT…     such as axe axe-playwright-python==0.1.8

prints the folder with the packages. What is there already is not asked for again; what was interrupted is begun anew.
"""

import fcntl
import hashlib
import pathlib
import shutil
import subprocess
import sys

HOME = pathlib.Path(__file__).resolve().parents[2] / ".build" / "python"


def environment(name, *requirements, has_dependencies=True):
    """The virtual environment that has these packages, and no other's; made the first time."""
    wanted = "\n".join([sys.version, *requirements, str(has_dependencies)])
    folder = HOME / ("%s-%s" % (name, hashlib.sha256(wanted.encode()).hexdigest()[:12]))
    HOME.mkdir(parents=True, exist_ok=True)
    # One of two that come at the same time makes it. Its last file says that it is whole.
    with open(HOME / ("%s.lock" % name), "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "whole").exists():
            shutil.rmtree(folder, ignore_errors=True)
            subprocess.run([sys.executable, "-m", "venv", folder], check=True)
            options = [] if has_dependencies else ["--no-deps"]
            subprocess.run([folder / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
                            "--root-user-action=ignore", *options, *requirements], check=True)
            (folder / "whole").touch()
    return folder


def library(folder):
    """The folder with the packages of an environment."""
    return next(folder.glob("lib/python3*/site-packages"))


def main():
    name, *requirements = sys.argv[1:]
    has_dependencies = "--no-deps" not in requirements
    print(library(environment(name, *[word for word in requirements if word != "--no-deps"], has_dependencies=has_dependencies)))


if __name__ == "__main__":
    main()
