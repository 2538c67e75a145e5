// SPDX-License-Identifier: GPL-3.0-or-later
// What `rehype doctor` looks at: checks of this machine, and what the tracer's building blocks cost on it.
#ifndef REHYPE_CLI_DOCTOR_H
#define REHYPE_CLI_DOCTOR_H

#include <stddef.h>

enum verdict {
    VERDICT_OK,
    VERDICT_WARN, // works, with less
    VERDICT_FAIL, // recording will not work
};

struct finding {
    const char *what;
    enum verdict verdict;
    char text[320]; // what was found and, unless all is well, what to do
};

enum { FINDINGS_MOST = 32 };

struct findings {
    struct finding items[FINDINGS_MOST];
    size_t count;
};

void doctor_check(struct findings *findings);

// Medians of several rounds; NAN where there is no such thing here (counter, JVM). Takes about a second, most of it a
// JVM's.
struct event_costs {
    double counter_ns;      // reading the processor's time-stamp counter
    double clock_ns;        // clock_gettime(CLOCK_MONOTONIC)
    double thread_clock_ns; // clock_gettime(CLOCK_THREAD_CPUTIME_ID)
    double event_ns;        // a whole event, recorded in a JVM (the first java on the PATH)
};

void doctor_measure(struct event_costs *costs);
double doctor_event_ns(void); // its last part

#endif
