// Package kernel computes, one tick at a time, what the kernel of a node gives to containers. It
// decides which share of the cores each of them gets and which are throttled, how much pressure
// that causes, and which are killed because memory is short.
//
// It follows the rules of cgroups v2, simplified to averages over a tick:
//
//   - A container and a pod use no more cores than their quotas. Demand beyond that counts
//     as throttled time, as it does for threads that wait for their group's next period.
//   - If the cores of the node do not suffice, pods share them by weight, and the containers of
//     a pod share the pod's cores by weight. The others get the share that one does not need.
//   - The CPU pressure "some" of a group is the part of the cores that it wants but does not
//     get, for any reason. "full" is the part that quotas refuse.
//   - Memory is never reclaimed. The memory pressure of a group rises from 0 to 100% in the last
//     tenth below its limit, and slows nothing down.
//   - A container above its memory limit is killed. In a pod or a node that is above its limit,
//     the containers with the highest scores are killed, by the score of the kernel.
//
// The package has no clock, and must not know what containers do with what they get.
package kernel
