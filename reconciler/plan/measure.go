package plan

import (
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// measure is cpu or memory: where its amounts are, and its arithmetic.
type measure struct {
	name string
	// index is its place in arrays.
	index          int
	request, limit contract.Original
	// unit is what amounts are rounded to, and most the most that is read of any.
	unit, most int64
	// of returns a container's amount.
	of func(*sizing.Container) *sizing.Amount
	// text is an amount as Kubernetes writes it; parse reads it.
	text  func(int64) string
	parse func(string) (int64, error)

	scale   func(original sizing.Amount, f sizing.Factor, bounds sizing.Range) (sizing.Amount, bool)
	unscale func(current, known sizing.Amount, f sizing.Factor) sizing.Amount
	// restarts reports whether another amount restarts the container.
	restarts func(*pod.Container) bool
}

var (
	cpu = &measure{
		"cpu", 0, contract.CPURequest, contract.CPULimit, 1, sizing.MostMillicores,
		func(c *sizing.Container) *sizing.Amount { return &c.CPU },
		sizing.CPUText, sizing.ParseCPU, sizing.CPU, sizing.UnscaleCPU, (*pod.Container).CPURestarts,
	}
	memory = &measure{
		"memory", 1, contract.MemoryRequest, contract.MemoryLimit, 1 << 20, sizing.MostBytes,
		func(c *sizing.Container) *sizing.Amount { return &c.Memory },
		sizing.MemoryText, sizing.ParseMemory, sizing.Memory, sizing.UnscaleMemory, (*pod.Container).MemoryRestarts,
	}
	measures = [...]*measure{cpu, memory}
)

// show writes a request and its limit, e.g. "1/2"; without a limit the request alone.
func (r *measure) show(a sizing.Amount) string {
	if a.Limit == 0 {
		return r.text(a.Request)
	}
	return r.text(a.Request) + "/" + r.text(a.Limit)
}

// bounds are those of the measure.
func (r *measure) bounds(b ratios.Bounds) sizing.Range {
	if r == cpu {
		return sizing.Range(b.CPU)
	}
	return sizing.Range(b.Memory)
}

// factor is what originals of the measure are multiplied by.
func (p *Plan) factor(r *measure) sizing.Factor {
	if r == cpu {
		return sizing.Factor(p.CPUFactor)
	}
	return sizing.Factor(p.MemoryFactor)
}

// amountOf returns the request or limit of a container, and its text.
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
