// SPDX-License-Identifier: GPL-3.0-or-later
// Writes messages in the wire format of Protocol Buffers (protobuf.dev/programming-guides/encoding): fields that are
// numbers, texts, or messages in turn. A message is made in memory, where its length follows from what was written, and
// then goes to a file. Zero-initialise, protobuf_destroy at the end. Memory that runs out is remembered, and what
// follows has no effect: ask `failed` at the end. Cost: some ns a field; as much memory as the largest message.
#ifndef REHYPE_REPORT_PROTOBUF_H
#define REHYPE_REPORT_PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct protobuf {
    uint8_t *bytes;
    size_t size, capacity;
    bool failed;
};

void protobuf_destroy(struct protobuf *message);

// Types int32 to uint64, bool and enum, of which negative ones are given as they convert.
void protobuf_number(struct protobuf *message, uint32_t field, uint64_t value);
void protobuf_fixed64(struct protobuf *message, uint32_t field, uint64_t value);
void protobuf_double(struct protobuf *message, uint32_t field, double value);
void protobuf_text(struct protobuf *message, uint32_t field, const char *text); // what is no UTF-8 becomes U+FFFD

// A message as a field of the one around it: what is written up to protobuf_close is its own. `open` is what
// protobuf_open returned.
size_t protobuf_open(struct protobuf *message, uint32_t field);
void protobuf_close(struct protobuf *message, size_t open);

// Writes all of it as one field of a larger message in the file, and empties it.
void protobuf_flush(struct protobuf *message, uint32_t field, FILE *file);

#endif
