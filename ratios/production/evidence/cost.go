package evidence

import (
	"cmp"
	"math"
	"slices"
)

// Cost is what a unit of work cost on a type on a day. No load balancer has to be fair for it, so that days on which a workload ran on
// one type can be compared with days on which it ran on another.
type Cost struct {
	Type int
	// Day is in days since 1970.
	Day int64
	// Mean is the mean logarithm of cores per unit of work in the hours of the upper half of load.
	Mean float64
	// Busy is the mean share of the nodes that others kept busy; below 0 if that is not known.
	Busy float64
	// Replicas is the mean number of replicas, and Spread the variance between them.
	Replicas, Spread float64
	// Revision is the version of the workload: versions do unlike work. It is the lower half of the key.
	Revision uint32
	hours    float64
}

const (
	// longestMove is how many days may lie between days that are compared: what a unit of work is changes with time.
	longestMove = 3
	// leastHours is how many hours of a day show the cost of that day.
	leastHours = 4
)

// spend adds the replicas of an hour, sorted by zone and type, to the costs of the day.
func (e *Evidence) spend(w *Workload, replicas []Replica, upper bool, at int64) {
	day := at / hoursPerDay
	if len(w.open) > 0 && w.open[0].Day != day {
		w.closeDay()
	}
	if !upper {
		return
	}
	byType := slices.Clone(replicas)
	slices.SortStableFunc(byType, func(a, b Replica) int { return cmp.Compare(a.NodeType, b.NodeType) })
	for i, j := 0, 0; i < len(byType); i = j {
		mean, squares := 0.0, 0.0
		for j = i; j < len(byType) && byType[j].NodeType == byType[i].NodeType; j++ {
			x := math.Log(byType[j].CPU) - math.Log(byType[j].Work)
			d := x - mean
			mean += d / float64(j-i+1)
			squares += d * (x - mean)
		}
		kind := e.kind(byType[i].NodeType)
		if j-i < minReplicas || kind < 0 {
			continue
		}
		c := w.today(kind, day, uint32(byType[i].Revision))
		c.hours++
		if s := sideOf(kind, byType[i:j], make([]float64, j-i)); s.busyCount > 0 && c.Busy >= 0 {
			c.Busy += (s.meanBusy() - c.Busy) / c.hours
		} else {
			c.Busy = unknownBusy
		}
		c.Mean += (mean - c.Mean) / c.hours
		c.Replicas += (float64(j-i) - c.Replicas) / c.hours
		c.Spread += (squares/float64(j-i-1) - c.Spread) / c.hours
	}
}

// today returns the cost of a type on the current day, which begins again with a new version.
func (w *Workload) today(kind int, day int64, revision uint32) *Cost {
	at := slices.IndexFunc(w.open, func(c Cost) bool { return c.Type == kind })
	if at < 0 {
		w.open = append(w.open, Cost{Type: kind, Day: day, Revision: revision})
		at = len(w.open) - 1
	}
	if c := &w.open[at]; c.Revision != revision {
		*c = Cost{Type: kind, Day: day, Revision: revision}
	}
	return &w.open[at]
}

// closeDay compares the types of the day that ends with each other, and with those that the workload has left since it last
// ran on them. So each move counts once.
func (w *Workload) closeDay() {
	ended := slices.DeleteFunc(w.open, func(c Cost) bool { return c.hours < leastHours })
	for i := range ended {
		now := &ended[i]
		for j := range ended[:i] {
			w.move(&ended[j], now)
		}
		before := int64(-1)
		if own := costOf(w.Costs, now.Type); own != nil {
			before = own.Day
		}
		for j := range w.Costs {
			if past := &w.Costs[j]; past.Type != now.Type && past.Day > before && costOf(ended, past.Type) == nil {
				w.move(past, now)
			}
		}
	}
	for i := range ended {
		if own := costOf(w.Costs, ended[i].Type); own != nil {
			*own = ended[i]
		} else {
			w.Costs = append(w.Costs, ended[i])
		}
	}
	if len(w.Costs) > MostCosts {
		slices.SortStableFunc(w.Costs, func(a, b Cost) int { return cmp.Compare(b.Day, a.Day) })
		w.Costs = w.Costs[:MostCosts]
	}
	w.open = nil
}

// moves reports whether days on a type were compared with days on others.
func (w *Workload) moves(kind int) bool {
	return slices.ContainsFunc(w.Cells, func(c Cell) bool { return c.Apart.N > 0 && (c.A == kind || c.B == kind) })
}

func costOf(costs []Cost, kind int) *Cost {
	if i := slices.IndexFunc(costs, func(c Cost) bool { return c.Type == kind }); i >= 0 {
		return &costs[i]
	}
	return nil
}

// move compares a day on a type with a day on another.
func (w *Workload) move(past, now *Cost) {
	if now.Day-past.Day > longestMove || now.Revision != past.Revision {
		return
	}
	a, b := past, now
	if a.Type > b.Type {
		a, b = b, a
	}
	at := now.Day*hoursPerDay + hoursPerDay - 1
	c := w.cell([2]int{a.Type, b.Type}, at)
	if c == nil {
		return
	}
	c.Seen = at
	c.Apart.add(b.Mean-a.Mean, [2]float64{a.Busy, b.Busy})
	if c.Hours() == 0 {
		part := 1 / c.Apart.N
		for i, x := range [2]*Cost{a, b} {
			c.Spread[i] += part * (x.Spread - c.Spread[i])
			c.Replicas[i] += part * (x.Replicas - c.Replicas[i])
		}
	}
}
