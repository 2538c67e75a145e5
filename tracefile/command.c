// SPDX-License-Identifier: Apache-2.0
// Word by word, since that is all that can be known of a joined command line: quotes keep a word together. Where it is
// unclear how far a secret goes, the rest of the word goes too.
#include "tracefile/writer.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

static bool name_is_secret(const char *name, size_t size) {
    static const char *const words[] = {"password", "passwd", "secret", "token", "key", "credential", "auth"};
    for (size_t w = 0; w < sizeof words / sizeof words[0]; w++) {
        size_t length = strlen(words[w]);
        for (size_t at = 0; at + length <= size; at++) {
            if (strncasecmp(name + at, words[w], length) == 0) return true;
        }
    }
    return false;
}

// The end of the word at `at`: a space outside quotes, or the end.
static char *word_end(char *at) {
    char quote = 0;
    for (; *at != 0; at++) {
        if (*at == '\\' && at[1] != 0) {
            at++;
        } else if (quote != 0) {
            if (*at == quote) quote = 0;
        } else if (*at == '"' || *at == '\'') {
            quote = *at;
        } else if (isspace((unsigned char)*at)) {
            break;
        }
    }
    return at;
}

// Puts at most three stars in the place of start..end and closes the gap. Returns where the rest now begins.
static char *mask(char *start, char *end) {
    size_t stars = (size_t)(end - start) < 3 ? (size_t)(end - start) : 3;
    memset(start, '*', stars);
    memmove(start + stars, end, strlen(end) + 1);
    return start + stars;
}

// user:password@ between :// and the end of the authority. Returns the new end of the word.
static char *mask_url_passwords(char *word, char *end) {
    for (char *at = word; at + 3 <= end; at++) {
        if (strncmp(at, "://", 3) != 0) continue;
        char *colon = NULL, *host = NULL;
        for (char *c = at + 3; c < end && strchr("/?#", *c) == NULL; c++) {
            if (*c == ':' && colon == NULL) colon = c;
            if (*c == '@') host = c;
        }
        if (colon == NULL || host == NULL || colon > host) continue;
        char *after = mask(colon + 1, host);
        end -= host - after;
    }
    return end;
}

// The value of the first name=value in the word whose name is secret, also inside a URL's query or an agent's options.
static char *mask_values(char *word, char *end) {
    char *name = word;
    for (char *at = word; at < end; at++) {
        if (*at == '=' && name_is_secret(name, (size_t)(at - name))) return mask(at + 1, end);
        if (strchr("=?&;,", *at) != NULL) name = at + 1;
    }
    return end;
}

static bool names_next_word(const char *word, const char *end) {
    size_t size = (size_t)(end - word);
    return word[0] == '-' && memchr(word, '=', size) == NULL && name_is_secret(word, size);
}

void command_without_secrets(char *command) {
    bool next_is_secret = false;
    for (char *word = command;;) {
        while (isspace((unsigned char)*word)) word++;
        if (*word == 0) return;
        char *end = word_end(word);
        if (next_is_secret && *word != '-') {
            end = mask(word, end);
            next_is_secret = false;
        } else {
            next_is_secret = names_next_word(word, end);
            end = mask_values(word, mask_url_passwords(word, end));
        }
        word = end;
    }
}
