package chaos

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"strconv"
	"sync/atomic"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/policy/keys"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
	"github.com/workload-resizer/workload-resizer/test/oracle"
)

// table is a ratio table as a user would write it.
type table struct {
	baseline string
	// cpu and memory are performances by node type, as decimals.
	cpu, memory             map[string]string
	cpuBounds, memoryBounds oracle.Range
	// measured means that containers have a source of usage, and demand is where demand comes from: by default, the author.
	measured bool
	demand   policy.Demand
}

var nodeTypes = []string{"n2d", "n4", "c3", "t2a"}

// cpuOnly is whether tables must not change memory. Before Kubernetes 1.34, a memory
// limit cannot shrink. The expected limit then depends on the previous one, which the oracle
// does not know.
var cpuOnly atomic.Bool

// randomTable returns a table with all node types.
func randomTable(r *rand.Rand) *table {
	t := &table{
		baseline: nodeTypes[r.IntN(len(nodeTypes))],
		cpu:      map[string]string{}, memory: map[string]string{},
	}
	memoryDiffers := r.IntN(3) > 0 && !cpuOnly.Load()
	for _, nodeType := range nodeTypes {
		t.cpu[nodeType] = fmt.Sprintf("%.2f", float64(50+r.IntN(250))/100)
		t.memory[nodeType] = "1"
		if memoryDiffers {
			t.memory[nodeType] = fmt.Sprintf("%.2f", float64(80+r.IntN(60))/100)
		}
	}
	if r.IntN(4) > 0 {
		t.cpuBounds = oracle.Range{Min: []int64{0, 20, 50, 100}[r.IntN(4)], Max: []int64{0, 1000, 4000, 16000}[r.IntN(4)]}
		t.memoryBounds = oracle.Range{Min: []int64{0, 32 * oracle.Mebibyte, 64 * oracle.Mebibyte}[r.IntN(3)], Max: []int64{0, 1 << 30, 32 << 30}[r.IntN(3)]}
	}
	if cpuOnly.Load() {
		t.memoryBounds = oracle.Range{}
	}
	return t
}

// simpleTable returns a table with n2d as the baseline and the given CPU performance for
// n4.
func simpleTable(n4 string) *table {
	return &table{
		baseline: "n2d",
		cpu:      map[string]string{"n2d": "1", "n4": n4},
		memory:   map[string]string{"n2d": "1", "n4": "1"},
	}
}

// update returns the table as a source of ratios reports it.
func (t *table) update() ratios.Update {
	layer := &ratios.Layer{
		Baseline: t.baseline,
		Ratios:   map[string]ratios.Ratio{},
		Settings: keys.Some(policy.Settings{Bounds: policy.Bounds{
			CPU:    sizing.Range(t.cpuBounds),
			Memory: sizing.Range(t.memoryBounds),
		}, Guard: policy.Guard{MaxUnproven: policy.AllPods}, Demand: t.demand}, t.exact()...),

		Cluster:       keys.Some(policy.Cluster{}, "pace"),
		MaxSpeedRatio: 6, // The oracle does not know implausible ratios.
	}
	for nodeType := range t.cpu {
		layer.Ratios[nodeType] = ratios.Ratio{CPUPerf: float(t.cpu[nodeType]), MemoryPerf: float(t.memory[nodeType])}
	}
	return ratios.Update{Layer: layer}
}

// exact returns the keys that must not have their defaults so that sizes are what containers use, on any node, except for
// the width of the buckets of a distribution. No container is killed that uses more than its limit, and no guard reverts
// its size.
func (t *table) exact() []string {
	if !t.measured {
		return nil
	}
	return []string{"demand.minHistory", "demand.minCoverage", "demand.margin", "demand.cpu.floor", "demand.memory.floor", "demand.memory.headroom", "guard.enabled"}
}

func float(decimal string) float64 {
	f, err := strconv.ParseFloat(decimal, 64)
	if err != nil {
		panic(err)
	}
	return f
}

// factors returns the factors of CPU and memory on a node type.
func (t *table) factors(nodeType string) (cpu, memory *big.Rat) {
	return quotient(t.cpu[t.baseline], t.cpu[nodeType]), quotient(t.memory[t.baseline], t.memory[nodeType])
}

func quotient(a, b string) *big.Rat {
	x, ok := new(big.Rat).SetString(a)
	y, also := new(big.Rat).SetString(b)
	if !ok || !also {
		panic(fmt.Sprintf("%q or %q is not a number", a, b))
	}
	return x.Quo(x, y)
}
