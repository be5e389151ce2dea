/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The floor, in multiples of which every figure of the benches is given: two unfenced clock reads
 * and a store, in a loop of their own.
 */
#ifndef BENCH_FLOOR_H
#define BENCH_FLOOR_H

/* A loop of n scopes. */
typedef void bench_loop(long n);

/* The thread's own CPU time: on a shared machine the clock on the wall counts the others too. */
double bench_now_ns(void);

void bench_floor_loop(long n);

/* Runs `loop` with `n` scopes once; returns the nanoseconds of each. */
double bench_ns_each(bench_loop *loop, long n);

#endif
