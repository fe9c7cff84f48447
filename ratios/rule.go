package ratios

import (
	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/policy/keys"
)

// Rule is configuration for some pods only. Values that it does not set come from the globals.
type Rule struct {
	// Name identifies the rule to users: its path in its source.
	Name string
	// Match selects the pods that the rule applies to.
	Match policy.Criteria
	// Baseline is empty if the global baseline applies.
	Baseline string
	// Ratios by node type replace or extend the global ratios.
	Ratios map[string]Ratio
	// MaxSpeedRatio is finite and at least 1; 0 if the global maximum applies.
	MaxSpeedRatio float64
	// Settings override the global settings, each value separately.
	Settings keys.Partial[policy.Settings]
}
