/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CUDA driver's way to tell a library that the program initialises CUDA: cuInit loads the
 * library that CUDA_INJECTION64_PATH names and calls its function InitializeInjection, in which
 * CUPTI may be subscribed (CUPTI's sample cupti_trace_injection).
 */
#ifndef STINT_INJECTION_H
#define STINT_INJECTION_H

/* Sets the variable to this library, if it is not set and the process has one thread, as setenv is
 * not thread-safe. Where it is not set to this library, slow paths of scopes, GPU scopes, steps and
 * capture ranges find out that the program has initialised CUDA. */
void injection_prepare(void);

#endif
