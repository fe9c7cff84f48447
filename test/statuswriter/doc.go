// Package statuswriter writes what kubelets would write, for tests on a control
// plane without nodes: another version's, or one with more pods than kubelets
// could be run for. Pods that are bound to a node start at once, and a resize
// ends as the test says.
//
// Nodes may have kubelets of several versions: what a node says of its kubelet's
// version (status.nodeInfo.kubeletVersion, which tests set when they make the node)
// decides whether observed generations are written. Clocks may be behind.
//
// It decides nothing by itself, neither what fits on a node nor when; what a
// kubelet decides is to be tested with a real one. It must not know who
// resizes, nor why.
package statuswriter
