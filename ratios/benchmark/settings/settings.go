package settings

import (
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/estimate"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/fetch"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/samples"
	"github.com/workload-resizer/workload-resizer/ratios/nodetype"
	"github.com/workload-resizer/workload-resizer/ratios/pace"
)

// Key is the key of the settings in their ConfigMap.
const Key = "benchmarks.yaml"

// Mode is how benchmarks are used for a node type.
type Mode string

const (
	// Observe shows the measured ratios, and changes nothing.
	Observe Mode = "observe"
	// Apply makes the measured ratios available as the benchmark source.
	Apply Mode = "apply"
)

// Settings are the benchmark settings.
type Settings struct {
	// Default is the mode of node types that Modes does not name.
	Default Mode
	Modes   map[string]Mode
	// Estimate, Pace and Limits have their defaults where nothing is set.
	Estimate estimate.Settings
	Pace     pace.Settings
	Limits   samples.Limits
	// Machines is the number of nodes per node type, CPU model and number of vCPUs that node
	// agents measure.
	Machines int
	// Feeds are in the order in which they are written.
	Feeds []fetch.Feed
}

// Mode returns the mode of a node type. A CPU model has the mode of its node type unless it is
// named itself.
func (s *Settings) Mode(nodeType string) Mode {
	if mode, ok := s.Modes[nodeType]; ok {
		return mode
	}
	base, _ := nodetype.SplitModel(nodeType)
	if mode, ok := s.Modes[base]; ok {
		return mode
	}
	if s.Default == "" {
		return Observe
	}
	return s.Default
}

// Defaults returns the settings that apply if nothing is set.
func Defaults() Settings {
	return Settings{Default: Observe, Estimate: estimate.Defaults(), Pace: pace.Defaults(), Limits: samples.DefaultLimits, Machines: 20}
}
