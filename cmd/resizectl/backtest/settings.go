package backtest

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/workload-resizer/workload-resizer/usage/backtest"
	"github.com/workload-resizer/workload-resizer/usage/recommend"
)

// settings returns the rules of the replay that the flags set.
func (o *options) settings() (backtest.Settings, error) {
	s := backtest.DefaultSettings()
	if fault := o.changes.invalid(); fault != "" {
		return s, errors.New(fault)
	}
	for i, speed := range o.speeds {
		if slices.Contains(o.speeds[:i], speed) {
			return s, fmt.Errorf("speed %v is given twice", speed)
		}
		if !(speed >= 0.01 && speed <= 100) {
			return s, fmt.Errorf("speed %v is not between 0.01 and 100", speed)
		}
	}
	if price := func(p float64) bool { return p >= 0 && p <= 1e9 }; !price(o.prices.Core) || !price(o.prices.GiB) {
		return s, errors.New("prices must be from 0 to 1000000000")
	}
	if o.every <= 0 {
		return s, errors.New("--every must be positive, e.g. 12h")
	}
	if !(o.badDay >= 0 && o.badDay <= 1) {
		return s, errors.New("--bad-day must be between 0 and 1, e.g. 0.05")
	}
	s.Speeds, s.Every, s.BadDay = o.speeds, o.every, o.badDay
	node, err := parseNode(o.node)
	s.Node = node
	return s, err
}

// leastMemory is the least memory of a node. Less is a missing unit.
var leastMemory = resource.MustParse("1Mi")

// parseNode reads the size of a node, e.g. 16,64Gi.
func parseNode(text string) (node recommend.Amounts, err error) {
	cores, memory, found := strings.Cut(text, ",")
	cpu, errCPU := resource.ParseQuantity(cores)
	bytes, errMemory := resource.ParseQuantity(memory)
	if !found || errCPU != nil || errMemory != nil || cpu.Sign() <= 0 || bytes.Sign() <= 0 {
		return node, fmt.Errorf("node %q is not CORES,MEMORY, e.g. 16,64Gi", text)
	}
	if cpu.AsApproximateFloat64() > 1e6 || bytes.AsApproximateFloat64() > 1<<50 {
		return node, fmt.Errorf("node %q is larger than 1000000 cores or 1Pi", text)
	}
	if bytes.Cmp(leastMemory) < 0 {
		return node, fmt.Errorf("node %q has less than 1Mi of memory, e.g. 16,64Gi", text)
	}
	return recommend.Amounts{CPU: cpu.MilliValue(), Memory: bytes.Value()}, nil
}
