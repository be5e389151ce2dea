/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions that the wrappers of mpi.h call, which wrap_mpi.py writes. Included once, after mpi.h.
 * Nothing here refers to a symbol of MPI when it is preloaded: programs without MPI get the
 * library, too.
 *
 * The set of a communicator is found by its handle in a table of the thread, which is emptied when
 * a communicator is freed or named. Before MPI runs, and after, there is one set for all.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define STINT_MPI_COMMS 16 /* of a thread, by the low bits of the handle */
#define STINT_MPI_SET_BYTES (MPI_MAX_OBJECT_NAME + 64)

struct stint_mpi_comm {
    MPI_Comm comm;
    unsigned changes; /* + 1, when it was entered; 0: empty */
    int size;
    int is_inter;
    int is_world;
    stint_set *set;
};

#define stint_impl_rank_seen STINT_IMPL_ABI_NAME(stint_impl_rank_seen)
extern void stint_impl_rank_seen(uint32_t rank, uint32_t size);

/* ---- Functions and objects of MPI. */

#ifdef STINT_WRAP_PRELOAD
static void *stint_wrap_find(const char *name);

#define STINT_MPI_CALL(name, arguments)                                                            \
    do {                                                                                           \
        static __typeof__(&P##name) known;                                                         \
        __typeof__(&P##name) call = __atomic_load_n(&known, __ATOMIC_RELAXED);                     \
        if (!call) {                                                                               \
            call = (__typeof__(&P##name))stint_wrap_find("P" #name);                               \
            __atomic_store_n(&known, call, __ATOMIC_RELAXED);                                      \
        }                                                                                          \
        call arguments;                                                                            \
    } while (0)

/* The program's MPI has to be the one whose header was read: handles differ in size. */
static void stint_mpi_check(const char *name, void *function) {
    static int is_checked; /* atomic */
    Dl_info info;
    if (__atomic_load_n(&is_checked, __ATOMIC_RELAXED) || !dladdr(function, &info)) {
        return;
    }
    void *module = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    int is_open_mpi = module && dlsym(module, "ompi_mpi_comm_null");
    if (module) {
        dlclose(module);
    }
#ifdef OPEN_MPI
    const char *built = "Open MPI";
    int fits = is_open_mpi;
#else
    const char *built = "MPICH";
    int fits = !is_open_mpi;
#endif
    if (!fits) {
        fprintf(stderr,
                "stint: preloaded timers: %s of %s is not that of %s, for which they were "
                "built; run with the library for this MPI (--mpi=NAME)\n",
                name, info.dli_fname, built);
        _exit(127);
    }
    __atomic_store_n(&is_checked, 1, __ATOMIC_RELAXED);
}
#define STINT_WRAP_FOUND(name, function) stint_mpi_check(name, function)
#else
#define STINT_MPI_CALL(name, arguments) P##name arguments
#endif

/* The handles that are none. Those of Open MPI are addresses of objects in its library. */
#if defined(STINT_WRAP_PRELOAD) && defined(OPEN_MPI)
static int stint_mpi_is_null(const void *handle, const char *object, const void **known) {
    const void *null = __atomic_load_n(known, __ATOMIC_RELAXED);
    if (!null) {
        null = stint_wrap_find(object);
        __atomic_store_n(known, null, __ATOMIC_RELAXED);
    }
    return !handle || handle == null;
}

static int stint_mpi_comm_is_null(MPI_Comm comm) {
    static const void *known;
    return stint_mpi_is_null(comm, "ompi_mpi_comm_null", &known);
}

static int stint_mpi_type_is_null(MPI_Datatype type) {
    static const void *known;
    return stint_mpi_is_null(type, "ompi_mpi_datatype_null", &known);
}
#else
static int stint_mpi_comm_is_null(MPI_Comm comm) {
    return comm == MPI_COMM_NULL;
}

static int stint_mpi_type_is_null(MPI_Datatype type) {
    return type == MPI_DATATYPE_NULL;
}
#endif

/* ---- Communicators. */

static int stint_mpi_state;        /* 0: not known to run, 1: runs, -1: has ended. Atomic */
static unsigned stint_mpi_changes; /* communicators freed or named. Atomic */

static int stint_mpi_runs(void) {
    int state = __atomic_load_n(&stint_mpi_state, __ATOMIC_RELAXED);
    if (!state) {
        int begun = 0, ended = 0;
        STINT_MPI_CALL(MPI_Initialized, (&begun));
        STINT_MPI_CALL(MPI_Finalized, (&ended));
        if (!begun || ended) {
            return 0;
        }
        state = 1;
        __atomic_store_n(&stint_mpi_state, state, __ATOMIC_RELAXED);
    }
    return state > 0;
}

static void stint_mpi_finalize(void) {
    __atomic_store_n(&stint_mpi_state, -1, __ATOMIC_RELAXED);
}

static void stint_mpi_comms_change(void) {
    __atomic_fetch_add(&stint_mpi_changes, 1, __ATOMIC_RELEASE);
}

/* For calls without a communicator. The set is found at the first call, in whatever thread. */
static const struct stint_mpi_comm *stint_mpi_comm_none(void) {
    static struct stint_mpi_comm none;
    if (!__atomic_load_n(&none.set, __ATOMIC_RELAXED)) {
        __atomic_store_n(&none.set, stint_set_get(STINT_WRAP_SET), __ATOMIC_RELAXED);
    }
    return &none;
}

static void stint_mpi_comm_fill(struct stint_mpi_comm *c, MPI_Comm comm) {
    char name[STINT_MPI_SET_BYTES] = "", set[STINT_MPI_SET_BYTES];
    int length = 0;
    c->comm = comm;
    c->size = 0;
    c->is_inter = 0;
    STINT_MPI_CALL(MPI_Comm_size, (comm, &c->size));
    STINT_MPI_CALL(MPI_Comm_test_inter, (comm, &c->is_inter));
    STINT_MPI_CALL(MPI_Comm_get_name, (comm, name, &length));
    c->is_world = !strcmp(name, "MPI_COMM_WORLD");
    if (*name) {
        snprintf(set, sizeof set, "%s/%s", STINT_WRAP_SET, name);
    } else {
        snprintf(set, sizeof set, "%s/%d ranks", STINT_WRAP_SET, c->size);
    }
    c->set = stint_set_get(set);
}

static const struct stint_mpi_comm *stint_mpi_comm_find(MPI_Comm comm) {
    static __thread struct stint_mpi_comm here[STINT_MPI_COMMS]
        __attribute__((tls_model("initial-exec")));
    unsigned changes = __atomic_load_n(&stint_mpi_changes, __ATOMIC_ACQUIRE) + 1;
    uintptr_t key = (uintptr_t)comm;
    struct stint_mpi_comm *c = &here[(key ^ key >> 6 ^ key >> 12) % STINT_MPI_COMMS];
    if (c->comm == comm && c->changes == changes) {
        return c;
    }
    if (!stint_mpi_runs() || stint_mpi_comm_is_null(comm)) {
        return stint_mpi_comm_none();
    }
    stint_mpi_comm_fill(c, comm);
    c->changes = changes;
    return c;
}

/* By the first call that asks for it, where the launcher's environment does not tell. */
static void stint_mpi_rank_see(MPI_Comm comm, const int *rank, int result) {
    static int is_seen; /* atomic */
    if (result != MPI_SUCCESS || __atomic_load_n(&is_seen, __ATOMIC_RELAXED)) {
        return;
    }
    const struct stint_mpi_comm *c = stint_mpi_comm_find(comm);
    if (c->is_world && *rank >= 0) {
        __atomic_store_n(&is_seen, 1, __ATOMIC_RELAXED);
        stint_impl_rank_seen((uint32_t)*rank, (uint32_t)c->size);
    }
}

/* ---- Bytes. */

/* A root as a peer. Between two groups, only some ranks have valid counts. */
static int stint_mpi_root(const struct stint_mpi_comm *c, int root) {
    return c->is_inter ? MPI_PROC_NULL : root;
}

/* The bytes of the first buffer, or of the second one if the first is in place. */
static uint64_t stint_mpi_bytes(const void *buffer, long long count, MPI_Datatype type,
                                const void *other, long long other_count, MPI_Datatype other_type,
                                int peer) {
    MPI_Count size = 0;
    if (buffer == MPI_IN_PLACE) {
        buffer = other;
        count = other_count;
        type = other_type;
    }
    if (peer == MPI_PROC_NULL || buffer == MPI_IN_PLACE || count <= 0 || !stint_mpi_runs() ||
        stint_mpi_type_is_null(type)) {
        return 0;
    }
    STINT_MPI_CALL(MPI_Type_size_x, (type, &size));
    return size > 0 ? (uint64_t)count * (uint64_t)size : 0;
}
