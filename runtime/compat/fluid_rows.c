/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Implementation notes: first the scopes of the call tree, then which of them have a row, then
 * the rows. Rows of the tree come after their parents, so one pass forwards passes values down and
 * one backwards passes them up.
 */
#include "fluid_rows.h"

#include <math.h>
#include <string.h>

#include "arena/activity_kind.h"
#include "base/arithmetic.h"
#include "stint/stint.h"

/* ---- GPU time: a tracer's, else the time of the scopes that timed themselves. A scope that did
 * not has the time of the scopes in it. */

static int fluid_is_work(const struct snapshot_activity *a) {
    return a->count && a->kind >= ACTIVITY_KERNEL && a->kind <= ACTIVITY_FILL;
}

static enum fluid_source find_source(const struct snapshot *s) {
    for (uint32_t i = 0; i < s->activity_count; ++i) {
        if (fluid_is_work(&s->activities[i])) {
            return FLUID_TRACER;
        }
    }
    for (uint32_t i = 0; i < s->node_count; ++i) {
        if (s->nodes[i].measures->gpu_calls) {
            return FLUID_EVENTS;
        }
    }
    return FLUID_NO_GPU;
}

/* gpu: by node, at first 0. Parents come before children. */
static void sum_gpu_times(const struct fluid_sheet *f, double *gpu) {
    const struct snapshot *s = f->snapshot;
    for (uint32_t i = 0; f->source == FLUID_TRACER && i < s->activity_count; ++i) {
        const struct snapshot_activity *a = &s->activities[i];
        if (fluid_is_work(a) && a->node < s->node_count) {
            gpu[a->node] += (double)a->total;
        }
    }
    for (uint32_t i = s->node_count; i-- > 0;) {
        const struct snapshot_node *n = &s->nodes[i];
        if (f->source == FLUID_EVENTS && n->measures->gpu_calls) {
            gpu[i] = (double)n->measures->gpu_total_ns;
        }
        if (n->parent != SNAPSHOT_NONE && n->kind == STINT_IMPL_SCOPE_NODE) {
            gpu[n->parent] += gpu[i];
        }
    }
}

/* ---- Scopes. */

/* The shortest and the longest call, as far as they are known: a tracer's times belong to the scope
 * and not to the call, so each has the average. A scope's own events alone give exact ones. */
static void add_bounds(const struct fluid_sheet *f, const struct snapshot_node *n, double gpu,
                       struct fluid_scope *to) {
    const struct snapshot *s = f->snapshot;
    enum fluid_state state = f->options->fluid.state;
    struct fluid_bounds b = fluid_bounds(f->bounds, s, n);
    double min = (double)snapshot_node_ns(s, n, b.min);
    double max = (double)snapshot_node_ns(s, n, b.max);
    double each = gpu / (double)n->count;
    if (state == FLUID_GPU) {
        int alone = f->source == FLUID_EVENTS && n->measures->gpu_calls && !n->extra->gpu.loose;
        min = each;
        max = each;
        if (alone) {
            min = (double)n->measures->gpu_min_ns;
            max = (double)n->measures->gpu_max_ns;
        }
    } else if (state == FLUID_ALL) {
        min += each;
        max += each;
    }
    to->min = double_min(min, to->min);
    to->max = double_max(max, to->max);
}

static void fluid_add_node(struct fluid_sheet *f, uint32_t node, double gpu) {
    const struct snapshot_node *n = &f->snapshot->nodes[node];
    const struct snapshot_site *site = &f->snapshot->sites[n->site];
    struct fluid_scope *to = &f->scope[f->row_of[node]];
    if (site->role) {
        to->role = site->role;
    }
    if (site->level > to->level) {
        to->level = site->level;
    }
    if (!site->line) {
        to->dynamic = 1;
    }
    to->gpu += gpu;
    f->computes |= n->count && site->role == STINT_ROLE_COMPUTE;
    if (snapshot_first_begin(n)) {
        to->begin = u64_min(to->begin, snapshot_first_begin(n));
    }
    if (n->count) {
        to->first_end = u64_min(to->first_end, snapshot_first_end(f->snapshot, n));
        add_bounds(f, n, gpu, to);
    }
}

static int is_shown(const struct fluid_sheet *f, const struct stint_row *r,
                    const struct fluid_scope *scope) {
    static const uint8_t levels[] = {[FLUID_RECORDED] = UINT8_MAX,
                                     [FLUID_DEFAULT] = STINT_LEVEL_DEFAULT,
                                     [FLUID_OP_DETAIL] = STINT_LEVEL_OP_DETAIL,
                                     [FLUID_ALL_OP_DETAIL] = UINT8_MAX};
    const struct report_options *o = f->options;
    return r->samples && r->kind == STINT_IMPL_SCOPE_NODE &&
           (o->set == REPORT_ALL_SETS || r->set == o->set) &&
           scope->level <= levels[o->fluid.detail] &&
           !(scope->inner && o->fluid.detail == FLUID_DEFAULT) &&
           report_options_want(o, r->name, r->name_length);
}

/* Sets the properties of a scope that follow from the scopes around it. */
static void scope_place(struct fluid_sheet *f, uint32_t i) {
    uint32_t parent = f->rows.row[i].parent;
    struct fluid_scope *scope = &f->scope[i];
    scope->number = SNAPSHOT_NONE;
    if (parent == SNAPSHOT_NONE) {
        return;
    }
    const struct fluid_scope *around = &f->scope[parent];
    scope->in_op = around->in_op || around->role == STINT_ROLE_OP;
    scope->inner =
        scope->in_op && (scope->role == STINT_ROLE_COMPUTE || scope->role == STINT_ROLE_FRAMEWORK ||
                         scope->level == STINT_LEVEL_OP_DETAIL);
}

static int read_scopes(struct fluid_sheet *f) {
    struct snapshot *s = f->snapshot;
    double *gpu = scratch_array(&s->memory, (size_t)s->node_count + 1, sizeof *gpu);
    f->scope = scratch_array(&s->memory, (size_t)f->rows.count + 1, sizeof *f->scope);
    f->bounds = fluid_bounds_new(s);
    if (scratch_failed(&s->memory)) {
        return -1;
    }
    sum_gpu_times(f, gpu);
    for (uint32_t i = 0; i < f->rows.count; ++i) {
        f->scope[i].begin = f->scope[i].first_end = UINT64_MAX;
        f->scope[i].min = HUGE_VAL;
    }
    for (uint32_t i = 0; i < s->node_count; ++i) {
        if (f->row_of[i] != SNAPSHOT_NONE) {
            fluid_add_node(f, i, gpu[i]);
        }
    }
    for (uint32_t i = 0; i < f->rows.count; ++i) {
        scope_place(f, i);
    }
    return 0;
}

/* ---- Instances of operators: what has a name made at run time and is right inside one. */

static int is_instance(const struct fluid_sheet *f, uint32_t i) {
    uint32_t parent = f->rows.row[i].parent;
    enum fluid_detail detail = f->options->fluid.detail;
    return (detail == FLUID_RECORDED || detail == FLUID_ALL_OP_DETAIL) && parent != SNAPSHOT_NONE &&
           f->scope[parent].role == STINT_ROLE_OP && f->scope[i].dynamic && !f->scope[i].role;
}

static int number_instances(const struct fluid_sheet *f, struct fluid_instances *numbers) {
    struct fluid_instance *found =
        scratch_array(&f->snapshot->memory, (size_t)f->rows.count + 1, sizeof *found);
    uint32_t count = 0;
    if (scratch_failed(&f->snapshot->memory)) {
        return -1;
    }
    for (uint32_t i = 0; i < f->rows.count; ++i) {
        const struct stint_row *r = &f->rows.row[i];
        if (is_instance(f, i)) {
            found[count].type = f->rows.row[r->parent].name_id;
            found[count].name = r->name_id;
            found[count++].begin = f->scope[i].begin;
        }
    }
    return fluid_instances_number(numbers, f->snapshot, found, count);
}

static void take_numbers(struct fluid_sheet *f, const struct fluid_instances *numbers) {
    for (uint32_t i = 0; i < f->rows.count; ++i) {
        const struct stint_row *r = &f->rows.row[i];
        if (is_instance(f, i)) {
            f->scope[i].number =
                fluid_instances_of(numbers, f->rows.row[r->parent].name_id, r->name_id);
        }
    }
}

/* ---- Rows. */

/* The CPU and GPU times that the report's state is about. */
static double time_shown(const struct fluid_sheet *f, double cpu, double gpu) {
    switch (f->options->fluid.state) {
    case FLUID_CPU:
        return cpu;
    case FLUID_GPU:
        return gpu;
    default:
        return cpu + gpu;
    }
}

/* calls: those with a time; min and max are given. */
static void finish_row(const struct fluid_sheet *f, struct fluid_row *r, u128 calls) {
    r->total = time_shown(f, r->cpu, r->gpu);
    r->ave = 0;
    if (calls) {
        r->ave = r->total / (double)calls;
    }
    r->min = double_max(double_min(r->min, r->ave), 0);
    r->max = double_max(r->ave, r->max);
}

static void add_scope(struct fluid_sheet *f, uint32_t i) {
    const struct stint_row *r = &f->rows.row[i];
    struct fluid_scope *scope = &f->scope[i];
    struct fluid_row *to = &f->row[f->count++];
    to->tree = i;
    if (r->parent == SNAPSHOT_NONE) {
        to->parent = SNAPSHOT_NONE;
    } else {
        to->parent = f->scope[r->parent].row - 1;
    }
    to->thread = r->thread;
    to->calls = r->calls;
    to->cpu = (double)r->total_ns;
    to->gpu = scope->gpu;
    to->min = scope->min;
    to->max = scope->max;
    to->first_end = scope->first_end;
    finish_row(f, to, r->samples);
    scope->shown = 1;
    scope->row = f->count;
}

static void add_scopes(struct fluid_sheet *f) {
    for (uint32_t i = 0; i < f->rows.count; ++i) {
        uint32_t parent = f->rows.row[i].parent;
        if (is_shown(f, &f->rows.row[i], &f->scope[i])) {
            add_scope(f, i);
        } else {
            if (parent == SNAPSHOT_NONE) {
                f->scope[i].row = 0;
            } else {
                f->scope[i].row = f->scope[parent].row;
            }
        }
    }
}

/* ---- Copies. */

/* Where an activity's copy goes. */
static enum fluid_way fluid_way_of(uint32_t detail) {
    switch (ACTIVITY_COPY_DIRECTION(detail)) {
    case ACTIVITY_COPY_HTOD:
    case ACTIVITY_COPY_HTOA:
        return FLUID_TO_GPU;
    case ACTIVITY_COPY_DTOH:
    case ACTIVITY_COPY_ATOH:
        return FLUID_TO_CPU;
    case ACTIVITY_COPY_DTOD:
    case ACTIVITY_COPY_ATOD:
    case ACTIVITY_COPY_DTOA:
    case ACTIVITY_COPY_ATOA:
        return FLUID_SAME_GPU;
    case ACTIVITY_COPY_PTOP:
        return FLUID_OTHER_GPU;
    case ACTIVITY_COPY_HTOH:
        return FLUID_ON_CPU;
    default:
        return FLUID_ANY_WAY;
    }
}

/* The rows of copies of one place are a list, a dozen at most. */
static struct fluid_row *copies_of(struct fluid_sheet *f, uint32_t *first, uint8_t async,
                                   uint8_t way) {
    for (uint32_t at = *first; at; at = f->row[at - 1].next) {
        if (f->row[at - 1].async == async && f->row[at - 1].way == way) {
            return &f->row[at - 1];
        }
    }
    struct fluid_row *r = &f->row[f->count++];
    r->next = *first;
    r->async = async;
    r->way = way;
    r->tree = r->parent = r->thread = SNAPSHOT_NONE;
    r->min = -1;
    r->first_end = UINT64_MAX;
    *first = f->count;
    return r;
}

static void fluid_add_copies(struct fluid_row *to, const struct snapshot_activity *a) {
    to->calls += a->count;
    to->cpu += (double)a->launch_total;
    to->gpu += (double)a->total;
    to->bytes += a->bytes;
    if (to->min < 0 || (double)a->min < to->min) {
        to->min = (double)a->min;
    }
    to->max = double_max((double)a->max, to->max);
    to->first_end = u64_min(snapshot_activity_begin(a), to->first_end);
}

/* Makes a list of rows for every place: by the row around them, rows of no scope last. */
static int hang_copies(struct fluid_sheet *f, uint32_t scopes) {
    const struct snapshot *s = f->snapshot;
    uint32_t *first = scratch_array(&f->snapshot->memory, (size_t)scopes + 1, sizeof *first);
    for (uint32_t i = 0; first && i < s->activity_count; ++i) {
        const struct snapshot_activity *a = &s->activities[i];
        uint32_t tree = SNAPSHOT_NONE;
        if (a->node < s->node_count) {
            tree = f->row_of[a->node];
        }
        uint32_t around = 0;
        if (tree != SNAPSHOT_NONE) {
            around = f->scope[tree].row;
        }
        if (a->kind != ACTIVITY_COPY || !a->count) {
            continue;
        }
        uint32_t place = scopes;
        if (around) {
            place = around - 1;
        }
        struct fluid_row *to = copies_of(f, &first[place], (uint8_t)ACTIVITY_COPY_ASYNC(a->detail),
                                         (uint8_t)fluid_way_of(a->detail));
        to->parent = SNAPSHOT_NONE;
        to->thread = SNAPSHOT_NONE;
        if (around) {
            to->parent = around - 1;
            to->thread = f->row[around - 1].thread;
        }
        fluid_add_copies(to, a);
    }
    for (uint32_t i = scopes; i < f->count; ++i) {
        struct fluid_row *r = &f->row[i];
        double each = 0;
        if (f->options->fluid.state != FLUID_GPU) {
            each = r->cpu / (double)r->calls;
        }
        double gpu = 1;
        if (f->options->fluid.state == FLUID_CPU) {
            gpu = 0;
        }
        r->min = each + gpu * r->min;
        r->max = each + gpu * r->max;
        finish_row(f, r, r->calls);
    }
    if (first) {
        return 0;
    }
    return -1;
}

/* ---- Sums. */

/* The innermost scopes of role COMPUTE, inside of what the total is made of. */
static void sum_computation(struct fluid_sheet *f) {
    for (uint32_t i = f->rows.count; i-- > 0;) {
        const struct stint_row *r = &f->rows.row[i];
        struct fluid_scope *scope = &f->scope[i];
        int computes = scope->role == STINT_ROLE_COMPUTE && r->samples && scope->row;
        if (computes && !scope->compute_inside) {
            f->computation += time_shown(f, (double)r->total_ns, scope->gpu);
        }
        if (r->parent != SNAPSHOT_NONE) {
            if (computes || scope->compute_inside) {
                f->scope[r->parent].compute_inside = 1;
            }
        }
    }
    f->computation = double_min(f->computation, f->total);
}

/* The total of the row's thread. The last one is for rows of all threads together, or of no known
 * one. */
static double *thread_total(const struct fluid_sheet *f, const struct fluid_row *r) {
    uint32_t threads = f->snapshot->thread_count;
    return &f->threads[r->thread < threads ? r->thread : threads];
}

static int sum_up(struct fluid_sheet *f) {
    struct snapshot *s = f->snapshot;
    f->threads = scratch_array(&s->memory, (size_t)s->thread_count + 1, sizeof *f->threads);
    if (scratch_failed(&s->memory)) {
        return -1;
    }
    for (uint32_t i = 0; i < f->count; ++i) {
        const struct fluid_row *r = &f->row[i];
        if (r->parent == SNAPSHOT_NONE) {
            f->total += r->total;
            *thread_total(f, r) += r->total;
        }
    }
    for (uint32_t i = 0; i < f->count; ++i) {
        struct fluid_row *r = &f->row[i];
        double all = *thread_total(f, r);
        r->ratio = 0;
        if (all > 0) {
            r->ratio = r->total / all;
        }
    }
    sum_computation(f);
    return 0;
}

int fluid_sheet(struct fluid_sheet *out, struct snapshot *s, const struct report_options *o,
                int each_thread, struct fluid_instances *numbers) {
    memset(out, 0, sizeof *out);
    out->snapshot = s;
    out->options = o;
    out->source = find_source(s);
    if (rows_tree_of(&out->rows, s, each_thread, &out->row_of) || read_scopes(out)) {
        return -1;
    }
    uint64_t most = (uint64_t)out->rows.count + s->activity_count + 1;
    out->row = scratch_array(&s->memory, (size_t)most, sizeof *out->row);
    if (scratch_failed(&s->memory) || (!each_thread && number_instances(out, numbers))) {
        return -1;
    }
    take_numbers(out, numbers);
    add_scopes(out);
    if (hang_copies(out, out->count) || sum_up(out)) {
        return -1;
    }
    return 0;
}
