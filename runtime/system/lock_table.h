/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All mutexes of the runtime, in the order in which one thread may take them: LOCK(name, protects).
 * A thread that holds one may take any that comes later in the table. fork takes all of them in
 * this order. The table in docs/design.md is a copy, which tests/lock_check.py compares.
 *
 * The registry's lock is the last: a signal handler may interrupt the holder of any other lock and
 * begin its thread's first scope.
 */
LOCK(PROFILER, "phase and options of the profile (compat/profiler/profiler.c)")
LOCK(STEP, "schedule of the timers, windows of steps (interval/step.c)")
LOCK(CAPTURE, "capture ranges, windows and the requested state of the tools (capture/capture.c)")
LOCK(TRACER, "how many callers want a tracer, and its change of state (capture/tracer.c)")
LOCK(INTERVAL, "baseline of the interval; held while a snapshot is formatted (interval/interval.c)")
LOCK(ACTIVITY, "tables and time line of GPU activities (activity/activity.c)")
LOCK(EVENTS, "lists of event pairs and queues of streams (gpu/event_pool.c)")
LOCK(LOG, "callback for lines (system/log.c)")
LOCK(REGISTRY, "threads, sites, sets, names, settings, opening of the arena (record/registry.c)")
