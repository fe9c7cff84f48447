// Package applied lets a server size the pods in a cluster by their usage, which metrics-server measures. Each pod must get
// what its workload was seen to need, even on nodes where it never ran, or the server must say why it does not. No container
// restarts, and no QoS class changes. When sizes no longer follow usage, pods get back exactly what their authors wrote.
//
// "make soak-applied" does so with 500 pods of 50 workloads.
//
// "make soak-weeks" moves the servers' clock in steps of minutes, and reports what containers would use, as
// node agents do. It does so in two equal clusters. In one of them, the leader is killed every day, and nothing is reported
// for a day. The sizes of its pods must be those of the other.
//
// It must not know the internals of the server, nor how it decides.
package applied
