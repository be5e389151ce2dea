/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>
#include <zlib.h>

int main(void) {
    static unsigned char in[100000], packed[120000], out[100000];
    z_stream stream;
    for (size_t i = 0; i < sizeof in; ++i) {
        in[i] = (unsigned char)(i * i / 100);
    }
    memset(&stream, 0, sizeof stream);
    if (deflateInit(&stream, 6) != Z_OK) {
        return 1;
    }
    stream.next_in = in;
    stream.next_out = packed;
    stream.avail_out = sizeof packed;
    for (int part = 0; part < 4; ++part) {
        stream.avail_in = sizeof in / 4;
        if (deflate(&stream, part == 3 ? Z_FINISH : Z_NO_FLUSH) < 0) {
            return 1;
        }
    }
    uLong length = stream.total_out;
    deflateEnd(&stream);
    uLongf size = sizeof out;
    if (uncompress(out, &size, packed, length) != Z_OK || memcmp(in, out, sizeof in) != 0) {
        return 1;
    }
    printf("packed %lu crc %lx\n", length, crc32(crc32(0, NULL, 0), out, (uInt)size));
    return 0;
}
