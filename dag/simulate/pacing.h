// SPDX-License-Identifier: GPL-3.0-or-later
// The pace of a recording (dag/simulate/pace.h): at which each of its edges computed, and what its compilers had to do.
// Known only where the trace tells what the JVM's compilers computed.
#ifndef REHYPE_DAG_PACING_H
#define REHYPE_DAG_PACING_H

#include "dag/dag.h"
#include "dag/simulate/cold_code.h"
#include "dag/simulate/cores.h"

struct pacing {
    struct pace pace;
    struct cold_code cold;     // where the pace is known
    struct pace_when *when;    // a vertex each, of the edge to it; NULL once the pace is known
    float *edge_pace;          // likewise
    double mean;               // of all that was computed
    float *rate;               // a sample each: what of a core each that was awake had until then
    double compiled_ns;        // by the compilers, in all
    double compiled_before_ns; // when the recording began
    // So many of them compute while there is something to compile and such a part of all has been.
    double compilers[PACE_CLASSES];
    struct cores_compiling *compiling; // a sample of the DAG each: until then
};

// NULL: the trace does not tell, or (*no_memory) there is none.
struct pacing *pacing_new(const struct dag *dag, bool *no_memory);
void pacing_free(struct pacing *pacing);

// How much of what is compiled in the end was at a time between the sample before and this one; index sample_count:
// behind the last. While there was something to compile all the time, compilers got on with it evenly, as they do in a
// run; else it is the mean between the two.
double pacing_cold_part(const struct pacing *pacing, const struct dag *dag, uint32_t sample, int64_t time_ns);

// Learns the pace of the edges of which `when` tells crowd and turns. false: no memory.
bool pacing_learn(struct pacing *pacing, const struct dag *dag);

// Once edge_pace is known, and until when the stretches between samples last: what compilers had to do arises. While
// one of them was awake nearly all the time, that is not known: then all of it was there from the beginning.
void pacing_find_compiling(struct pacing *pacing, const struct dag *dag, const struct cores_background *until);

#endif
