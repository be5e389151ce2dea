/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Macros for instrumented copies of sources (`stint instrument`, stint_instrument() of CMake). This
 * header is included before the first line of the file. In C it includes no header of the C
 * library, so a `#define _GNU_SOURCE` of the file still comes in time, and it defines no name
 * without the prefix. `__COUNTER__` is not used: the file may. Not for users; they write the macros
 * of stint.h.
 */
#include "detail/impl_again.h"

#ifndef STINT_INSTRUMENT_H
#define STINT_INSTRUMENT_H

#if defined(__GNUC__)
#pragma GCC system_header
#endif

#pragma pack(push, 8)
#ifdef __cplusplus
extern "C++" {
#endif

/* A file in C90 has no `inline`, and others define it on the command line. */
#ifndef __cplusplus
#pragma push_macro("inline")
#undef inline
#define inline __inline__
#endif
#include "detail/impl_record.h"
#ifndef __cplusplus
#pragma pop_macro("inline")
#endif

#if defined(__clang__) && !defined(__cplusplus)
#define STINT_INSTRUMENT_QUIET                                                                     \
    _Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Wstatic-in-inline\"")    \
        _Pragma("clang diagnostic ignored \"-Wstatic-local-in-inline\"")
#define STINT_INSTRUMENT_LOUD _Pragma("clang diagnostic pop")
#else
#define STINT_INSTRUMENT_QUIET
#define STINT_INSTRUMENT_LOUD
#endif

#ifdef __cplusplus
class stint_instrument_guard {
  public:
    STINT_IMPL_HERE explicit stint_instrument_guard(stint_impl_site *site)
        : opened_(::stint_impl::stint_impl_begin(this, site, 0)) {}
    STINT_IMPL_HERE ~stint_instrument_guard() { ::stint_impl::stint_impl_end(this); }
    stint_instrument_guard(const stint_instrument_guard &) = delete;
    stint_instrument_guard &operator=(const stint_instrument_guard &) = delete;

  private:
    stint_impl_opened opened_;
};

#define STINT_INSTRUMENT_FUNCTION(name)                                                            \
    static stint_impl_site stint_instrument_site = {                                               \
        name, __FILE__, __func__, __LINE__, 0, 0, 0, 0};                                           \
    stint_instrument_guard stint_instrument_scope(&stint_instrument_site);
#else
/* Declarations only: the file's own may follow in C90, too. */
#define STINT_INSTRUMENT_FUNCTION(name)                                                            \
    STINT_INSTRUMENT_QUIET static struct stint_impl_site stint_instrument_site = {                 \
        name, __FILE__, __func__, __LINE__, 0, 0, 0, 0};                                           \
    stint_impl_opened stint_instrument_scope                                                       \
        __attribute__((__cleanup__(stint_impl_end), __unused__));                                  \
    char stint_instrument_begun __attribute__((__unused__)) =                                      \
        (stint_instrument_scope =                                                                  \
             stint_impl_begin(&stint_instrument_scope, &stint_instrument_site, 0),                 \
         (char)0);                                                                                 \
    STINT_INSTRUMENT_LOUD
#endif

#ifdef __cplusplus
} /* extern "C++" */
#endif
#pragma pack(pop)

#endif
