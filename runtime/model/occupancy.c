/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Implementation notes: the rules are those of the vendor's occupancy calculator, whose version is
 * in docs/reports.md, for compute capability 5.0 and later, with the largest part of the
 * multiprocessor's memory that it can make shared. Named barriers, clusters and a smaller shared
 * memory that the program chose are left out, because records do not have them.
 */
#include "occupancy.h"

#define WARP 32u
#define REGISTERS_OF_A_WARP 256u /* come in so many at a time */

/* Each part of a multiprocessor has its own registers, and a warp lies in one of them. */
static uint32_t parts_of(const struct snapshot_device *d) {
    return d->major == 6 && d->minor == 0 ? 2 : 4;
}

static uint32_t shared_step(const struct snapshot_device *d) {
    return d->major >= 8 ? 128 : 256;
}

static uint64_t round_up_to(uint64_t n, uint64_t step) {
    return (n + step - 1) / step * step;
}

static uint64_t by_registers(const struct snapshot_device *d, const struct snapshot_activity *a,
                             uint64_t warps) {
    uint64_t each = round_up_to((uint64_t)a->registers * WARP, REGISTERS_OF_A_WARP);
    uint64_t parts = parts_of(d);
    if (each) {
        return d->registers_per_mp / parts / each * parts / warps;
    }
    return UINT64_MAX;
}

static uint64_t by_shared(const struct snapshot_device *d, const struct snapshot_activity *a) {
    uint64_t used = (uint64_t)a->shared_static + a->shared_dynamic + d->reserved_shared;
    if (used) {
        return d->shared_per_mp / round_up_to(used, shared_step(d));
    }
    return UINT64_MAX;
}

static int device_is_known(const struct snapshot_device *d) {
    return d->major >= 5 && d->threads_per_mp >= WARP && d->blocks_per_mp && d->registers_per_mp &&
           d->shared_per_mp;
}

int occupancy_of(struct occupancy *out, const struct snapshot_device *d,
                 const struct snapshot_activity *a) {
    uint64_t threads = (uint64_t)a->block[0] * a->block[1];
    if (!device_is_known(d) || !threads || threads > d->threads_per_mp || !a->block[2] ||
        a->block[2] > d->threads_per_mp) {
        return -1;
    }
    uint64_t warps = (threads * a->block[2] + WARP - 1) / WARP, most = d->threads_per_mp / WARP;
    const struct {
        uint64_t blocks;
        const char *name;
    } limits[] = {{most / warps, "block size"}, /* of equal ones the first: the hardest to change */
                  {d->blocks_per_mp, "blocks"},
                  {by_registers(d, a, warps), "registers"},
                  {by_shared(d, a), "shared memory"}};
    uint64_t blocks = UINT64_MAX;
    for (unsigned i = 0; i < sizeof limits / sizeof *limits; ++i) {
        if (limits[i].blocks < blocks) {
            blocks = limits[i].blocks;
            out->limiter = limits[i].name;
        }
    }
    if (!blocks) {
        return -1; /* no block fits, but it ran: the limits are not those of its device */
    }
    out->blocks = (uint32_t)blocks;
    out->permille = (uint32_t)(blocks * warps * 1000 / most);
    if (blocks * warps == most) {
        out->limiter = "";
    }
    return 0;
}
