/* SPDX-License-Identifier: Apache-2.0 */
/* Does not know stint. */
int work_done(int n);
int work_left(int n);

int work_left(int n) {
    return n > 0;
}

int work_done(int n) {
    return work_left(n) + n - 1;
}
