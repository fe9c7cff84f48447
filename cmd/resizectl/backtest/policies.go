package backtest

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/usage/backtest"
	"github.com/workload-resizer/workload-resizer/usage/history"
	"github.com/workload-resizer/workload-resizer/usage/recommend"
)

// changed is the name of the policy of changes.
const changed = "changed"

// changes are options that flags can change.
type changes struct {
	cpuPercentile, memoryPercentile float64
	margin                          float64
	halfLife                        time.Duration
	memoryMultiple                  float64
}

// unchanged returns the options of "default".
func unchanged() changes {
	o := recommend.DefaultOptions()
	return changes{o.CPU.Target, o.Memory.Target, o.Margin, history.DefaultOptions().MemoryHalfLife, o.Limits.MemoryMultiple}
}

func (c *changes) addFlags(f *pflag.FlagSet) {
	*c = unchanged()
	f.Float64Var(&c.cpuPercentile, "cpu-percentile", c.cpuPercentile, "percentile of CPU usage that requests follow")
	f.Float64Var(&c.memoryPercentile, "memory-percentile", c.memoryPercentile, "percentile of memory peaks that requests follow")
	f.Float64Var(&c.margin, "margin", c.margin, "share of the usage that is added to requests")
	command.DurationVar(f, &c.halfLife, "half-life", c.halfLife, "time in which a sample loses half of its weight")
	f.Float64Var(&c.memoryMultiple, "memory-multiple", c.memoryMultiple, "multiple of the memory request that is the memory limit")
}

// any reports whether an option is changed.
func (c *changes) any() bool { return *c != unchanged() }

// apply changes options.
func (c *changes) apply(h *history.Options, o *recommend.Options) {
	o.CPU, o.Memory = o.CPU.At(c.cpuPercentile), o.Memory.At(c.memoryPercentile)
	o.Margin, o.Limits.MemoryMultiple = c.margin, c.memoryMultiple
	h.CPUHalfLife, h.MemoryHalfLife = c.halfLife, c.halfLife
}

// invalid returns what is wrong with the changes, or "".
func (c *changes) invalid() string {
	percentile := func(p float64) bool { return p >= 0 && p <= 1 }
	switch {
	case !percentile(c.cpuPercentile) || !percentile(c.memoryPercentile):
		return "a percentile must be between 0 and 1, e.g. 0.95"
	case !(c.margin >= 0 && c.margin <= 10):
		return "--margin must be between 0 and 10, e.g. 0.15"
	case c.halfLife <= 0:
		return "--half-life must be positive, e.g. 48h"
	case !(c.memoryMultiple >= 1 && c.memoryMultiple <= 100):
		return "--memory-multiple must be between 1 and 100"
	}
	return ""
}

// descriptions says what each policy does.
var descriptions = map[string]string{
	"authored": "what machines were given",
	"compat":   "the rules of the Vertical Pod Autoscaler; the limit equals the request",
	"default":  "our rules for pods whose memory limit may exceed the request",
	"follow":   "our rules for pods whose memory limit equals the request",
	"mixed":    `"default" that takes all nodes for equally fast`,
	"pressure": `"default", with the time that a container waited for CPU`,
	"week":     `"default", with the peak of the same hour a week ago`,
	"peak":     `"default", with the 75th percentile of CPU and the highest memory`,
}

// own returns our policies.
func own(c changes) []backtest.Policy {
	ours := func(label string, options recommend.Options, change func(*history.Options, *recommend.Options, *backtest.Recommender)) backtest.Policy {
		r := &backtest.Recommender{Label: label, History: history.DefaultOptions(), Options: options}
		if change != nil {
			change(&r.History, &r.Options, r)
		}
		return r
	}
	policies := []backtest.Policy{
		backtest.Authored(),
		ours("compat", recommend.CompatOptions(), func(h *history.Options, _ *recommend.Options, _ *backtest.Recommender) {
			h.Compat = true
		}),
		ours("default", recommend.DefaultOptions(), nil),
		ours("follow", recommend.FollowOptions(), nil),
		ours("mixed", recommend.DefaultOptions(), func(_ *history.Options, _ *recommend.Options, r *backtest.Recommender) { r.Mixed = true }),
	}
	for _, policy := range recommend.Policies()[1:] {
		policies = append(policies, ours(policy.Name(), recommend.DefaultOptions(), func(h *history.Options, o *recommend.Options, _ *backtest.Recommender) {
			h.Hours, o.Policy = true, policy
		}))
	}
	if c.any() {
		policies = append(policies, ours(changed, recommend.DefaultOptions(), func(h *history.Options, o *recommend.Options, _ *backtest.Recommender) {
			c.apply(h, o)
		}))
	}
	return policies
}

// describe returns a line per policy.
func describe(policies []backtest.Policy) string {
	var b strings.Builder
	for _, policy := range policies {
		fmt.Fprintf(&b, "  %-9s %s\n", policy.Name(), descriptions[policy.Name()])
	}
	return b.String()
}
