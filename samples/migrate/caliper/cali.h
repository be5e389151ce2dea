/* SPDX-License-Identifier: Apache-2.0 */
/* Caliper's names as timers of stint (docs/migrate.md). */
#ifndef CALIPER_BY_STINT_H
#define CALIPER_BY_STINT_H
#include <stint/stint.h>

#define CALI_CXX_MARK_FUNCTION STINT_TIMER_FUNC()
#define CALI_CXX_MARK_SCOPE(name) STINT_TIMER(name)
#define CALI_MARK_FUNCTION_BEGIN stint_scope_begin(__func__)
#define CALI_MARK_FUNCTION_END stint_scope_end(__func__)
#define CALI_MARK_BEGIN(name) stint_scope_begin(name)
#define CALI_MARK_END(name) stint_scope_end(name)
#define CALI_MARK_PHASE_BEGIN(name) stint_scope_begin(name)
#define CALI_MARK_PHASE_END(name) stint_scope_end(name)
#define CALI_MARK_COMM_REGION_BEGIN(name) stint_scope_begin(name)
#define CALI_MARK_COMM_REGION_END(name) stint_scope_end(name)
#define CALI_WRAP_STATEMENT(name, statement)                                                       \
    do {                                                                                           \
        stint_scope_begin(name);                                                                   \
        statement;                                                                                 \
        stint_scope_end(name);                                                                     \
    } while (0)
#endif
