/* SPDX-License-Identifier: Apache-2.0 */
/* The program of consumers.py: the macros of one thread, each in its block, and in C++ with
 * stint.hpp its objects. consumers.py has the calls that its report shows. */
static unsigned consumer_sum;

static void consumer_add(unsigned n) {
    STINT_TIMER_FUNC();
    consumer_sum += n;
}

int main(void) {
    stint_timer handle = {{0, 0}};
    static stint_stat stat;
    unsigned i;
    for (i = 0; i < 3; ++i) {
        STINT_TIMER("timer");
        consumer_add(i);
    }
    {
        STINT_TIMER("timer.set", 1000000, stint_set_get("consumer"));
        {
            STINT_TIMER_INFO("info", "note");
            STINT_TIMER_BYTES(stat.bytes);
            STINT_TIMER_FLOPS(0.5);
            STINT_TIMER_VALUE("value", consumer_sum);
        }
        { STINT_TIMER_SINCE("since", stint_now_us()); }
        { STINT_TIMER_UNDER("under", stint_sender_here()); }
        { STINT_TIMER_ROLE("role", STINT_ROLE_COMPUTE); }
    }
    for (i = 0; i < 2; ++i) {
        STINT_TIMER_DYNAMIC("dynamic");
    }
    STINT_TIMER_BEGIN(handle, "handle");
    STINT_TIMER_END(handle);
#ifdef STINT_STINT_HPP
    {
        stint::scope scope("scope");
        stint::scope moved(static_cast<stint::scope &&>(scope));
        stint::interval interval(stint::text("interval"));
        interval = stint::interval();
        STINT_FOR_TIMING(if (stint::StatSet("none").getStat("none", &stat) == 0) { return 1; })
        for (const stint::statistic &row : stint::statistics()) {
            consumer_sum += row.calls == 0;
        }
    }
#endif
    STINT_FOR_TIMING(consumer_sum -= stint_stat_get("timer", &stat, sizeof stat) == 0;)
    return consumer_sum + stat.calls != (STINT_IMPL_TIMER ? 5 : 3);
}
