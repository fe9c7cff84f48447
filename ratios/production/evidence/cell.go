package evidence

import "math"

// Cell compares two node types within zones, for one workload. Differences are the second type's logarithm less
// the first one's: below 0, the second type uses less, and so is faster.
type Cell struct {
	// A and B are the types, A below B.
	A, B int
	// Like is the difference in hours of the upper half of load in which the replicas of both types
	// request the same, and Unlike in the others. Sizes is the mean difference between the logarithms of the
	// requests in the others. Hours whose work is known are all in Like: who gets how much of it does not matter then.
	Like, Unlike Compared
	Sizes        float64
	// Change is how the difference changed when sizes became unlike.
	Change Change
	// Apart is the difference of the cost of a unit of work between days on which the workload ran on one of the types; a move
	// between types counts 1.
	Apart Compared
	// Spread are the variances between replicas of A, and of B, in the same hour, and Replicas the mean numbers of them.
	Spread, Replicas [2]float64
	// Uses is how many cores the replicas use on the types.
	Uses Uses
	// Slope is how the difference grows with load.
	Slope Slope
	// Seen is the last hour in which the types were compared.
	Seen int64
}

// Compared is how two types differ, over hours.
type Compared struct {
	Moments
	// Busy are the mean shares of the nodes of A and B that others kept busy; below 0 if that is not known.
	Busy [2]float64
}

// unknownBusy is the share that is not known.
const unknownBusy = -1

// Change is how a difference changed in the first hours with unlike sizes, compared with the hours with like sizes before. Later, the
// types may differ for other reasons. It is what a load balancer does about sizes, and does not lose weight with time.
type Change struct {
	// Hours is the number of those hours, Mean the mean change, and Sizes the mean difference between the logarithms of the requests.
	Hours, Mean, Sizes float64
}

// firstHours is how many hours with unlike sizes show a change, of which each has as many hours of its own with like sizes to
// be compared with, or half as many.
const firstHours = 2 * hoursPerDay

// unlike is by how much requests differ that are unlike. A resize by less moves no share of the work that could be seen.
const unlike = 0.02

// side is one type in an hour.
type side struct {
	// first is the place of its first replica.
	kind, first int
	count       float64
	// mean is the mean of the replicas, and middle the one that is compared: see center.
	mean, middle, squares, free float64
	busy, busyCount             float64
	// request is the mean request, and requested means that all are known.
	request   float64
	requested bool
}

// difference is how two types differ in an hour, in all zones.
type difference struct {
	kinds [2]int
	// weight is the weight of the zones: the inverse of the variance of the difference, per variance between replicas.
	weight, mean float64
	// sides are the types, summed over zones: the request is the mean, and the other means are not known.
	sides [2]side
}

type differences []difference

// add adds a zone in which two types, of which a is the first, were compared. It returns the weight of that.
func (all *differences) add(a, b *side) float64 {
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
	d.mean += (b.middle - a.middle - d.mean) * weight / d.weight
	for i, s := range [2]*side{a, b} {
		x := &d.sides[i]
		x.requested = s.requested && (x.requested || x.count == 0)
		x.count += s.count
		x.request += (s.request - x.request) * s.count / x.count
		x.squares += s.squares
		x.free += s.count - 1
		x.busy += s.busy
		x.busyCount += s.busyCount
	}
	return weight
}

// add adds an hour, which is in the upper half of load or not. Known means that the work of replicas is known.
func (c *Cell) add(d *difference, load float64, upper, known bool, at int64) {
	c.Seen = at
	if !known {
		c.Slope.add(load, d.mean, at)
	}
	if !upper {
		return
	}
	compared := &c.Like
	if sizes := d.sizes(); math.Abs(sizes) > unlike && !known {
		compared = &c.Unlike
		c.Sizes += (sizes - c.Sizes) / (c.Unlike.N + 1)
		c.change(d.mean, sizes)
	}
	compared.add(d.mean, [2]float64{d.sides[0].meanBusy(), d.sides[1].meanBusy()})
	part := 1 / c.Hours()
	for i := range d.sides {
		s := &d.sides[i]
		c.Spread[i] += part * (s.squares/s.free - c.Spread[i])
		c.Replicas[i] += part * (s.count - c.Replicas[i])
	}
}

// change adds an hour with unlike sizes to the change, if it is one of the first.
func (c *Cell) change(difference, sizes float64) {
	x := &c.Change
	if c.Like.N < firstHours/2 || x.Hours >= firstHours {
		return
	}
	x.Hours++
	x.Mean += (difference - c.Like.Mean - x.Mean) / x.Hours
	x.Sizes += (sizes - x.Sizes) / x.Hours
}

// add adds an hour or a move.
func (c *Compared) add(difference float64, busy [2]float64) {
	if c.N == 0 {
		c.Busy = [2]float64{unknownBusy, unknownBusy}
	}
	c.Moments.add(difference)
	for i, b := range busy {
		switch {
		case b < 0:
		case c.Busy[i] < 0:
			c.Busy[i] = b
		default:
			c.Busy[i] += (b - c.Busy[i]) / c.N
		}
	}
}

// meanBusy returns how busy the nodes were; below 0 if that is not known.
func (s *side) meanBusy() float64 {
	if s.busyCount == 0 {
		return unknownBusy
	}
	return s.busy / s.busyCount
}

// sizes returns the difference between the logarithms of the requests; 0 if they are not known.
func (d *difference) sizes() float64 {
	if !d.sides[0].requested || !d.sides[1].requested {
		return 0
	}
	return math.Log(d.sides[1].request / d.sides[0].request)
}

// Hours returns the weight of all hours that count.
func (c *Cell) Hours() float64 { return c.Like.N + c.Unlike.N }

// weight returns the weight of all hours, of which a move has about a day.
func (c *Cell) weight() float64 { return c.Hours() + hoursPerDay*c.Apart.N }

// scale multiplies the weight of the past.
func (c *Cell) scale(by float64) {
	c.Like.scale(by)
	c.Unlike.scale(by)
	c.Apart.scale(by)
	c.Slope.scale(by)
	c.Uses.N *= by
}
