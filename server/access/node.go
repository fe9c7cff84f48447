package access

const (
	// nodeNameKey is what the API server says of tokens that are bound to a pod on
	// a node.
	nodeNameKey = "authentication.kubernetes.io/node-name"
	// podNameKey is what it says of all tokens that are bound to a pod: an API
	// server that does not say the node must not make an agent one who may send
	// anything.
	podNameKey = "authentication.kubernetes.io/pod-name"
)

// Node tells whether the caller's token is bound to a node, and to which: it speaks
// for that one alone. The name is empty if that is not known, which is no node's.
func (c Caller) Node() (name string, bound bool) {
	names, bound := c.Extra[nodeNameKey]
	if len(names) != 1 {
		_, ofPod := c.Extra[podNameKey]
		return "", bound || ofPod // Several would be none's.
	}
	return names[0], true
}
