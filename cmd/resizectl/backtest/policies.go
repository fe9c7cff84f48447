package backtest

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/reconciler/need"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
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
	// follows changes the options of "follow" instead, which has other defaults: a flag that is not given changes nothing.
	follows  bool
	headroom string
}

// unchanged returns the options of "default".
func unchanged() changes {
	o := recommend.DefaultOptions()
	return changes{
		cpuPercentile: o.CPU.Target, memoryPercentile: o.Memory.Target, margin: o.Margin,
		halfLife: history.DefaultOptions().MemoryHalfLife, memoryMultiple: o.Limits.MemoryMultiple, headroom: "250Mi",
	}
}

func (c *changes) addFlags(f *pflag.FlagSet) {
	*c = unchanged()
	f.Float64Var(&c.cpuPercentile, "cpu-percentile", c.cpuPercentile, "percentile of CPU usage that requests follow")
	f.Float64Var(&c.memoryPercentile, "memory-percentile", c.memoryPercentile, "percentile of memory peaks that requests follow")
	f.Float64Var(&c.margin, "margin", c.margin, "share of the usage that is added to requests")
	command.DurationVar(f, &c.halfLife, "half-life", c.halfLife, "time in which a sample loses half of its weight")
	f.Float64Var(&c.memoryMultiple, "memory-multiple", c.memoryMultiple, "multiple of the memory request that is the memory limit")
	f.StringVar(&c.headroom, "headroom", c.headroom, "by how much the memory limit is at least above the memory request; with --limit-follows, the least that is added to the memory usage")
	f.BoolVar(&c.follows, "limit-follows", c.follows, followsUsage())
}

// followsUsage describes --limit-follows, with the defaults that differ from those of the flags.
func followsUsage() string {
	o := recommend.FollowOptions()
	return fmt.Sprintf("change the options of the policy \"follow\", not of \"default\"; flags that are not given then mean --memory-percentile %v, --margin %v for CPU and %v for memory, and --headroom %dMi",
		o.Memory.Target, o.Margin, o.MemoryMargin, o.Headroom>>20)
}

// any reports whether an option is changed.
func (c *changes) any() bool { return *c != unchanged() }

// apply changes the options whose flags are given.
func (c *changes) apply(h *history.Options, o *recommend.Options, given func(flag string) bool) {
	if given("cpu-percentile") {
		o.CPU = o.CPU.At(c.cpuPercentile)
	}
	if given("memory-percentile") {
		o.Memory = o.Memory.At(c.memoryPercentile)
	}
	if given("margin") {
		o.Margin, o.MemoryMargin = c.margin, c.margin
	}
	if given("half-life") {
		h.CPUHalfLife, h.MemoryHalfLife = c.halfLife, c.halfLife
	}
	headroom := resource.MustParse(c.headroom) // It is valid.
	if c.follows {
		o.Headroom = headroom.Value()
	} else {
		o.Limits.MemoryMultiple, o.Limits.MemoryHeadroom = c.memoryMultiple, headroom.Value()
	}
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
	case c.follows && c.memoryMultiple != unchanged().memoryMultiple:
		return "--memory-multiple is for limits that do not follow: omit it, or --limit-follows"
	}
	if q, err := sizing.Quantity(c.headroom); err != nil || q.Sign() < 0 || q.AsApproximateFloat64() > 1<<50 {
		return "--headroom must be an amount of memory of up to 1Pi, e.g. 250Mi"
	}
	return ""
}

// descriptions says what each policy does.
var descriptions = map[string]string{
	"authored":   "what machines were given",
	"compat":     "the rules of the Vertical Pod Autoscaler; the limit equals the request",
	"default":    "our rules for pods whose memory limit may exceed the request",
	"follow":     "our rules for pods whose memory limit equals the request",
	"limit-peak": `"default", with a memory limit of twice the highest usage of a week`,
	"mixed":      `"default" that takes all nodes for equally fast`,
	"pressure":   `"default", with the time that a container waited for CPU`,
	"week":       `"default", with the peak of the same hour a week ago`,
	"peak":       `"default", with the 75th percentile of CPU and the highest memory`,
	"shared": `"default", with CPU that the machines of a node share: each gets its 75th percentile, and a part of
                    what it needs beyond that up to its 99th`,
	"shared-largest":    `"shared", with as much for all machines of a node as one of them may need`,
	"shared-correlated": `"shared", with more for all, given how the machines rose and fell together`,
	"shared-memory":     `"shared", with memory that is shared, too`,
	"shared-same-hour": `"shared-largest", with memory, up to the highest usage of the same hour a week ago, as
                    CruiseKube shares`,
}

// own returns our policies, given which flags are given.
func own(c changes, given func(flag string) bool) []backtest.Policy {
	ours := func(label string, options recommend.Options, change func(*history.Options, *recommend.Options, *backtest.Recommender)) backtest.Policy {
		r := &backtest.Recommender{Label: label, History: history.DefaultOptions(), Options: options}
		// Traces say what a machine was given at some time, which may be less than a thousandth of what it used.
		r.Options.MaxGrowth = 0
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
		ours("follow", recommend.FollowOptions(), fromNothing),
		ours("limit-peak", recommend.DefaultOptions(), func(_ *history.Options, o *recommend.Options, _ *backtest.Recommender) {
			o.Limits.Memory, o.Limits.MemoryHeadroom = need.Peak, 0
		}),
		ours("mixed", recommend.DefaultOptions(), func(_ *history.Options, _ *recommend.Options, r *backtest.Recommender) { r.Mixed = true }),
	}
	for _, policy := range recommend.Policies()[1:] {
		policies = append(policies, ours(policy.Name(), recommend.DefaultOptions(), func(h *history.Options, o *recommend.Options, _ *backtest.Recommender) {
			h.Hours, o.Policy = true, policy
		}))
	}
	sharing := backtest.Shared()
	for _, variant := range []string{"", "-largest", "-correlated", "-memory", "-same-hour"} {
		policies = append(policies, ours("shared"+variant, recommend.DefaultOptions(), func(h *history.Options, _ *recommend.Options, r *backtest.Recommender) {
			recommend.KeepSlots(h)
			r.Sharing = sharing[variant]
			h.Hours = r.Sharing.SameHour
		}))
	}
	if c.any() {
		options := recommend.DefaultOptions()
		if c.follows {
			options = recommend.FollowOptions()
		}
		policies = append(policies, ours(changed, options, func(h *history.Options, o *recommend.Options, r *backtest.Recommender) {
			if c.follows {
				fromNothing(h, o, r)
			}
			c.apply(h, o, given)
		}))
	}
	return policies
}

// fromNothing has the history that belongs to limits that follow.
func fromNothing(h *history.Options, _ *recommend.Options, _ *backtest.Recommender) {
	h.FromNothing = true
}

// describe returns a line per policy.
func describe(policies []backtest.Policy) string {
	var b strings.Builder
	for _, policy := range policies {
		fmt.Fprintf(&b, "  %-17s %s\n", policy.Name(), descriptions[policy.Name()])
	}
	return b.String()
}
