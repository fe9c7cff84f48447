package evidence

import "math"

// Cell compares two node types within zones, for one workload. Differences are the second type's logarithm less
// the first one's: below 0, the second type uses less, and so is faster.
type Cell struct {
	// A and B are the types, A below B.
	A, B int
	// Like is the difference in hours of the upper half of load in which the replicas of both types
	// request the same, and Unlike in the others. Sizes is the mean difference between the logarithms of the
	// requests in the others.
	Like, Unlike Compared
	Sizes        float64
	// Spread are the variances between replicas of A, and of B, in the same hour, and Replicas the mean numbers of them.
	Spread, Replicas [2]float64
	// Slope is how the difference grows with load.
	Slope Slope
	// seen is the last hour. It is not stored.
	seen int64
}

// Compared is how two types differ, over hours.
type Compared struct {
	Moments
	// Busy are the mean shares of the nodes of A and B that others kept busy.
	Busy [2]float64
}

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
	request                     float64
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
	weight, mean float64
	// sides are the types, summed over zones: the request is the mean, and the other means are not known.
	sides [2]side
}

type differences []difference

// add adds a zone in which two types, of which a is the first, were compared.
func (all *differences) add(a, b *side) {
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
		x.count += s.count
		x.request += (s.request - x.request) * s.count / x.count
		x.squares += s.squares
		x.free += s.count - 1
		x.busy += s.busy
		x.busyCount += s.busyCount
	}
}

// add adds an hour, which is in the upper half of load or not.
func (c *Cell) add(d *difference, load float64, upper bool, at int64) {
	c.seen = at
	c.Slope.add(load, d.mean, at)
	if !upper {
		return
	}
	sizes := d.sizes()
	compared := &c.Like
	if math.Abs(sizes) > unlike {
		compared = &c.Unlike
		c.Sizes += (sizes - c.Sizes) / (c.Unlike.N + 1)
	} else if c.Unlike.N >= 1 {
		c.Like.scale(decay(1))
	}
	compared.add(d.mean)
	part := 1 / c.Hours()
	for i := range d.sides {
		s := &d.sides[i]
		compared.Busy[i] += (s.meanBusy(compared.Busy[i]) - compared.Busy[i]) / compared.N
		c.Spread[i] += part * (s.squares/s.free - c.Spread[i])
		c.Replicas[i] += part * (s.count - c.Replicas[i])
	}
}

// sizes returns the difference between the logarithms of the requests; 0 if they are not known.
func (d *difference) sizes() float64 {
	if a, b := d.sides[0].request, d.sides[1].request; a > 0 && b > 0 {
		return math.Log(b / a)
	}
	return 0
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
