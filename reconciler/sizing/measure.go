package sizing

import "github.com/workload-resizer/workload-resizer/reconciler/contract"

// Measure is cpu or memory: where its amounts are, how they are written, and their
// arithmetic.
type Measure struct {
	// Name is that of the resource.
	Name string
	// Index is its place in arrays.
	Index int
	// Request and Limit are the annotations with its originals.
	Request, Limit contract.Original
	// Unit is what amounts are rounded to, in millicores or bytes, and Most the most that
	// is read of any.
	Unit, Most int64
	// Of returns a container's amount.
	Of func(*Container) *Amount
	// Text is an amount as Kubernetes writes it; Parse reads it.
	Text  func(int64) string
	Parse func(string) (int64, error)
	// Scale returns what an original is to be at a factor, within bounds, and whether a
	// bound decided the request.
	Scale func(original Amount, f Factor, bounds Range) (desired Amount, clamped bool)
	// Unscale returns the original that Scale makes current of, or the nearest to it; what
	// of it is known already (not 0) stays.
	Unscale func(current, known Amount, f Factor) Amount
}

// The resources that are resized.
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

// Show writes a request and its limit, e.g. "1/2"; without a limit the request alone.
func (m *Measure) Show(a Amount) string {
	if a.Limit == 0 {
		return m.Text(a.Request)
	}
	return m.Text(a.Request) + "/" + m.Text(a.Limit)
}
