/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recorded.h for C++, by the public functions.
 */
#ifndef STINT_TESTS_RECORDED_HPP
#define STINT_TESTS_RECORDED_HPP

#include "stint/stint.hpp"

#include <string>

#include "fake_clock.h"
#include "harness.h"

/* All zero if there is no such statistic. */
inline stint_stat stat_of(const char *name) {
    stint_stat s;
    if (stint_stat_get(name, &s, sizeof s)) {
        memset(&s, 0, sizeof s);
    }
    return s;
}

inline uint64_t calls_of(const char *name) {
    return stat_of(name).calls;
}

/* The lines of the report's footer about losses and open scopes. */
inline std::string footer() {
    char *report = harness_capture(
        2, [](void *) { stint_report("table"); }, nullptr);
    std::string text(report), lines;
    for (size_t at = 0, end; at < text.size(); at = end + 1) {
        end = text.find('\n', at);
        end = end == std::string::npos ? text.size() : end;
        std::string line = text.substr(at, end - at);
        if (line.compare(0, 5, "lost:") == 0 || line.compare(0, 5, "open:") == 0) {
            lines += line + '\n';
        }
    }
    return lines;
}

#endif
