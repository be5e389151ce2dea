/* SPDX-License-Identifier: Apache-2.0 */
/* Timers in a header that two translation units include, each of them twice. */
#include <stint/stint.h>
#ifndef FORMS_HEADER_H
#define FORMS_HEADER_H

extern void forms_work(void);
extern const char *forms_text(void);
extern void forms_second(void);

static inline int forms_static_inline(int n) {
    REGISTER_TIMER("header.static_inline");
    REGISTER_TIMER_INFO("header.static_inline.info", forms_text());
    return n + 1;
}

/* Not static: in C the definition is for inlining only, and one unit says extern inline. */
inline int forms_inline(int n, uint64_t start_us) {
    REGISTER_TIMER("header.inline");
    REGISTER_TIMER("header.inline.threshold", 1000);
    REGISTER_TIMER_INFO("header.inline.info", forms_text());
    REGISTER_TIMER_FUNC();
    REGISTER_TIMER_SET("header.inline.set", start_us);
    REGISTER_TIMER_DYNAMIC(forms_text());
    REGISTER_TIMER_DYNAMIC_SET(forms_text(), start_us);
    REGISTER_TIMER_DETAIL("header.inline.detail", STINT_LEVEL_OP_DETAIL);
    REGISTER_TIMER_ROLE("header.inline.role", STINT_ROLE_COPY);
    REGISTER_TIMER_OP("header.inline.op", forms_text());
    REGISTER_GPU_PROFILER("header.inline.capture");
    stint_timer h = {{0, 0}};
    TIMER_BEGIN(h, "header.inline.interval");
    TIMER_END(h);
    forms_work();
    return n + 1;
}

#endif
