// Package objective asks Prometheus whether pods whose resize is observed meet the objectives of their
// rule. It asks for the time before the resize, too, so that a leader needs no memory of that.
//
// Only the leader asks, and only while a pod is observed whose rule has objectives. It must not judge,
// nor know the API of Prometheus.
package objective
