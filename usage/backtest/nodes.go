package backtest

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/workload-resizer/workload-resizer/reconciler/headroom"
	"github.com/workload-resizer/workload-resizer/usage/recommend"
)

// slot is the time in seconds for which the usage of machines is added up.
const slot = 300

// slotsPerDay is the number of slots of a day.
const slotsPerDay = secondsPerDay / slot

// load is what one replica needs and uses, day by day.
type load struct {
	workload string
	days     []loadDay
	// hours has what it needs, hour by hour.
	hours []loadHour
	// sized is what it gets on nodes, over all days and packings.
	sized onNodes
}

// loadDay is the load of a day.
type loadDay struct {
	of     *load
	number int64
	// demand is what the replica needs when the day begins for it.
	demand headroom.Demand
	// cpu and memory are what it wants in each slot, in millicores and KiB, and seen what it
	// is seen to use of memory.
	cpu, memory, seen [slotsPerDay]uint32
}

// add adds a sample. demand returns what the replica needs.
func (l *load) add(at time.Time, demand func(at time.Time) headroom.Demand, s Sample, seen int64) {
	number, needs := at.Unix()/secondsPerDay, l.note(at, demand)
	if n := len(l.days); n == 0 || l.days[n-1].number != number {
		l.days = append(l.days, loadDay{of: l, number: number, demand: needs})
	}
	d := &l.days[len(l.days)-1]
	i := at.Unix() % secondsPerDay / slot
	d.cpu[i] = max(d.cpu[i], narrow(s.CPU))
	d.memory[i] = max(d.memory[i], narrow(s.Memory>>10))
	d.seen[i] = max(d.seen[i], narrow(seen>>10))
}

// narrow returns a number in 32 bits, or the largest one: of memory, that is 4 TiB.
func narrow(n int64) uint32 { return uint32(min(n, math.MaxUint32)) }

// packings is how many times the machines of a day are packed, each time in another order, since
// chance decides which machines share a node.
const packings = 100

// Nodes are the nodes of all days, as means over all packings.
type Nodes struct {
	// Days is the number of nodes, summed over days.
	Days float64
	// Memory and CPU are the node-days on which the machines needed more memory, or used more
	// CPU, than the node has. Seen counts only the memory that they were seen to use, which
	// ends at their limits.
	Memory, Seen, CPU float64
	// MemorySlots and CPUSlots are how many slots of 5 minutes of a node these were, of all 288 of each node-day.
	MemorySlots, CPUSlots float64
}

// packer packs the machines of a day.
type packer struct {
	size    recommend.Amounts
	sharing *Sharing
	rules   headroom.Rules
	nodes   []*packed
}

// pack packs the loads of each day on nodes by what they need, and counts nodes whose usage exceeds
// them. Each machine goes to the first node where it fits. A machine that fits on no empty node
// gets a node of the size that it needs.
func pack(loads []*load, node recommend.Amounts, sharing *Sharing, badDay float64) (nodes Nodes) {
	days := map[int64][]*loadDay{}
	for _, l := range loads {
		for i := range l.days {
			days[l.days[i].number] = append(days[l.days[i].number], &l.days[i])
		}
	}
	var together map[int64][2]float64
	if sharing != nil && sharing.Correlated {
		together = correlations(loads)
	}
	for _, number := range slices.Sorted(maps.Keys(days)) {
		machines := days[number]
		for i := range packings {
			random := rand.New(rand.NewPCG(uint64(number), uint64(i)))
			random.Shuffle(len(machines), func(i, j int) { machines[i], machines[j] = machines[j], machines[i] })
			p := packer{size: node, sharing: sharing, rules: sharing.rules(number, together)}
			for _, m := range machines {
				p.place(m)
			}
			for _, n := range p.nodes {
				nodes.count(n)
				if sharing != nil {
					n.tally(p.rules, badDay)
				}
			}
		}
	}
	for _, sum := range []*float64{&nodes.Days, &nodes.Memory, &nodes.Seen, &nodes.CPU, &nodes.MemorySlots, &nodes.CPUSlots} {
		*sum /= packings
	}
	return nodes
}

// packed is a node with its machines.
type packed struct {
	size              recommend.Amounts
	sum               headroom.Sum
	machines          []*loadDay
	cpu, memory, seen [slotsPerDay]uint64
}

// place places a machine on the first node where it fits.
func (p *packer) place(m *loadDay) {
	taken := 1 - p.sharing.free()
	i := slices.IndexFunc(p.nodes, func(n *packed) bool {
		with := n.sum.With(m.of.workload, m.demand)
		needs := p.rules.Needs(&with)
		return needs[0] <= n.size.CPU && float64(needs[1]) <= taken*float64(n.size.Memory)
	})
	if i < 0 {
		i = len(p.nodes)
		var alone headroom.Sum
		alone.Add(m.of.workload, m.demand)
		needs := p.rules.Needs(&alone)
		p.nodes = append(p.nodes, &packed{size: recommend.Amounts{CPU: max(p.size.CPU, needs[0]), Memory: max(p.size.Memory, int64(math.Ceil(float64(needs[1])/taken)))}})
	}
	p.nodes[i].add(m)
}

// add places a machine on the node.
func (p *packed) add(d *loadDay) {
	p.sum.Add(d.of.workload, d.demand)
	p.machines = append(p.machines, d)
	for i := range slotsPerDay {
		p.cpu[i] += uint64(d.cpu[i])
		p.memory[i] += uint64(d.memory[i])
		p.seen[i] += uint64(d.seen[i])
	}
}

// count counts a node.
func (n *Nodes) count(p *packed) {
	n.Days++
	over := func(usage *[slotsPerDay]uint64, size int64) (days, slots float64) {
		for _, used := range usage {
			if used > uint64(size) {
				days = 1
				slots++
			}
		}
		return days, slots
	}
	memory, memorySlots := over(&p.memory, p.size.Memory>>10)
	seen, _ := over(&p.seen, p.size.Memory>>10)
	cpu, cpuSlots := over(&p.cpu, p.size.CPU)
	n.Memory, n.MemorySlots, n.Seen, n.CPU, n.CPUSlots = n.Memory+memory, n.MemorySlots+memorySlots, n.Seen+seen, n.CPU+cpu, n.CPUSlots+cpuSlots
}
