/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command ab: runs two programs in pairs until each scope of interest is decided or a budget is
 * spent, and prints what diff.c finds. The order within a pair is random; a pair has its own size
 * of the environment and its own length of the working directory's name, the same for both sides,
 * because both move the stack and so change the speed of programs.
 * - The scopes of interest are chosen after the first pair, and stay.
 * - Each run has a file in the folder of the comparison, which is kept.
 */
#include "commands.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/error_text.h"
#include "base/number.h"
#include "system/filter.h"
#include "system/log.h"
#include "system/machine.h"
#include "system/target.h"
#include "tool/common/command.h"
#include "tool/common/tool_process.h"
#include "tool/diff/diff.h"
#include "tool/run/run_files.h"

#define AB_ALPHA 0.05
#define AB_UNDECIDED 3   /* exit status */
#define AB_SHARE 0.01    /* of the time, from which a scope is of interest */
#define AB_PADDING 4096u /* bytes by which the environment varies: a page */
#define AB_NAME 100u     /* bytes by which the working directory's name varies */
#define PADDING_VARIABLE "AB_PADDING"
#define PAIRS_WITH_TIME 1000u /* a budget of time has no other limit */
#define PAIRS_ALONE 50u
#define NAMES_SHOWN 3u
#define AB_FILE_RULE "STINT_FILE is set by ab, and a command must not change it"
#define AB_STRAY 1 /* a run wrote its statistics elsewhere: comparison.stray */

struct ab_request {
    struct diff_options o;
    struct diff_pairing pairing;
    const char *folder;
    enum option_format format;
    double seconds;  /* of the whole comparison; 0 = no limit */
    uint32_t pairs;  /* 0 = not given */
    uint32_t warmup; /* pairs */
    double limit;    /* seconds of a run */
    int seeded;
    struct run_side side[2];
};

struct comparison {
    struct ab_request *r;
    struct diff d;
    char folder[PATH_MAX];
    char here[PATH_MAX];     /* the working directory */
    char stray[2][PATH_MAX]; /* the file that a side wrote instead of STINT_FILE */
    uint64_t random;
    uint32_t done;   /* pairs */
    uint32_t others; /* runs of other processes, which are not compared */
    int stopped;     /* the signal; 0 = none */
};

/* Rows, and the wall time if it is of interest, that more pairs may decide. */
static uint32_t count_open(const struct comparison *c) {
    int wall = c->r->o.fail.on & DIFF_FAIL_WALL && c->d.wall.verdict == DIFF_UNSURE;
    return c->d.verdicts[DIFF_UNSURE] - c->d.lost + (wall != 0);
}

static const char *const side_names[2] = {"old", "new"};

/* ---- Options. */

static int take_share(const char *text, double *out) {
    double percent = 0;
    const char *end = number_parse(text, &percent);
    if (!end || percent <= 0 || percent > 1000 || (*end && strcmp(end, "%"))) {
        return -1;
    }
    *out = percent / 100;
    return 0;
}

static int take_limit(const char *text, double *out) {
    return command_take_time(text, out) || *out <= 0 || *out > 1e7 ? -1 : 0;
}

static int take_ab_option(void *to, const struct option_value *value) {
    struct ab_request *r = to;
    switch (value->id) {
    case OPTION_ONLY:
        r->o.filtered = 1;
        return filter_set(value->text);
    case OPTION_MDE:
        return take_share(value->text, &r->pairing.least);
    case OPTION_TIME:
        return take_limit(value->text, &r->seconds);
    case OPTION_PAIRS:
        r->pairs = (uint32_t)value->number;
        return 0;
    case OPTION_WARMUP:
        r->warmup = (uint32_t)value->number;
        return 0;
    case OPTION_LIMIT:
        return take_limit(value->text, &r->limit);
    case OPTION_SEED:
        r->seeded = 1;
        r->pairing.seed = value->number;
        return 0;
    case OPTION_OUTPUT:
        r->folder = value->text;
        return 0;
    case OPTION_FAIL_ON:
        return cmd_diff_take_fail(value->text, &r->o.fail);
    case OPTION_FORMAT:
        r->format = (enum option_format)value->number;
        return 0;
    default:
        return -1;
    }
}

/* The two commands, separated by `--`. OPTIONS_TAKEN, or the exit status. */
static int split_commands(struct ab_request *r, int argc, char **argv) {
    int middle = 0, separators = 0;
    for (int i = optind; i < argc; ++i) {
        if (!strcmp(argv[i], "--")) {
            middle = i;
            ++separators;
        }
    }
    if (separators != 1 || middle == optind || middle + 1 == argc) {
        return command_bad_usage(argv, "two commands are needed: -- ./old ARGUMENTS -- ./new "
                                       "ARGUMENTS; a command with a `--` goes into a script");
    }
    argv[middle] = NULL;
    r->side[0].argv = argv + optind;
    r->side[1].argv = argv + middle + 1;
    return OPTIONS_TAKEN;
}

static int read_ab_request(struct ab_request *r, int argc, char **argv) {
    memset(r, 0, sizeof *r);
    r->pairing.least = 0.01;
    r->limit = 3600;
    int status = options_parse(TOOL_AB, argc, argv, take_ab_option, r);
    if (status != OPTIONS_TAKEN) {
        return status;
    }
    if (!r->seeded) {
        uint32_t seed = (uint32_t)time(NULL);
        if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) < 0) {
            seed ^= (uint32_t)getpid() << 16;
        }
        r->pairing.seed = seed;
    }
    if (!r->o.fail.on) {
        r->o.fail.on = DIFF_FAIL_SLOWER;
    }
    if (!r->pairs) {
        r->pairs = r->seconds > 0 ? PAIRS_WITH_TIME : PAIRS_ALONE;
    }
    return split_commands(r, argc, argv);
}

/* ---- The folder. */

static int refuse_folder(const char *path, int why) {
    log_error("ab: %.500s: %s", path, error_text(why));
    return -1;
}

/* 0, or -1 after one line. */
static int make_ab_folder(struct comparison *c) {
    char path[PATH_MAX];
    if (!getcwd(c->here, sizeof c->here)) {
        return refuse_folder(".", errno);
    }
    int n = snprintf(path, sizeof path, "%s", c->r->folder ? c->r->folder : "stint-ab-XXXXXX");
    if (n < 0 || (size_t)n >= sizeof path) {
        return refuse_folder(path, ENAMETOOLONG);
    }
    int failed = c->r->folder ? mkdir(path, 0777) : run_folder_make(path);
    if (failed && errno == EEXIST) {
        log_error("ab: %.500s exists; --output needs a new folder, so that no runs are mixed",
                  path);
        return -1;
    }
    if (failed || !realpath(path, c->folder)) {
        return refuse_folder(path, errno);
    }
    return 0;
}

/* A path in the folder. 0, or -1 after one line. */
static int make_ab_path(const struct comparison *c, char out[PATH_MAX], const char *side,
                        const char *kind, uint32_t number, const char *suffix) {
    int n = snprintf(out, PATH_MAX, "%s/%s-%s%u%s", c->folder, side, kind, number, suffix);
    return n > 0 && n < PATH_MAX ? 0 : refuse_folder(c->folder, ENAMETOOLONG);
}

/* ---- What is random: Knuth's linear congruential generator, whose high bits are good. */

static uint64_t draw_number(struct comparison *c, uint64_t below) {
    c->random = c->random * 6364136223846793005u + 1442695040888963407u;
    return (c->random >> 33) % below;
}

/* A link to the working directory whose name has another length, as the shell's variable PWD. The
 * directory itself is the same, so relative paths are. link: to be removed after the pair. */
static int vary_layout(struct comparison *c, char link[PATH_MAX]) {
    char padding[AB_PADDING + 1], name[AB_NAME + 1];
    size_t bytes = draw_number(c, AB_PADDING), letters = 1 + draw_number(c, AB_NAME);
    memset(padding, 'x', bytes);
    padding[bytes] = '\0';
    memset(name, 'd', letters);
    name[letters] = '\0';
    int n = snprintf(link, PATH_MAX, "%s/%s", c->folder, name);
    if (n < 0 || n >= PATH_MAX) {
        return refuse_folder(c->folder, ENAMETOOLONG);
    }
    if (symlink(c->here, link)) {
        return refuse_folder(link, errno);
    }
    return command_set_variable("ab", PADDING_VARIABLE, padding) ||
           command_set_variable("ab", "PWD", link);
}

/* ---- One run. */

/* NULL, or why it is not kept. */
static const char *keep_output(struct run_side *s) {
    static struct target target;
    const char *why = "it is empty";
    if (s->printed.length) {
        target_put(&target, s->output, REPLACE_WHOLE, 0666, target_put_text, &s->printed, &why);
    }
    return why;
}

/* One line about the last run of a side: `what` happened, and where its output is. -1. */
static int report_run(struct run_side *s, const char *where, const char *what) {
    const char *why = keep_output(s);
    log_error("ab: %s: %.200s: %s; its output is %s%.300s", where, s->argv[0], what,
              why ? "not kept: " : "in ", why ? why : s->output);
    return -1;
}

static int report_end(struct run_side *s, const char *where) {
    char what[40 + NUMBER_BYTES];
    switch (s->end) {
    case RUN_SIDE_NOT_RUN:
        log_error("ab: cannot run %.200s: %s", s->argv[0], error_text(s->number));
        return -1;
    case RUN_SIDE_STATUS:
        snprintf(what, sizeof what, "exit status %d", s->number);
        return report_run(s, where, what);
    case RUN_SIDE_SIGNAL:
        return report_run(s, where, strsignal(s->number));
    default:
        snprintf(what, sizeof what, "still running after %s s (--limit), killed",
                 number_short(s->limit, 6).text);
        return report_run(s, where, what);
    }
}

/* Once for a side, not for each pair. */
static void report_left(struct run_side *s, const char *where) {
    if (s->left && !s->left_is_said) {
        s->left_is_said = 1;
        log_warning(
            "ab: %s: processes that ran on after the end of %.200s were killed: %.*s%s (%u)", where,
            s->argv[0], (int)strcspn(s->left_name, "\n"), s->left_name, s->left > 1 ? ", ..." : "",
            s->left);
    }
}

/* Why a run has no file, as the library in the program has said, or else what is usual. As
 * run_ab_side. */
static int find_missing_run(struct comparison *c, const struct run_place *place, int side,
                            const char *where) {
    static const char refusal[] = "stint: STINT_FILE: cannot write ";
    struct run_side *s = &c->r->side[side];
    char what[1024];
    int found = run_files_stray(c->stray[side], s->argv, place->since_ns);
    if (found) {
        return found > 0 ? AB_STRAY : -1;
    }
    const char *why = "compile with -DWITH_TIMER and link with stint; " AB_FILE_RULE, *line = NULL;
    if (s->printed.length) {
        line = memmem(s->printed.data, s->printed.length, refusal, sizeof refusal - 1);
    }
    if (line) {
        why = line + sizeof "stint:";
    }
    snprintf(what, sizeof what, "wrote no statistics: %.*s", (int)strcspn(why, "\n"), why);
    return report_run(s, where, what);
}

/* Two sides with one file are one mistake; each run replaces the other side's. */
static void report_strays(const struct comparison *c) {
    if (*c->stray[0] && !strcmp(c->stray[0], c->stray[1])) {
        log_error("ab: both sides write the run file %.500s: " AB_FILE_RULE, c->stray[0]);
        return;
    }
    for (int side = 0; side < 2; ++side) {
        if (*c->stray[side]) {
            log_error("ab: %s writes the run file %.500s: " AB_FILE_RULE, side_names[side],
                      c->stray[side]);
        }
    }
}

/* The file of the run that the program itself recorded. As run_ab_side. */
static int find_ab_run(struct comparison *c, const struct run_place *place, int side,
                       const char *where, uint32_t number) {
    struct run_files files;
    if (run_files_list(&files, place)) {
        return -1;
    }
    int failed = 0;
    if (!files.count) {
        failed = find_missing_run(c, place, side, where);
    } else if (number) {
        const char *path = files.path[cmd_run_find_main(&files, c->r->side[side].pid)];
        failed = diff_read(&c->d, side, number - 1, path) ? -1 : 0;
        c->others += (uint32_t)files.count - 1;
    }
    run_files_free(&files);
    return failed;
}

/* number: of the pair, from 1; 0 of a warm-up. 0, AB_STRAY, or -1 after one line. */
static int run_ab_side(struct comparison *c, int side, uint32_t number, uint32_t warmup) {
    char file[PATH_MAX], output[PATH_MAX], where[64];
    struct run_side *s = &c->r->side[side];
    struct run_place place;
    const char *kind = number ? "" : "warmup-";
    uint32_t shown = number ? number : warmup;
    snprintf(where, sizeof where, "%s, %s %u", side_names[side], number ? "pair" : "warm-up",
             shown);
    if (make_ab_path(c, file, side_names[side], kind, shown, ".stint") ||
        make_ab_path(c, output, side_names[side], kind, shown, ".txt") ||
        run_place_make(&place, file) || command_set_variable("ab", "STINT_FILE", place.pattern)) {
        return -1;
    }
    s->output = output;
    s->limit = c->r->limit;
    run_side_start(s);
    if (s->end == RUN_SIDE_STOPPED) {
        c->stopped = s->number;
        keep_output(s);
        return -1;
    }
    report_left(s, where);
    if (s->end != RUN_SIDE_GOOD) {
        return report_end(s, where);
    }
    return find_ab_run(c, &place, side, where, number);
}

static int run_ab_pair(struct comparison *c, uint32_t number, uint32_t warmup) {
    char link[PATH_MAX];
    int first = (int)draw_number(c, 2);
    if (vary_layout(c, link)) {
        return -1;
    }
    /* Both sides are looked at before a file elsewhere is reported: it may be the same one. */
    int failed = run_ab_side(c, first, number, warmup);
    if (failed >= 0) {
        int other = run_ab_side(c, !first, number, warmup);
        failed = other < 0 ? -1 : failed | other;
    }
    unlink(link);
    if (failed == AB_STRAY) {
        report_strays(c);
    }
    return failed ? -1 : 0;
}

/* ---- All pairs. */

/* "pair 7 of 50, undecided 4 of 12: solve, parse, read ..." */
static void show_progress(const struct comparison *c) {
    struct text t;
    uint32_t shown = 0;
    const struct diff *d = &c->d;
    text_start(&t);
    text_add(&t, "pair %u of %u, undecided %u of %u", c->done, c->r->pairs, count_open(c),
             c->r->pairing.watched);
    for (uint32_t i = 0; i < d->rows && shown < NAMES_SHOWN; ++i) {
        if (d->row[i].verdict == DIFF_UNSURE) {
            text_add(&t, "%s", shown++ ? ", " : ": ");
            text_name(&t, d->row[i].item->name, d->row[i].item->length, 24);
        }
    }
    text_add(&t, "%s", shown < d->verdicts[DIFF_UNSURE] ? " ..." : "");
    if (!t.failed && isatty(STDERR_FILENO)) {
        dprintf(STDERR_FILENO, "\r\x1b[Kstint: %.*s", (int)t.length, t.data);
    } else if (!t.failed) {
        log_note("%.*s", (int)t.length, t.data);
    }
    text_free(&t);
}

/* Judges the pairs so far, and forgets the rows again. The undecided ones; -1 without memory. */
static int64_t count_undecided(struct comparison *c) {
    struct scratch_mark mark = scratch_mark(&c->d.memory);
    c->d.runs[0] = c->d.runs[1] = c->done;
    int64_t undecided = -1;
    if (!diff_judge(&c->d, &c->r->o)) {
        undecided = count_open(c);
        show_progress(c);
    }
    scratch_release(&c->d.memory, mark);
    c->d.runs[0] = c->d.runs[1] = c->r->pairs;
    return undecided;
}

/* After the first pair. 0, or -1 after one line. */
static int choose_scopes(struct comparison *c) {
    diff_watch(&c->d, &c->r->pairing, c->r->o.filtered ? 0 : AB_SHARE);
    if (!c->r->pairing.watched) {
        log_error("ab: %s", c->r->o.filtered ? "no scope that --only names has a time"
                                             : "no scope takes 1 % of the time; --only chooses");
        return -1;
    }
    return 0;
}

static int run_warmups(struct comparison *c) {
    for (uint32_t i = 1; i <= c->r->warmup; ++i) {
        if (run_ab_pair(c, 0, i)) {
            return -1;
        }
    }
    c->r->pairing.warmups = c->r->warmup;
    return 0;
}

/* 0; -1 after one line or a signal. */
static int run_pairs(struct comparison *c) {
    double from = tool_process_seconds();
    struct ab_request *r = c->r;
    if (run_warmups(c)) {
        return -1;
    }
    r->pairing.end = "all pairs of the budget were run (--pairs)";
    while (c->done < r->pairs) {
        if (c->done && r->seconds > 0 && tool_process_seconds() - from >= r->seconds) {
            r->pairing.end = "the time of the budget is spent (--time)";
            return 0;
        }
        if (run_ab_pair(c, c->done + 1, 0) || (!c->done && choose_scopes(c))) {
            return -1;
        }
        ++c->done;
        int64_t undecided = count_undecided(c);
        if (undecided < 0) {
            return command_lack_memory("ab", -1);
        }
        if (!undecided) {
            r->pairing.end = "all are decided";
            return 0;
        }
    }
    return 0;
}

/* ---- The result. */

static int report_ab(struct comparison *c) {
    c->d.runs[0] = c->d.runs[1] = c->done;
    if (diff_judge(&c->d, &c->r->o)) {
        return command_lack_memory("ab", COMMAND_BAD);
    }
    if (cmd_diff_print(&c->d, &c->r->o, c->r->format, 0)) {
        return COMMAND_BAD;
    }
    if (c->others) {
        log_warning("ab: %u run%s of other processes %s not compared", c->others,
                    text_plural(c->others), c->others == 1 ? "is" : "are");
    }
    log_note("the runs are in %.400s: old-1.stint to old-%u.stint, and new-1.stint to new-%u.stint",
             c->folder, c->done, c->done);
    if (diff_fails(&c->d, &c->r->o)) {
        return COMMAND_FAILED;
    }
    return count_open(c) + c->d.lost ? AB_UNDECIDED : COMMAND_GOOD;
}

static int run_comparison(struct comparison *c) {
    int failed = run_pairs(c);
    if (c->done && isatty(STDERR_FILENO)) {
        dprintf(STDERR_FILENO, "\r\x1b[K");
    }
    if (!failed) {
        return report_ab(c);
    }
    if (c->stopped) {
        log_note("ab: %s after %u pair%s; their runs are in %.400s", strsignal(c->stopped), c->done,
                 text_plural(c->done), c->folder);
        return 128 + c->stopped;
    }
    rmdir(c->folder); /* if it is empty */
    return COMMAND_BAD;
}

/* Names the variables that hold for a report, which the programs print only with STINT_REPORT, and
 * the one that is set here. */
static void name_variables(void) {
    static const char *const names[] = {"STINT_FILE", "STINT_OUTPUT", "STINT_UNIT"};
    const char *report = getenv("STINT_REPORT");
    size_t count = report && *report ? 1 : sizeof names / sizeof *names;
    for (size_t i = 0; i < count; ++i) {
        const char *value = getenv(names[i]);
        if (value && *value) {
            log_warning("ab: %s=%.200s has no effect: the runs are in a folder (--output), the "
                        "comparison is on standard output",
                        names[i], value);
        }
    }
}

int cmd_ab(int argc, char **argv) {
    static struct ab_request r;
    static struct comparison c;
    int status = read_ab_request(&r, argc, argv);
    if (status != OPTIONS_TAKEN) {
        return status;
    }
    r.o.metric = DIFF_TYPICAL;
    r.o.paired = &r.pairing;
    r.pairing.alpha = AB_ALPHA;
    r.pairing.aslr = machine_aslr();
    c.r = &r;
    c.random = r.pairing.seed;
    name_variables();
    if (diff_start(&c.d, r.pairs, r.pairs)) {
        return command_lack_memory("ab", COMMAND_BAD);
    }
    int why = run_side_block();
    if (why) {
        log_error("ab: cannot wait for signals, or no /dev/null: %s", error_text(why));
        return COMMAND_BAD;
    }
    if (make_ab_folder(&c)) {
        return COMMAND_BAD;
    }
    status = run_comparison(&c);
    diff_end(&c.d);
    return status;
}
