// Replaces the parser of the kernel's log, which the kubelet reads to report that the machine
// ran out of memory, with the log of the simulated machine. The log of the real machine does not
// concern simulated nodes, and only root may read it.
module github.com/euank/go-kmsg-parser

go 1.26.0
