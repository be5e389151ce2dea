/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part before every call of the double: counts, faults and the hook.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "double_state.h"

#define DOUBLE_MOST 64 /* functions, more than the table has */

struct fault {
    int function;
    uint64_t left; /* calls until it strikes, and then never again; 0: always */
    int spent;
    int code;
};

static struct fault faults[32];
static unsigned fault_count;
static uint64_t calls[DOUBLE_MOST];
static void (*hook)(const char *function, void *data);
static void *hook_data;

static int strike(int function) {
    for (unsigned i = 0; i < fault_count; ++i) {
        struct fault *f = &faults[i];
        if (f->function != function || f->spent) {
            continue;
        }
        if (!f->left) {
            return f->code;
        }
        if (--f->left == 0) {
            f->spent = 1;
            return f->code;
        }
    }
    return 0;
}

int double_enter(int f) {
    double_take();
    void (*call)(const char *, void *) = hook;
    void *data = hook_data;
    ++calls[f];
    int code = strike(f);
    pthread_mutex_unlock(&double_lock);
    if (call) {
        call(double_names[f], data);
    }
    if (double_world.enter) {
        double_world.enter(DOUBLE_DRIVER, double_names[f], NULL, -1);
    }
    return code;
}

int double_leave(int f, int code) {
    (void)f;
    if (double_world.leave) {
        double_world.leave(code);
    }
    return code;
}

/* A name, with or without the suffix of its symbol; -1: not ours. */
static int function_named(const char *name, size_t length) {
    length -= length > 3 && !memcmp(name + length - 3, "_v2", 3) ? 3 : 0;
    for (int i = 0; double_names[i]; ++i) {
        if (strlen(double_names[i]) == length && !memcmp(double_names[i], name, length)) {
            return i;
        }
    }
    return -1;
}

/* One "function:nth=code"; returns the text after it, NULL if it cannot be read. */
static const char *read_fault(const char *text, struct fault *f) {
    char name[64], nth[24];
    int used = 0;
    memset(f, 0, sizeof *f);
    if (sscanf(text, "%63[A-Za-z0-9_]:%23[0-9*]=%d%n", name, nth, &f->code, &used) != 3 ||
        !f->code || (text[used] && text[used] != ',')) {
        return NULL;
    }
    f->function = function_named(name, strlen(name));
    f->left = strtoull(nth, NULL, 10);
    return f->function < 0 || (!f->left && strcmp(nth, "*") != 0) ? NULL
                                                                  : text + used + !!text[used];
}

int double_fail(const char *text) {
    struct fault read[sizeof faults / sizeof *faults];
    unsigned n = 0;
    while (text && *text) {
        text = n < sizeof faults / sizeof *faults ? read_fault(text, &read[n++]) : NULL;
        if (!text) {
            return -1;
        }
    }
    double_take();
    fault_count = n;
    memcpy(faults, read, n * sizeof *faults);
    pthread_mutex_unlock(&double_lock);
    return 0;
}

void double_hook(void (*call)(const char *function, void *data), void *data) {
    double_take();
    hook = call;
    hook_data = data;
    pthread_mutex_unlock(&double_lock);
}

uint64_t double_calls(const char *function) {
    int f = function_named(function, strlen(function));
    double_take();
    uint64_t n = f < 0 ? UINT64_MAX : calls[f];
    pthread_mutex_unlock(&double_lock);
    return n;
}

uint64_t double_calls_all(void) {
    uint64_t n = 0;
    double_take();
    for (int i = 0; double_names[i]; ++i) {
        n += calls[i];
    }
    pthread_mutex_unlock(&double_lock);
    return n;
}

uint64_t double_synchronise_calls(void) {
    return double_calls("cuEventSynchronize");
}

void double_calls_clear(void) {
    double_take();
    memset(calls, 0, sizeof calls);
    pthread_mutex_unlock(&double_lock);
}
