// Package statuswriter writes the statuses that kubelets would write, for tests on a control
// plane without nodes: a control plane of another version, or one with too many pods for real
// kubelets. Pods that are bound to a node start immediately, and the test defines the outcome of
// each resize.
//
// Nodes may have kubelets of several versions. The kubelet's version in a node's status
// (status.nodeInfo.kubeletVersion, which tests set when they create the node)
// determines whether observed generations are written. Clocks of nodes may be behind.
//
// The package makes no decisions, neither about what fits on a node nor about when. Use a real
// kubelet to test a kubelet's decisions. The package must not know who resizes, or why.
package statuswriter
