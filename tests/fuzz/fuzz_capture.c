/* SPDX-License-Identifier: Apache-2.0 */
/*
 * STINT_CAPTURE: the parser, then some entries of what it made of it.
 */
#include <string.h>

#include "capture/capture_rules.h"
#include "fuzz.h"

static void check(const struct capture_rule *r) {
    FUZZ_NEED(memchr(r->name, '\0', sizeof r->name));
    FUZZ_NEED(memchr(r->scope, '\0', sizeof r->scope));
    FUZZ_NEED(r->skip <= CAPTURE_NUMBER_MAX && r->every <= CAPTURE_NUMBER_MAX);
    FUZZ_NEED(r->record <= CAPTURE_NUMBER_MAX + 1 && r->over_ns <= CAPTURE_NUMBER_MAX);
    FUZZ_NEED(!r->every || r->every >= r->record);
}

/* Some entries around where the rule begins, and a look at it much later. */
static void enter(struct capture_rule *r) {
    uint64_t from = r->skip > 8 ? r->skip - 8 : 0;
    for (uint64_t i = from; i < from + 24; ++i) {
        uint64_t first = UINT64_MAX;
        if (capture_rule_at(r, i, i % 3 == 0, &first)) {
            FUZZ_NEED(i >= r->skip && first >= r->skip && first <= i);
            FUZZ_NEED(!r->record || i - first < r->record);
        }
    }
    uint64_t first, late = from + CAPTURE_NUMBER_MAX;
    FUZZ_NEED(!capture_rule_at(r, late, 0, &first) || first <= late);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct capture_rules rules;
    struct capture_fault fault = {NULL, NULL};
    char *text = fuzz_text(data, size);
    int failed = capture_rules_parse(text, &rules, &fault);
    FUZZ_NEED(fault.at >= text && fault.at <= text + strlen(text));
    FUZZ_NEED(failed ? fault.expected && !rules.count : rules.count > 0);
    FUZZ_NEED(rules.count <= CAPTURE_RULES);
    for (unsigned i = 0; i < rules.count; ++i) {
        check(&rules.rule[i]);
        enter(&rules.rule[i]);
    }
    capture_rules_say_unused(&rules, 7);
    capture_rules_restart(&rules);
    free(text);
    return 0;
}
