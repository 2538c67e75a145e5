// SPDX-License-Identifier: GPL-3.0-or-later
#include "dag/simulate/clients.h"

#include <stdlib.h>

struct coming {
    int64_t time_ns;
    uint32_t request;
};

static int in_time(const void *a, const void *b) {
    const struct coming *one = a, *other = b;
    if (one->time_ns != other->time_ns) return one->time_ns < other->time_ns ? -1 : 1;
    return (one->request > other->request) - (one->request < other->request);
}

static bool has_client(const struct dag_request *request) {
    return request->arrival != DAG_NONE;
}

double clients_recorded_per_s(const struct dag *dag) {
    int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;
    uint32_t count = 0;
    for (uint32_t i = 0; i < dag->request_count; i++) {
        if (!has_client(&dag->requests[i])) continue;
        const int64_t ns = dag->vertices.time_ns[dag->requests[i].arrival];
        if (ns < first_ns) first_ns = ns;
        if (ns > last_ns) last_ns = ns;
        count++;
    }
    return count > 1 && last_ns > first_ns ? (double)(count - 1) * 1e9 / (double)(last_ns - first_ns) : 0;
}

static void rank(struct simulation *sim, struct coming *order) {
    const struct dag *dag = sim->dag;
    struct clients *clients = &sim->clients;
    int64_t total_ns = 0, known = 0;
    for (uint32_t i = 0; i < dag->request_count; i++) {
        const struct dag_request *request = &dag->requests[i];
        if (!has_client(request)) continue;
        order[clients->count++] = (struct coming){dag->vertices.time_ns[request->arrival], i};
        clients->first_count += request->before == DAG_NONE || !has_client(&dag->requests[request->before]);
        const int64_t ns = dag_thought_ns(dag, request);
        if (ns < 0) continue;
        total_ns += ns;
        known++;
    }
    clients->think_ns = known ? total_ns / known : 0;
    clients->per_s = clients_recorded_per_s(dag);
    qsort(order, clients->count, sizeof *order, in_time);
    for (uint32_t r = 0; r < clients->count; r++) {
        clients->by_rank[r] = order[r].request;
        clients->rank[order[r].request] = r;
    }
}

bool clients_new(struct simulation *sim) {
    const size_t count = sim->dag->request_count;
    if (count == 0) return true;
    sim->clients.by_rank = malloc(count * sizeof *sim->clients.by_rank);
    sim->clients.rank = malloc(count * sizeof *sim->clients.rank);
    struct coming *order = malloc(count * sizeof *order);
    const bool ok = sim->clients.by_rank && sim->clients.rank && order;
    if (ok) rank(sim, order);
    free(order);
    return ok;
}

void clients_free(struct simulation *sim) {
    free(sim->clients.by_rank);
    free(sim->clients.rank);
}

static int64_t arrival_ns(const struct simulation *sim, uint32_t of_rank) {
    return sim->dag->vertices.time_ns[sim->dag->requests[sim->clients.by_rank[of_rank]].arrival];
}

static struct client_turn of_open_loop(const struct simulation *sim, uint32_t rank) {
    const int64_t first_ns = arrival_ns(sim, 0), since_ns = arrival_ns(sim, rank) - first_ns;
    const double slower = sim->clients.per_s / sim->load.per_s;
    return (struct client_turn){DAG_NONE, first_ns + (int64_t)((double)since_ns * slower), DAG_NONE};
}

// Clients that were not recorded begin with the last that were.
static struct client_turn of_closed_loop(const struct simulation *sim, uint32_t rank) {
    const struct clients *clients = &sim->clients;
    const uint32_t count = sim->load.clients ? sim->load.clients : clients->first_count;
    if (rank < count) {
        const uint32_t like = rank < clients->first_count ? rank : clients->first_count - 1;
        return (struct client_turn){DAG_NONE, arrival_ns(sim, like), DAG_NONE};
    }
    const struct dag_request *request = &sim->dag->requests[clients->by_rank[rank]];
    const int64_t thought_ns = dag_thought_ns(sim->dag, request);
    const int64_t think_ns = sim->load.thinks ? sim->load.think_ns : thought_ns < 0 ? clients->think_ns : thought_ns;
    const uint32_t after = clients->by_rank[rank - count];
    return (struct client_turn){sim->dag->requests[after].end, think_ns, after};
}

static struct client_turn as_recorded(const struct simulation *sim, uint32_t index) {
    const struct dag_vertices *vertices = &sim->dag->vertices;
    const struct dag_request *request = &sim->dag->requests[index];
    const uint32_t cause = vertices->cause[request->arrival];
    const int64_t ns = vertices->time_ns[request->arrival];
    if (cause == DAG_NONE) return (struct client_turn){DAG_NONE, ns, DAG_NONE};
    return (struct client_turn){cause, ns - vertices->time_ns[cause], request->before};
}

struct client_turn client_turn(const struct simulation *sim, uint32_t request) {
    const struct offered_load *load = &sim->load;
    const bool redealt = load->clients || (load->thinks && sim->dag->open_loop);
    struct client_turn turn = as_recorded(sim, request);
    if (load->per_s > 0)
        turn = of_open_loop(sim, sim->clients.rank[request]);
    else if (redealt)
        turn = of_closed_loop(sim, sim->clients.rank[request]);
    else if (load->thinks && turn.cause != DAG_NONE)
        turn.ns = load->think_ns;
    if (turn.cause == DAG_NONE && turn.after != DAG_NONE) // the answer before was not recorded
        turn.ns = sim->dag->vertices.time_ns[sim->dag->requests[request].arrival];
    return turn;
}
