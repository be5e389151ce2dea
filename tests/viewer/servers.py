# SPDX-License-Identifier: Apache-2.0
"""Prometheus, an OpenTelemetry collector and node_exporter for tests: starting them, asking them.

tests/viewer/servers.sh builds the first two; PROMETHEUS and OTELCOL in the environment are others.
"""
import contextlib
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.parse
import urllib.request

HERE = pathlib.Path(__file__).parent
SENDER = HERE.parents[1] / "samples" / "monitor" / "send.sh"
LIMIT = 300  # seconds
SKIPPED = 77


failures = []


def need(holds, *what):
    """Goes on; failed() is the exit status."""
    if not holds:
        print(*what)
        failures.append(what)


def failed():
    return int(bool(failures))


def skip(why):
    print("skipped: " + why)
    sys.exit(SKIPPED)


def find(name):
    """The program, or the test is skipped."""
    program = os.environ.get(name.upper()) or subprocess.run(
        ["sh", HERE / "servers.sh", "--where", name], check=True, stdout=subprocess.PIPE,
        encoding="utf-8").stdout.strip()
    if not os.path.exists(program):
        skip("no %s; tests/viewer/servers.sh %s builds it" % (program, name))
    return program


def find_installed(name):
    return shutil.which(name) or skip("no " + name)


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Server:
    def __init__(self, port):
        self.url = "http://127.0.0.1:%d" % port

    def get(self, path, **parameters):
        url = "%s%s?%s" % (self.url, path, urllib.parse.urlencode(parameters))
        with urllib.request.urlopen(url, timeout=30) as answer:
            return answer.read()

    def query(self, query):
        return json.loads(self.get("/api/v1/query", query=query))["data"]["result"]

    def ask(self, query, label="scope"):
        """By that label: the value."""
        return {one["metric"].get(label): float(one["value"][1]) for one in self.query(query)}

    def wait_for(self, query, holds=bool, label="scope"):
        """The answer when it holds."""
        end, found = time.monotonic() + LIMIT, None
        while time.monotonic() < end:
            with contextlib.suppress(OSError):
                found = self.ask(query, label)
                if holds(found):
                    return found
            time.sleep(0.2)
        raise SystemExit("no such answer to %s: %s" % (query, found))


@contextlib.contextmanager
def running(folder, arguments, answers):
    """A server, from its first answer to the end of the block. folder: for what it prints."""
    end = time.monotonic() + LIMIT
    log = folder / ("%s.log" % pathlib.Path(arguments[0]).name)
    with open(log, "wb") as output:
        process = subprocess.Popen(arguments, stdout=output, stderr=subprocess.STDOUT)
    try:
        while not answers():
            if process.poll() is not None or time.monotonic() > end:
                raise SystemExit("%s: %s" % (arguments[0], log.read_text()[-2000:]))
            time.sleep(0.1)
        yield process
    finally:
        process.terminate()
        process.wait()


def listens(port):
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


@contextlib.contextmanager
def prometheus(folder, configuration, *options, port=None):
    """port: that of another one, whose data it has, too."""
    config, port = folder / "prometheus.yml", port or free_port()
    config.write_text(configuration)
    server = Server(port)

    def answers():
        with contextlib.suppress(OSError):
            return server.ask("vector(1)")
        return False
    with running(folder, [find("prometheus"), "--config.file=%s" % config, "--storage.tsdb.path=%s" % (
            folder / ("data-%d" % port)), "--web.listen-address=127.0.0.1:%d" % port, *options],
            answers):
        yield server


# ---- stint --------------------------------------------------------------------------------------

def record(program, path, story, **env):
    subprocess.run([program, story], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                   env={"STINT_FILE": str(path), "STINT_REPORT": "none", **env})
    return path


@contextlib.contextmanager
def alive(program, path):
    """A program that goes on until the end of the block, or until it is killed before."""
    process = subprocess.Popen([program, "busy"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                               env={"STINT_FILE": str(path), "STINT_REPORT": "none"})
    try:
        process.stdout.readline()
        yield process
    finally:
        process.kill()
        process.communicate()


def stats(tool, path):
    exported = subprocess.run([tool, "export", path, "--to", "json"], check=True,
                              stdout=subprocess.PIPE).stdout
    return json.loads(exported)["stats"]


def timed(row):
    return sum(n for _, _, n in row["histogram"])


def follow(tool, out, *paths, kind="otlp", options=("--follow", "0.3")):
    return subprocess.Popen([tool, "export", *paths, "--to", kind, *options, "-o", out],
                            stdin=subprocess.DEVNULL)


def write_lines(tool, out, *paths, options=()):
    """One line for each run, which have ended."""
    if follow(tool, out, *paths, options=("--follow", "1", *options)).wait(LIMIT):
        raise SystemExit("stint export --follow")
    return out


@contextlib.contextmanager
def sending(folder, out, url):
    """samples/monitor/send.sh, until the end of the block."""
    position = folder / ("position.%d.%s" % (urllib.parse.urlparse(url).port, out.name))
    sender = subprocess.Popen(["sh", SENDER, out, url, position], stdin=subprocess.DEVNULL,
                              start_new_session=True)
    try:
        yield sender
    finally:
        os.killpg(sender.pid, signal.SIGKILL)
        sender.wait()


def line_count(path):
    return path.read_bytes().count(b"\n") if path.exists() else 0
