# SPDX-License-Identifier: Apache-2.0
"""Prometheus and VictoriaMetrics for tests: where they are, starting them, asking them.

A program is looked for in the environment (PROMETHEUS, VICTORIA_METRICS), in PATH and in the folders of
SERVER_FOLDERS, where tests/viewer/servers.sh puts them.
"""
import contextlib
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.parse
import urllib.request

LIMIT = 300  # seconds
SKIPPED = 77
VARIABLES = {"prometheus": "PROMETHEUS", "victoria-metrics": "VICTORIA_METRICS"}


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


def folders():
    return [pathlib.Path(one) for one in os.environ.get("SERVER_FOLDERS", "").split(":") if one]


def version_of(program):
    said = subprocess.run([program, "--version"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          check=False).stdout.decode()
    match = re.search(r"version (\d+)\.(\d+)", said)
    return tuple(map(int, match.groups())) if match else (0, 0)


def has_option(program, option):
    said = subprocess.run([program, "--help"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    return option in said.stdout.decode("utf-8", "replace")


def find(name, version=(0, 0), option=""):
    """The first program of at least that version with that option; without one the test is skipped."""
    given = os.environ.get(VARIABLES[name])
    found = [given] if given else [shutil.which(name)]
    found += [str(folder / name / "usr/bin" / name) for folder in folders()]
    found = [program for program in found if program and os.path.exists(program)]
    why = "no %s; tests/viewer/servers.sh fetches it" % name
    for program in found:
        if version > (0, 0) and version_of(program) < version:
            why = "%s is older than %d.%d; tests/viewer/servers.sh fetches a newer one" % (program, *version)
        elif option and not has_option(program, option):
            why = "%s is built without the option %s" % (program, option)
        else:
            return program
    return skip(why)


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Server:
    def __init__(self, port, flush):
        self.url = "http://127.0.0.1:%d" % port
        self.flush = flush  # a path to get before an answer has what was sent; or ""

    def get(self, path, **parameters):
        url = "%s%s?%s" % (self.url, path, urllib.parse.urlencode(parameters))
        with urllib.request.urlopen(url, timeout=30) as answer:
            return answer.read()

    def ask(self, query, label="name"):
        """By that label: the value."""
        answer = json.loads(self.get("/api/v1/query", query=query))
        return {one["metric"].get(label): float(one["value"][1]) for one in answer["data"]["result"]}

    def series(self, query):
        """The labels of each series."""
        return [one["metric"] for one in json.loads(self.get("/api/v1/query", query=query))["data"]["result"]]

    def wait_for(self, query, holds=bool, label="name"):
        """The answer when it holds."""
        end, found = time.monotonic() + LIMIT, None
        while time.monotonic() < end:
            with contextlib.suppress(OSError):
                if self.flush:
                    self.get(self.flush)
                found = self.ask(query, label)
                if holds(found):
                    return found
            time.sleep(0.2)
        raise SystemExit("no such answer to %s: %s" % (query, found))


@contextlib.contextmanager
def running(folder, arguments, port, flush=""):
    """A server that answers, until the end of the block. folder: for what it prints."""
    server, end = Server(port, flush), time.monotonic() + LIMIT
    log = folder / ("%s.log" % pathlib.Path(arguments[0]).name)
    with open(log, "wb") as output:
        process = subprocess.Popen(arguments, stdout=output, stderr=subprocess.STDOUT)
    try:
        while not answers(server):
            if process.poll() is not None or time.monotonic() > end:
                raise SystemExit("%s: %s" % (arguments[0], log.read_text()[-2000:]))
            time.sleep(0.1)
        yield server
    finally:
        process.terminate()
        process.wait()


def answers(server):
    try:
        server.get("/api/v1/query", query="1")
    except OSError:
        return False
    return True


def prometheus(folder, program, configuration, *options, native=True):
    """native: it asks for native histograms when it scrapes, and keeps them."""
    config, port = folder / "prometheus.yml", free_port()
    config.write_text(configuration)
    return running(folder, [program, "--config.file=%s" % config, "--storage.tsdb.path=%s" % (
        folder / ("data-%d" % port)), "--web.listen-address=127.0.0.1:%d" % port,
        *(["--enable-feature=native-histograms"] if native else []), *options], port)


def victoria_metrics(folder, program, *options):
    port = free_port()
    return running(folder, [program, "-storageDataPath=%s" % (folder / ("data-%d" % port)),
                            "-httpListenAddr=127.0.0.1:%d" % port, "-search.latencyOffset=0s",
                            "-retentionPeriod=1y", *options], port, "/internal/force_flush")


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


@contextlib.contextmanager
def served(tool, *paths):
    """stint export --serve; gives the port."""
    process = subprocess.Popen([tool, "export", *paths, "--to", "prometheus", "--serve", "0"],
                               stderr=subprocess.PIPE)
    try:
        yield int(re.search(rb":(\d+)/metrics", process.stderr.readline()).group(1))
    finally:
        process.terminate()
        process.communicate()


def post(tool, path, url, kind, *options):
    """Follows an ended run, which is one request."""
    done = subprocess.run([tool, "export", path, "--to", kind, "--follow", "1", "--post", url, *options],
                          stderr=subprocess.PIPE, check=False)
    if done.returncode:
        raise SystemExit("stint export --to %s %s: %s" % (kind, options, done.stderr.decode()))
