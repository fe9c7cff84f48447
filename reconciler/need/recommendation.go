package need

import (
	"time"

	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// Recommendation is what one resource of a container needs according to usage, on the baseline. It is immutable:
// all pods of a workload share it.
type Recommendation struct {
	// Target is the request to set; Lower and Upper are the bounds outside of which a request is wrong.
	Target, Lower, Upper int64
	// Steady is what it needs most of the time, and Rest by how much it needs more at most, if it shares that with its
	// neighbors. A Steady of 0 means that it shares nothing, and gets the target.
	Steady, Rest int64
	// Max is the most that is recommended; 0 means any amount.
	Max int64
	// Floor has the least request and limit of which smaller ones were seen to be too small: a container was killed, or its
	// resize was reverted. 0 means that none was.
	Floor sizing.Amount
	// Peak is the highest usage of memory within the last seven days. A container that was killed counts as having used its
	// limit. It is 0 if that is unknown, and unless the limit follows it.
	Peak int64
	// Keeps is why requests are not lowered, and KeepsLimit why the limit is not; empty if they may be.
	Keeps, KeepsLimit string
	// Unknown means that nothing of the resource was measured, so that the target is 0, and one that was sized keeps its size.
	Unknown bool
	// Rules are the same for both resources of a container.
	Rules *Rules
	// Revision identifies all of this, except for the words of Keeps and KeepsLimit: recommendations with the same
	// revision give every pod the same size, on every replica.
	Revision uint64
}

// Container is what both resources of a container need according to usage. One with a target of 0 needs what its author
// wrote, unless it is Unknown.
type Container struct{ CPU, Memory Recommendation }

// Of returns what a resource needs.
func (c *Container) Of(m *sizing.Measure) *Recommendation {
	if m == sizing.CPU {
		return &c.CPU
	}
	return &c.Memory
}

// Forget makes what the author wrote what a resource needs.
func (c *Container) Forget(m *sizing.Measure) { *c.Of(m) = Recommendation{Rules: c.Of(m).Rules} }

// Demand is what usage says about one pod. Each method takes the name of a container.
type Demand interface {
	// Of returns what the container needs; nil if that is not known, so that a container that was sized keeps its size, and
	// others need what their author wrote. The result must not change. now is how much memory the container has now.
	Of(container string) (needs *Container, now Memory)
	// Peak returns how much memory this replica used at most within the last seven days, in bytes; 0 if that is unknown,
	// or does not exceed what the container needs.
	Peak(container string) int64
	// Resized returns when the sizes of the container changed last; the zero time stands for what the pod records.
	Resized(container string) Resized
	// Share returns which part of their rests containers get, from 0 to 1, by sizing.Measure.Index: on the node of the pod,
	// or on nodes of a type, unless that is empty. Until that is known, it is not known what containers need that share.
	Share(nodeType string) (shares [2]float64, known bool)
}

// Memory is how much memory a container has, in bytes; 0 for what is unknown.
type Memory struct {
	// Used is how much it uses, and Charged how much is charged to it, with the page cache.
	Used, Charged int64
}

// Unknown is the Demand of pods of which nothing is known.
type Unknown struct{}

// Of implements Demand, as do the other methods.
func (Unknown) Of(string) (*Container, Memory) { return nil, Memory{} }

// Peak implements Demand.
func (Unknown) Peak(string) int64 { return 0 }

// Resized implements Demand.
func (Unknown) Resized(string) Resized { return Resized{} }

// Share implements Demand.
func (Unknown) Share(string) ([2]float64, bool) { return [2]float64{}, false }

// Resized is when the sizes of a container changed last, by sizing.Measure.Index, or when its pod began.
type Resized [2]time.Time
