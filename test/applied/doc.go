// Package applied lets a real server size the pods of a real cluster by their usage, which metrics-server measures. It checks
// that every pod gets what its workload was seen to need, also on nodes where it never ran, or says why it does not; that no
// container restarts and no QoS class changes; and that pods get back exactly what their authors wrote when sizes no longer
// follow usage.
//
// "make soak-applied" does so with 500 pods of 50 workloads.
//
// It must not know the internals of the server, nor how it decides.
package applied
