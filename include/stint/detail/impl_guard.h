/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The private primitives the public macros are made of, on and off. This is the only file that
 * knows both. Not for users.
 *
 * The pragma: in an inline function that is not static, C wants no static object, and a site is one
 * by nature (each copy of the function may well have its own). gcc has no switch for that
 * diagnostic but leaves code from system headers alone; clang has switches. Nothing but these
 * macros is in this file, so nothing else goes unwarned.
 */
#ifndef STINT_IMPL_GUARD_H
#define STINT_IMPL_GUARD_H

#if defined(__GNUC__)
#pragma GCC system_header
#endif

/* Only a string literal can follow "". That alone is an error too, but one that does not say why
 * (this is a system header: compilers leave its macros out of their notes), so the
 * preceding identifier says it: a bit-field without a width, a member that is not there. */
#ifdef __GNUC__
/* An integer or a member of an enumeration; 5 and more are pointers, numbers with a point, … */
#define STINT_IMPL_IS_WHOLE(n) (__builtin_constant_p(n) && __builtin_classify_type(n) < 5)
#ifdef __cplusplus
#define STINT_IMPL_IS_TEXT(name) (__builtin_classify_type(name) >= 5)
#else
#define STINT_IMPL_IS_TEXT(name) __builtin_types_compatible_p(__typeof__(name), char[sizeof(name)])
#endif
#endif

#if defined(__GNUC__) && defined(__cplusplus)
namespace stint_impl {
template <bool literal> struct STINT_name_must_be_a_literal_else_use_STINT_TIMER_DYNAMIC {};
template <> struct STINT_name_must_be_a_literal_else_use_STINT_TIMER_DYNAMIC<true> {
    enum { holds = 1 };
};
template <bool whole> struct STINT_level_and_role_are_constants_after_the_name {};
template <> struct STINT_level_and_role_are_constants_after_the_name<true> {
    enum { holds = 1 };
};
} // namespace stint_impl
#define STINT_IMPL_LITERAL(name)                                                                   \
    (::stint_impl::STINT_name_must_be_a_literal_else_use_STINT_TIMER_DYNAMIC <                     \
                     __builtin_constant_p(name) !=                                                 \
                 0 &&                                                                              \
             STINT_IMPL_IS_TEXT(name) > ::holds                                                    \
         ? "" name                                                                                 \
         : STINT_IMPL_NULL)
#define STINT_IMPL_WHOLE(n)                                                                        \
    (::stint_impl::STINT_level_and_role_are_constants_after_the_name<STINT_IMPL_IS_WHOLE(          \
             n)>::holds                                                                            \
         ? (n)                                                                                     \
         : 0)
#elif defined(__GNUC__)
#define STINT_IMPL_LITERAL(name)                                                                   \
    (sizeof(struct {                                                                               \
        int STINT_name_must_be_a_literal_else_use_STINT_TIMER_DYNAMIC                              \
            : __builtin_constant_p(name) &&                                                        \
              STINT_IMPL_IS_TEXT(name)                                                             \
            ? 1                                                                                    \
            : -1;                                                                                  \
    })                                                                                             \
         ? "" name                                                                                 \
         : STINT_IMPL_NULL)
#define STINT_IMPL_WHOLE(n)                                                                        \
    (sizeof(struct {                                                                               \
        int STINT_level_and_role_are_constants_after_the_name : STINT_IMPL_IS_WHOLE(n) ? 1 : -1;   \
    })                                                                                             \
         ? (n)                                                                                     \
         : 0)
#else
#define STINT_IMPL_LITERAL(name) "" name
#define STINT_IMPL_WHOLE(n) (n)
#endif

/* Run-time texts: const char *, and in C++ an object with c_str(), as std::string, or what converts
 * to const char *. note_keep is for a text that is needed until the block ends: a reference to its
 * result makes a temporary object live as long. Only classes have an `int Text::*`. */
#ifdef __cplusplus
namespace stint_impl {
STINT_IMPL_UNSEEN inline const char *note_keep(const char *note) {
    return note;
}
template <typename Text, int Text::* = nullptr>
STINT_IMPL_UNSEEN inline const Text &note_keep(const Text &note) {
    return note;
}
template <typename Text, int Text::* = nullptr>
STINT_IMPL_UNSEEN inline Text note_keep(Text &&note) {
    return static_cast<Text &&>(note);
}
STINT_IMPL_ANYWHERE STINT_IMPL_UNSEEN inline const char *note_text(const char *note) {
    return note;
}
template <typename Text>
STINT_IMPL_UNSEEN inline auto note_text(const Text &note) -> decltype(note.c_str()) {
    return note.c_str();
}
struct STINT_must_be_a_text_with_NUL_else_use_stint_text {
    operator const char *() const;
};
STINT_must_be_a_text_with_NUL_else_use_stint_text note_keep(...) = delete;
STINT_must_be_a_text_with_NUL_else_use_stint_text note_text(...) = delete;
} // namespace stint_impl
#define STINT_IMPL_CHARS(text) ::stint_impl::note_text(text)
#else
#define STINT_IMPL_CHARS(text) text
#endif

/* clang warns where a reference, but not an argument, is made of a temporary's c_str(). The second
 * one is never evaluated. */
#ifdef __clang__
#define STINT_IMPL_NOTE(n, info)                                                                   \
    auto &&stint_impl_note_##n = ::stint_impl::note_keep(info);                                    \
    if (0) {                                                                                       \
        auto &&stint_impl_dead_##n = info;                                                         \
        (void)stint_impl_dead_##n;                                                                 \
    }
#else
#define STINT_IMPL_NOTE(n, info) auto &&stint_impl_note_##n = ::stint_impl::note_keep(info)
#endif

/* The start_us of a scope that begins at its line. UINT64_MAX would be <stdint.h>'s. */
#define STINT_IMPL_BEGINS_NOW (~(uint64_t)0)

/* Any arithmetic type; the product is an error for pointers. */
#define STINT_IMPL_COUNT(n) ((uint64_t)((n)*1))
#define STINT_IMPL_NUMBER(n) ((double)((n)*1))

/* The same, or STINT_IMPL_AMOUNT_BAD if it is negative, no number, or too large for 64 bits. */
#define STINT_IMPL_AMOUNT(n)                                                                       \
    __extension__({                                                                                \
        __typeof__((n)*1) stint_impl_n = (n)*1;                                                    \
        (double)stint_impl_n >= 0 && (double)stint_impl_n < 18446744073709551616.0                 \
            ? (uint64_t)stint_impl_n                                                               \
            : STINT_IMPL_AMOUNT_BAD;                                                               \
    })

/* Dead but compiled: types are checked, a local used only here stays used, nothing is emitted. */
#define STINT_IMPL_OFF(call) ((void)(0 ? call : (void)0))

#if defined(__clang__) && !defined(__cplusplus)
#define STINT_IMPL_QUIET                                                                           \
    _Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Wstatic-in-inline\"")    \
        _Pragma("clang diagnostic ignored \"-Wstatic-local-in-inline\"")
#define STINT_IMPL_LOUD _Pragma("clang diagnostic pop")
#else
#define STINT_IMPL_QUIET
#define STINT_IMPL_LOUD
#endif

#if defined(__GNUC__) && !defined(__OPTIMIZE__)
#define STINT_IMPL_PLAIN 1
#else
#define STINT_IMPL_PLAIN 0
#endif
#define STINT_IMPL_SITE(n, name, level, role)                                                      \
    STINT_IMPL_QUIET static struct stint_impl_site stint_impl_site_##n = {                         \
        name, __FILE__, __func__, __LINE__, level, role, STINT_IMPL_PLAIN, 0} STINT_IMPL_LOUD

#if STINT_IMPL_TIMER && !defined(__CUDA_ARCH__)

#if defined(__cplusplus)
#define STINT_IMPL_SCOPE_(n, name, level, role, set)                                               \
    STINT_IMPL_SITE(n, name, level, role);                                                         \
    ::stint_impl::scope stint_impl_guard_##n(&stint_impl_site_##n, set)
#define STINT_IMPL_SCOPE_WITH_(n, name, info, threshold_us, set)                                   \
    STINT_IMPL_SITE(n, name, 0, 0);                                                                \
    STINT_IMPL_NOTE(n, info);                                                                      \
    ::stint_impl::scope_with stint_impl_guard_##n(::stint_impl::from_info(), &stint_impl_site_##n, \
                                                  ::stint_impl::note_text(stint_impl_note_##n),    \
                                                  threshold_us, set)
#define STINT_IMPL_SCOPE_SINCE_(n, name, start_us, threshold_us, set)                              \
    STINT_IMPL_SITE(n, name, 0, 0);                                                                \
    ::stint_impl::scope_with stint_impl_guard_##n(                                                 \
        ::stint_impl::from_start(), &stint_impl_site_##n, start_us, threshold_us, set)
#define STINT_IMPL_SCOPE_DYNAMIC_(n, name, level, start_us, threshold_us, set)                     \
    STINT_IMPL_SITE(n, "", level, 0);                                                              \
    ::stint_impl::scope_with stint_impl_guard_##n(::stint_impl::from_name(), &stint_impl_site_##n, \
                                                  name, start_us, threshold_us, set)
#define STINT_IMPL_SCOPE_UNDER_(n, name, sender)                                                   \
    STINT_IMPL_SITE(n, name, 0, 0);                                                                \
    ::stint_impl::scope stint_impl_guard_##n(&stint_impl_site_##n, sender)
#define STINT_IMPL_SCOPE_GPU_(n, name, stream, info, threshold_us)                                 \
    STINT_IMPL_SITE(n, name, 0, 0);                                                                \
    STINT_IMPL_NOTE(n, info);                                                                      \
    ::stint_impl::scope_gpu stint_impl_guard_##n(                                                  \
        &stint_impl_site_##n, stream, ::stint_impl::note_text(stint_impl_note_##n), threshold_us)
#define STINT_IMPL_SCOPE_QUEUE_(n, name, queue, info, threshold_us)                                \
    STINT_IMPL_SITE(n, name, 0, 0);                                                                \
    STINT_IMPL_NOTE(n, info);                                                                      \
    ::stint_impl::scope_queue stint_impl_guard_##n(                                                \
        &stint_impl_site_##n, queue, ::stint_impl::note_text(stint_impl_note_##n), threshold_us)
#else
#define STINT_IMPL_SCOPE_(n, name, level, role, set)                                               \
    STINT_IMPL_SITE(n, name, level, role);                                                         \
    STINT_IMPL_QUIET stint_impl_opened stint_impl_guard_##n                                        \
        __attribute__((__cleanup__(stint_impl_end), __unused__));                                  \
    stint_impl_guard_##n = stint_impl_begin(&stint_impl_guard_##n, &stint_impl_site_##n,           \
                                            stint_impl_set_id(set)) STINT_IMPL_LOUD
#define STINT_IMPL_CALL_(n, info, threshold_us)                                                    \
    struct stint_impl_call stint_impl_guard_##n                                                    \
        __attribute__((__cleanup__(stint_impl_end_with), __unused__)) = {                          \
            0, (info), stint_impl_threshold(threshold_us)}
#define STINT_IMPL_SCOPE_WITH_(n, name, info, threshold_us, set)                                   \
    STINT_IMPL_SITE(n, name, 0, 0);                                                                \
    STINT_IMPL_QUIET STINT_IMPL_CALL_(n, info, threshold_us);                                      \
    stint_impl_guard_##n.opened = stint_impl_begin(&stint_impl_guard_##n, &stint_impl_site_##n,    \
                                                   stint_impl_set_id(set)) STINT_IMPL_LOUD
#define STINT_IMPL_SCOPE_SINCE_(n, name, start_us, threshold_us, set)                              \
    STINT_IMPL_SITE(n, name, 0, 0);                                                                \
    STINT_IMPL_QUIET STINT_IMPL_CALL_(n, STINT_IMPL_NULL, threshold_us);                           \
    stint_impl_begin_since(&stint_impl_guard_##n, &stint_impl_site_##n, stint_impl_set_id(set),    \
                           start_us) STINT_IMPL_LOUD
#define STINT_IMPL_SCOPE_DYNAMIC_(n, name, level, start_us, threshold_us, set)                     \
    STINT_IMPL_SITE(n, "", level, 0);                                                              \
    STINT_IMPL_QUIET STINT_IMPL_CALL_(n, STINT_IMPL_NULL, threshold_us);                           \
    stint_impl_begin_dynamic(&stint_impl_guard_##n, &stint_impl_site_##n, stint_impl_set_id(set),  \
                             name, ~(uint64_t)0, start_us) STINT_IMPL_LOUD
#define STINT_IMPL_SCOPE_UNDER_(n, name, sender)                                                   \
    STINT_IMPL_SITE(n, name, 0, 0);                                                                \
    STINT_IMPL_QUIET stint_impl_opened stint_impl_guard_##n                                        \
        __attribute__((__cleanup__(stint_impl_end), __unused__));                                  \
    stint_impl_open_under(&stint_impl_guard_##n, &stint_impl_site_##n, sender) STINT_IMPL_LOUD
#define STINT_IMPL_SCOPE_GPU_(n, name, stream, info, threshold_us)                                 \
    STINT_IMPL_SITE(n, name, 0, 0);                                                                \
    STINT_IMPL_QUIET struct stint_impl_call stint_impl_guard_##n                                   \
        __attribute__((__cleanup__(stint_impl_gpu_end), __unused__)) = {                           \
            0, (info), stint_impl_threshold(threshold_us)};                                        \
    stint_impl_gpu_scope_begin(&stint_impl_guard_##n, &stint_impl_site_##n,                        \
                               stint_impl_stream(stream)) STINT_IMPL_LOUD
#define STINT_IMPL_SCOPE_QUEUE_(n, name, queue, info, threshold_us)                                \
    STINT_IMPL_SITE(n, name, 0, 0);                                                                \
    STINT_IMPL_QUIET struct stint_impl_call stint_impl_guard_##n                                   \
        __attribute__((__cleanup__(stint_impl_gpu_end), __unused__)) = {                           \
            0, (info), stint_impl_threshold(threshold_us)};                                        \
    stint_impl_queue_scope_begin(&stint_impl_guard_##n, &stint_impl_site_##n, queue) STINT_IMPL_LOUD
#endif

#define STINT_IMPL_SCOPE_AT(n, name, level, role, set) STINT_IMPL_SCOPE_(n, name, level, role, set)
#define STINT_IMPL_SCOPE(name, level, role, set)                                                   \
    STINT_IMPL_SCOPE_AT(__COUNTER__, STINT_IMPL_LITERAL(name), level, role, set)
#define STINT_IMPL_SCOPE_WITH_AT(n, name, info, threshold_us, set)                                 \
    STINT_IMPL_SCOPE_WITH_(n, name, info, threshold_us, set)
#define STINT_IMPL_SCOPE_WITH(name, info, threshold_us, set)                                       \
    STINT_IMPL_SCOPE_WITH_AT(__COUNTER__, STINT_IMPL_LITERAL(name), info, threshold_us, set)
#define STINT_IMPL_SCOPE_SINCE_AT(n, name, start_us, threshold_us, set)                            \
    STINT_IMPL_SCOPE_SINCE_(n, name, start_us, threshold_us, set)
#define STINT_IMPL_SCOPE_SINCE(name, start_us, threshold_us, set)                                  \
    STINT_IMPL_SCOPE_SINCE_AT(__COUNTER__, STINT_IMPL_LITERAL(name), start_us, threshold_us, set)
#define STINT_IMPL_SCOPE_DYNAMIC_AT(n, name, level, start_us, threshold_us, set)                   \
    STINT_IMPL_SCOPE_DYNAMIC_(n, name, level, start_us, threshold_us, set)
#define STINT_IMPL_SCOPE_DYNAMIC(name, start_us, threshold_us, set)                                \
    STINT_IMPL_SCOPE_DYNAMIC_AT(__COUNTER__, name, 0, start_us, threshold_us, set)
#define STINT_IMPL_SCOPE_UNDER_AT(n, name, sender) STINT_IMPL_SCOPE_UNDER_(n, name, sender)
#define STINT_IMPL_SCOPE_UNDER(name, sender)                                                       \
    STINT_IMPL_SCOPE_UNDER_AT(__COUNTER__, STINT_IMPL_LITERAL(name), sender)
#define STINT_IMPL_SCOPE_OP(type, instance)                                                        \
    STINT_IMPL_SCOPE(type, STINT_LEVEL_DEFAULT, STINT_ROLE_OP, STINT_IMPL_NULL);                   \
    STINT_IMPL_SCOPE_DYNAMIC_AT(__COUNTER__, instance, STINT_LEVEL_ALL_OP_DETAIL,                  \
                                STINT_IMPL_BEGINS_NOW, -1, STINT_IMPL_NULL)
#define STINT_IMPL_SCOPE_FUNC_(n) STINT_IMPL_SCOPE_AT(n, __func__, 0, 0, STINT_IMPL_NULL)
#define STINT_IMPL_SCOPE_FUNC() STINT_IMPL_SCOPE_FUNC_(__COUNTER__)
#define STINT_IMPL_HANDLE_BEGIN_(n, handle, name)                                                  \
    do {                                                                                           \
        STINT_IMPL_SITE(n, name, 0, 0);                                                            \
        STINT_IMPL_QUIET stint_impl_handle_begin((handle).word, &stint_impl_site_##n);             \
        STINT_IMPL_LOUD                                                                            \
    } while (0)
#define STINT_IMPL_HANDLE_BEGIN_AT(n, handle, name) STINT_IMPL_HANDLE_BEGIN_(n, handle, name)
#define STINT_IMPL_HANDLE_BEGIN(handle, name)                                                      \
    STINT_IMPL_HANDLE_BEGIN_AT(__COUNTER__, handle, STINT_IMPL_LITERAL(name))
#define STINT_IMPL_HANDLE_END(handle) stint_impl_handle_end((handle).word)
#define STINT_IMPL_SCOPE_GPU_AT(n, name, stream, info, threshold_us)                               \
    STINT_IMPL_SCOPE_GPU_(n, name, stream, info, threshold_us)
#define STINT_IMPL_SCOPE_GPU(name, stream, info, threshold_us)                                     \
    STINT_IMPL_SCOPE_GPU_AT(__COUNTER__, STINT_IMPL_LITERAL(name), stream, info, threshold_us)
#define STINT_IMPL_SCOPE_QUEUE_AT(n, name, queue, info, threshold_us)                              \
    STINT_IMPL_SCOPE_QUEUE_(n, name, queue, info, threshold_us)
#define STINT_IMPL_SCOPE_QUEUE(name, queue, info, threshold_us)                                    \
    STINT_IMPL_SCOPE_QUEUE_AT(__COUNTER__, STINT_IMPL_LITERAL(name), queue, info, threshold_us)
#define STINT_IMPL_BYTES(n) stint_impl_add_bytes(STINT_IMPL_AMOUNT(n))
#define STINT_IMPL_FLOPS(n) stint_impl_add_flops(STINT_IMPL_AMOUNT(n))
#define STINT_IMPL_MARK_(n, name)                                                                  \
    do {                                                                                           \
        STINT_IMPL_SITE(n, name, 0, 0);                                                            \
        STINT_IMPL_QUIET stint_impl_mark(&stint_impl_site_##n);                                    \
        STINT_IMPL_LOUD                                                                            \
    } while (0)
#define STINT_IMPL_MARK_AT(n, name) STINT_IMPL_MARK_(n, name)
#define STINT_IMPL_MARK(name) STINT_IMPL_MARK_AT(__COUNTER__, STINT_IMPL_LITERAL(name))
#define STINT_IMPL_VALUE_(n, name, v)                                                              \
    do {                                                                                           \
        STINT_IMPL_SITE(n, name, 0, 0);                                                            \
        STINT_IMPL_QUIET stint_impl_value(&stint_impl_site_##n, STINT_IMPL_NUMBER(v));             \
        STINT_IMPL_LOUD                                                                            \
    } while (0)
#define STINT_IMPL_VALUE_AT(n, name, v) STINT_IMPL_VALUE_(n, name, v)
#define STINT_IMPL_VALUE(name, v) STINT_IMPL_VALUE_AT(__COUNTER__, STINT_IMPL_LITERAL(name), v)
#define STINT_IMPL_FOR_TIMING(...) __VA_ARGS__

/* It begins with a declaration, so that it does not compile as the only statement of an `if`. */
#if defined(__cplusplus)
#define STINT_IMPL_PROFILE_(n, state, option, sorted_key, path)                                    \
    enum { stint_impl_here_##n };                                                                  \
    ::stint_impl::profile stint_impl_guard_##n(                                                    \
        ((void)stint_impl_here_##n, STINT_IMPL_CHARS(state)), STINT_IMPL_CHARS(option),            \
        STINT_IMPL_CHARS(sorted_key), STINT_IMPL_CHARS(path))
#else
#define STINT_IMPL_PROFILE_(n, state, option, sorted_key, path)                                    \
    char stint_impl_guard_##n                                                                      \
        __attribute__((__cleanup__(stint_impl_profiler_end), __unused__, __aligned__(2)));         \
    stint_impl_profiler_begin(&stint_impl_guard_##n, state, option, sorted_key, path)
#endif
#define STINT_IMPL_PROFILE_AT(n, state, option, sorted_key, path)                                  \
    STINT_IMPL_PROFILE_(n, state, option, sorted_key, path)
#define STINT_IMPL_PROFILE(state, option, sorted_key, path)                                        \
    STINT_IMPL_PROFILE_AT(__COUNTER__, state, option, sorted_key, path)

#else /* timers off, or device code */

#define STINT_IMPL_SCOPE(name, level, role, set)                                                   \
    STINT_IMPL_OFF(stint_impl_off_scope(STINT_IMPL_LITERAL(name), level, role, set))
#define STINT_IMPL_SCOPE_WITH(name, info, threshold_us, set)                                       \
    STINT_IMPL_OFF(stint_impl_off_scope_with(STINT_IMPL_LITERAL(name), STINT_IMPL_CHARS(info),     \
                                             threshold_us, set))
#define STINT_IMPL_SCOPE_SINCE(name, start_us, threshold_us, set)                                  \
    STINT_IMPL_OFF(                                                                                \
        stint_impl_off_scope_since(STINT_IMPL_LITERAL(name), start_us, threshold_us, set))
#define STINT_IMPL_SCOPE_DYNAMIC(name, start_us, threshold_us, set)                                \
    STINT_IMPL_OFF(stint_impl_off_dynamic(name, start_us, threshold_us, set))
#define STINT_IMPL_SCOPE_UNDER(name, sender)                                                       \
    STINT_IMPL_OFF(stint_impl_off_scope_under(STINT_IMPL_LITERAL(name), sender))
#define STINT_IMPL_SCOPE_OP(type, instance)                                                        \
    STINT_IMPL_OFF(stint_impl_off_op(STINT_IMPL_LITERAL(type), instance))
#define STINT_IMPL_SCOPE_FUNC() STINT_IMPL_OFF((void)0)
#define STINT_IMPL_HANDLE_BEGIN(handle, name)                                                      \
    STINT_IMPL_OFF(stint_impl_off_handle_begin(&(handle), STINT_IMPL_LITERAL(name)))
#define STINT_IMPL_HANDLE_END(handle) STINT_IMPL_OFF(stint_impl_off_handle_end(&(handle)))
#define STINT_IMPL_SCOPE_GPU(name, stream, info, threshold_us)                                     \
    STINT_IMPL_OFF(                                                                                \
        stint_impl_off_scope_gpu(STINT_IMPL_LITERAL(name), stream, STINT_IMPL_CHARS(info)))
#define STINT_IMPL_SCOPE_QUEUE(name, queue, info, threshold_us)                                    \
    STINT_IMPL_OFF(                                                                                \
        stint_impl_off_scope_queue(STINT_IMPL_LITERAL(name), queue, STINT_IMPL_CHARS(info)))
#define STINT_IMPL_BYTES(n) STINT_IMPL_OFF(stint_impl_off_count(STINT_IMPL_COUNT(n)))
#define STINT_IMPL_FLOPS(n) STINT_IMPL_OFF(stint_impl_off_count(STINT_IMPL_COUNT(n)))
#define STINT_IMPL_MARK(name) STINT_IMPL_OFF(stint_impl_off_value(STINT_IMPL_LITERAL(name), 0))
#define STINT_IMPL_VALUE(name, v)                                                                  \
    STINT_IMPL_OFF(stint_impl_off_value(STINT_IMPL_LITERAL(name), STINT_IMPL_NUMBER(v)))
#define STINT_IMPL_FOR_TIMING(...)
#define STINT_IMPL_PROFILE(state, option, sorted_key, path)                                        \
    STINT_IMPL_OFF(stint_impl_off_profiler(STINT_IMPL_CHARS(state), STINT_IMPL_CHARS(option),      \
                                           STINT_IMPL_CHARS(sorted_key), STINT_IMPL_CHARS(path)))

#endif

#if STINT_IMPL_PROFILER && !defined(__CUDA_ARCH__)

#if defined(__cplusplus)
/* Two declarations, so that it does not compile as the only statement of an `if`, as with
 * timers. */
#define STINT_IMPL_CAPTURE_(n, name, info)                                                         \
    enum { stint_impl_here_##n };                                                                  \
    ::stint_impl::capture stint_impl_guard_##n(                                                    \
        ((void)stint_impl_here_##n, STINT_IMPL_CHARS(name)), STINT_IMPL_CHARS(info))
#else
#define STINT_IMPL_CAPTURE_(n, name, info)                                                         \
    char stint_impl_guard_##n                                                                      \
        __attribute__((__cleanup__(stint_impl_capture_end), __unused__, __aligned__(2)));          \
    stint_impl_capture_begin(&stint_impl_guard_##n, name, info)
#endif
#define STINT_IMPL_CAPTURE_AT(n, name, info) STINT_IMPL_CAPTURE_(n, name, info)
#define STINT_IMPL_CAPTURE(name, info) STINT_IMPL_CAPTURE_AT(__COUNTER__, name, info)
#define STINT_IMPL_CAPTURE_START(name) stint_impl_capture_start(STINT_IMPL_CHARS(name))
#define STINT_IMPL_CAPTURE_STOP() stint_impl_capture_stop()

#else

#define STINT_IMPL_CAPTURE(name, info)                                                             \
    STINT_IMPL_OFF(stint_impl_off_capture(STINT_IMPL_CHARS(name), STINT_IMPL_CHARS(info)))
#define STINT_IMPL_CAPTURE_START(name)                                                             \
    STINT_IMPL_OFF(stint_impl_off_capture(STINT_IMPL_CHARS(name), STINT_IMPL_NULL))
#define STINT_IMPL_CAPTURE_STOP() STINT_IMPL_OFF((void)0)

#endif

#endif
