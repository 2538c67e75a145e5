// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/beside.h"

#include <stdio.h>
#include <string.h>

enum { PID_MOST = 1 << 22 }; // of Linux: what a trace says beyond that is none

void beside_number(struct beside *runs, size_t count) {
    uint64_t next_pid = 1, track = 1, flow = 0;
    for (size_t i = 0; i < count; i++) {
        struct beside *run = &runs[i];
        const struct dag *dag = run->timeline->dag;
        const uint32_t pid = dag->trace->header.pid;
        run->pid = pid >= next_pid && pid <= PID_MOST ? pid : (uint32_t)next_pid;
        run->first_track = track;
        run->first_flow = flow;
        next_pid = (uint64_t)run->pid + 1 + dag->thread_count;
        track += BESIDE_TRACKS + (uint64_t)dag->thread_count;
        flow += 2 * ((uint64_t)dag->vertex_count + dag->task_count) + 2;
    }
}

const char *beside_command(const struct trace *trace, char *text, size_t size) {
    const char *command = trace->header.command ? trace->header.command : "a JVM";
    const char *agent = strstr(command, "-agentpath:"), *behind = agent ? strchr(agent, ' ') : NULL;
    if (behind)
        snprintf(text, size, "%.*s%s", (int)(agent - command), command, behind + 1);
    else
        snprintf(text, size, "%s", command);
    return text;
}

const char *beside_name(const struct beside *run, char *text, size_t size) {
    char command[SPAN_NAME_BYTES];
    const struct trace *trace = run->timeline->dag->trace;
    snprintf(text, size, "%s: %s", trace->header.origin ? trace->header.origin : "run",
             beside_command(trace, command, sizeof command));
    return text;
}
