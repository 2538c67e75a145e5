// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/page/laid_lanes.h"

#include "base/pages.h"

#include <stdlib.h>

bool laid_lanes_add(struct laid_lanes *laid, const struct laid_piece *piece) {
    if (laid->piece_count == laid->piece_capacity) {
        const uint32_t larger = 2 * laid->piece_capacity + 256;
        if (!pages_resize(&laid->pieces, larger, sizeof *laid->pieces)) return false;
        laid->piece_capacity = larger;
    }
    laid->pieces[laid->piece_count++] = *piece;
    return true;
}

bool laid_lanes_add_lane(struct laid_lanes *laid, uint32_t of, uint8_t state) {
    if (laid->count == laid->lane_capacity) {
        const uint32_t larger = 2 * laid->lane_capacity + 64;
        if (!pages_resize(&laid->lanes, larger, sizeof *laid->lanes)) return false;
        laid->lane_capacity = larger;
    }
    if (laid->lane_of[of] == DAG_NONE) laid->lane_of[of] = laid->count;
    laid->lanes[laid->count++] = (struct laid_lane){of, state};
    return true;
}

void laid_lanes_destroy(struct laid_lanes *laid) {
    free(laid->pieces);
    free(laid->lanes);
    free(laid->first_piece);
    free(laid->lane_of);
    *laid = (struct laid_lanes){0};
}

// ---- order

// Stable, so that pieces stay in order of time.
bool laid_lanes_order(struct laid_lanes *laid) {
    struct laid_piece *ordered = NULL;
    laid->first_piece = calloc((size_t)laid->count + 1, sizeof *laid->first_piece);
    if (!laid->first_piece || !pages_resize(&ordered, (size_t)laid->piece_count + 1, sizeof *ordered)) return false;
    for (uint32_t i = 0; i < laid->piece_count; i++) laid->first_piece[laid->pieces[i].lane + 1]++;
    for (uint32_t lane = 0; lane < laid->count; lane++) laid->first_piece[lane + 1] += laid->first_piece[lane];
    for (uint32_t i = 0; i < laid->piece_count; i++)
        ordered[laid->first_piece[laid->pieces[i].lane]++] = laid->pieces[i];
    for (uint32_t lane = laid->count; lane > 0; lane--) laid->first_piece[lane] = laid->first_piece[lane - 1];
    laid->first_piece[0] = 0;
    free(laid->pieces);
    laid->pieces = ordered;
    laid->piece_capacity = laid->piece_count + 1;
    return true;
}

static int compare_weights(const void *a, const void *b, void *weights) {
    const uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    const int64_t *of = weights;
    if (of[left] != of[right]) return of[left] > of[right] ? -1 : 1;
    return (left > right) - (left < right);
}

bool laid_lanes_rank(const int64_t *weights, uint32_t count, uint32_t *ranks) {
    uint32_t *order = malloc(((size_t)count + 1) * sizeof *order);
    if (!order) return false;
    for (uint32_t i = 0; i < count; i++) order[i] = i;
    qsort_r(order, count, sizeof *order, compare_weights, (void *)weights);
    for (uint32_t i = 0; i < count; i++) ranks[order[i]] = i;
    free(order);
    return true;
}

// ---- what is in a lane

static double span_of(const struct laid_piece *piece) {
    if (piece->vertex == DAG_NONE) return LANE_NO_SPAN;
    return piece->holds ? piece->vertex + HOLD_SPAN : piece->vertex;
}

// The first piece of a lane that ends behind a time.
static uint32_t piece_behind(const struct laid_lanes *laid, uint32_t lane, int64_t time_ns) {
    uint32_t least = laid->first_piece[lane], most = laid->first_piece[lane + 1];
    while (least < most) {
        const uint32_t middle = least + (most - least) / 2;
        if (laid->pieces[middle].end_ns <= time_ns)
            least = middle + 1;
        else
            most = middle;
    }
    return least;
}

void laid_lanes_visit(const struct laid_lanes *laid, uint32_t lane, uint32_t number, int64_t from_ns, int64_t to_ns,
                      lane_visitor *visit, void *context) {
    for (uint32_t i = piece_behind(laid, lane, from_ns); i < laid->first_piece[lane + 1]; i++) {
        const struct laid_piece *piece = &laid->pieces[i];
        if (piece->begin_ns >= to_ns) return;
        const struct lane_piece shown = {.lane = number,
                                         .state = (enum lane_state)piece->state,
                                         .span = span_of(piece),
                                         .begin_ns = piece->begin_ns > from_ns ? piece->begin_ns : from_ns,
                                         .end_ns = piece->end_ns < to_ns ? piece->end_ns : to_ns};
        visit(context, &shown);
    }
}

double laid_lanes_at(const struct laid_lanes *laid, uint32_t lane, int64_t time_ns) {
    const uint32_t at = piece_behind(laid, lane, time_ns);
    if (at == laid->first_piece[lane + 1] || laid->pieces[at].begin_ns > time_ns) return LANE_NO_SPAN;
    return span_of(&laid->pieces[at]);
}

const struct laid_piece *laid_lanes_find(const struct laid_lanes *laid, uint32_t of, uint32_t vertex) {
    const struct laid_piece *waits = NULL;
    if (!laid->lane_of) return NULL;
    for (uint32_t lane = laid->lane_of[of]; lane < laid->count && laid->lanes[lane].of == of; lane++) {
        for (uint32_t i = laid->first_piece[lane]; i < laid->first_piece[lane + 1]; i++) {
            if (laid->pieces[i].vertex != vertex) continue;
            if (laid->pieces[i].state != LANE_WAITING) return &laid->pieces[i];
            waits = &laid->pieces[i];
        }
    }
    return waits;
}
