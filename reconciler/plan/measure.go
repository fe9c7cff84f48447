package plan

import (
	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// boundsOf returns the bounds of a resource.
func boundsOf(b policy.Bounds, r *sizing.Measure) sizing.Range {
	if r == sizing.CPU {
		return b.CPU
	}
	return b.Memory
}

// factor returns the factor for originals of a resource.
func (p *Plan) factor(r *sizing.Measure) sizing.Factor {
	if r == sizing.CPU {
		return p.CPUFactor
	}
	return p.MemoryFactor
}

// amountOf returns a request or limit of a container, and its text.
func amountOf(c *sizing.Container, which contract.Original) (amount int64, text string) {
	switch which {
	case contract.CPURequest:
		return c.CPU.Request, sizing.CPUText(c.CPU.Request)
	case contract.CPULimit:
		return c.CPU.Limit, sizing.CPUText(c.CPU.Limit)
	case contract.MemoryRequest:
		return c.Memory.Request, sizing.MemoryText(c.Memory.Request)
	}
	return c.Memory.Limit, sizing.MemoryText(c.Memory.Limit)
}
