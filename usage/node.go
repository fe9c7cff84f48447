package usage

import (
	"context"
	"time"
)

// NodeUsage is what a node used, and how it fared, at a time by its own clock. Values that were not measured are not known.
type NodeUsage struct {
	Node string
	At   time.Time
	// CPU is in millicores, and Memory, the working set, in bytes: both of all that runs on the node.
	CPU, Memory Value
	// Pressure is the share of the time in which a task waited for CPU, and Load the load average per vCPU.
	Pressure, Load Value
}

// NodeSource measures nodes.
type NodeSource interface {
	// Name is the name of the source in errors.
	Name() string
	// ReadNodes returns the newest usage of each node. After an error, nodes may be missing.
	ReadNodes(ctx context.Context) ([]NodeUsage, error)
}
