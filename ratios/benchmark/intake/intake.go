package intake

import (
	"cmp"
	"context"

	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/fetch"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/samples"
	"github.com/workload-resizer/workload-resizer/ratios/nodetype"
)

// Ratios are those in force; a ratios.Store is.
type Ratios interface {
	// Table is nil while there is none.
	Table() *ratios.Table
}

// Config is what an Intake is made of. All fields must be set, where no default is
// named.
type Config struct {
	// Provider keeps samples, and its settings tell which feeds there are.
	Provider *benchmark.Provider
	Ratios   Ratios
	// Client and Namespace are for feeds in ConfigMaps. The client may get those that
	// are named.
	Client    kubernetes.Interface
	Namespace string
	// Clock is the system's by default.
	Clock clock.WithTicker
}

// Intake takes in samples. All methods may be called at any time from any goroutine.
type Intake struct {
	config  Config
	samples *samples.Store
	feeds   *fetch.Poller
}

// New returns an intake that reads no feeds until Run.
func New(c Config) *Intake {
	if c.Clock == nil {
		c.Clock = clock.RealClock{}
	}
	in := &Intake{config: c, samples: c.Provider.Samples()}
	in.feeds = fetch.New(fetch.Config{Client: c.Client, Namespace: c.Namespace, Clock: c.Clock, Deliver: in.deliver})
	return in
}

// Add keeps valid samples, as samples.Store does. It fills in the node types that
// only have an instance type.
func (in *Intake) Add(ctx context.Context, add []sample.Sample) ([]samples.Outcome, error) {
	return in.samples.Add(ctx, in.typed(add))
}

// Preview returns what would become of samples if they were added now.
func (in *Intake) Preview(add []sample.Sample) ([]samples.Outcome, error) {
	return in.samples.Preview(in.typed(add))
}

func (in *Intake) typed(add []sample.Sample) []sample.Sample {
	typed := make([]sample.Sample, len(add))
	for i, s := range add {
		if s.NodeType == "" {
			s.NodeType = in.NodeType(s.InstanceType)
		}
		typed[i] = s
	}
	return typed
}

// NodeType returns what the machines of an instance type are called by in ratios:
// the instance type itself if the table names that, else its family.
func (in *Intake) NodeType(instanceType string) string {
	if table := in.config.Ratios.Table(); table != nil && table.Knows(instanceType) {
		return instanceType
	}
	return cmp.Or(nodetype.Family(instanceType), instanceType)
}
