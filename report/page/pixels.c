// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/page/pixels.h"

#include <stdlib.h>
#include <string.h>

void pixels_begin(struct pixels *pixels, int64_t pixel_ns) {
    pixels->pixel_ns = pixel_ns;
    pixels->count = 0;
    memset(pixels->rows, 0, sizeof pixels->rows);
}

void pixels_destroy(struct pixels *pixels) {
    free(pixels->records);
    *pixels = (struct pixels){0};
}

static void record(struct pixels *pixels, const struct lane_piece *piece) {
    if (pixels->count == pixels->capacity) {
        const size_t larger = 2 * pixels->capacity + 1024;
        double *moved = realloc(pixels->records, larger * PIXELS_FIELDS * sizeof *moved);
        pixels->no_memory |= !moved;
        if (!moved) return;
        pixels->records = moved;
        pixels->capacity = larger;
    }
    const double fields[PIXELS_FIELDS] = {
        piece->lane, (double)piece->begin_ns, (double)piece->end_ns, piece->state, piece->span, piece->depth};
    memcpy(&pixels->records[PIXELS_FIELDS * pixels->count++], fields, sizeof fields);
}

static void end_row(struct pixels *pixels, struct pixels_row *row) {
    if (!row->any) return;
    for (unsigned state = 0; state < LANE_STATES; state++) {
        if (row->state_ns[state] > row->state_ns[row->piece.state]) row->piece.state = (enum lane_state)state;
    }
    record(pixels, &row->piece);
    *row = (struct pixels_row){0};
}

// Whether a piece goes with what was gathered, be it of another lane as on a critical path.
static bool joins(const struct pixels *pixels, const struct pixels_row *row, const struct lane_piece *piece) {
    return row->any && piece->end_ns - row->piece.begin_ns < pixels->pixel_ns;
}

static void gather(struct pixels_row *row, const struct lane_piece *piece) {
    if (!row->any) row->piece = *piece;
    if (row->piece.span != piece->span) row->piece.span = LANE_NO_SPAN;
    row->piece.end_ns = piece->end_ns;
    row->state_ns[piece->state] += piece->end_ns - piece->begin_ns;
    row->any = true;
}

void pixels_add(void *context, const struct lane_piece *piece) {
    struct pixels *pixels = context;
    if (piece->depth >= PIXELS_DEEPEST) return;
    struct pixels_row *row = &pixels->rows[piece->depth];
    if (!joins(pixels, row, piece)) end_row(pixels, row);
    if (piece->end_ns - piece->begin_ns >= pixels->pixel_ns)
        record(pixels, piece);
    else
        gather(row, piece);
}

void pixels_end_lane(struct pixels *pixels) {
    for (unsigned depth = 0; depth < PIXELS_DEEPEST; depth++) end_row(pixels, &pixels->rows[depth]);
}
