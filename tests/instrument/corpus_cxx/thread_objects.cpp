/* SPDX-License-Identifier: Apache-2.0 */
/* Threads of the standard library. */
#include <thread>
static int results[2];
static void work(int at) {
    for (int i = 0; i < 3; i++) {
        results[at] += i;
    }
}
extern "C" int corpus_thread_objects() {
    std::thread a(work, 0);
    std::thread b(work, 1);
    a.join();
    b.join();
    return results[0] + results[1];
}
