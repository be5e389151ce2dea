/* SPDX-License-Identifier: Apache-2.0 */
/* Bit-fields. */
int corpus_bit_fields(void) {
    struct {
        unsigned low : 3;
        unsigned high : 5;
    } f = {0, 0};
    f.low = 9;
    f.high += 7;
    return (int)(f.low + f.high);
}
