// Package kernel computes, one tick at a time, what the kernel of a node gives to containers. It
// decides which share of the cores each of them gets and which are throttled, how much pressure
// that causes, and which are killed because memory is short.
//
// It follows the rules of cgroups v2, simplified to averages over a tick:
//
//   - A container and a pod use no more cores than their quotas. If that is what keeps them
//     from using more, the cores that they could use beyond it count as throttled time, as
//     they do for threads that wait for their group's next period.
//   - If the cores of the node do not suffice, pods share them by weight, and the containers of
//     a pod share the pod's cores by weight. The others get the share that one does not need.
//     Weights are CPU shares, which are proportional to requests. The runtimes of real nodes
//     convert them, and real pods share the cores of their QoS class first.
//   - The CPU pressure "some" of a group is the part of the cores that it wants but does not
//     get, because of quotas or of others. "full" leaves out what it wants beyond the cores of
//     the node, where its threads wait for each other.
//   - Memory is never reclaimed. The memory pressure of a group rises from 0 to 100% in the last
//     tenth below its limit, and slows nothing down.
//   - A container above its memory limit is killed. In a pod or a node that is above its limit,
//     the containers with the highest scores are killed, by the score of the kernel.
//
// The package has no clock, and must not know what containers do with what they get.
package kernel
