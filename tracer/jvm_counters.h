// SPDX-License-Identifier: Apache-2.0
// The JVM's own performance counters (jvmstat), which it keeps in a file that it has mapped, hsperfdata_USER/PID. Read
// where they lie: no call of the JVM's, no file. Cost: a load a counter; finding one reads all their names.
#ifndef REHYPE_TRACER_JVM_COUNTERS_H
#define REHYPE_TRACER_JVM_COUNTERS_H

#include <stddef.h>
#include <stdint.h>

// Where this process has them mapped, and their size; NULL: it has none (-XX:-UsePerfData, +PerfDisableSharedMem).
const uint8_t *jvm_counters_map(size_t *size);

// The value of a counter that is a whole number; NULL: there is none of that name, or the counters are not of version
// 2. It changes while it is read.
const volatile int64_t *jvm_counters_find(const uint8_t *map, size_t size, const char *name);

#endif
