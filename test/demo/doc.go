// Command demo is what "make run" runs: a cluster with different node types, the server and
// some workloads. It shows pods being resized, and you can try commands, until Ctrl-C.
//
// It shows only what is visible from outside, in pods and through the API. It must not know how
// sizes are computed, and must not write to pods.
package main
