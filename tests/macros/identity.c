/* SPDX-License-Identifier: Apache-2.0 */
/* Off is nothing: this file, and this file with the marked lines blanked, give the same object.
 * Forms that a project uses together with the headers; all forms alone are compared in forms.c. */
#include <stint/stint.h> /* gone */
#if defined(__cplusplus) && (defined(__clang__) || defined(__OPTIMIZE__))
/* g++ -O0 keeps unused constants: the 8 bytes of globalStat, in every unit with stint.hpp. */
#include <stint/stint.hpp> /* gone */
#endif

extern stint_timer h; /* gone */
extern int work(int n);

int identity(int n, const char *info) {
    REGISTER_TIMER_INFO("identity", info, work(n), stint_set_get(info)); /* gone */
    TIMER_BEGIN(h, "interval");                                          /* gone */
    REGISTER_GPU_TIMER_INFO("identity.gpu", &h, info);                   /* gone */
    n = work(n);
    TIMER_END(h); /* gone */
    return n;
}
