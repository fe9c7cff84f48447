// Demo is what "make run" starts: a cluster with unlike nodes, the server beside
// it and some workloads, so that one sees pods being resized, and can try things
// out, until Ctrl-C.
//
// It shows what is to be seen from outside: in the pods, and through the API. It
// must not know how sizes are computed, nor write anything to a pod.
package main
