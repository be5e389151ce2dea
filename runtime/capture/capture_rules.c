/* SPDX-License-Identifier: Apache-2.0 */
/*
 * STINT_CAPTURE: a recursive-descent parser of its rules, and the state of each rule. The text
 * comes from the environment: any text is accepted or refused with what was expected and
 * where. */
#include "capture_rules.h"

#include <string.h>

#include "base/number.h"
#include "system/config.h"
#include "system/log.h"

/* The text that is left, and after an error what was expected there. */
struct reader {
    const char *p;
    const char *expected;
};

static int rule_refuse(struct reader *in, const char *expected) {
    in->expected = expected;
    return -1;
}

static void rule_skip_blanks(struct reader *in) {
    while (*in->p == ' ' || *in->p == '\t') {
        ++in->p;
    }
}

static int rule_read_number(struct reader *in, uint64_t *out) {
    const char *end = number_parse_whole(in->p, CAPTURE_NUMBER_MAX, out);
    if (!end) {
        return rule_refuse(in, "a number up to 10^18");
    }
    in->p = end;
    return 0;
}

/* Reads the bytes before `end`, without blanks at their end; continues at `end`. */
static int rule_read_name(struct reader *in, const char *end, char out[CAPTURE_NAME + 1]) {
    size_t length = (size_t)(end - in->p);
    while (length && (in->p[length - 1] == ' ' || in->p[length - 1] == '\t')) {
        --length;
    }
    if (!length || length > CAPTURE_NAME) {
        return rule_refuse(in, "a name of 1 to 200 bytes");
    }
    memcpy(out, in->p, length);
    out[length] = '\0';
    in->p = end;
    return 0;
}

/* A range's name ends at a colon, but "a::b" is one name. */
static const char *rule_find_name_end(const char *p) {
    p += strcspn(p, ":;");
    while (p[0] == ':' && p[1] == ':') {
        p += 2;
        p += strcspn(p, ":;");
    }
    return p;
}

static int rule_read_duration(struct reader *in, uint64_t *ns) {
    static const struct {
        const char *name;
        uint64_t ns;
    } units[] = {{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}};
    if (rule_read_number(in, ns)) {
        return -1;
    }
    for (size_t i = 0; i < sizeof units / sizeof *units; ++i) {
        size_t length = strlen(units[i].name);
        if (!strncmp(in->p, units[i].name, length)) {
            if (*ns > CAPTURE_NUMBER_MAX / units[i].ns) {
                return rule_refuse(in, "a duration below 10^9 s");
            }
            *ns *= units[i].ns;
            in->p += length;
            return 0;
        }
    }
    return rule_refuse(in, "ns, us, ms or s after the number");
}

/* A scope's name may hold a > too: the last one of the rule ends it. */
static int rule_read_when(struct reader *in, struct capture_rule *r) {
    const char *end = in->p + strcspn(in->p, ";");
    while (end > in->p && *end != '>') {
        --end;
    }
    if (*end != '>') {
        return rule_refuse(in, "SCOPE>DURATION");
    }
    if (rule_read_name(in, end, r->scope)) {
        return -1;
    }
    ++in->p;
    rule_skip_blanks(in);
    return rule_read_duration(in, &r->over_ns);
}

#define EXPECTED_KEY "skip=N, record=N, every=N or when=SCOPE>DURATION, each once"
#define EXPECTED_STEP_KEY "every=N or when=SCOPE>DURATION, each once"

enum { SEEN_SKIP = 1, SEEN_RECORD = 2, SEEN_EVERY = 4, SEEN_WHEN = 8 };

static int rule_read_option(struct reader *in, struct capture_rule *r, unsigned *seen) {
    static const struct {
        const char *text;
        unsigned bit;
    } keys[] = {{"skip=", SEEN_SKIP},
                {"record=", SEEN_RECORD},
                {"every=", SEEN_EVERY},
                {"when=", SEEN_WHEN}};
    uint64_t *const numbers[] = {&r->skip, &r->record, &r->every};
    size_t first = *r->name ? 0 : 2; /* steps A-B say skip and record themselves */
    rule_skip_blanks(in);
    for (size_t i = first; i < sizeof keys / sizeof *keys; ++i) {
        size_t length = strlen(keys[i].text);
        if (strncmp(in->p, keys[i].text, length) || *seen & keys[i].bit) {
            continue;
        }
        const char *value = in->p += length;
        *seen |= keys[i].bit;
        if (keys[i].bit == SEEN_WHEN) {
            return rule_read_when(in, r);
        }
        if (rule_read_number(in, numbers[i])) {
            return -1;
        }
        if (!*numbers[i] && keys[i].bit != SEEN_SKIP) {
            in->p = value;
            return rule_refuse(in, "a number above 0");
        }
        return 0;
    }
    return rule_refuse(in, *r->name ? EXPECTED_KEY : EXPECTED_STEP_KEY);
}

/* "steps A", "steps A-B", "steps A-". */
static int rule_read_steps(struct reader *in, struct capture_rule *r) {
    uint64_t last;
    if (rule_read_number(in, &r->skip)) {
        return -1;
    }
    r->record = 1;
    rule_skip_blanks(in);
    if (*in->p != '-') {
        return 0;
    }
    ++in->p;
    rule_skip_blanks(in);
    if (*in->p < '0' || *in->p > '9') {
        r->record = 0;
        return 0;
    }
    const char *value = in->p;
    if (rule_read_number(in, &last)) {
        return -1;
    }
    if (last < r->skip) {
        in->p = value;
        return rule_refuse(in, "a last step that is not before the first");
    }
    r->record = last - r->skip + 1;
    return 0;
}

/* Whether "steps N" begins here; a range may be called "steps" too. */
static int rule_is_by_steps(const char *p) {
    if (strncmp(p, "steps", 5)) {
        return 0;
    }
    size_t blanks = strspn(p + 5, " \t");
    return blanks && p[5 + blanks] >= '0' && p[5 + blanks] <= '9';
}

static int rule_read(struct reader *in, struct capture_rule *r) {
    unsigned seen = 0;
    memset(r, 0, sizeof *r);
    if (rule_is_by_steps(in->p)) {
        in->p += 5;
        rule_skip_blanks(in);
        if (rule_read_steps(in, r)) {
            return -1;
        }
    } else if (rule_read_name(in, rule_find_name_end(in->p), r->name)) {
        return -1;
    }
    rule_skip_blanks(in);
    char separator = *r->name ? ':' : ',';
    while (*in->p == separator) {
        separator = ',';
        ++in->p;
        if (rule_read_option(in, r, &seen)) {
            return -1;
        }
        rule_skip_blanks(in);
    }
    if (*in->p && *in->p != ';') {
        return rule_refuse(in, "; or , or the end");
    }
    if (!r->record && (seen & (SEEN_EVERY | SEEN_WHEN))) {
        r->record = 1;
    }
    if (r->every && r->every < r->record) {
        return rule_refuse(in, "every=N of at least a window");
    }
    return 0;
}

int capture_rules_parse(const char *text, struct capture_rules *out, struct capture_fault *fault) {
    struct reader in = {text, NULL};
    int result = -1;
    out->count = 0;
    out->by_steps = 0;
    for (;;) {
        in.p += strspn(in.p, "; \t");
        if (!*in.p) {
            result = 0;
            if (!out->count) {
                result = rule_refuse(&in, "a range's name or steps A-B");
            }
            break;
        }
        if (out->count == CAPTURE_RULES) {
            rule_refuse(&in, "at most 16 rules");
            break;
        }
        if (rule_read(&in, &out->rule[out->count])) {
            break;
        }
        out->by_steps |= !*out->rule[out->count++].name;
    }
    fault->at = in.p;
    fault->expected = in.expected;
    if (result) {
        out->count = 0;
        out->by_steps = 0;
    }
    return result;
}

/* Watches the scopes that rules wait for, by the rules' numbers. */
static void rule_watch_scopes(const struct capture_rules *rules) {
    static struct watch_scope scopes[CAPTURE_RULES];
    for (unsigned i = 0; i < rules->count; ++i) {
        const struct capture_rule *r = &rules->rule[i];
        scopes[i] = (struct watch_scope){NULL, r->over_ns};
        if (*r->scope) {
            scopes[i].name = r->scope;
        }
    }
    watch_set_scopes(scopes, rules->count);
}

struct capture_rules *capture_rules_get(void) {
    static struct capture_rules rules;
    static int read;
    struct capture_fault fault;
    if (!read && config.capture && capture_rules_parse(config.capture, &rules, &fault)) {
        log_warning("STINT_CAPTURE=%.400s: expected %s at %s%.60s; ignored", config.capture,
                    fault.expected, *fault.at ? "" : "the end", fault.at);
    }
    if (!read) {
        rule_watch_scopes(&rules);
    }
    read = 1;
    return &rules;
}

/* A rule that waits for a slow call: one that ended after the rule's last window, and after the
 * first entries, which it skips. */
static int rule_take_waiting(struct capture_rule *r, uint64_t i, int slow, uint64_t *first) {
    uint64_t since = i - r->begin;
    if (r->windows && since < r->record) {
        *first = r->begin;
        return 1;
    }
    int too_early = (r->windows && since == r->record) || (r->skip && i == r->skip);
    r->armed = !too_early && (r->armed || slow);
    if (!r->armed || (r->windows && since < r->every)) {
        return 0;
    }
    r->armed = 0;
    r->begin = *first = i;
    ++r->windows;
    return 1;
}

int capture_rule_at(struct capture_rule *r, uint64_t i, int slow, uint64_t *first) {
    int takes = 0;
    if (i < r->skip) {
        return 0;
    }
    if (*r->scope) {
        takes = rule_take_waiting(r, i, slow, first);
    } else {
        uint64_t off = i - r->skip;
        if (r->every) {
            off %= r->every;
        }
        *first = i - off;
        takes = !r->record || off < r->record;
    }
    r->taken += (uint64_t)takes;
    return takes;
}

void capture_rules_restart(struct capture_rules *rules) {
    for (unsigned i = 0; rules && i < rules->count; ++i) {
        struct capture_rule *r = &rules->rule[i];
        r->entries = r->taken = r->windows = r->begin = 0;
        r->armed = 0;
    }
}

void capture_rules_say_unused(const struct capture_rules *rules, uint64_t step) {
    for (unsigned i = 0; i < rules->count; ++i) {
        const struct capture_rule *r = &rules->rule[i];
        unsigned long long entries = r->entries, first = r->skip, last = step;
        if (r->taken) {
            continue;
        }
        if (!*r->name) {
            log_warning(
                "STINT_CAPTURE: nothing was captured from step %llu on: the program ended in "
                "step %llu",
                first, last);
        } else if (entries) {
            log_warning("STINT_CAPTURE: none of the %llu entries of range [%s] was captured",
                        entries, r->name);
        } else {
            log_warning("STINT_CAPTURE: range [%s] was never entered", r->name);
        }
    }
}
