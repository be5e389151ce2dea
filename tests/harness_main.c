/* SPDX-License-Identifier: Apache-2.0 */
/* The main() of every test program that stint_add_test makes. */
#include "harness.h"

int main(int argc, char **argv) {
    return harness_main(argc, argv);
}
