/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The C++ interface of stint.h: sets of statistics and intervals as objects.
 *
 *     stint::StatSet server("pserver");
 *     REGISTER_TIMER("pserver.add", -1, server);
 *     server.printAllStatus();
 *     globalStat.printAllStatus();
 *
 *     stint::interval waiting;            // TIMER_BEGIN and TIMER_END as an object that can be
 *     moved
 *     TIMER_BEGIN(waiting, "job waits");
 *     queue.push(std::move(waiting));     // ends on the thread that takes it
 *
 * With timers off every member is empty and returns 0 or nullptr. A set is a pointer, may be
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

    /* Prints the legacy report of this set: header, one row per name, closing line. */
    int printAllStatus() const { return stint_set_report(set_, "legacy"); }
    /* Prints any view; see stint_report. */
    int report(const char *view) const { return stint_set_report(set_, view); }
    /* Prints one row; non-zero and one line on stderr for an unknown name. */
    int printStatus(const char *name) const { return stint_set_print(set_, name); }
    void setThreadInfo(bool each) const { stint_show_threads(each); }
    void reset() const { stint_set_reset(set_); }
    /* 0, or -1 if the name is unknown in this set. */
    int getStat(const char *name, stint_stat *out) const {
        return stint_set_stat_get(set_, name, out, sizeof *out);
    }
    operator stint_set *() const noexcept { return set_; }

  private:
    stint_set *set_;
};

/* An interval that is not a block: it may overlap anything, be moved, and end on another thread
 * than it began on, as in a coroutine or a job of a thread pool. It ends once: by end(), by
 * TIMER_END, when another one is assigned to it, or when it is destroyed; the thread that ends
 * it records it. An object must not be used by two threads at the same time. */
#if STINT_IMPL_TIMER
class interval {
  public:
    /* Not running; TIMER_BEGIN begins it, under a literal name. */
    constexpr interval() noexcept : word{0, 0} {}
    /* Begins now, under a name made at run time, as in REGISTER_TIMER_DYNAMIC; it is hashed. */
    explicit interval(const char *name) noexcept : interval() {
        stint_impl_handle_begin_dynamic(word, name, UINT64_MAX);
    }
    /* std::string, std::string_view and types with the same members. */
    template <typename Text, typename = decltype(static_cast<const Text *>(nullptr)->data()),
              typename = decltype(static_cast<const Text *>(nullptr)->size())>
    explicit interval(const Text &name) noexcept : interval() {
        stint_impl_handle_begin_dynamic(word, name.data(), name.size());
    }
    interval(interval &&other) noexcept : word{other.word[0], other.word[1]} { other.word[0] = 0; }
    /* Ends the one it held. */
    interval &operator=(interval &&other) noexcept {
        if (this != &other) {
            end();
            word[0] = other.word[0];
            word[1] = other.word[1];
            other.word[0] = 0;
        }
        return *this;
    }
    interval(const interval &) = delete;
    interval &operator=(const interval &) = delete;
    ~interval() { end(); }

    /* Ends and records it; no effect if it is not running. */
    void end() noexcept {
        if (running()) {
            stint_impl_handle_end(word);
        }
    }
    bool running() const noexcept { return word[0] != 0; }

    uint64_t word[2]; /* for TIMER_BEGIN and TIMER_END, as in stint_timer */
};
#else
class interval {
  public:
    constexpr interval() noexcept {}
    explicit interval(const char *) noexcept {}
    template <typename Text, typename = decltype(static_cast<const Text *>(nullptr)->data()),
              typename = decltype(static_cast<const Text *>(nullptr)->size())>
    explicit interval(const Text &) noexcept {}
    interval(interval &&) noexcept = default;
    interval &operator=(interval &&) noexcept = default;
    interval(const interval &) = delete;
    interval &operator=(const interval &) = delete;

    void end() noexcept {}
    bool running() const noexcept { return false; }
};
#endif

#ifdef STINT_IMPL_OFF_H
/* What TIMER_BEGIN and TIMER_END of one call when they are off. */
STINT_IMPL_ANYWHERE void stint_impl_off_handle_begin(interval *handle, const char *name);
STINT_IMPL_ANYWHERE void stint_impl_off_handle_end(interval *handle);
#endif

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
