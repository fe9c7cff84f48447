package estimate

import "github.com/workload-resizer/workload-resizer/ratios/production/evidence"

// busy is how busy nodes are where that is known. It is unknown on types whose nodes have no agent, for example.
type busy struct {
	// middle is the mean of all nodes of which it is known, and kinds has that of each type less the middle, and the share of the
	// hours in which it is known.
	middle float64
	kinds  []busyKind
	// variance is how much types differ.
	variance float64
}

type busyKind struct{ more, known float64 }

const (
	// busyTypes is by how much types differ in how busy they are, where too few are known to tell. It counts as busyWeight types.
	busyTypes, busyWeight = 0.1, 3
	// slowest is the largest mean slowdown that is assumed where it is not known how busy nodes are.
	slowest = 0.3
)

func busyOf(e *evidence.Evidence, latest int64) busy {
	sums, weights, hours := make([]float64, len(e.Types)), make([]float64, len(e.Types)), make([]float64, len(e.Types))
	sum, weight := 0.0, 0.0
	for _, key := range sorted(e.Workloads) {
		w := e.Workloads[key]
		fade := evidence.Decay(latest - w.Last)
		for i := range w.Cells {
			c := &w.Cells[i]
			for j, x := range [3]*evidence.Compared{&c.Like, &c.Unlike, &c.Apart} {
				n := x.N * fade * [3]float64{1, 1, movedHours}[j]
				for side, t := range [2]int{c.A, c.B} {
					hours[t] += n
					if x.Busy[side] >= 0 {
						sums[t] += x.Busy[side] * n
						weights[t] += n
						sum += x.Busy[side] * n
						weight += n
					}
				}
			}
		}
	}
	b := busy{kinds: make([]busyKind, len(e.Types))}
	if weight > 0 {
		b.middle = sum / weight
	}
	squares, types := busyWeight*busyTypes*busyTypes, float64(busyWeight)
	for t := range sums {
		if weights[t] > 0 {
			b.kinds[t] = busyKind{sums[t]/weights[t] - b.middle, weights[t] / hours[t]}
			squares += b.kinds[t].more * b.kinds[t].more
			types++
		}
	}
	b.variance = squares / types
	return b
}

// correct returns the difference of a cell as if all nodes had been as busy as the middle. Nodes of which it is not known how busy
// they are count as if they were: that is most probable.
func (b *busy) correct(c *evidence.Cell, of *evidence.Compared, slow []slowdown) evidence.Moments {
	m := of.Moments
	for side, t := range [2]int{c.A, c.B} {
		if of.Busy[side] >= 0 {
			m.Mean -= float64(2*side-1) * slow[t].by * (of.Busy[side] - b.middle)
		}
	}
	return m
}

// uncertain returns the variance of a type that is due to how busy its nodes are: the slowdown is not known exactly, and maybe not
// how busy they are.
func (b *busy) uncertain(t int, slow []slowdown) float64 {
	return slow[t].variance*b.kinds[t].more*b.kinds[t].more + b.unknown(t, slow)
}

// unknown returns the part of it that is due to hours in which it is not known how busy nodes are.
func (b *busy) unknown(t int, slow []slowdown) float64 {
	unknown := 1 - b.kinds[t].known
	return unknown * unknown * b.variance * min(slow[t].by*slow[t].by+slow[t].variance, slowest*slowest)
}
