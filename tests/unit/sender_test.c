/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work below the scope that sent it: its place in the tree, its time in the queue, and the senders
 * that are refused and counted.
 */

#include "harness_threads.h"
#include "recorded.h"
#include "support.h"

struct job {
    stint_sender sender;
    uint64_t ns;
    struct job *next; /* sent by this one */
};

static void run_on_thread(void *(*work)(void *), void *argument) {
    thread_run(work, argument);
}

static void *do_job(void *argument) {
    struct job *job = argument;
    REGISTER_TIMER_UNDER("job", job->sender);
    REGISTER_TIMER("job.part");
    fake_advance(job->ns);
    if (job->next) {
        job->next->sender = stint_sender_here();
        run_on_thread(do_job, job->next);
    }
    return NULL;
}

static void *do_other(void *argument) {
    struct job *job = argument;
    REGISTER_TIMER_UNDER("other", job->sender);
    fake_advance(job->ns);
    if (job->next) {
        job->next->sender = stint_sender_here();
        run_on_thread(do_job, job->next);
    }
    return NULL;
}

static void send_job(uint64_t wait, uint64_t ns) {
    REGISTER_TIMER("send");
    struct job job = {.sender = stint_sender_here(), .ns = ns};
    fake_advance(wait);
    run_on_thread(do_job, &job);
}

static uint64_t measure_of(const char *name, enum measure m) {
    static struct snapshot s;
    struct rows rows;
    uint64_t number = UINT64_MAX;
    CHECK(!interval_open(&s, 0));
    CHECK(!rows_flat(&rows, &s, 0));
    const struct stint_row *r = row_in(&rows, 0, name);
    if (r) {
        number = u128_narrow(r->extra->measure[m]);
    }
    interval_close(&s);
    return number;
}

static uint64_t queued_calls(const char *name) {
    return measure_of(name, MEASURE_QUEUE_CALLS);
}

static uint64_t queued_ns(const char *name) {
    return measure_of(name, MEASURE_QUEUE_NS);
}

/* Counts the lines of the tree with that name at that depth. */
static unsigned shown(const char *name, int depth) {
    char line[64], *tree = report_of("tree");
    snprintf(line, sizeof line, "\n%*s%s ", 2 * depth, "", name);
    unsigned n = times_in(tree, line);
    return n;
}

TEST(sender, work_is_shown_below_the_scope_that_sent_it) {
    {
        REGISTER_TIMER("step");
        send_job(10, 100);
        send_job(20, 200);
    }
    CHECK_EQ_U64(shown("send", 1), 1);
    CHECK_EQ_U64(shown("job", 2), 1);
    CHECK_EQ_U64(shown("job.part", 3), 1);
    CHECK_EQ_U64(shown("job", 0), 0);
    stint_stat s = stat_of("send");
    CHECK_EQ_U64(s.total_ns, 330);
    CHECK_EQ_U64(s.self_ns, 330); /* not less: the work was on another thread */
    s = stat_of("job");
    CHECK_EQ_U64(s.calls, 2);
    CHECK_EQ_U64(s.total_ns, 300);
    CHECK_EQ_U64(s.self_ns, 0);
    CHECK_EQ_U64(lost_in_all(), 0);
}

TEST(sender, work_has_its_time_in_the_queue) {
    send_job(10, 100);
    send_job(30, 100);
    CHECK_EQ_U64(queued_calls("job"), 2);
    CHECK_EQ_U64(queued_ns("job"), 40);
    CHECK_EQ_U64(queued_calls("send"), 0);
    stint_reset();
    send_job(5, 100);
    CHECK_EQ_U64(queued_calls("job"), 1);
    CHECK_EQ_U64(queued_ns("job"), 5);
}

TEST(sender, each_sender_has_its_own_work) {
    {
        REGISTER_TIMER("first");
        send_job(1, 10);
    }
    {
        REGISTER_TIMER("second");
        send_job(1, 10);
    }
    CHECK_EQ_U64(shown("send", 1), 2);
    CHECK_EQ_U64(shown("job", 2), 2);
    CHECK_EQ_U64(calls_of("job"), 2);
}

static void *loop_around_job(void *argument) {
    REGISTER_TIMER("loop");
    fake_advance(5);
    do_job(argument);
    return NULL;
}

TEST(sender, the_scope_it_runs_in_keeps_its_own_time) {
    {
        REGISTER_TIMER("sender");
        struct job job = {.sender = stint_sender_here(), .ns = 70};
        run_on_thread(loop_around_job, &job);
    }
    CHECK_EQ_U64(shown("loop", 0), 1);
    CHECK_EQ_U64(shown("job", 1), 1);
    stint_stat loop = stat_of("loop");
    CHECK_EQ_U64(loop.total_ns, 75);
    CHECK_EQ_U64(loop.self_ns, 5);
}

TEST(sender, work_done_where_it_was_sent_is_an_ordinary_scope) {
    {
        REGISTER_TIMER("sender");
        struct job job = {.sender = stint_sender_here(), .ns = 70};
        fake_advance(1);
        do_job(&job);
    }
    CHECK_EQ_U64(shown("job", 1), 1);
    CHECK_EQ_U64(stat_of("sender").self_ns, 1);
    CHECK_EQ_U64(queued_ns("job"), 1);
}

/* The tree stays finite: work that sends itself is shown once, below the first sender. */
TEST(sender, work_that_sends_itself) {
    static struct job jobs[20];
    for (int i = 0; i < 20; ++i) {
        jobs[i].ns = 10;
        jobs[i].next = i < 19 ? &jobs[i + 1] : NULL;
    }
    {
        REGISTER_TIMER("sender");
        jobs[0].sender = stint_sender_here();
        run_on_thread(do_job, &jobs[0]);
    }
    CHECK_EQ_U64(shown("job", 1), 1);
    CHECK_EQ_U64(shown("job", 2) + shown("job", 3), 0);
    CHECK_EQ_U64(calls_of("job"), 20);
}

TEST(sender, work_that_sends_itself_by_way_of_other_work) {
    struct job last = {.ns = 10}, other = {.ns = 10, .next = &last};
    struct job first = {.ns = 10};
    {
        REGISTER_TIMER("sender");
        other.sender = stint_sender_here();
        run_on_thread(do_other, &other);
        first.sender = other.sender;
        run_on_thread(do_job, &first);
    }
    CHECK_EQ_U64(shown("other", 1), 1);
    CHECK_EQ_U64(shown("job", 2), 1); /* sent by other */
    CHECK_EQ_U64(shown("job", 1), 1); /* sent by sender */
    CHECK_EQ_U64(calls_of("job"), 2);
}

/* A worker that waits for one piece of work does another one meanwhile. */
TEST(sender, recursion_on_one_thread_is_part_of_the_outermost_call) {
    struct job outer = {.ns = 10}, inner = {.ns = 5};
    {
        REGISTER_TIMER("a");
        outer.sender = stint_sender_here();
    }
    {
        REGISTER_TIMER("b");
        inner.sender = stint_sender_here();
    }
    REGISTER_TIMER_UNDER("task", outer.sender);
    fake_advance(outer.ns);
    for (int i = 0; i < 2; ++i) {
        do_job(&inner);
    }
    CHECK_EQ_U64(shown("task", 1), 1);
    CHECK_EQ_U64(shown("job", 1), 1);
    CHECK_EQ_U64(stat_of("job").total_ns, 10);
    CHECK_EQ_U64(lost_in_all(), 0);
}

static void *make_sender(void *argument) {
    stint_sender *sender = argument;
    REGISTER_TIMER("gone");
    *sender = stint_sender_here();
    return NULL;
}

TEST(sender, is_valid_after_its_scope_and_thread_ended) {
    struct job job = {.ns = 10};
    run_on_thread(make_sender, &job.sender);
    do_job(&job);
    CHECK_EQ_U64(shown("job", 1), 1);
    CHECK_EQ_U64(lost_in_all(), 0);
}

TEST(sender, none) {
    stint_sender none = stint_sender_here();
    CHECK(none.word[0] == 0 && none.word[1] == 0);
    struct job job = {.sender = none, .ns = 10};
    do_job(&job);
    CHECK_EQ_U64(shown("job", 0), 1);
    stint_timers_enable(0);
    {
        REGISTER_TIMER("off");
        none = stint_sender_here();
        CHECK(none.word[0] == 0 && none.word[1] == 0);
    }
    CHECK_EQ_U64(lost_in_all(), 0);
}

/* Every bit of a sender is checked: with one changed it is another's, torn or made up. */
TEST(sender, forged_or_torn_is_refused_and_counted) {
    stint_sender sender;
    {
        REGISTER_TIMER("sender");
        sender = stint_sender_here();
    }
    for (int bit = 0; bit < 128; ++bit) {
        struct job job = {.sender = sender, .ns = 1};
        job.sender.word[bit / 64] ^= (uint64_t)1 << bit % 64;
        do_job(&job);
    }
    static const stint_sender forged[] = {{{0, 1}}, {{1, 0}}, {{UINT64_MAX, UINT64_MAX}}};
    for (int i = 0; i < 3; ++i) {
        struct job job = {.sender = forged[i], .ns = 1};
        do_job(&job);
    }
    CHECK_EQ_U64(lost(STINT_STATUS_SENDER_LOST), 131);
    CHECK_EQ_U64(queued_calls("job"), 0);
    CHECK_EQ_U64(calls_of("job"), 131);
    CHECK_EQ_U64(shown("job", 0), 1);
    CHECK_EQ_U64(shown("job", 1), 0);
}

TEST(sender, from_before_a_fork_is_refused_and_counted) {
    REGISTER_TIMER("sender");
    struct job job = {.sender = stint_sender_here(), .ns = 1};
    IN_CHILD() {
        do_job(&job);
        int is_good =
            lost(STINT_STATUS_SENDER_LOST) == 1 && calls_of("job") == 1 && shown("job", 0) == 1;
        CHECK(is_good);
    }
    do_job(&job);
    CHECK_EQ_U64(lost(STINT_STATUS_SENDER_LOST), 0);
}

TEST(sender, an_interval_has_its_own_calls_only) {
    send_job(0, 100);
    stint_reset();
    send_job(0, 10);
    CHECK_EQ_U64(stat_of("job").total_ns, 10);
    CHECK_EQ_U64(shown("job", 1), 1);
    stint_reset();
    CHECK_EQ_U64(calls_of("job"), 0);
    CHECK_EQ_U64(shown("job", 1), 0);
}

static struct stint_impl_node *node_at(uint32_t unit) {
    return (struct stint_impl_node *)arena_at(unit);
}

/* No recorder writes it: a file may say so. */
TEST(sender, a_circle_is_cut) {
    send_job(0, 100);
    struct stint_impl_node *job = node_at(node_at(newest_thread()->root)->child);
    struct stint_impl_sent *sent = (struct stint_impl_sent *)(job + 1);
    CHECK(job->kind & STINT_IMPL_SENT);
    uint32_t right = sent->sender;
    sent->sender = job->child;
    CHECK_EQ_U64(shown("job", 0), 1);
    CHECK_EQ_U64(shown("job.part", 1), 1);
    sent->sender = newest_thread()->root; /* a root is not a scope */
    CHECK_EQ_U64(shown("job", 0), 1);
    sent->sender = UINT32_MAX;
    CHECK_EQ_U64(shown("job", 0), 1);
    sent->sender = right;
    CHECK_EQ_U64(shown("job", 1), 1);
}

TEST(sender, filtered_work_is_not_recorded) {
    CHECK(stint_filter_set("-job") == 0);
    send_job(0, 100);
    CHECK_EQ_U64(calls_of("job"), 0);
    CHECK_EQ_U64(calls_of("job.part"), 1);
    CHECK_EQ_U64(lost_in_all(), 0);
}
