package access

const (
	// nodeNameKey is the attribute that the API server sets for tokens that are bound to a
	// pod on a node.
	nodeNameKey = "authentication.kubernetes.io/node-name"
	// podNameKey is the attribute that it sets for all tokens that are bound to a pod. An API
	// server that does not report the node must not turn an agent into a caller that may send
	// samples of any node.
	podNameKey = "authentication.kubernetes.io/pod-name"
)

// Node reports whether the caller's token is bound to a node, and to which one. Such a caller
// can act only for that node. The name is empty if the node is not known; then it matches no
// node.
func (c Caller) Node() (name string, bound bool) {
	names, bound := c.Extra[nodeNameKey]
	if len(names) != 1 {
		_, ofPod := c.Extra[podNameKey]
		return "", bound || ofPod // With several nodes, it is bound to none of them.
	}
	return names[0], true
}
