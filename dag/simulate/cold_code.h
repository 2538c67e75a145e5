// SPDX-License-Identifier: GPL-3.0-or-later
// How much of what the JVM's compilers compute is for the code by which tasks are handed over, told by what that code
// cost beside what it costs warm. A program that hands over fewer tasks calls it less often, and what is called less
// often is compiled less: as much of it as had been cold for in so many hand-overs of the recording.
//
// A hand-over is what its spawner computed from the bracket before to the bracket's end, its worker from the task
// before to its start, and its waiter from the wait before. What it costs warm is the mean of the later half of all.
// What all other code computed beside that tells the pace (pace.h). Of what is compiled, hand-overs have the part that
// they have of both; but no more than a few times what they cost cold, so that a program that sleeps has its own code
// compiled.
#ifndef REHYPE_DAG_COLD_CODE_H
#define REHYPE_DAG_COLD_CODE_H

#include "dag/dag.h"
#include "dag/edit/edit.h"
#include "dag/simulate/pace.h"

enum { COLD_DOUBLINGS = 33 };

struct cold_code {
    uint32_t hand_overs;                 // in all
    double hand_over_ns[COLD_DOUBLINGS]; // beside what they cost warm: of the first 2^i in time, in all
    double other_ns;                     // likewise of all other code
};

// `when`: a vertex each, of the edge to it. false: no memory. Cost: about 5 ns a vertex.
bool cold_code_measure(struct cold_code *cold, const struct dag *dag, const struct pace *pace,
                       const struct pace_when *when);

// The part of what was compiled in all, compiled_ns, that is not where an edit is applied. 0 to 1.
double cold_code_gone(const struct cold_code *cold, const struct dag *dag, const struct dag_edit *edit,
                      double compiled_ns);

// A program that hands over more tasks has that code compiled, which a few recorded ones did not: what each of `count`
// hand-overs behind `before` others costs, of the mean of the first `recorded`. Above 0; 1 where recorded is 0.
//
// HotSpot compiles a method that was called 200 times (OpenJDK 17, compiler/compiler_globals.hpp:
// Tier3InvocationThreshold), and again, better, from 5,000 on, with what it calls. So until the 200th a call costs the
// same, up to the 20,000th it costs less by the power 0.6 of their number, and then the same again: what
// bench_learning shows of several programs.
double cold_code_added(double recorded, double before, double count);

#endif
