// Package truth says what the pods of workloads use on nodes whose speed is known, and so which ratios their production should
// show. The same seed has the same truth. Everything here is a pure function.
//
// A pod uses what its workload is asked to do, divided by the speed of its node. That follows from the node's type,
// the node, and the workload on that type. Loads follow a wave each day, and what replicas use wanders for hours. A few workloads
// mislead: limits throttle them, they pull their work, or one of their pods leads the others.
//
// It must not know clusters, clocks, nor how ratios are estimated.
package truth
