package sizing

import "github.com/workload-resizer/workload-resizer/reconciler/contract"

// Measure is cpu or memory: where its amounts are, how they are written, and their
// arithmetic.
type Measure struct {
	// Name is the name of the resource.
	Name string
	// Index is the position of the resource in arrays.
	Index int
	// Request and Limit identify the annotations with the originals.
	Request, Limit contract.Original
	// Unit is the unit that amounts are rounded to, in millicores or bytes. Most is
	// the largest valid amount.
	Unit, Most int64
	// Of returns a container's amount.
	Of func(*Container) *Amount
	// Text formats an amount as Kubernetes does; Parse reads it.
	Text  func(int64) string
	Parse func(string) (int64, error)
	// Scale returns the desired amount for an original at a factor, within bounds, and
	// whether a bound determined the request.
	Scale func(original Amount, f Factor, bounds Range) (desired Amount, clamped bool)
	// Unscale returns the original that Scale turns into current, or the nearest one.
	// Parts of it that are already known (not 0) stay.
	Unscale func(current, known Amount, f Factor) Amount
}

// The resources that can be resized.
var (
	CPU = &Measure{
		"cpu", 0, contract.CPURequest, contract.CPULimit, 1, mostMillicores,
		func(c *Container) *Amount { return &c.CPU }, CPUText, ParseCPU, scaleCPU, unscaleCPU,
	}
	Memory = &Measure{
		"memory", 1, contract.MemoryRequest, contract.MemoryLimit, mebibyte, mostBytes,
		func(c *Container) *Amount { return &c.Memory }, MemoryText, ParseMemory, scaleMemory, unscaleMemory,
	}
	Measures = [...]*Measure{CPU, Memory}
)

// MeasureOf returns the resource of an original.
func MeasureOf(which contract.Original) *Measure {
	if which.OfRequest() == Memory.Request {
		return Memory
	}
	return CPU
}

// Amount returns one of the requests and limits of the container.
func (c *Container) Amount(which contract.Original) int64 {
	a := MeasureOf(which).Of(c)
	if which == which.OfRequest() {
		return a.Request
	}
	return a.Limit
}

// Show formats a request and its limit, e.g. "1/2"; without a limit only the request.
func (m *Measure) Show(a Amount) string {
	if a.Limit == 0 {
		return m.Text(a.Request)
	}
	return m.Text(a.Request) + "/" + m.Text(a.Limit)
}
