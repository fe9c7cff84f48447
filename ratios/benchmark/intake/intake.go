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

// Ratios provides the current ratios. A ratios.Store implements it.
type Ratios interface {
	// Table returns the current table; nil while there is none.
	Table() *ratios.Table
}

// Config configures an Intake. All fields without a default must be set.
type Config struct {
	// Provider stores the samples. Its settings define the feeds.
	Provider *benchmark.Provider
	Ratios   Ratios
	// Client and Namespace are for feeds in ConfigMaps. The client must be allowed
	// to get the ConfigMaps of the feeds.
	Client    kubernetes.Interface
	Namespace string
	// Clock is the system clock by default.
	Clock clock.WithTicker
}

// Intake receives samples. All methods are safe for concurrent use.
type Intake struct {
	config  Config
	samples *samples.Store
	feeds   *fetch.Poller
	claims  claims
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

// Add stores valid samples, as samples.Store does. It fills in the node type of samples that
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

// NodeType returns the node type of an instance type: the instance type itself if the current
// table names it, or else its family.
func (in *Intake) NodeType(instanceType string) string {
	if table := in.config.Ratios.Table(); table != nil && table.Knows(instanceType) {
		return instanceType
	}
	return cmp.Or(nodetype.Family(instanceType), instanceType)
}
