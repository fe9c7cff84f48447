package evidence

import "math"

// Cell compares two node types within zones, for one workload. Differences are the second type's logarithm less
// the first one's: below 0, the second type uses less, and so is faster.
type Cell struct {
	// A and B are the types, A below B.
	A, B int
	// Like is the difference in hours of the upper half of load in which the replicas of both types
	// request the same, and Unlike in the others.
	Like, Unlike Moments
	// Spread is the variance between replicas of one type in the same hour.
	Spread float64
	// Replicas are the mean numbers of replicas, and Busy the mean shares of their nodes that others kept
	// busy, of A and B.
	Replicas, Busy [2]float64
	// Slope is how the difference grows with load.
	Slope Slope
	// Middle is the median of the load, and Swing its mean distance from that.
	Middle, Swing float64
	// seen is the last hour. It is not stored.
	seen int64
}

// unlike is by how much requests differ that are unlike. A resize by less moves no share of the work that could be seen.
const unlike = 0.02

// side is one type in an hour.
type side struct {
	kind                int
	count               float64
	mean, squares, free float64
	busy, busyCount     float64
	request             float64
}

// meanBusy returns how busy the nodes were; unknown if that is not known.
func (s *side) meanBusy(unknown float64) float64 {
	if s.busyCount == 0 {
		return unknown
	}
	return s.busy / s.busyCount
}

// difference is how two types differ in an hour, in all zones.
type difference struct {
	kinds [2]int
	// weight is the weight of the zones: the inverse of the variance of the difference, per variance between replicas.
	weight, mean, load float64
	// sides are the types, summed over zones: the request is the mean, and the mean is not known.
	sides [2]side
}

type differences []difference

// add adds a zone in which two types, of which a is the first, were compared.
func (all *differences) add(a, b *side, load float64) {
	var d *difference
	for i := range *all {
		if x := &(*all)[i]; x.kinds == [2]int{a.kind, b.kind} {
			d = x
		}
	}
	if d == nil {
		*all = append(*all, difference{kinds: [2]int{a.kind, b.kind}})
		d = &(*all)[len(*all)-1]
	}
	weight := a.count * b.count / (a.count + b.count)
	d.weight += weight
	d.mean += (b.mean - a.mean - d.mean) * weight / d.weight
	d.load += (load - d.load) * weight / d.weight
	for i, s := range [2]*side{a, b} {
		x := &d.sides[i]
		x.count += s.count
		x.request += (s.request - x.request) * s.count / x.count
		x.squares += s.squares
		x.free += s.count - 1
		x.busy += s.busy
		x.busyCount += s.busyCount
	}
}

// add adds an hour.
func (c *Cell) add(d *difference, at int64) {
	c.seen = at
	c.Slope.add(d.load, d.mean, at)
	if !c.upper(d.load) {
		return
	}
	a, b := &d.sides[0], &d.sides[1]
	if a.request > 0 && b.request > 0 && math.Abs(math.Log(b.request/a.request)) > unlike {
		c.Unlike.add(d.mean)
	} else {
		if c.Unlike.N >= 1 {
			c.Like.scale(decay(1))
		}
		c.Like.add(d.mean)
	}
	part := 1 / c.Hours()
	c.Spread += part * ((a.squares+b.squares)/(a.free+b.free) - c.Spread)
	for i, s := range [2]*side{a, b} {
		c.Replicas[i] += part * (s.count - c.Replicas[i])
		c.Busy[i] += part * (s.meanBusy(c.Busy[i]) - c.Busy[i])
	}
}

// Hours returns the weight of all hours that count.
func (c *Cell) Hours() float64 { return c.Like.N + c.Unlike.N }

// scale multiplies the weight of the past. The evidence from like sizes stays while sizes are unlike: it shows
// whether they matter.
func (c *Cell) scale(by float64) {
	if c.Unlike.N < 1 {
		c.Like.scale(by)
	}
	c.Unlike.scale(by)
	c.Slope.scale(by)
}

// upper reports whether a load is in the upper half, and moves the median toward it.
func (c *Cell) upper(load float64) bool {
	const follow = 1.0 / 24 // A day.
	if c.Swing == 0 {
		c.Middle, c.Swing = load, 0.1
		return true
	}
	above := load >= c.Middle
	c.Swing += follow * (math.Abs(load-c.Middle) - c.Swing)
	c.Swing = max(c.Swing, 1e-3)
	c.Middle += math.Copysign(follow*c.Swing, load-c.Middle)
	return above
}
