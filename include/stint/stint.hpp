/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The C++ face of stint.h: sets of statistics as objects.
 *
 *     stint::StatSet server("pserver");
 *     REGISTER_TIMER("pserver.add", -1, server);
 *     server.printAllStatus();
 *     globalStat.printAllStatus();
 *
 * With timers off every member is empty and returns 0 or nullptr. Objects are a pointer, may be
 * copied, and may be used before main and after it.
 */
#ifndef STINT_STINT_HPP
#define STINT_STINT_HPP

#include "stint.h"

namespace stint {
/* On and off are different classes, so that a program may mix both kinds of translation unit. */
#if STINT_IMPL_TIMER
inline namespace on {
#else
inline namespace off {
#endif

class StatSet {
  public:
    /* The default set. */
    constexpr StatSet() noexcept : set_(nullptr) {}
    /* The set of that name, made at first use. */
    explicit StatSet(const char *name) : set_(stint_set_get(name)) {}

    /* The legacy report of this set: header, a row a statistic, closing line. */
    int printAllStatus() const { return stint_set_report(set_, "legacy"); }
    /* Any view, as stint_report. */
    int report(const char *view) const { return stint_set_report(set_, view); }
    /* One row; non-zero and one line on stderr for an unknown name. */
    int printStatus(const char *name) const { return stint_set_print(set_, name); }
    void setThreadInfo(bool each) const { stint_threads(each); }
    void reset() const { stint_set_reset(set_); }
    /* 0, or -1 if the name is unknown in this set. */
    int getStat(const char *name, stint_stat *out) const {
        return stint_set_stat_get(set_, name, out);
    }
    operator stint_set *() const noexcept { return set_; }

  private:
    stint_set *set_;
};

namespace {
/* The default set, "GlobalStatInfo". */
constexpr StatSet globalStat __attribute__((unused)){};
} /* namespace */

} /* inline namespace */
} /* namespace stint */

#ifndef STINT_NO_LEGACY_NAMES
using stint::globalStat;
using stint::StatSet;
#endif

#endif
