package contract

// OverloadMark is the value of the taints that the server puts on overloaded nodes. It removes all
// other taints with this value, regardless of their keys: the configured one may have changed.
const OverloadMark = "set-by-workload-resizer"

// The reasons of events on nodes. They are about no pod.
const (
	// NodeOverloaded: the node has the taint of overloaded nodes now.
	NodeOverloaded = "NodeOverloaded"
	// NodeRelieved: the node has lost this taint.
	NodeRelieved = "NodeRelieved"
)
