// SPDX-License-Identifier: Apache-2.0
// The C++ counterpart of identity_calls.c: objects of StatSet and interval that are off leave no
// code from -O1 on.
#include <stint/stint.hpp> /* gone */

extern int work(int n);

int identity_calls_cxx(int n, const char *name) {
    const StatSet set(name); /* gone */
    int sum = work(n);
    stint_stat stat{};                                         /* gone */
    set.setThreadInfo(true);                                   /* gone */
    sum += set.printAllStatus();                               /* gone */
    sum += set.printStatus(name);                              /* gone */
    sum += set.getStat(name, &stat);                           /* gone */
    sum += globalStat.report("tree");                          /* gone */
    stint::interval one(name);                                 /* gone */
    TIMER_BEGIN(one, "interval");                              /* gone */
    stint::interval two(static_cast<stint::interval &&>(one)); /* gone */
    one = static_cast<stint::interval &&>(two);                /* gone */
    sum += one.running();                                      /* gone */
    TIMER_END(one);                                            /* gone */
    one.end();                                                 /* gone */
    stint::scope part(name), moved;                            /* gone */
    moved = static_cast<stint::scope &&>(part);                /* gone */
    moved.end();                                               /* gone */
    for (auto &row : stint::statistics(set)) {                 /* gone */
        sum += static_cast<int>(row.calls);                    /* gone */
    }                                                          /* gone */
    globalStat.reset();                                        /* gone */
    sum += static_cast<int>(stint_now_us());                   /* gone */
    sum += printAllStatus() + printStatus(name);               /* gone */
    return sum;
}
