/* The double's graphs: what a stream was given while it was captured. */
#include "double.h"

hipError_t hipStreamBeginCapture(hipStream_t stream, hipStreamCaptureMode mode) {
    (void)mode;
    READY();
    if (stream->capturing) return hipErrorIllegalState;
    if (double_setting("HIP_DOUBLE_NO_GRAPHS", 0)) return hipErrorNotSupported;
    stream->capturing = calloc(1, sizeof *stream->capturing);
    return hipSuccess;
}

hipError_t hipStreamEndCapture(hipStream_t stream, hipGraph_t *to) {
    READY();
    if (!stream->capturing) return hipErrorIllegalState;
    *to = stream->capturing;
    stream->capturing = NULL;
    return hipSuccess;
}

hipError_t hipGraphInstantiateWithFlags(hipGraphExec_t *to, hipGraph_t graph,
                                        unsigned long long flags) {
    READY();
    if (flags) return hipErrorInvalidValue;
    *to = calloc(1, sizeof **to);
    for (Node *node = graph->first; node; node = node->next) double_append(&(*to)->graph, node);
    return hipSuccess;
}

static void drop(struct ihipGraph *graph) {
    for (Node *node = graph->first, *next; node; node = next) {
        next = node->next;
        free(node);
    }
}

hipError_t hipGraphDestroy(hipGraph_t graph) {
    drop(graph);
    free(graph);
    return hipSuccess;
}

hipError_t hipGraphExecDestroy(hipGraphExec_t graph) {
    drop(&graph->graph);
    free(graph);
    return hipSuccess;
}

hipError_t hipGraphLaunch(hipGraphExec_t graph, hipStream_t stream) {
    READY();
    for (Node *node = graph->graph.first; node; node = node->next) double_submit(stream, *node);
    return hipSuccess;
}
