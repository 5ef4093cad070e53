"""Plays one case of the field laboratory: directly, through Weir cold, and offline after `weir get`."""

import contextlib
import dataclasses
import json
import os
import subprocess
import time
import urllib.error

from weirtools import MEDIA, TOOLS
from weirtools.field import nginx, origin, proxies
from weirtools.field.case import Host
from weirtools.players import frames
from weirtools.scenes import scene

PASS, FAIL, NONE, BY_DESIGN = "✓", "✗", "·", "f"


@dataclasses.dataclass
class Cell:
    """One way of playing a case, with its verdict."""

    verdict: str = NONE
    reason: str = ""
    seconds: float = 0


class Failure(Exception):
    """The argument says why a column fails."""


class Run:
    """A case on its hosts, in a folder of its own."""

    def __init__(self, case, binary, authority, names):
        self.case, self.binary, self.authority, self.dns = case, binary, authority, names
        self.cells = {column: Cell() for column in ("direct", "cold", "offline")}
        self.proxy = self.site = None
        # The frames of the direct play; none in a case without that column.
        self.reference = []

    def run(self):
        """Plays all columns. A defect of the laboratory is a failure of the case too, so that the other cases go on."""
        try:
            return self.play()
        except Exception as defect:  # pylint: disable=broad-except
            self.cells["direct"] = Cell(FAIL, "the laboratory: %r" % defect)
            return self

    def play(self):
        with scene.Stage(self.binary, name="field") as self.stage, contextlib.ExitStack() as self.stack:
            self.folder = self.stage.folder
            for name, text in self.case.inputs.items():
                (self.folder / name).write_text(self.case.text(text))
            self.stack.callback(lambda: self.site and self.site.close())
            self.open_hosts()
            for column, play in (("direct", self.play_directly), ("cold", self.play_cold), ("offline", self.play_offline)):
                if column in self.case.columns:
                    self.judge(column, play)
        return self

    def judge(self, column, play):
        cell, begin = self.cells[column], time.monotonic()
        self.site.begin()
        self.set_answers()
        self.dns.forget([self.case.host_name(letter) for letter in "ABCDEF"])
        if self.proxy:
            self.proxy.targets.clear()
        try:
            play()
            for check in self.case.checks:
                if column != "direct" and (words := check(self.site, self.proxy)):
                    raise Failure(words)
            is_by_design = column == "direct" and self.case.refused is None and not any(stream.frames for stream in self.reference)
            cell.verdict = BY_DESIGN if is_by_design else PASS
        except (Failure, scene.Trouble, OSError, subprocess.TimeoutExpired) as failure:
            words = " ".join(str(failure).split())
            # Of a command's words the error counts, not its progress.
            begin_of_error = words.rfind(" weir: ")
            cell.verdict, cell.reason = FAIL, words if begin_of_error < 0 else words.split(",")[0] + "," + words[begin_of_error:]
        cell.seconds = time.monotonic() - begin

    def set_answers(self):
        """The answers of the DNS as they are before a play."""
        for letter, host in self.hosts.items():
            answers = host.answers
            self.dns.names[self.case.host_name(letter)] = (
                [self.case.text(text) for text in answers] if isinstance(answers, list) else answers or [self.case.address(letter)])

    def open_hosts(self):
        case = self.case
        self.site = origin.Site(case.files, case.rules, self.dns.names, case.text)
        self.hosts = {**{letter: Host() for letter in "ABC"}, **case.hosts}
        self.set_answers()
        for letter, host in self.hosts.items():
            name, address = case.host_name(letter), case.address(letter)
            if host.dns_delay:
                self.dns.delays[name] = host.dns_delay
            if host.address == "dead":
                continue
            for port in host.ports:
                self.site.listen(address, port, letter, delay=host.delay)
            if host.tls and case.server != "nginx":
                number = case.number * 32 + ord(letter) - ord("A")
                context = self.authority.context([name, address], host.tls, number, **host.tls_options)
                for port in host.tls_ports:
                    self.site.listen(address, port, letter, context, host.delay)
        if case.server == "nginx":
            nginx.start(self.stack, self.folder, case, self.authority)
        if case.proxy is not None:
            own = {case.text(name): case.text(address) for name, address in case.proxy.get("names", {}).items()}
            self.dns.names[case.host_name("P")] = [case.address("P")]
            self.proxy = proxies.Proxy(self.site, case.address("P"), case.proxy.get("user"), own)

    # The three ways

    def play_directly(self):
        options = [self.filled(word) for word in (*self.case.direct, *self.case.player)]
        environment = {name: self.filled(text) for name, text in self.case.direct_environment.items()}
        try:
            text = self.ffmpeg(self.case.text(self.case.opens), options, environment)
        except Failure:
            if self.case.refused or self.case.reference:
                text = ""
            else:
                raise
        self.reference = frames.read(text)
        if not sum(len(stream.frames) for stream in self.reference) and not self.case.refused and not self.case.reference:
            raise Failure("ffmpeg decodes nothing from the origin")

    def play_cold(self):
        weir = self.daemon("cold")
        url = self.case.text(self.case.opens)
        options = [self.filled(word) for word in self.case.weir]
        if self.case.answer:
            self.check_answer("%s/%s" % (weir.url, url))
        try:
            opened = weir.run("url", url, *options).split()[0] if options else self.typed(weir)
            text = self.ffmpeg(opened, [self.filled(word) for word in self.case.player], {})
        except (Failure, scene.Trouble) as failure:
            if self.case.refused is None:
                raise
            # ffmpeg prints no body of a reply: the words are those of the command.
            if isinstance(failure, Failure):
                return
            raise Failure("refused, but without “%s”: %s" % (self.case.refused, failure)) if (
                self.case.refused.lower() not in str(failure).lower()) else failure
        if self.case.refused is not None and "frame" in text and frames.read(text) and any(stream.frames for stream in frames.read(text)):
            raise Failure("it plays, though it should be refused")
        if self.case.refused is None:
            self.compare(text)
        for player in self.case.players:
            self.play_to_the_end(player)

    def typed(self, weir):
        """The origin's URL behind Weir's address, in the view of the case."""
        return "/".join(part for part in (weir.url, self.case.view, self.case.text(self.case.opens)) if part)

    def play_to_the_end(self, player):
        """Another player comes to the end of the case, as it is at its beginning."""
        self.site.begin()
        url = self.typed(self.daemon("cold-" + player))
        within = str(self.case.within)
        done = subprocess.run([str(TOOLS / "lab" / "player"), player, url, "--within", within], capture_output=True, text=True,
                              timeout=self.case.within + 30, check=False)
        report = json.loads(done.stdout) if done.stdout else {}
        if not report.get("ended"):
            raise Failure("%s does not come to the end: %s" % (player, report or done.stderr.strip()))

    def play_offline(self):
        weir = self.daemon("offline")
        words = ["get", self.case.text(self.case.opens), "--name", "field", *(self.filled(word) for word in self.case.weir)]
        self.change_answers(weir)
        if self.case.refused is not None:
            try:
                weir.run(*words)
            except scene.Trouble as trouble:
                if self.case.refused.lower() not in str(trouble).lower():
                    raise Failure("refused, but without “%s”: %s" % (self.case.refused, trouble)) from trouble
                return
            raise Failure("weir get succeeds, though it should be refused")
        try:
            weir.run(*words)
        except scene.Trouble as trouble:
            # The words of the command begin with its exit.
            if not self.case.exit or "exit %d," % self.case.exit not in str(trouble):
                raise
        else:
            if self.case.exit:
                raise Failure("weir get: exit 0 instead of %d" % self.case.exit)
        self.site.close()
        self.compare(self.ffmpeg(weir.url + "/field.m3u8", [self.filled(word) for word in self.case.player], {}), is_offline=True)

    # Parts

    def change_answers(self, weir):
        """Keeps the beginning from the hosts as they are, if some of them have other answers later."""
        later = {letter: host.later for letter, host in self.case.hosts.items() if host.later}
        if not later:
            return
        weir.run("get", self.case.text(self.case.opens), "--name", "field", "--range", "0-3")
        weir.kill()
        for letter, answers in later.items():
            self.dns.names[self.case.host_name(letter)] = [self.case.text(text) for text in answers]
        weir.start()

    def check_answer(self, url):
        try:
            status = scene.OPENER.open(url, timeout=self.case.within).status
        except urllib.error.HTTPError as error:
            status = error.code
        if status != self.case.answer:
            raise Failure("the player sees %d instead of %d" % (status, self.case.answer))

    def daemon(self, name):
        folder = self.folder / name
        folder.mkdir()
        return self.stage.new_weir(folder, options=[self.filled(word) for word in self.case.serve],
                                   variables={key: self.filled(text) for key, text in self.case.environment.items()})

    def filled(self, word):
        """An option with the names of hosts and files in it."""
        word = self.case.text(word)
        if "CLIENT-" in word:
            certificate, key = self.authority.client()
            word = word.replace("CLIENT-CERTIFICATE", str(certificate)).replace("CLIENT-KEY", str(key))
        word = word.replace("UNKNOWN-AUTHORITY", str(self.authority.path("unknown", "pem")))
        word = word.replace("INTERMEDIATE-AUTHORITY", str(self.authority.path("intermediate", "pem")))
        for name in self.case.inputs:
            word = word.replace("FILE-" + name, str(self.folder / name))
        return word

    def ffmpeg(self, url, options, environment):
        """framemd5 text of a URL."""
        output = self.folder / "frames"
        output.unlink(missing_ok=True)
        kept = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
        command = ["ffmpeg", "-nostdin", "-v", "error", *options, *frames.hashed(url, output)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=self.case.within,
                                  env={**kept, **environment}, check=False)
        except subprocess.TimeoutExpired:
            raise Failure("ffmpeg does not end within %d s" % self.case.within) from None
        text = output.read_text() if output.exists() else ""
        self.errors = done.stderr.strip().splitlines()
        if done.returncode and not any(stream.frames for stream in frames.read(text)):
            raise Failure("ffmpeg: " + (self.errors or ["no words"])[-1])
        return text

    def compare(self, text, is_offline=False):
        """Raises a failure unless the frames are those of the direct play, or of the fixture that the case names."""
        found, expected = frames.read(text), [self.reference]
        if self.case.reference:
            expected.append(frames.read(reference(MEDIA / self.case.reference, self.folder)))
        words = []
        for streams in expected:
            if not any(stream.frames for stream in streams):
                continue
            told = compared(found, streams, self.case, is_offline)
            if told is None:
                return
            words.append(told)
        raise Failure((words or ["nothing to compare with"])[-1] + ("; ffmpeg: " + self.errors[-1] if self.errors else ""))


def reference(path, folder):
    output = folder / "reference"
    subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-allowed_extensions", "ALL", *frames.hashed(str(path), output)], check=True,
                   capture_output=True)
    return output.read_text()


def compared(found, expected, case, is_offline):
    """In words how streams differ from those expected, by the manner of the case; None if they do not."""
    found = [stream for stream in found if stream.frames]
    expected = [stream for stream in expected if stream.frames]
    manner = case.compare
    if manner == "equal" and is_offline and len(found) < len(expected):
        manner = "part"
    if manner == "equal":
        return frames.all_differences(found, expected)
    if not found or {stream.kind for stream in found} != {stream.kind for stream in expected}:
        return "%s instead of %s" % (frames.names(found), frames.names(expected))
    for stream in found:
        alike = [other for other in expected if other.kind == stream.kind]
        compare = {"part": frames.difference, "run": run_difference, "share": share_difference(case.share)}[manner]
        told = [compare(stream, other) for other in alike]
        if None not in told:
            return told[0]
    return None


def run_difference(found, expected):
    """As frames.difference, for frames that begin and end somewhere in those expected, at times shifted by any amount."""
    wanted, seen = [hash for _, hash in expected.frames], [hash for _, hash in found.frames]
    begin = wanted.index(seen[0]) if seen[0] in wanted else -1
    if begin < 0 or wanted[begin:begin + len(seen)] != seen:
        return "%s: %d frames, which are no run of those expected" % (found.name, len(seen))
    return None


def share_difference(share):
    def compare(found, expected):
        wanted, seen = {hash for _, hash in expected.frames}, {hash for _, hash in found.frames}
        if seen - wanted:
            return "%s: %d frames are foreign" % (found.name, len(seen - wanted))
        if len(seen) < share * len(wanted):
            return "%s: %d of %d frames" % (found.name, len(seen), len(wanted))
        return None
    return compare
