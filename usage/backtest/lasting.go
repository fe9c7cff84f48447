package backtest

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/workload-resizer/workload-resizer/reconciler/headroom"
	"github.com/workload-resizer/workload-resizer/usage/recommend"
)

const (
	// lives is how many times the life of a cluster is replayed, each time with other chances.
	lives = 10
	// band is by which share a size differs before a machine is resized, and calm for how many hours it is not lowered
	// after that: the rules of the recommender.
	band, calm = 0.1, 24
	// slotsPerHour is the number of slots of an hour.
	slotsPerHour = 3600 / slot
)

// Lasting is what happened in clusters whose machines stay on their nodes, as means over all lives.
type Lasting struct {
	// Days is the number of nodes, summed over days.
	Days float64
	// MemorySlots and CPUSlots are the slots of 5 minutes in which machines of a node needed more memory, or used more CPU,
	// than the node has. Over is the number of node-days with one.
	MemorySlots, CPUSlots, Over float64
	// Resizes and Moves count machines that were resized on their nodes, and that had to move to another one because theirs
	// had no room, or because all of its machines fit elsewhere.
	Resizes, Moves float64
	// Waited is for how many hours machines had less than they should, for lack of room.
	Waited float64
}

// lasting replays lives of a cluster.
func lasting(loads []*load, settings *Settings, sharing *Sharing) (all Lasting) {
	if len(loads) == 0 {
		return all
	}
	var together map[int64][2]float64
	if sharing != nil && sharing.Correlated {
		together = correlations(loads)
	}
	begin, end := int64(math.MaxInt64), int64(0)
	for _, l := range loads {
		begin, end = min(begin, l.hours[0].number), max(end, l.hours[len(l.hours)-1].number)
	}
	for i := range lives {
		c := cluster{
			size: settings.Node, sharing: sharing, recreated: int(settings.Recreated / time.Hour), shares: [2]float64{1, 1},
			random: rand.New(rand.NewPCG(39, uint64(i))),
		}
		for _, l := range loads {
			c.coming = append(c.coming, &resident{of: l})
		}
		for hour := begin; hour <= end; hour++ {
			c.rules = sharing.rules(hour/24, together)
			c.live(hour)
		}
		all.Days += c.told.Days
		all.MemorySlots += c.told.MemorySlots
		all.CPUSlots += c.told.CPUSlots
		all.Over += c.told.Over
		all.Resizes += c.told.Resizes
		all.Moves += c.told.Moves
		all.Waited += c.told.Waited
	}
	for _, sum := range []*float64{&all.Days, &all.MemorySlots, &all.CPUSlots, &all.Over, &all.Resizes, &all.Moves, &all.Waited} {
		*sum /= lives
	}
	return all
}

// loadHour is what a replica needs from an hour on.
type loadHour struct {
	number int64
	demand headroom.Demand
}

// note notes what a replica needs at the first sample of an hour.
func (l *load) note(at time.Time, demand func(at time.Time) headroom.Demand) {
	number := at.Unix() / 3600
	if n := len(l.hours); n == 0 || l.hours[n-1].number != number {
		l.hours = append(l.hours, loadHour{number, demand(at)})
	}
}

// resident is a machine in a cluster.
type resident struct {
	of *load
	// hour and day are the indexes of its current ones.
	hour, day int
	size      headroom.Amounts
	// resized is the hour of its last resize, and waits means that it should have more.
	resized int64
	waits   bool
}

// demand returns what the machine needs now.
func (r *resident) demand() headroom.Demand { return r.of.hours[r.hour].demand }

// inhabited is a node with its machines.
type inhabited struct {
	size      headroom.Amounts
	residents []*resident
	// requested is the sum of their sizes.
	requested headroom.Amounts
	// over is the last day on which usage exceeded the node.
	over int64
}

// cluster is a cluster at an hour.
type cluster struct {
	size    recommend.Amounts
	sharing *Sharing
	rules   headroom.Rules
	// recreated is after how many hours a machine is created again, in the mean.
	recreated int
	random    *rand.Rand
	coming    []*resident
	nodes     []*inhabited
	// shares are those that a new machine can expect.
	shares [2]float64
	told   Lasting
}

// live lets an hour pass.
func (c *cluster) live(hour int64) {
	var created []*resident
	for _, n := range c.nodes {
		n.residents = slices.DeleteFunc(n.residents, func(r *resident) bool {
			l := r.of
			for r.hour+1 < len(l.hours) && l.hours[r.hour+1].number <= hour {
				r.hour++
			}
			for r.day+1 < len(l.days) && l.days[r.day+1].number <= hour/24 {
				r.day++
			}
			gone := l.hours[len(l.hours)-1].number < hour
			again := !gone && c.random.IntN(c.recreated) == 0
			if again {
				created = append(created, r)
			}
			if gone || again {
				n.take(r, -1)
			}
			return gone || again
		})
	}
	c.coming = slices.DeleteFunc(c.coming, func(r *resident) bool {
		comes := r.of.hours[0].number <= hour
		if comes {
			created = append(created, r)
		}
		return comes
	})
	c.random.Shuffle(len(created), func(i, j int) { created[i], created[j] = created[j], created[i] })
	for _, r := range created {
		c.create(r, nil)
	}
	c.resize(hour)
	if hour%24 == 0 {
		c.consolidate()
	}
	c.nodes = slices.DeleteFunc(c.nodes, func(n *inhabited) bool { return len(n.residents) == 0 })
	for _, n := range c.nodes {
		c.told.count(n, hour)
	}
}

// take adds the size of a machine to what is requested, or takes it away.
func (n *inhabited) take(r *resident, sign int64) {
	for i := range n.requested {
		n.requested[i] += sign * r.size[i]
	}
}

// used returns how much of a node is requested.
func (n *inhabited) used() float64 {
	return float64(n.requested[0])/float64(n.size[0]) + float64(n.requested[1])/float64(n.size[1])
}

// room returns how much more may be requested.
func (c *cluster) room(n *inhabited) headroom.Amounts {
	return headroom.Amounts{n.size[0] - n.requested[0], int64(float64(n.size[1])*(1-c.sharing.free())) - n.requested[1]}
}

// fits reports whether a node has room.
func (c *cluster) fits(n *inhabited, size headroom.Amounts) bool {
	room := c.room(n)
	return size[0] <= room[0] && size[1] <= room[1]
}

// place returns the node that the scheduler prefers for a size: the one that has most room left; nil if it fits on none.
func (c *cluster) place(size headroom.Amounts, not *inhabited) (best *inhabited) {
	least := math.Inf(1)
	for _, n := range c.nodes {
		if n == not || len(n.residents) == 0 || !c.fits(n, size) {
			continue
		}
		if used := n.used(); used < least {
			best, least = n, used
		}
	}
	return best
}

// create creates a machine with the size that it can expect, on another node than the given one.
func (c *cluster) create(r *resident, not *inhabited) {
	d := r.demand()
	r.size, r.waits, r.resized = d.Size(c.shares), false, r.of.hours[r.hour].number
	n := c.place(r.size, not)
	if n == nil {
		n = &inhabited{size: c.sizeFor(r.size), over: -1}
		c.nodes = append(c.nodes, n)
	}
	n.residents = append(n.residents, r)
	n.take(r, 1)
}

// sizeFor returns the size of a node for one machine. One that is larger than a node gets a node of its size.
func (c *cluster) sizeFor(size headroom.Amounts) headroom.Amounts {
	return headroom.Amounts{max(c.size.CPU, size[0]), max(c.size.Memory, int64(math.Ceil(float64(size[1])/(1-c.sharing.free()))))}
}

// resize gives machines what they need on their nodes. A machine that has waited for an hour moves, one of each node.
func (c *cluster) resize(hour int64) {
	var moving []*resident
	var from []*inhabited
	var expected [2][]float64
	for _, n := range c.nodes {
		var sum headroom.Sum
		for _, r := range n.residents {
			sum.Add(r.of.workload, r.demand())
		}
		shares := c.rules.Shares(&sum)
		for i, share := range shares {
			if sum.Rests[i] > 0 {
				expected[i] = append(expected[i], share)
			}
		}
		// Decreases make room for increases.
		for _, increases := range []bool{false, true} {
			for _, r := range n.residents {
				d := r.demand()
				to := d.Size(shares)
				if !r.differs(to, hour, increases) {
					continue
				}
				if len(n.residents) == 1 {
					n.size = c.sizeFor(to)
				}
				room := c.room(n)
				if to[0]-r.size[0] > max(0, room[0]) || to[1]-r.size[1] > max(0, room[1]) {
					if c.told.Waited++; r.waits && (len(from) == 0 || from[len(from)-1] != n) {
						moving, from = append(moving, r), append(from, n)
					}
					r.waits = true
					continue
				}
				n.take(r, -1)
				r.size, r.resized, r.waits = to, hour, false
				n.take(r, 1)
				c.told.Resizes++
			}
		}
	}
	for i := range expected {
		c.shares[i] = headroom.Expected(expected[i])
	}
	for i, r := range moving {
		c.move(r, from[i], nil)
	}
}

// differs reports whether a machine must be resized to a size that is more, or not more, than it has.
func (r *resident) differs(to headroom.Amounts, hour int64, increase bool) bool {
	d, more, less := r.demand(), false, false
	for i := range to {
		margin := int64(0) // A size that is not shared has been within the band before.
		if d.Peak[i] > d.Steady[i] {
			margin = int64(band * float64(r.size[i]))
		}
		more = more || to[i] > r.size[i]+margin
		less = less || to[i] < r.size[i]-margin && (margin == 0 || hour-r.resized >= calm)
	}
	return more && increase || less && !more && !increase
}

// move moves a machine from a node to another one, or to any.
func (c *cluster) move(r *resident, from, to *inhabited) {
	from.residents = slices.DeleteFunc(from.residents, func(o *resident) bool { return o == r })
	from.take(r, -1)
	c.told.Moves++
	if to == nil {
		c.create(r, from)
		return
	}
	to.residents = append(to.residents, r)
	to.take(r, 1)
}

// consolidate empties nodes whose machines fit elsewhere, as Karpenter does it, those first of which least is requested.
func (c *cluster) consolidate() {
	nodes := slices.SortedStableFunc(slices.Values(c.nodes), func(a, b *inhabited) int { return cmp.Compare(a.used(), b.used()) })
	filled := map[*inhabited]bool{}
	for _, n := range nodes {
		if filled[n] {
			continue
		}
		all := slices.Clone(n.residents)
		var moved []*inhabited
		for _, r := range all {
			to := c.place(r.size, n)
			if to == nil {
				break
			}
			c.move(r, n, to)
			moved = append(moved, to)
		}
		for i, to := range moved {
			if len(moved) == len(all) {
				filled[to] = true
				continue
			}
			c.move(all[i], to, n) // All stay where they are.
			c.told.Moves -= 2
		}
	}
}

// count counts a node in an hour.
func (l *Lasting) count(n *inhabited, hour int64) {
	l.Days += 1.0 / 24
	over := false
	for i := hour % 24 * slotsPerHour; i < (hour%24+1)*slotsPerHour; i++ {
		var cpu, memory int64
		for _, r := range n.residents {
			if d := &r.of.days[r.day]; d.number == hour/24 {
				cpu += int64(d.cpu[i])
				memory += int64(d.memory[i])
			}
		}
		if cpu > n.size[0] {
			l.CPUSlots++
			over = true
		}
		if memory > n.size[1]>>10 {
			l.MemorySlots++
			over = true
		}
	}
	if day := hour / 24; over && n.over != day {
		n.over = day
		l.Over++
	}
}
