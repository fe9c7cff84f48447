package backtest

import (
	"time"

	"github.com/workload-resizer/workload-resizer/usage/history"
	"github.com/workload-resizer/workload-resizer/usage/recommend"
)

// Policy decides about the sizes of machines.
type Policy interface {
	// Name is the policy's name in results.
	Name() string
	// Sizer returns what sizes one workload, given the speed of the node of each replica.
	Sizer(given recommend.Authored, speeds []float64) Sizer
}

// Sizer sizes the replicas of one workload. Replicas have numbers, like their speeds.
type Sizer interface {
	// Record takes what a replica is seen to use.
	Record(replica int, s Sample)
	// Kill takes a kill of a replica.
	Kill(replica int, k history.Kill)
	// Decide returns the size that a replica gets, and false if it keeps its size.
	Decide(replica int, p Pod, now time.Time) (request, limit recommend.Amounts, resize bool)
}

// Pod is the state of a replica.
type Pod struct {
	Request, Limit recommend.Amounts
	// MemoryInUse is what the replica is seen to use now, in bytes.
	MemoryInUse int64
	Authored    recommend.Authored
	// ResizedCPU and ResizedMemory are when the request or the limit last changed, or when the replica began.
	ResizedCPU, ResizedMemory time.Time
	// Killed is when the container was last killed because of its memory, and Ran how long it
	// had run.
	Killed time.Time
	Ran    time.Duration
}

// Sample is what a replica uses at a time: millicores and bytes.
type Sample struct {
	At          time.Time
	CPU, Memory int64
	// Pressure and Throttled are as in a row of a trace.
	Pressure  float64
	Throttled bool
}

// Authored leaves every machine at what it was given.
func Authored() Policy { return authored{} }

type authored struct{}

func (authored) Name() string { return "authored" }

func (authored) Sizer(recommend.Authored, []float64) Sizer { return authored{} }

func (authored) Record(int, Sample) {}

func (authored) Kill(int, history.Kill) {}

func (authored) Decide(int, Pod, time.Time) (request, limit recommend.Amounts, resize bool) {
	return recommend.Amounts{}, recommend.Amounts{}, false
}
