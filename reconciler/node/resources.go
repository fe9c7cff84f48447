package node

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// Resources holds millicores of cpu and bytes of memory.
type Resources struct{ CPU, Memory int64 }

// Most is the most that a pod counts with: any amount of it is more than a node has, and a few of them fit in 64 bits.
var Most = Resources{sizing.CPU.Most, sizing.Memory.Most}

// Plus returns the sum of both.
func (r Resources) Plus(o Resources) Resources { return Resources{r.CPU + o.CPU, r.Memory + o.Memory} }

// Minus returns the difference.
func (r Resources) Minus(o Resources) Resources { return Resources{r.CPU - o.CPU, r.Memory - o.Memory} }

// AtLeast returns the larger amount of each resource.
func (r Resources) AtLeast(o Resources) Resources {
	return Resources{max(r.CPU, o.CPU), max(r.Memory, o.Memory)}
}

// AtMost returns the smaller amount of each resource.
func (r Resources) AtMost(o Resources) Resources {
	return Resources{min(r.CPU, o.CPU), min(r.Memory, o.Memory)}
}

// Of returns the amount of a resource.
func (r Resources) Of(m *sizing.Measure) int64 { return [...]int64{r.CPU, r.Memory}[m.Index] }

// Allocatable returns what a node has for pods; zero if it is unknown.
func Allocatable(of *corev1.Node) (has Resources) {
	if of != nil {
		has.CPU, _ = sizing.Millicores(of.Status.Allocatable.Cpu())
		has.Memory, _ = sizing.Bytes(of.Status.Allocatable.Memory())
	}
	return has
}

// RequestsOf returns the requests of a size.
func RequestsOf(c sizing.Container) Resources { return Resources{c.CPU.Request, c.Memory.Request} }

func limitsOf(c sizing.Container) Resources { return Resources{c.CPU.Limit, c.Memory.Limit} }
