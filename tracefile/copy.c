// SPDX-License-Identifier: Apache-2.0
#include "tracefile/copy.h"

bool trace_copy_tables(struct trace_writer *writer, const struct trace *trace) {
    bool ok = trace_write_clock(writer, 0, 0) && trace_write_clock(writer, 1, 1) &&
              (trace->endpoint_count < 2 ||
               trace_write_endpoints(writer, 1, trace->endpoints + 1, trace->endpoint_count - 1)) &&
              (trace->site_count < 2 || trace_write_sites(writer, 1, trace->sites + 1, trace->site_count - 1)) &&
              (trace->class_count < 2 || trace_write_classes(writer, 1, trace->classes + 1, trace->class_count - 1));
    for (uint32_t p = 1; ok && p < trace->pool_count; p++) ok = trace_write_pool(writer, p, &trace->pools[p]);
    for (uint32_t s = 0; ok && s < trace->stream_count; s++)
        ok = trace_write_thread(writer, trace->streams[s].id, &trace->streams[s].thread);
    for (size_t i = 0; ok && i < trace->resource_count; i++) ok = trace_write_resource(writer, &trace->resources[i]);
    return ok && trace_write_actors(writer, trace->actors, trace->actor_count) &&
           (!trace->tells_costs || trace_write_event_costs(writer, trace->costs));
}

bool trace_copy_all_but_events(struct trace_writer *writer, const struct trace *trace) {
    return (trace->part.number == 0 || trace_write_part(writer, &trace->part)) &&
           (trace->method_count < 2 || trace_write_methods(writer, 1, trace->methods + 1, trace->method_count - 1)) &&
           trace_copy_tables(writer, trace) &&
           (trace->frame_count < 2 || trace_write_frames(writer, 1, trace->frames + 1, trace->frame_count - 1)) &&
           (trace->calling_context_count < 2 ||
            trace_write_calling_contexts(writer, 1, trace->calling_contexts + 1, trace->calling_context_count - 1)) &&
           trace_write_calling_samples(writer, trace->calling_samples, trace->calling_sample_count,
                                       trace->calling_left_out) &&
           (trace->stacks.moment_count == 0 || trace_write_stacks(writer, &trace->stacks)) &&
           trace_write_running(writer, trace->running, trace->running_count) &&
           trace_write_queued(writer, trace->queued, trace->queued_count) &&
           trace_write_stops(writer, trace->stops, trace->stop_count);
}

bool trace_copy_end(struct trace_writer *writer, const struct trace *trace, struct error *error) {
    const struct trace_end end = {.stopped_because = trace->end.stopped_because,
                                  .methods_woven = trace->end.methods_woven,
                                  .classes_woven = trace->end.classes_woven};
    return trace_writer_close(writer, &end, error);
}
