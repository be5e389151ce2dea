/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of ITT's binary interface that its collectors see, on 64-bit systems: layouts as in
 * ittnotify.h and ittnotify_config.h of Intel's ittapi 3. No package of Debian 12 has these
 * headers: tests use the static part that is in its TBB and oneDNN.
 */
#ifndef STINT_ITT_H
#define STINT_ITT_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

typedef void (*itt_function)(void);

/* Passed by value. */
struct itt_id {
    uint64_t address;
    uint64_t number;
    uint64_t unused;
};

struct itt_domain {
    volatile int flags; /* 0: calls with this domain are not made */
    const char *name;
    void *wide_name;
    int extra1;
    void *extra2; /* for the tool */
    struct itt_domain *next;
};

struct itt_string {
    const char *name;
    void *wide_name;
    int extra1;
    void *extra2;
    struct itt_string *next;
};

/* A function that the module calls through *function. */
struct itt_api {
    const char *name; /* NULL: the end of the list */
    void **function;
    void *first_function;
    void *null_function;
    int group;
};

struct itt_global {
    unsigned char magic[8];
    unsigned long version_major, version_minor, version_build;
    volatile long api_initialized, mutex_initialized, atomic_counter;
    pthread_mutex_t mutex;
    void *library;
    void *error_handler;
    const char **library_path;
    struct itt_api *api_list;
    struct itt_global *next;
    void *threads;
    struct itt_domain *domains; /* made before the tool was loaded */
    struct itt_string *strings;
};

/* Types of numbers. */
enum { ITT_U64 = 1, ITT_S64, ITT_U32, ITT_S32, ITT_U16, ITT_S16, ITT_FLOAT, ITT_DOUBLE };

struct range_name;

/* itt.c. Whether it is a domain of the tool; if not, that is counted. The name of a string, or the
 * other one. */
int itt_domain_check(const struct itt_domain *domain);
struct range_name itt_name_of(const struct itt_string *string, const char *without);

/* itt_numbers.c */
struct itt_counter;
void itt_metadata_add(const struct itt_domain *domain, struct itt_id id,
                      const struct itt_string *key, int type, size_t count, const void *data);
struct itt_counter *itt_counter_create_typed(const char *name, const char *domain, int type);
struct itt_counter *itt_counter_create(const char *name, const char *domain);
void itt_counter_destroy(struct itt_counter *counter);
void itt_counter_set(struct itt_counter *counter, const void *data);
void itt_counter_add(struct itt_counter *counter, uint64_t more);
void itt_counter_inc(struct itt_counter *counter);
void itt_counter_take(struct itt_counter *counter, uint64_t less);
void itt_counter_dec(struct itt_counter *counter);
void itt_counter_add_named(const struct itt_domain *domain, const struct itt_string *name,
                           uint64_t more);
void itt_counter_inc_named(const struct itt_domain *domain, const struct itt_string *name);
void itt_pause(void);
void itt_resume(void);
void itt_marker(const struct itt_domain *domain, struct itt_id id, const struct itt_string *name,
                int scope);

#endif
