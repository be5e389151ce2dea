/* SPDX-License-Identifier: Apache-2.0 */
#include "inline.h"

void run_timed(int n, const char *name);
void run_cxx(int n);

int main(int argc, char **argv) {
    REGISTER_TIMER("main");
    run_inline();
    run_timed(argc - 1, argv[0]);
#ifdef HAS_CXX
    run_cxx(argc - 1);
#endif
    if (argc > 100) {
        REGISTER_TIMER("never \"quoted\" ü");
    }
    return 0;
}
