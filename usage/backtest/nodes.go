package backtest

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/workload-resizer/workload-resizer/usage/recommend"
)

// slot is the time in seconds for which the usage of machines is added up.
const slot = 300

// slotsPerDay is the number of slots of a day.
const slotsPerDay = secondsPerDay / slot

// load is what one replica requests and uses, day by day.
type load struct {
	days []loadDay
}

// loadDay is the load of a day.
type loadDay struct {
	number int64
	// request is what the replica requests when the day begins for it.
	request recommend.Amounts
	// cpu and memory are what it wants in each slot, in millicores and KiB, and seen what it
	// is seen to use of memory.
	cpu, memory, seen [slotsPerDay]uint32
}

// add adds a sample.
func (l *load) add(at time.Time, request recommend.Amounts, s Sample, seen int64) {
	number := at.Unix() / secondsPerDay
	if n := len(l.days); n == 0 || l.days[n-1].number != number {
		l.days = append(l.days, loadDay{number: number, request: request})
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
}

// pack packs the loads of each day on nodes by their requests, and counts nodes whose usage exceeds
// them. Each machine goes to the first node where it fits. A machine that fits on no empty node
// gets a node of the size that it requests.
func pack(loads []*load, node recommend.Amounts) (nodes Nodes) {
	days := map[int64][]*loadDay{}
	for _, l := range loads {
		for i := range l.days {
			days[l.days[i].number] = append(days[l.days[i].number], &l.days[i])
		}
	}
	for number, machines := range days {
		for i := range packings {
			random := rand.New(rand.NewPCG(uint64(number), uint64(i)))
			random.Shuffle(len(machines), func(i, j int) { machines[i], machines[j] = machines[j], machines[i] })
			nodes.packDay(machines, node)
		}
	}
	nodes.Days /= packings
	nodes.Memory /= packings
	nodes.Seen /= packings
	nodes.CPU /= packings
	return nodes
}

// packed is a node with its machines.
type packed struct {
	size, used        recommend.Amounts
	cpu, memory, seen [slotsPerDay]uint64
}

// packDay packs machines in their order.
func (n *Nodes) packDay(machines []*loadDay, node recommend.Amounts) {
	var all []*packed
	for _, m := range machines {
		i := slices.IndexFunc(all, func(p *packed) bool {
			return p.used.CPU+m.request.CPU <= p.size.CPU && p.used.Memory+m.request.Memory <= p.size.Memory
		})
		if i < 0 {
			i = len(all)
			all = append(all, &packed{size: recommend.Amounts{CPU: max(node.CPU, m.request.CPU), Memory: max(node.Memory, m.request.Memory)}})
		}
		all[i].add(m)
	}
	for _, p := range all {
		n.Days++
		over := func(usage *[slotsPerDay]uint64, size int64) float64 {
			if slices.Max(usage[:]) > uint64(size) {
				return 1
			}
			return 0
		}
		n.Memory += over(&p.memory, p.size.Memory>>10)
		n.Seen += over(&p.seen, p.size.Memory>>10)
		n.CPU += over(&p.cpu, p.size.CPU)
	}
}

// add places a machine on the node.
func (p *packed) add(d *loadDay) {
	p.used.CPU += d.request.CPU
	p.used.Memory += d.request.Memory
	for i := range slotsPerDay {
		p.cpu[i] += uint64(d.cpu[i])
		p.memory[i] += uint64(d.memory[i])
		p.seen[i] += uint64(d.seen[i])
	}
}
