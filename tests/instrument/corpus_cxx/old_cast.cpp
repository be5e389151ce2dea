/* SPDX-License-Identifier: Apache-2.0 */
/* C-like C++: casts, arrays, pointers, conditional expressions. */
static unsigned char bytes[8];
static int fill(unsigned char *to, int n) {
    int i = 0;
    while (i < n) {
        *to++ = (unsigned char)(i % 2 ? i : -i);
        i++;
    }
    return i;
}
extern "C" int corpus_old_cast() {
    int n = fill(bytes, 8);
    unsigned int sum = 0;
    for (const unsigned char *p = bytes; p < bytes + n; p++)
        sum += *p;
    return (int)(sum % 1000u);
}
