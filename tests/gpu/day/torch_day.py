# SPDX-License-Identifier: Apache-2.0
"""torch_day.py MODE: a small model of PyTorch's under stint's profile (stint), with a CUDA graph
(graph), under PyTorch's own profile (kineto), under both at once (both) and one after the other
(after). Prints how many kernels each saw; exit status 1: a kernel is neither counted nor reported as
lost. LIBSTINT is libstint.so."""
import ctypes
import json
import os
import re
import sys
import tempfile

import torch

STEPS, LAYERS = 20, 10
mode = sys.argv[1]
stint = ctypes.CDLL(os.environ["LIBSTINT"], mode=ctypes.RTLD_GLOBAL)
x, w = (torch.randn(1024, 1024, device="cuda") for _ in range(2))


def step():
    global x
    for _ in range(LAYERS):
        x = torch.relu(x @ w) * 1e-3


def steps():
    for _ in range(STEPS):
        step()
    torch.cuda.synchronize()


def kineto():
    activities = torch.profiler.ProfilerActivity
    with torch.profiler.profile(activities=[activities.CPU, activities.CUDA]) as profile:
        steps()
    kernels = sum(event.count for event in profile.key_averages()
                  if event.device_type == torch.autograd.DeviceType.CUDA)
    print("kernels by PyTorch:", kernels)


def stint_report():
    """The report, which goes to stderr."""
    before = os.dup(2)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 2)
        stint.stint_report(b"gpu")
        os.dup2(before, 2)
        file.seek(0)
        return file.read().decode()


def stint_counts():
    """Kernels, and launches whose records another client took."""
    stint.stint_gpu_flush()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "run.json")
        stint.stint_export(path.encode(), b"json")
        with open(path, encoding="utf-8") as file:
            run = json.load(file)
    report = stint_report()
    kernels = sum(row["calls"] for row in run.get("gpu", {}).get("kernels", []))
    taken = sum(map(int, re.findall(r"took the records of (\d+) launch", report)[:1]))
    print(report)
    print("kernels by stint:", kernels, "launches taken by another client:", taken)
    return kernels + taken


step()
torch.cuda.synchronize()
least = STEPS * LAYERS * 2  # a product and at least one other kernel a layer
if mode == "graph":
    graph, stream = torch.cuda.CUDAGraph(), torch.cuda.Stream()
    with torch.cuda.stream(stream):
        step()
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        step()
if mode != "kineto":
    stint.stint_profiler_start(b"All", b"Default")
if mode in ("kineto", "both"):
    kineto()
elif mode == "graph":
    for _ in range(STEPS):
        graph.replay()
    torch.cuda.synchronize()
else:
    steps()
good = True
if mode != "kineto":
    good = stint_counts() >= least
if mode == "after":
    stint.stint_profiler_stop(b"total", None)
    kineto()
sys.exit(not good)
