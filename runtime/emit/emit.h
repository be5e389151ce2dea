/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scopes as ranges of an external tool, when STINT_NVTX=1 is set. The tool's interface is a
 * back end (struct emit_ops): emit_nvtx.c where NVTX's headers were found at build time; a build
 * without one has none. session/connect.c chooses.
 *
 * All of these call into a tool, or may: from any thread, with no lock held, and marked as inside
 * the slow path, so that a scope that the tool opens, or a signal handler that interrupts it, is
 * refused instead of entering the tool again.
 */
#ifndef STINT_EMIT_H
#define STINT_EMIT_H

#include <stdint.h>

/* Each comment says what the member does, and what happens where it is NULL. */
struct emit_ops {
    /* For debuggers. */
    const char *name;
    /* Connects to the tool, once. 0, or -1 where no tool listens. Never NULL. */
    int (*open)(void);
    /* Around every open scope of the calling thread, balanced; only after open. Never NULL. */
    void (*push)(uint32_t site, uint32_t set);
    void (*pop)(void);
    /* In the child of a fork, under the registry's lock: numbers of sites begin anew. 0, or -1 if
     * there can be no more ranges. Only after open. NULL: the child has no ranges. */
    int (*forget)(void);
};

/* The back end of this build, or NULL; before the first scope. */
void emit_set_backend(const struct emit_ops *ops);
/* Whether there is one; without, STINT_NVTX=1 gets a line. */
int emit_built(void);

/* Finds out once whether scopes are to be ranges: settings are read, and a tool is loaded if there
 * is one. Other threads wait for it. */
void emit_start(void);
/* The state of the back end. Release by the starting thread, acquire. */
enum { EMIT_FRESH, EMIT_STARTING, EMIT_ON, EMIT_OFF };
extern int emit_state;
/* Returns the result of emit_start, which does not change after it. Inline: each scope of the slow
 * path asks. */
static inline int emit_on(void) {
    return __atomic_load_n(&emit_state, __ATOMIC_ACQUIRE) == EMIT_ON;
}

/* Only with emit_on(). */
void emit_push(uint32_t site, uint32_t set);
void emit_pop(void);

/* In the child of a fork, under the registry's lock. */
void emit_forget_all(void);

/* ---- emit_nvtx.c: NVTX ranges: domain "stint", one registered string per site, the set as
 * category. */

extern const struct emit_ops emit_nvtx;

#endif
