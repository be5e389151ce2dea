/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures the cost of an NVTX range that libstint-ranges.so records, as a multiple of a scope with
 * a name made at run time, in CPU time of the thread: the lowest of 21 rounds of each in turn. It
 * is run with NVTX_INJECTION64_PATH. It is not a test, as the result depends on the machine.
 */
#include <stdio.h>
#include <time.h>

#include <nvtx3/nvToolsExt.h>

#include "stint/stint.h"

#define RANGES 200000
#define ROUNDS 21
#define NAMES 64

static char names[NAMES][32];

static double thread_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void run_scopes(void) {
    for (int i = 0; i < RANGES; ++i) {
        REGISTER_TIMER_DYNAMIC((const char *)names[i % NAMES]);
    }
}

static void run_ranges(void) {
    for (int i = 0; i < RANGES; ++i) {
        nvtxRangePushA(names[i % NAMES]);
        nvtxRangePop();
    }
}

static nvtxDomainHandle_t domain;
static nvtxStringHandle_t strings[NAMES];

static void run_registered(void) {
    nvtxEventAttributes_t e = {0};
    e.version = NVTX_VERSION;
    e.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    e.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    for (int i = 0; i < RANGES; ++i) {
        e.message.registered = strings[i % NAMES];
        nvtxDomainRangePushEx(domain, &e);
        nvtxDomainRangePop(domain);
    }
}

static void (*const kinds[])(void) = {run_scopes, run_ranges, run_registered};
static const char *const titles[] = {"dynamic scope", "nvtxRangePushA and Pop",
                                     "the same of a domain, with registered strings"};
#define KINDS (sizeof kinds / sizeof *kinds)

int main(void) {
    double best[KINDS] = {0};
    for (int i = 0; i < NAMES; ++i) {
        snprintf(names[i], sizeof names[i], "bench.ranges.%03d", i);
    }
    domain = nvtxDomainCreateA("bench");
    for (int i = 0; domain && i < NAMES; ++i) {
        strings[i] = nvtxDomainRegisterStringA(domain, names[i]);
    }
    for (int round = 0; round < ROUNDS; ++round) {
        for (unsigned k = 0; k < KINDS; ++k) {
            double before = thread_ns();
            kinds[k]();
            double each = (thread_ns() - before) / RANGES;
            if (!round || each < best[k]) {
                best[k] = each;
            }
        }
    }
    for (unsigned k = 0; k < KINDS; ++k) {
        printf("%-46s %6.1f ns  %.2f\n", titles[k], best[k], best[k] / best[0]);
    }
    stint_stat s;
    if (stint_stat_get(names[0], &s, sizeof s) || s.calls <= (uint64_t)ROUNDS * RANGES / NAMES) {
        puts("no range was recorded: is NVTX_INJECTION64_PATH set?");
        return 1;
    }
    return 0;
}
