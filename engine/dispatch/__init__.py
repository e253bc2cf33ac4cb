"""From a candidate to its evaluation: queues, devices, anchors, faults."""
