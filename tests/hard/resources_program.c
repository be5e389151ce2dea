/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that computes a number and writes it to stdout, whatever its limits are. It allocates
 * nothing itself and writes to nothing else. Built with timers on and off: the number is the same.
 *
 *     resources_program LIMIT [EXPORT]
 *
 * LIMIT: none, or what it allows itself once it runs: memory=KIB more than it has, descriptors=N,
 * file=BYTES. EXPORT: a report is also written there, as JSON.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <stint/stint.h>

static unsigned long mix(unsigned long x) {
    REGISTER_TIMER("mix");
    return (x ^ x >> 13) * 0x9e3779b97f4a7c15ul + 1;
}

static unsigned long step(unsigned long x, int number) {
    char name[32];
    REGISTER_TIMER("step");
    snprintf(name, sizeof name, "name %d", number);
    REGISTER_TIMER_DYNAMIC(name);
    for (int i = 0; i < 10; ++i) {
        x = mix(x);
    }
    return x;
}

static unsigned long mapped(void) {
    unsigned long pages = 0;
    FILE *f = fopen("/proc/self/statm", "re");
    if (!f || fscanf(f, "%lu", &pages) != 1) {
        exit(2);
    }
    fclose(f);
    return pages * (unsigned long)getpagesize();
}

/* The type that getrlimit takes. */
#if defined(__GLIBC__)
typedef __rlimit_resource_t limit_resource;
#else
typedef int limit_resource;
#endif

static void limit_to(const char *limit) {
    static const struct {
        const char *name;
        limit_resource resource;
    } kinds[] = {{"memory", RLIMIT_AS}, {"descriptors", RLIMIT_NOFILE}, {"file", RLIMIT_FSIZE}};
    size_t length = strcspn(limit, "=");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i) {
        if (strlen(kinds[i].name) == length && !memcmp(kinds[i].name, limit, length)) {
            unsigned long value = strtoul(limit + length + 1, NULL, 10);
            struct rlimit r;
            getrlimit(kinds[i].resource, &r);
            r.rlim_cur = i ? value : mapped() + value * 1024;
            if (setrlimit(kinds[i].resource, &r)) {
                exit(2);
            }
        }
    }
}

int main(int argc, char **argv) {
    unsigned long x = 1;
    char line[64];
    if (argc > 1) {
        limit_to(argv[1]);
    }
    errno = 0;
    for (int i = 0; i < 500; ++i) {
        x = step(x, i);
    }
    if (argc > 2) {
        FOR_TIMING(stint_export(argv[2], "json"); stint_report("tree");)
    }
    int length = snprintf(line, sizeof line, "%lx %d\n", x, errno);
    if (write(STDOUT_FILENO, line, (size_t)length) != length) {
        return 1;
    }
    return 0;
}
