"""Transcripts of the README and of the guide: reads them, runs them, and compares what is printed; for tools/guide.

A transcript is a fenced block in which lines begin with "$ ". A command that ends with a backslash continues on a line that begins
with "> ". Each transcript begins with nothing stored and no daemon, and the commands are run as they are written.

bash runs them without a terminal, and each must end with 0. The text under a command must be all that it prints; a command with no
text under it may print anything. A block whose fence names "terminal" is typed into a terminal instead: its whole text must be what
the terminal shows, and a word after "[y/N]" is typed as the answer. Rates, durations, estimates, dates, tokens, lines of progress, versions and
processes may differ; "…" as a line stands for any lines.
"""

import argparse
import dataclasses
import os
import pathlib
import re
import resource
import subprocess
import sys
import time

ANY = "…"
PICTURE_SECONDS = 60
COLUMNS, ROWS = 100, 200
QUESTION = re.compile(r"^(.*\[y/N\]) (\S+)$")


@dataclasses.dataclass
class Step:
    command: str
    printed: list = dataclasses.field(default_factory=list)

    @property
    def answers(self):
        """The words that are typed while the command runs."""
        return [match[2] for line in self.printed if (match := QUESTION.match(line))]


@dataclasses.dataclass
class Transcript:
    place: str
    kind: str
    steps: list
    lines: list

    @property
    def needs_checkout(self):
        return any(re.match(r"(\S*/)?tools/", step.command) for step in self.steps)

    @property
    def needs_host(self):
        """True if a command names a host that nobody has (RFC 6761)."""
        return any(re.search(r"\.example\b", step.command) for step in self.steps)

    @property
    def installs(self):
        return any(step.command.startswith("sudo apt install ./weir") for step in self.steps)


def transcripts(name, text):
    """The transcripts of a page, in order."""
    found, block = [], None
    for number, line in enumerate(text.splitlines(), 1):
        if not line.startswith("```"):
            if block:
                block.lines.append(line)
        elif block is None:
            block = Transcript(f"{name}:{number}", line[3:].strip(), [], [])
        else:
            block.steps = steps(block.lines)
            found += [block] if block.steps else []
            block = None
    return found


def steps(lines):
    found = []
    for line in lines:
        if line.startswith("$ "):
            found.append(Step(line[2:]))
        elif found and line.startswith("> ") and found[-1].command.endswith("\\") and not found[-1].printed:
            found[-1].command += "\n" + line[2:]
        elif found:
            found[-1].printed.append(line)
    return found


def plain(lines):
    """The lines without the parts that differ from run to run."""
    kept = [line.rstrip() for line in lines if not re.match(r" *\d+% ", line)]
    kept = [re.sub(r"\d[\d.,]* [KMG]?B/s", "N B/s", line) for line in kept]
    kept = [re.sub(r"\babout \d[\d.,]* [KMG]?B\b", "about N B", line) for line in kept]
    kept = [re.sub(r"\bin (\d+:\d\d|less than a second)(?!\w)", "in N:NN", line) for line in kept]
    kept = [re.sub(r"\b\d{4}-\d\d-\d\d\b([ -]\d\d:?\d\d\b)?", "DATE", line) for line in kept]
    kept = [re.sub(r"/t/[\w-]{43}/", "/t/TOKEN/", line) for line in kept]
    return [re.sub(r"\b(since|process|version) [^,]+", r"\1 N", line) for line in kept]


def is_same(written, printed):
    """True if the printed lines are those that are written."""
    if not written:
        return not printed
    if written[0] == ANY:
        return any(is_same(written[1:], printed[skipped:]) for skipped in range(len(printed) + 1))
    return bool(printed) and written[0] == printed[0] and is_same(written[1:], printed[1:])


class Machine:
    """The clean system, of which only apt sees the network."""

    def __init__(self, root, network):
        self.root, self.network = pathlib.Path(root), network
        self.environment = ["env", "-i", "HOME=/root", "USER=root", "LC_ALL=C.UTF-8", "DEBIAN_FRONTEND=noninteractive",
                            "TERM=screen-256color", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"]

    def shell(self, script, is_connected=False):
        there = [] if is_connected else ["nsenter", "--target", str(self.network), "--net"]
        return [*there, *self.environment, "chroot", str(self.root), "bash", "-c", f"cd && {script}"]

    def run(self, command, seconds=900):
        """The exit code and the output of a command."""
        # A daemon that the command starts must not hold the output open: it goes to a file.
        with open(self.root / "root" / ".output", "w+", encoding="utf-8") as output:
            done = subprocess.run(
                self.shell(command, is_connected=command.startswith("sudo apt ")), stdin=subprocess.DEVNULL, stdout=output,
                stderr=subprocess.STDOUT, timeout=seconds, check=False)
            output.seek(0)
            return done.returncode, output.read()

    def forget(self):
        """Ends the daemon, and removes what it stored, its configuration, and the files that commands wrote."""
        kept = " ".join(f"! -name '{name}'" for name in (".*", "weir_*.deb"))
        self.run("if command -v weir >/dev/null; then weir stop; fi; rm -rf .local/share/weir .local/state/weir .config/weir; "
                 f"find . -mindepth 1 -maxdepth 1 {kept} -exec rm -rf {{}} +; mkdir Videos")

    def first_picture(self):
        """The time at which mpv drew its first picture; None without one."""
        pictures = [picture for picture in (self.root / "root" / "pictures").glob("*.jpg") if picture.stat().st_size > 0]
        return min((picture.stat().st_mtime for picture in pictures), default=None)


class Terminal:
    """A terminal of tmux with a shell of the clean system."""

    def __init__(self, machine):
        self.socket = f"weir-guide-{os.getpid()}"
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", str(COLUMNS), "-y", str(ROWS),
                  *machine.shell("PS1='$ ' exec bash --norc --noprofile"))
        self.wait("$", 1)

    def tmux(self, *words):
        done = subprocess.run(["tmux", "-L", self.socket, *words], capture_output=True, text=True, check=False)
        if done.returncode:
            raise OSError(f"tmux {words[0]}: {done.stderr}")
        return done.stdout

    def shown(self):
        return self.tmux("capture-pane", "-p", "-J").rstrip()

    def type(self, line):
        self.tmux("send-keys", "-l", "--", line)
        self.tmux("send-keys", "Enter")

    def wait(self, end, prompts, seconds=120):
        """The text of the terminal, once it ends so, and has so many prompts."""
        last = time.monotonic() + seconds
        while True:
            shown = self.shown()
            if shown.endswith(end) and len(re.findall(r"^\$(?: |$)", shown, re.MULTILINE)) == prompts:
                return shown
            if time.monotonic() > last:
                raise TimeoutError(f"the terminal does not end with {end!r} after {seconds} s, but shows\n{shown}")
            time.sleep(0.05)

    def run(self, number, step):
        """Types a command and its answers, and waits for its end."""
        first, *further = step.command.split("\n")
        self.type(first)
        for line in further:
            self.wait("\n>", number)
            self.type(line)
        for answer in step.answers:
            self.wait("[y/N]", number)
            self.type(answer)
        return self.wait("\n$", number + 1)

    def close(self):
        self.tmux("kill-server")


def run(transcript, machine):
    """The faults of a transcript that needs no terminal."""
    faults, begun, seconds, printed, before = [], time.time(), [], "", processor_time()
    for step in transcript.steps:
        code, output = machine.run(step.command)
        printed += output
        seconds.append(time.time() - begun - sum(seconds))
        if code != 0:
            return [*faults, f"{step.command}: ends with {code}:\n{output[-2000:]}"]
        if step.printed and not is_same(plain(step.printed), plain(output.splitlines())):
            faults.append(f"{step.command}: prints\n{output}instead of\n" + "\n".join(step.printed))
    return faults + (
        installation_faults(machine, begun, seconds, Load(processor_time() - before, fetch_seconds(printed)))
        if transcript.installs else [])


def processor_time():
    """Seconds of processor time of all programs that were waited for."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


@dataclasses.dataclass
class Load:
    """The time that commands used a processor and the network for, in seconds."""
    processor: float
    fetching: float


def fetch_seconds(printed):
    """The time of apt's downloads, by the line that it prints: Fetched 61.2 MB in 1min 2s (980 kB/s)."""
    match = re.search(r"^Fetched .* in (?:(\d+)min )?(\d+)s ", printed, re.MULTILINE)
    return int(match[1] or 0) * 60 + int(match[2]) if match else 0


def verdict(total, load):
    """The fault of a time from nothing to a picture; None if it is short enough, or long only because others use the machine: then
    the commands have waited for longer than they worked and fetched."""
    needed = load.processor + load.fetching
    if total <= PICTURE_SECONDS:
        return None
    if needed > PICTURE_SECONDS or total < 2 * needed:
        return f"that is more than {PICTURE_SECONDS} s, of which {needed:.0f} s are work and downloads"
    print(f"that is more than {PICTURE_SECONDS} s because others use the machine: work and downloads took {needed:.0f} s")
    return None


def installation_faults(machine, begun, seconds, load):
    picture = machine.first_picture()
    if picture is None:
        return ["mpv has drawn no picture"]
    total = picture - begun
    print(f"from nothing to a picture in mpv: {len(seconds)} commands, {total:.1f} s: {seconds[0]:.1f} s in apt, of which "
          f"{load.fetching} s are its downloads; {total - seconds[0]:.1f} s from the last command to the picture; "
          f"{load.processor:.1f} s of processor time in all")
    fault = verdict(total, load)
    return [fault] if fault else []


def record(transcript, machine):
    """The text of a terminal into which the commands of a transcript are typed."""
    terminal = Terminal(machine)
    try:
        shown = ""
        for number, step in enumerate(transcript.steps, 1):
            shown = terminal.run(number, step)
        return shown.removesuffix("\n$")
    finally:
        terminal.close()


def terminal_faults(transcript, machine, is_printed):
    try:
        shown = record(transcript, machine)
    except OSError as error:
        return [str(error)]
    if is_printed:
        print(shown)
    same = is_same(plain(transcript.lines), plain(shown.splitlines()))
    return [] if same else [f"the terminal shows\n{shown}\ninstead of\n" + "\n".join(transcript.lines)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", required=True, help="the folder of the clean system")
    parser.add_argument("--network", required=True, help="a process in the network to use")
    parser.add_argument("--record", action="store_true", help="print what the terminal shows of the transcripts that are typed into one")
    parser.add_argument("pages", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    machine, failed = Machine(options.root, options.network), 0
    for page in options.pages:
        for transcript in transcripts(str(page), page.read_text(encoding="utf-8")):
            if transcript.needs_checkout:
                print(f"left out  {transcript.place}: it needs a checkout")
                continue
            if transcript.needs_host:
                print(f"left out  {transcript.place}: its host is an example")
                continue
            machine.forget()
            if transcript.kind == "terminal":
                faults = terminal_faults(transcript, machine, options.record)
            else:
                faults = run(transcript, machine)
            print(f"{'FAILED' if faults else 'passed'}    {transcript.place}: {len(transcript.steps)} commands", flush=True)
            for fault in faults:
                print(fault)
            failed += bool(faults)
    machine.forget()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
