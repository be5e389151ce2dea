#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Outputs of `stint export --follow` under bad conditions, and samples/monitor, which delivers them.

    monitor_test.py TOOL PROGRAM FAKE_PROGRAM CASE
"""
import atexit
import fcntl
import http.server
import os
import pathlib
import re
import resource
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

from cases import LIMIT, ROOT, SKIPPED, environment, main, need, small_disk, until
from metrics_test import (FAKE, PROGRAM, TOOL, end, file_lines, finish, lines, live, need_whole, otlp,
                          record, start, stats, text_values, tool)

SAMPLES = ROOT / "samples" / "monitor"
DELTAS = ("--to", "otlp", "--follow", "0.1", "--temporality", "delta")


class Following:
    """A program that goes on, a follower of it, and the follower's messages in a file."""

    def __init__(self, folder, out, *options, run="run.stint", **more):
        self.path, self.out, self.said = folder / run, out, folder / (run + ".said")
        self.program = live(self.path)
        with open(self.said, "wb") as said:
            self.process = subprocess.Popen(
                [TOOL, "export", str(self.path), *(options or DELTAS), "-o", str(out)], stderr=said,
                env=environment(), **more)

    def lines_more(self, n=2, path=None):
        path = path or self.out
        before = file_lines(path)
        until(lambda: file_lines(path) >= before + n, "no more lines in %s" % path, self.text())

    def text(self):
        return self.said.read_text()

    def until_said(self, what):
        until(lambda: what in self.text(), "not said: " + what, self.text())

    def end(self, rc=0):
        """The program is killed; the follower has its last numbers."""
        if self.program.poll() is None:
            end(self.program, signal.SIGKILL)
        need(self.process.wait(LIMIT) == rc, "the exit status is not %d" % rc, self.text())


# ---- Lines --------------------------------------------------------------------------------------

def case_lines_rotated(folder):
    """logrotate renames the file, with and without a new one in its place: the deltas of all files
    add up."""
    if not shutil.which("logrotate", path=os.environ["PATH"] + ":/usr/sbin"):
        print("skipped: no logrotate")
        return SKIPPED
    rotate = shutil.which("logrotate", path=os.environ["PATH"] + ":/usr/sbin")
    sample = (SAMPLES / "logrotate.conf").read_text().replace("/var/log/stint", str(folder))
    sample = sample.replace("rotate 3", "rotate 9")
    config, out = folder / "logrotate.conf", folder / "out.jsonl"
    folder.chmod(0o755)
    following = Following(folder, out)
    for new in ("nocreate", "create 0644", "nocreate"):
        following.lines_more()
        config.write_text(sample.replace("nocreate", new))
        config.chmod(0o644)
        subprocess.run([rotate, "--force", "--state", folder / "state", config], check=True)
        until(lambda: file_lines(out) >= 1, "it is not opened again", following.text())
    following.end()
    rotated = [folder / ("out.jsonl.%d" % i) for i in (3, 2, 1)]
    need(all(one.exists() for one in rotated), os.listdir(folder))
    need_whole(lines(b"".join(one.read_bytes() for one in [*rotated, out])), following.path)
    need(not following.text(), following.text())
    return 0


def case_lines_full(folder):
    """A disk that is full for a while: whole lines, each number once, one message each way."""
    if "SMALL_DISK" in os.environ:
        return full_inside(folder, pathlib.Path(os.environ["SMALL_DISK"]))
    disk = folder / "disk"
    disk.mkdir()
    words = small_disk(disk, "1m")
    if not words:
        print("skipped: no file system can be mounted here")
        return SKIPPED
    done = subprocess.run([*words, sys.executable, "-B", __file__, *sys.argv[1:]], check=False,
                          env={**os.environ, "SMALL_DISK": str(disk)})
    return done.returncode


def fill(path):
    """Takes all that is left."""
    with open(path, "wb", buffering=0) as big:
        for size in (1 << 20, 4096, 1):
            try:
                while True:
                    big.write(bytes(size))
            except OSError:
                pass


def full_inside(folder, disk):
    for to_stdout in (False, True):
        out, more = disk / ("out-%d" % to_stdout), {}
        if to_stdout:
            more["stdout"] = open(out, "wb")
        following = Following(folder, "-" if to_stdout else out, run="run-%d" % to_stdout, **more)
        following.lines_more(path=out)
        fill(disk / "big")
        following.until_said("No space left on device; it is tried again")
        time.sleep(0.5)
        have = out.read_bytes()
        need(have.endswith(b"}\n"), "half a line", have[-100:])
        if to_stdout:  # its last numbers wait, too
            end(following.program, signal.SIGKILL)
            time.sleep(0.5)
        (disk / "big").unlink()
        following.until_said("is written again")
        if not to_stdout:
            following.lines_more(path=out)
        following.end()
        need_whole(lines(out.read_bytes()), following.path)
        need(len(following.text().splitlines()) == 2, following.text())
    following = Following(folder, disk / "out-2", run="run-2")  # full to the end
    following.lines_more()
    fill(disk / "big")
    following.until_said("No space left")
    following.process.terminate()
    need(following.process.wait(LIMIT) == 1 and "last numbers were not written" in following.text(),
         following.text())
    end(following.program, signal.SIGKILL)
    return 0


def case_lines_cut(folder):
    """A write that ends in the middle, here at a limit of the file's size, is taken back."""
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (20001, resource.RLIM_INFINITY))
    for to_stdout in (False, True):
        out, more = folder / ("out-%d" % to_stdout), {"preexec_fn": limit}
        if to_stdout:
            more["stdout"] = open(out, "wb")
        following = Following(folder, "-" if to_stdout else out, run="run-%d" % to_stdout, **more)
        following.until_said("File too large; it is tried again")
        time.sleep(0.5)
        have = out.read_bytes()
        need(have.endswith(b"}\n") and len(have) < 20001, "half a line", have[-100:])
        resource.prlimit(following.process.pid, resource.RLIMIT_FSIZE,
                         (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        following.lines_more(path=out)
        following.end()
        need_whole(lines(out.read_bytes()), following.path)


def case_lines_gone(folder):
    """The folder vanishes and comes back, the file is truncated, replaced, or a link, which is
    refused: the next lines are whole, and none is lost."""
    place, kept = folder / "place", b""
    place.mkdir()
    out = place / "out"
    following = Following(folder, out)
    following.lines_more()
    with open(out, "rb") as old:
        shutil.rmtree(place)
        following.until_said("No such file or directory; it is tried again")
        kept += old.read()
    place.mkdir()
    following.until_said("is written again")
    following.lines_more()
    need(len(following.text().splitlines()) == 2, following.text())

    following.process.send_signal(signal.SIGSTOP)
    kept += out.read_bytes()
    os.truncate(out, 0)
    following.process.send_signal(signal.SIGCONT)
    following.lines_more()
    need(out.read_bytes().startswith(b'{"resourceMetrics"'), "a hole", out.read_bytes()[:50])

    other = folder / "other"
    other.write_bytes(b"a text without an end")
    with open(out, "rb") as old:
        os.rename(other, out)
        following.lines_more(3)
        kept += old.read()
    text, _, rest = out.read_bytes().partition(b"\n")
    need(text == b"a text without an end" and rest.startswith(b'{"resourceMetrics"'), text, rest[:50])

    real = folder / "real"
    real.write_bytes(b"kept")
    with open(out, "rb") as old:
        os.unlink(out)
        os.symlink(real, out)
        following.until_said("not a regular file; it is tried again")
        kept += old.read().partition(b"\n")[2]
    need(real.read_bytes() == b"kept", "through a link")
    out.unlink()
    following.lines_more()
    following.end()
    need_whole(lines(kept + out.read_bytes()), following.path)


def case_lines_begin(folder):
    """The file at the start: half a line of a killed follower goes, one that is being written is
    refused."""
    path, out = record(folder / "a.stint"), folder / "out"
    follow = ("export", path, "--to", "otlp", "--follow", "1", "-o")
    tool(*follow, out)
    whole = out.read_bytes()
    for half in (b'{"resourceM', whole[:-2], whole[:1]):
        out.write_bytes(whole + half)
        tool(*follow, out)
        need(out.read_bytes() == whole * 2, half[-20:], out.read_bytes()[-100:])
    with open(out, "rb+") as held:
        fcntl.lockf(held, fcntl.LOCK_EX)
        err = tool(*follow, out, rc=1).err
        need("a running program is writing it" in err and err.count("\n") == 1, err)
    need(out.read_bytes() == whole * 2, "it was written to")


# ---- Signals ------------------------------------------------------------------------------------

def case_signals(folder):
    """Each signal that ends programs has the last reading written, long before the next is due."""
    path = folder / "run.stint"
    program = live(path)
    follow = ["export", path, "--follow", "60", "--to"]
    commands = {"lines": [*follow, "otlp", "-o"], "page": [*follow, "html", "-o"],
                "text": [*follow, "prometheus", "-o"], "tables": ["report", path, "--every", "60"]}
    began = time.monotonic()
    processes = []
    for name, words in commands.items():
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
            out = folder / ("%s-%d" % (name, number))
            with open(folder / "tables" if words[-1] == "-o" else out, "wb") as stdout:
                more = [out] if words[-1] == "-o" else []
                process = subprocess.Popen([TOOL, *map(str, words + more)], stdout=stdout,
                                           env=environment())
            processes.append((process, number, out))
    for process, number, out in processes:
        until(lambda: out.exists() and out.stat().st_size, "no reading", out)
        first = out.stat()
        process.send_signal(number)
        need(process.wait(LIMIT) == 0, out, process.returncode)
        last = out.stat()
        need((first.st_ino, first.st_size) != (last.st_ino, last.st_size), "no last reading", out)
    need(time.monotonic() - began < 30, "it was waited for")
    end(program, signal.SIGKILL)


# ---- Prometheus text ----------------------------------------------------------------------------

def case_text(folder):
    """One file with all runs, replaced as a whole, while they go on and when they have ended."""
    out = folder / "all.prom"
    done = record(folder / "done.stint", PMI_RANK=3)
    program = live(folder / "live.stint")
    process = start("export", folder / "*.stint", "--to", "prometheus", "--follow", "0.1", "-o", out)

    def calls():
        """By pid and name; each reading of the file is of a whole one."""
        text = out.read_text() if out.exists() else ""
        need(not text or text.endswith("\n"), "half a file", text[-100:])
        heads = re.findall(r"(?m)^# TYPE (\S+)", text)
        need(len(heads) == len(set(heads)), "a family twice")
        series = re.findall(r"(?m)^([^#\n].*) \S+$", text)
        need(len(series) == len(set(series)), "a series twice")
        return {(int(pid), name): int(n) for pid, name, n in re.findall(
            r'(?m)^stint_scope_calls_total\{host="[^"]*",pid="(\d+)"(?:,rank="3")?,name="([^"]*)",.*\} (\d+)$',
            text)}
    until(lambda: calls().get((program.pid, "sleep"), 0) > 0, "no numbers of the program")
    early = calls()[program.pid, "sleep"]
    until(lambda: calls()[program.pid, "sleep"] > early, "the numbers stay")
    end(program, signal.SIGKILL)
    final = {(row["pid"], row["name"]): row["calls"] for path in (done, folder / "live.stint")
             for row in stats(path)["stats"] if row["set"] == "GlobalStatInfo"}
    until(lambda: all(calls().get(key) == n for key, n in final.items()), "not the last numbers")
    program = live(folder / "other.stint")
    until(lambda: (program.pid, "sleep") in calls(), "no numbers of another program")
    (folder / "other.stint").unlink()
    until(lambda: not any(pid == program.pid for pid, _ in calls()), "of a file that is gone")
    end(program, signal.SIGKILL)
    finish(process, signal_number=signal.SIGTERM)
    if shutil.which("promtool"):
        with open(out, "rb") as text:
            said = subprocess.run(["promtool", "check", "metrics"], stdin=text, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, check=False)
        need(not said.returncode, said.stdout.decode())
    need([one for one in os.listdir(folder) if ".tmp" in one] == [], os.listdir(folder))


def case_text_bad(folder):
    """A folder that vanishes is told once and tried again, and an ended run ends the command."""
    place = folder / "place"
    place.mkdir()
    following = Following(folder, place / "a.prom", "--to", "prometheus", "--follow", "0.1")
    until((place / "a.prom").exists, "no file")
    shutil.rmtree(place)
    following.until_said("No such file or directory; it is tried again")
    time.sleep(0.3)
    place.mkdir()
    following.until_said("is written again")
    following.end()
    need(len(following.text().splitlines()) == 2, following.text())
    need(text_values(following.path)["stint_steps_total"] == 0, "the run")
    need(re.search(r'(?m)^stint_scope_calls_total\{.*name="sleep".*\} %d$' % [
        row["calls"] for row in stats(following.path)["stats"] if row["name"] == "sleep"][0],
                   (place / "a.prom").read_text()), "not the last numbers")


# ---- The sender ---------------------------------------------------------------------------------

class Receiver:
    """Answers with the statuses in turn, then with 200: 0 closes without an answer, CUT in the middle
    of a request."""
    CUT = -1

    def __init__(self, *statuses, port=0):
        self.bodies, self.statuses, self.asked = [], list(statuses), []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                status = outer.statuses.pop(0) if outer.statuses else 200
                outer.asked.append((status, self.headers["Content-Type"]))
                length = int(self.headers["Content-Length"])
                if status == Receiver.CUT:
                    self.rfile.read(length // 2)
                    reset = struct.pack("ii", 1, 0)
                    self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, reset)
                if status <= 0:
                    self.close_connection = True
                    return
                body = self.rfile.read(length)
                if status == 200:
                    outer.bodies.append(body + b"\n")
                self.send_response(status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            allow_reuse_address = True
        self.server = Server(("127.0.0.1", port), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class Sender:
    """The script, whose sleep of a second between two looks at the files is a tenth, and counted."""

    def __init__(self, folder, out, port):
        self.said, self.position, self.out = folder / "sender", folder / "position", out
        self.looks = folder / "looks"
        sleep = folder / "bin" / "sleep"
        sleep.parent.mkdir(exist_ok=True)
        sleep.write_text("#!/bin/sh\necho >>'%s'\nexec '%s' 0.1\n" % (self.looks, shutil.which("sleep")))
        sleep.chmod(0o755)
        path = "%s:%s" % (sleep.parent, os.environ["PATH"])
        with open(self.said, "ab") as said:
            self.process = subprocess.Popen(
                ["sh", SAMPLES / "send.sh", out, "http://127.0.0.1:%d/v1/metrics" % port,
                 self.position], stderr=said, stdin=subprocess.DEVNULL, env=environment(PATH=path),
                start_new_session=True)
        atexit.register(self.kill)

    def look_again(self):
        """Waits for a whole look at the files, which begins now or later."""
        before = self.looks.stat().st_size
        until(lambda: self.looks.stat().st_size >= before + 2, "it does not look again")

    def end(self):
        """With curl and sleep, as a service manager does, but not between an answer and its note."""
        whole = self.out.read_bytes().rpartition(b"\n")[0]
        until(lambda: self.position.read_text().split()[1] == str(len(whole) + 1), "the last note")
        self.kill()

    def kill(self):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait(LIMIT)


def has_curl():
    if shutil.which("curl"):
        return True
    print("skipped: no curl")
    return False


def made_lines(first, count):
    return b"".join(b'{"resourceMetrics":[{"line":%d,"text":"\xc3\xa9 \\\\n  %%s "}]}\n' % (first + i)
                    for i in range(count))


def case_sender(folder):
    """Each line once and in order, whatever the receiver answers, and however often the sender is
    killed."""
    if not has_curl():
        return SKIPPED
    out, path = folder / "out.jsonl", folder / "run.stint"
    end(live(path, "busy", "1000"), signal.SIGKILL)
    tool("export", path, "--to", "otlp", "--follow", "1", "-o", out)
    need(out.stat().st_size > 1 << 18, "too small to be cut", out.stat().st_size)
    with open(out, "ab") as more:
        more.write(made_lines(0, 3))
    receiver = Receiver(Receiver.CUT, 503, 429, 200, 0, 404, 400)
    sender = Sender(folder, out, receiver.port)
    until(lambda: len(receiver.bodies) == 3, "lines are missing", receiver.asked)
    need([status for status, _ in receiver.asked] == [Receiver.CUT, 503, 429, 200, 0, 404, 400, 200, 200],
         receiver.asked)
    need({kind for _, kind in receiver.asked} == {"application/json"}, receiver.asked)
    need("refuses a line for good:  400" in sender.said.read_text(), sender.said.read_text())
    sent = out.read_bytes().splitlines(True)
    need(receiver.bodies == [sent[0], *sent[2:]], "not the lines of the file")
    sender.end()
    with open(out, "ab", buffering=0) as more:
        more.write(made_lines(10, 2)[:-9])
        sender = Sender(folder, out, receiver.port)  # it goes on where it was
        until(lambda: len(receiver.bodies) == 4, "not sent")
        sender.look_again()
        need(len(receiver.bodies) == 4, "half a line was sent", receiver.bodies[-1])
        more.write(made_lines(10, 2)[-9:])
    until(lambda: len(receiver.bodies) == 5, "not sent")
    sender.end()
    receiver.close()
    sent = out.read_bytes().splitlines(True)
    need(receiver.bodies == [sent[0], *sent[2:]], "not the lines of the file")
    return 0


def case_sender_down(folder):
    """A receiver that is not there while the file is rotated, truncated and removed: nothing that is
    in a file is lost, and nothing is sent twice."""
    if not has_curl():
        return SKIPPED
    out = folder / "with a space"
    receiver = Receiver()
    port = receiver.port
    out.write_bytes(made_lines(0, 3))
    sender = Sender(folder, out, port)
    until(lambda: len(receiver.bodies) == 3, "not sent")
    receiver.close()
    with open(out, "ab") as more:
        more.write(made_lines(3, 2))
    time.sleep(0.5)  # it is tried to send them
    os.rename(out, folder / "with a space.1")
    out.write_bytes(made_lines(5, 2))
    time.sleep(0.05)
    os.rename(folder / "with a space.1", folder / "with a space.2")
    os.rename(out, folder / "with a space.1")
    (folder / "with a space.3.gz").write_bytes(b"compressed\n")
    out.write_bytes(b"")
    second = Receiver(port=port)
    until(lambda: len(second.bodies) == 4, "of the renamed files", len(second.bodies))
    out.write_bytes(made_lines(7, 2))
    until(lambda: len(second.bodies) == 6, "of the new file", len(second.bodies))
    shutil.copy(out, folder / "with a space.1")  # as copytruncate does, if slowly
    sender.look_again()
    out.write_bytes(made_lines(9, 4))  # as long as before and longer
    until(lambda: len(second.bodies) == 10, "of the truncated file", len(second.bodies))
    sender.end()
    for old in (1, 2):
        (folder / ("with a space.%d" % old)).unlink()
    out.write_bytes(made_lines(13, 1))  # that which was sent last is not there
    sender = Sender(folder, out, port)
    until(lambda: len(second.bodies) == 11, "after a loss", len(second.bodies))
    sender.look_again()
    sender.end()
    second.close()
    need(b"".join(receiver.bodies + second.bodies) == made_lines(0, 14), second.bodies)
    return 0


def case_sender_unit(folder):
    """systemd accepts the units, with programs that are there."""
    if not shutil.which("systemd-analyze"):
        print("skipped: no systemd-analyze")
        return SKIPPED
    for unit in SAMPLES.glob("*.service"):
        text = unit.read_text()
        (program,) = re.findall(r"(?m)^ExecStart=(\S+)", text)
        text = text.replace(program, "/bin/true")
        (folder / unit.name).write_text(text)
    done = subprocess.run(["systemd-analyze", "verify", *folder.glob("*.service")], check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment())
    said = [line for line in done.stdout.decode().splitlines() if str(folder) in line or "stint-" in line]
    need(not said and not done.returncode, done.stdout.decode())
    return 0


if __name__ == "__main__":
    need(os.path.exists(FAKE) and os.path.exists(PROGRAM), "programs")
    sys.exit(main(globals(), sys.argv[4]))
