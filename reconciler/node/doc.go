// Package node says how much room a pod has on its node: what the node has for pods, less what its other pods request,
// and less the room that is kept. Room is kept for pods whose last resize is still observed: they may need it again.
//
// Requests are added up as the scheduler and the kubelet do. A Table remembers the sums, so that a plan does not have to
// look at the pod's neighbors.
//
// The package must not know clients or clocks, nor how resizes are judged or paced.
package node
