#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exports in Protocol Buffers, read by programs that stint has no part in.

    proto.py protoc PROGRAM FORMAT RUN    protoc --decode: every field is described below,
                                          of its type
    proto.py go PROGRAM                   go tool pprof: times and calls are those of folded
                                          stacks

PROGRAM is export_golden. The descriptions are the fields of the public .proto files that are
written: perfetto/trace/*.proto of Perfetto and proto/profile.proto of pprof. protoc prints a field
that is not described by its number, and refuses one of another type.
"""
import collections
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
DESCRIPTIONS = {
    "perfetto": ("Trace", """
message Trace { repeated TracePacket packet = 1; }
message TracePacket {
  optional uint64 timestamp = 8;
  optional uint32 trusted_packet_sequence_id = 10;
  optional TrackEvent track_event = 11;
  optional InternedData interned_data = 12;
  optional uint32 sequence_flags = 13;
  optional TrackDescriptor track_descriptor = 60;
}
message TrackDescriptor {
  optional uint64 uuid = 1;
  optional string name = 2;
  optional ProcessDescriptor process = 3;
  optional ThreadDescriptor thread = 4;
  optional uint64 parent_uuid = 5;
  optional CounterDescriptor counter = 8;
}
message ProcessDescriptor { optional int32 pid = 1; optional string process_name = 6; }
message ThreadDescriptor {
  optional int32 pid = 1;
  optional int32 tid = 2;
  optional string thread_name = 5;
}
message CounterDescriptor { }
message TrackEvent {
  repeated uint64 category_iids = 3;
  enum Type { UNSPECIFIED = 0; SLICE_BEGIN = 1; SLICE_END = 2; INSTANT = 3; COUNTER = 4; }
  optional Type type = 9;
  optional uint64 name_iid = 10;
  optional uint64 track_uuid = 11;
  optional double double_counter_value = 44;
  repeated fixed64 flow_ids = 47;
  repeated fixed64 terminating_flow_ids = 48;
}
message InternedData { repeated EventCategory event_categories = 1; repeated EventName event_names = 2; }
message EventCategory { optional uint64 iid = 1; optional string name = 2; }
message EventName { optional uint64 iid = 1; optional string name = 2; }
"""),
    "pprof": ("Profile", """
message Profile {
  repeated ValueType sample_type = 1;
  repeated Sample sample = 2;
  repeated Location location = 4;
  repeated Function function = 5;
  repeated string string_table = 6;
  optional int64 time_nanos = 9;
  optional int64 duration_nanos = 10;
  optional int64 default_sample_type = 14;
}
message ValueType { optional int64 type = 1; optional int64 unit = 2; }
message Sample { repeated uint64 location_id = 1; repeated int64 value = 2; repeated Label label = 3; }
message Label { optional int64 key = 1; optional int64 str = 2; optional int64 num = 3; }
message Location { optional uint64 id = 1; repeated Line line = 4; }
message Line { optional uint64 function_id = 1; optional int64 line = 2; }
message Function {
  optional uint64 id = 1;
  optional int64 name = 2;
  optional int64 system_name = 3;
  optional int64 filename = 4;
  optional int64 start_line = 5;
}
"""),
}


def export(program, kind, run):
    return subprocess.run([program, kind, run], stdout=subprocess.PIPE, check=True).stdout


def skip_without(tool):
    if not shutil.which(tool):
        print("skipped: no %s" % tool)
        sys.exit(SKIPPED)


def protoc(program, kind, run):
    skip_without("protoc")
    message, text = DESCRIPTIONS[kind]
    with tempfile.TemporaryDirectory(prefix="stint-proto-") as folder:
        (pathlib.Path(folder) / "x.proto").write_text('syntax = "proto2";' + text)
        data = export(program, kind, run)

        def decode(some):
            return subprocess.run(["protoc", "-I", folder, "--decode=" + message, "x.proto"], input=some,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        done = decode(data)
        said = done.stdout.decode("utf-8", "replace")
        unknown = re.findall(r"(?m)^ *\d+[:{ ].*", said)
        if done.returncode or unknown or "warning" in said or len(data) < 20 or not said:
            print(said[:2000], "unknown:", unknown[:10])
            return 1
        if not decode(data[:-1]).returncode:
            print("a file that is cut off was read")
            return 1
    print("%d lines of fields" % said.count("\n"))
    return 0


def folded(program, run):
    """name -> time in the scope itself"""
    found = collections.Counter()
    for line in export(program, "folded", run).decode().splitlines():
        stack, ns = line.rsplit(" ", 1)
        found[stack.split(";")[-1]] += int(ns)
    return found


def go(program):
    skip_without("go")
    with tempfile.TemporaryDirectory(prefix="stint-proto-") as folder:
        path = pathlib.Path(folder) / "run.pb"
        path.write_bytes(export(program, "pprof", "tree"))
        env = {"HOME": folder, "PATH": "/usr/local/go/bin:/usr/local/bin:/usr/bin:/bin",
               "PPROF_TMPDIR": folder}
        done = subprocess.run(["go", "tool", "pprof", "-raw", str(path)], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, universal_newlines=True, env=env, check=False)
        if done.returncode and "no such tool" in done.stderr:
            print("skipped: %s" % done.stderr.strip())
            return SKIPPED
        top = subprocess.run(["go", "tool", "pprof", "-top", "-unit=ns", "-nodecount=1000",
                              "-nodefraction=0", str(path)], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, universal_newlines=True, env=env, check=False)
    if done.returncode or top.returncode or "calls/count time/nanoseconds" not in done.stdout:
        print(done.stdout[:2000], done.stderr, top.stderr)
        return 1
    flat = collections.Counter()
    for ns, name in re.findall(r"(?m)^ *(\d+)(?:ns)? +[\d.]+% +[\d.]+% +\d+(?:ns)? +[\d.]+% +(.*)$", top.stdout):
        flat[name.strip()] += int(ns)
    plain = {name: ns for name, ns in folded(program, "tree").items() if re.fullmatch(r"[\w.]+", name)}
    if len(plain) < 3 or any(flat[name] != ns for name, ns in plain.items()):
        print(top.stdout, flat, plain)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit({"protoc": protoc, "go": go}[sys.argv[1]](*sys.argv[2:]))
