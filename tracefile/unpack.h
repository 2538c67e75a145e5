// SPDX-License-Identifier: Apache-2.0
// Reads msgpack tokens from untrusted memory. Not msgpack-c's unpacker, because that allocates arrays by the count that
// the file declares, before it has seen one element: five bytes can ask for gigabytes. This one allocates nothing and
// never reads past `end`. Failure sticks: after one, every call returns 0 or NULL, so that callers check once.
#ifndef REHYPE_TRACEFILE_UNPACK_H
#define REHYPE_TRACEFILE_UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum unpack_state {
    UNPACK_GOOD,
    UNPACK_SHORT, // the bytes end inside a token, or before as many elements as were declared
    UNPACK_WRONG, // not msgpack, or not what was asked for
};

struct unpack {
    const uint8_t *at, *end;
    enum unpack_state state;
};

enum token_kind {
    TOKEN_NIL,
    TOKEN_BOOL,
    TOKEN_UNSIGNED,
    TOKEN_NEGATIVE,
    TOKEN_FLOAT,
    TOKEN_STRING,
    TOKEN_BINARY,
    TOKEN_EXTENSION,
    TOKEN_ARRAY,
    TOKEN_MAP
};

struct token {
    enum token_kind kind;
    uint64_t value;       // number (a negative one as int64_t's bits); bytes of a string or binary; elements; pairs
    const uint8_t *bytes; // of a string or binary, not terminated
};

struct unpack unpack_init(const void *bytes, size_t size);

// One token; of an array or map only its head.
struct token unpack_token(struct unpack *unpack);

// One object with all that is inside. Bounded by the bytes, whatever they declare; needs no stack.
void unpack_skip(struct unpack *unpack);

// A token of one kind; anything else is UNPACK_WRONG.
uint64_t unpack_unsigned(struct unpack *unpack, uint64_t maximum);
int64_t unpack_signed(struct unpack *unpack, int64_t minimum, int64_t maximum);
uint64_t unpack_count(struct unpack *unpack, enum token_kind kind);                     // TOKEN_ARRAY or TOKEN_MAP
const uint8_t *unpack_bytes(struct unpack *unpack, enum token_kind kind, size_t *size); // TOKEN_STRING or TOKEN_BINARY
bool unpack_text_or_nil(struct unpack *unpack, const char **text, size_t *size); // false, *text NULL: nil or failed

// A string equal to text, as map keys and block kinds are.
bool text_is(const uint8_t *bytes, size_t size, const char *text);

#endif
