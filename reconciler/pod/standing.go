package pod

import (
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// Claim is what may be done with one resource of a container.
type Claim uint8

const (
	// Scales: request and limit are scaled from the original.
	Scales Claim = iota
	// LimitStays: the limit came after the author, as a LimitRange's default
	// does with a resize; it is left as it is.
	LimitStays
	// Lost: the original is not known, so nothing is changed.
	Lost
	// Theirs: somebody else set the request or the limit.
	Theirs
)

// Standing is the claim on a resource, and what of it somebody else set.
type Standing struct {
	Claim
	// Set has a bit (1 << contract.Original) for each amount that somebody else set and
	// that can be adopted, Adopted for each that was.
	Set, Adopted uint8
}

// Ours reports whether the sizes are the reconciler's to change.
func (s Standing) Ours() bool { return s.Claim == Scales || s.Claim == LimitStays }

// measure is cpu or memory: where its amounts are, and how they are read.
type measure struct {
	// index is its place in arrays.
	index          int
	request, limit contract.Original
	// most is the most that is read of any amount.
	most     int64
	amount   func(*sizing.Container) *sizing.Amount
	standing func(*Container) *Standing
	text     func(int64) string
	parse    func(string) (int64, error)
}

var resources = [...]measure{
	{
		0, contract.CPURequest, contract.CPULimit, sizing.MostMillicores,
		func(c *sizing.Container) *sizing.Amount { return &c.CPU }, func(c *Container) *Standing { return &c.CPU },
		sizing.CPUText, sizing.ParseCPU,
	},
	{
		1, contract.MemoryRequest, contract.MemoryLimit, sizing.MostBytes,
		func(c *sizing.Container) *sizing.Amount { return &c.Memory }, func(c *Container) *Standing { return &c.Memory },
		sizing.MemoryText, sizing.ParseMemory,
	},
}

// WhyLost says why the original of cpu (0) or memory (1) is lost; empty if it is not.
func (c *Container) WhyLost(index int) string { return c.rarely().why[index] }

// SetBy is the field manager that set cpu (0) or memory (1), if that is Theirs or was.
func (c *Container) SetBy(index int) string { return c.rarely().manager[index] }
