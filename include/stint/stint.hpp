/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The C++ interface of stint.h: sets of statistics, scopes and intervals as objects.
 *
 *     stint::StatSet server("pserver");
 *     STINT_TIMER("pserver.add", -1, server);
 *     server.report("table");
 *
 *     stint::scope parse("parse");        // a scope that can be moved, and ended early
 *     parse.end();
 *     stint::interval waiting("job waits");
 *     queue.push(std::move(waiting));     // ends on the thread that takes it
 *
 *     for (const stint::statistic &row : stint::statistics(server)) {
 *         std::printf("%s %g\n", row.name(), row.total_ns / 1e9);
 *     }
 *     stint_report(stint::text(view));    // std::string_view and std::string for any const char *
 *
 * With timers off every member is empty and returns 0 or nullptr. A set is a pointer, may be
 * copied, and may be used before main and after it. Nothing throws; the header needs neither
 * exceptions nor RTTI (-fno-exceptions -fno-rtti).
 *
 * Files with timers on and off may share structs: each type has one size and layout. A file that
 * is off begins and ends nothing. There, a move carries a running scope or interval and clears its
 * source; one that is destroyed or assigned to never ends.
 */
#include "stint.h" /* each time: it compares the switches, and may bring the legacy names */

#ifndef STINT_STINT_HPP
#define STINT_STINT_HPP

#pragma pack(push, 8) /* as in stint.h */
extern "C++" {
namespace stint {
/* On and off are different classes of one layout, so that a program may mix both kinds of
 * translation unit. Off, too, moves and destructors are not trivial, which decides how an object is
 * passed and what new[] puts before it. */
#if STINT_IMPL_TIMER
inline namespace timers_on {
#else
inline namespace timers_off {
#endif

/* A text with its NUL, for functions of stint that take a const char *: from const char *,
 * std::string, std::string_view and types with the same members. Names longer than 1000 bytes and
 * paths longer than 4095 are as in these functions. A text ends at its first NUL. */
class text {
  public:
    STINT_IMPL_UNSEEN text(const char *from) noexcept : bytes_(from) {}
    template <typename Text, typename = decltype(static_cast<const Text *>(nullptr)->data()),
              typename = decltype(static_cast<const Text *>(nullptr)->size())>
    STINT_IMPL_UNSEEN text(const Text &from) noexcept : bytes_(copy_) {
        size_t length = 0;
        for (; length < from.size() && length + 1 < sizeof copy_; ++length) {
            copy_[length] = from.data()[length];
        }
        copy_[length] = '\0';
    }
    /* For a note, which keeps a temporary one until its block ends. */
    STINT_IMPL_UNSEEN text(text &&other) noexcept : bytes_(other.bytes_) {
        if (other.bytes_ == other.copy_) {
            bytes_ = copy_;
            for (size_t i = 0; (copy_[i] = other.copy_[i]) != '\0'; ++i) {
            }
        }
    }
    text(const text &) = delete;
    text &operator=(const text &) = delete;
    STINT_IMPL_UNSEEN operator const char *() const noexcept { return bytes_; }

  private:
    const char *bytes_;
    char copy_[4200]; /* more than a path may have, so that a longer one is refused, not cut */
};

class StatSet {
  public:
    /* The default set. */
    STINT_IMPL_UNSEEN constexpr StatSet() noexcept : set_(nullptr) {}
    /* The set of that name, made at first use. */
    STINT_IMPL_UNSEEN explicit StatSet(const text &name) : set_(stint_set_get(name)) {}
    STINT_IMPL_UNSEEN explicit StatSet(const char *name) : set_(stint_set_get(name)) {}

    /* Prints the legacy report of this set: header, one row per name, closing line. */
    STINT_IMPL_UNSEEN int printAllStatus() const { return stint_set_report(set_, "legacy"); }
    /* Prints any view; see stint_report. */
    STINT_IMPL_UNSEEN int report(const text &view) const { return stint_set_report(set_, view); }
    /* Prints one row; non-zero and one line on stderr for an unknown name. */
    STINT_IMPL_UNSEEN int printStatus(const text &name) const {
        return stint_set_print(set_, name);
    }
    STINT_IMPL_UNSEEN void setThreadInfo(bool each) const { stint_threads_show(each); }
    STINT_IMPL_UNSEEN void reset() const { stint_set_reset(set_); }
    /* 0, or STINT_ERROR_UNKNOWN if the name has no call in this set. */
    STINT_IMPL_UNSEEN int getStat(const text &name, stint_stat *out) const {
        return stint_set_stat_get(set_, name, out, sizeof *out);
    }
    /* As stint_stat_quantile. */
    STINT_IMPL_UNSEEN uint64_t quantile(const text &name, unsigned permille) const {
        return stint_stat_quantile(set_, name, permille);
    }
    STINT_IMPL_UNSEEN operator stint_set *() const noexcept { return set_; }

  private:
    stint_set *set_;
};

/* Moves the two words of a scope or interval. The parameters are pointers to numbers: from pointers
 * to classes, a compiler that optimises at link time would conclude that a class that is on and one
 * that is off never share memory. */
STINT_IMPL_UNSEEN inline void words_move(uint64_t *to, uint64_t *from) noexcept {
    to[0] = from[0];
    to[1] = from[1];
    from[0] = 0;
}

/* A scope that is not bound to a block: it may be moved, for example out of a function, and ended
 * early. It is in the call tree, below the scope that is open on its thread when it begins, and
 * ends once: by end(), when another one is assigned to it, or when it is destroyed. It ends on the
 * thread on which it began: on another one it is lost, and counted as a stray end. Of scopes of one
 * name that are open on a thread, the innermost one ends. Costs more than a macro: its name is
 * hashed. */
class scope {
  public:
    /* Not running. */
    STINT_IMPL_UNSEEN constexpr scope() noexcept : word_{0, 0} {}
    STINT_IMPL_UNSEEN explicit scope(const char *name) noexcept : scope() {
        STINT_IMPL_FOR_TIMING(stint_impl_scope_open(word_, name, UINT64_MAX);)
        (void)name;
    }
    /* std::string, std::string_view and types with the same members. */
    template <typename Text, typename = decltype(static_cast<const Text *>(nullptr)->data()),
              typename = decltype(static_cast<const Text *>(nullptr)->size())>
    STINT_IMPL_UNSEEN explicit scope(const Text &name) noexcept : scope() {
        STINT_IMPL_FOR_TIMING(stint_impl_scope_open(word_, name.data(), name.size());)
        (void)name;
    }
    STINT_IMPL_UNSEEN scope(scope &&other) noexcept : scope() { words_move(word_, other.word_); }
    /* Ends the one it held. */
    STINT_IMPL_UNSEEN scope &operator=(scope &&other) noexcept {
        if (this != &other) {
            end();
            words_move(word_, other.word_);
        }
        return *this;
    }
    scope(const scope &) = delete;
    scope &operator=(const scope &) = delete;
    STINT_IMPL_UNSEEN ~scope() { end(); }

    /* Ends and records it; no effect if it is not running. */
    STINT_IMPL_UNSEEN void end() noexcept {
        STINT_IMPL_FOR_TIMING(if (running()) { stint_impl_scope_close(word_); })
    }
    STINT_IMPL_UNSEEN bool running() const noexcept { return STINT_IMPL_TIMER && word_[0] != 0; }

  private:
    uint64_t word_[2];
};

/* One statistic with its name: a row of `statistics`. */
class statistic : public stint_stat {
  public:
    STINT_IMPL_UNSEEN const char *name() const noexcept { return name_; }

  private:
    friend class statistics;
    char *name_ = nullptr;
};

/* The statistics of a set that have a call in this interval, sorted by name: a copy of one instant,
 * as stint_stat_each gives it, to iterate over. Incomplete if result() is not STINT_OK. */
class statistics {
  public:
    STINT_IMPL_UNSEEN statistics() noexcept : statistics(StatSet()) {}
    STINT_IMPL_UNSEEN explicit statistics(const StatSet &set) noexcept
        : row_(nullptr), count_(0), room_(0), result_(STINT_OK) {
        STINT_IMPL_FOR_TIMING(result_ = stint_stat_each(set, add, this);)
        (void)set;
        if (result_ > 0) { /* add found no memory */
            result_ = STINT_ERROR_NO_MEMORY;
        }
    }
    statistics(const statistics &) = delete;
    statistics &operator=(const statistics &) = delete;
    STINT_IMPL_UNSEEN ~statistics() {
        if (row_ != nullptr) {
            drop();
        }
    }

    STINT_IMPL_UNSEEN const statistic *begin() const noexcept { return row_; }
    STINT_IMPL_UNSEEN const statistic *end() const noexcept { return row_ + count_; }
    STINT_IMPL_UNSEEN size_t size() const noexcept { return count_; }
    STINT_IMPL_UNSEEN int result() const noexcept { return result_; }

  private:
#if STINT_IMPL_TIMER
    STINT_IMPL_UNSEEN static int add(void *to, const char *name, const stint_stat *stat) {
        return static_cast<statistics *>(to)->add_row(name, stat) ? 0 : 1;
    }
    STINT_IMPL_UNSEEN bool add_row(const char *name, const stint_stat *stat) noexcept {
        if (count_ == room_) {
            size_t room = room_ != 0 ? room_ * 2 : 16;
            void *more = __builtin_realloc(static_cast<void *>(row_), room * sizeof *row_);
            if (more == nullptr) {
                return false;
            }
            row_ = static_cast<statistic *>(more);
            room_ = room;
        }
        size_t bytes = __builtin_strlen(name) + 1;
        char *copy = static_cast<char *>(__builtin_malloc(bytes));
        if (copy == nullptr) {
            return false;
        }
        __builtin_memcpy(copy, name, bytes);
        static_cast<stint_stat &>(row_[count_]) = *stat;
        row_[count_++].name_ = copy;
        return true;
    }
#endif
    /* Also where timers are off: the rows may come from a file where they are on. */
    STINT_IMPL_UNSEEN void drop() noexcept {
#ifdef __GNUC__
        for (size_t i = 0; i < count_; ++i) {
            __builtin_free(row_[i].name_);
        }
        __builtin_free(row_);
#endif
        count_ = room_ = 0;
    }

    statistic *row_;
    size_t count_;
    size_t room_;
    int result_;
};

/* An interval that is not a block: it may overlap anything, be moved, and end on another thread
 * than it began on, as in a coroutine or a job of a thread pool. It ends once: by end(), by
 * STINT_TIMER_END, when another one is assigned to it, or when it is destroyed; the thread that
 * ends it records it. An object must not be used by two threads at the same time. */
class interval {
  public:
    /* Not running; STINT_TIMER_BEGIN begins it, under a literal name. */
    STINT_IMPL_UNSEEN constexpr interval() noexcept : word{0, 0} {}
    /* Begins now, under a name made at run time, as in STINT_TIMER_DYNAMIC; it is hashed. */
    STINT_IMPL_UNSEEN explicit interval(const char *name) noexcept : interval() {
        STINT_IMPL_FOR_TIMING(stint_impl_handle_begin_dynamic(word, name, UINT64_MAX);)
        (void)name;
    }
    /* std::string, std::string_view and types with the same members. */
    template <typename Text, typename = decltype(static_cast<const Text *>(nullptr)->data()),
              typename = decltype(static_cast<const Text *>(nullptr)->size())>
    STINT_IMPL_UNSEEN explicit interval(const Text &name) noexcept : interval() {
        STINT_IMPL_FOR_TIMING(stint_impl_handle_begin_dynamic(word, name.data(), name.size());)
        (void)name;
    }
    STINT_IMPL_UNSEEN interval(interval &&other) noexcept : interval() {
        words_move(word, other.word);
    }
    /* Ends the one it held. */
    STINT_IMPL_UNSEEN interval &operator=(interval &&other) noexcept {
        if (this != &other) {
            end();
            words_move(word, other.word);
        }
        return *this;
    }
    interval(const interval &) = delete;
    interval &operator=(const interval &) = delete;
    STINT_IMPL_UNSEEN ~interval() { end(); }

    /* Ends and records it; no effect if it is not running. */
    STINT_IMPL_UNSEEN void end() noexcept {
        STINT_IMPL_FOR_TIMING(if (running()) { stint_impl_handle_end(word); })
    }
    STINT_IMPL_UNSEEN bool running() const noexcept { return STINT_IMPL_TIMER && word[0] != 0; }

    uint64_t word[2]; /* for STINT_TIMER_BEGIN and STINT_TIMER_END, as in stint_timer */
};

#ifdef STINT_IMPL_OFF_H
/* The functions that STINT_TIMER_BEGIN and STINT_TIMER_END of one call name when they are off. */
STINT_IMPL_ANYWHERE void stint_impl_off_handle_begin(interval *handle, const char *name);
STINT_IMPL_ANYWHERE void stint_impl_off_handle_end(interval *handle);
#endif

namespace {
/* The default set, "GlobalStatInfo". */
constexpr StatSet globalStat __attribute__((__unused__)){};
} /* namespace */

} /* inline namespace */
} /* namespace stint */
} /* extern "C++" */
#pragma pack(pop)

#endif

#if !defined(STINT_NO_LEGACY_NAMES) && !defined(STINT_IMPL_NAMES_HPP)
#define STINT_IMPL_NAMES_HPP
using stint::globalStat;
using stint::StatSet;
#endif
