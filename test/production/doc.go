// Package production lets servers compare what the pods of workloads use on node types whose speed is known, for days of reported
// usage that pass within minutes. Leaders are killed, nodes go and come, workloads are rolled out, and pods are
// resized by the ratios in effect, which are wrong at first. Production must show the true ratios, and then, when it applies, correct
// those in effect calmly.
//
// "make soak-production" does so.
//
// It must not know the internals of the server, nor how it estimates ratios.
package production
