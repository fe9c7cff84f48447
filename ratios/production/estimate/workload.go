package estimate

import (
	"cmp"
	"maps"
	"slices"

	"github.com/workload-resizer/workload-resizer/ratios/production/evidence"
)

// workload is what is known of a workload, in the form that the model needs.
type workload struct {
	key, namespace evidence.Key
	// votes is how much it counts: see vote.
	votes float64
	// cores are, by type, how many its replicas use there together, and each is how many each uses in hours of the upper half of load.
	cores map[int]float64
	each  float64
	known bool
	// compared are all pairs of types that it compares, and pairs are those that are connected with the baseline.
	compared, pairs []pair
	// unlike are the hours of pairs in which sizes were unlike, unless they are merged with the others.
	unlike []pair
	merged bool
	// unsure is how probable it is that it follows sizes, as far as that is due to what is not known of all workloads; 0 if it is known well enough
	// that it does not.
	unsure float64
	sizes  sizes
	// teaches is how certain it is that the workload does not mislead, apart from what most workloads do.
	teaches float64
	// spread is the variance between replicas of one type, and kinds the same for each type.
	spread float64
	kinds  []spread
	// odd means that its replicas differ by more than usual.
	odd bool
	// throttled is the share of the hours in which replicas were throttled.
	hours, days, throttled float64
	// held is why the workload does not count, and judged the same if only the comparison with others shows it.
	held, judged Reason
	// honest is the probability that the workload does not mislead.
	honest float64
	// place is its place in the model; −1 if it has none.
	place int
}

// pair is the comparison of two types within zones.
type pair struct {
	a, b int
	// ratio is the logarithm of the ratio of b to a, and over its variance over hours.
	ratio, over float64
	hours       float64
	replicas    [2]float64
	// sizes is the mean difference between the logarithms of the requests.
	sizes float64
	// apart is the variance of the ratio if the types were compared on different days; 0 if in the same hours.
	apart float64
	// slope is how the ratio grows with load, with a weight and the sum of squared deviations over days.
	slope, weight, squares, days float64
}

// each is the variance of a difference in an hour, per variance between replicas.
func (p *pair) each() float64 { return 1/p.replicas[0] + 1/p.replicas[1] }

// latestOf returns the last hour of any workload.
func latestOf(e *evidence.Evidence) int64 {
	latest := int64(0)
	for _, w := range e.Workloads {
		latest = max(latest, w.Last)
	}
	return latest
}

// comparedIn returns the last hour in which any workload compared types; 0 if there is none.
func comparedIn(e *evidence.Evidence) int64 {
	last := int64(0)
	for _, w := range e.Workloads {
		for i := range w.Cells {
			last = max(last, w.Cells[i].Seen)
		}
	}
	return last
}

// workloads returns the workloads by key, and corrects their differences by how busy their nodes were. Workloads that ended before the
// latest hour count less.
func workloads(e *evidence.Evidence, slow []slowdown, b *busy, latest int64, of use, s *Settings) []workload {
	keys := sorted(e.Workloads)
	all := make([]workload, 0, len(keys))
	usual := usualMove(e)
	for _, key := range keys {
		w := e.Workloads[key]
		fade := evidence.Decay(latest - w.Last)
		x := workload{key: key, namespace: w.Namespace, cores: coresOf(w, fade), each: w.Each, known: w.Known, honest: 1, place: -1}
		if x.namespace == 0 {
			x.namespace = key
		}
		switch {
		case w.Pulls && !w.Known:
			x.held = Pulls
		case x.each < s.MinCPU:
			x.held = TooLittleCPU
		}
		most := 0.0
		for i := range w.Cells {
			c := &w.Cells[i]
			x.days = max(x.days, c.Slope.Days*fade)
			most = max(most, c.Hours())
		}
		x.throttled = w.Throttled / max(w.Throttled+most, 1)
		x.kinds = spreadsOf(w.Cells)
		x.spread = pooled(x.kinds)
		x.sizes = sizesOf(w.Cells, x.spread, slow)
		x.compare(w.Cells, slow, b, fade, usual, s)
		all = append(all, x)
	}
	vote(all)
	var spreads [2]weighted // Of workloads whose work is not known, and of others.
	for i := range all {
		if x := &all[i]; len(x.kinds) > 0 && x.held != TooLittleCPU {
			spreads[x.perWork()].add(x.spread, x.votes)
		}
	}
	typical := [2]float64{spreads[0].median(), spreads[1].median()}
	for i := range all {
		x := &all[i]
		x.odd = slices.ContainsFunc(x.kinds, func(k spread) bool { return k.above(typical[x.perWork()]) })
	}
	recheck(all, of, s)
	return all
}

// perWork returns 1 if usage per unit of work is compared, and 0 otherwise.
func (x *workload) perWork() int {
	if x.known {
		return 1
	}
	return 0
}

// recheck checks all workloads.
func recheck(all []workload, of use, s *Settings) {
	for i := range all {
		all[i].check(of, s)
	}
}

// sorted returns the keys in order, so that sums are the same each time.
func sorted[V any](m map[evidence.Key]V) []evidence.Key {
	return slices.SortedFunc(maps.Keys(m), func(a, b evidence.Key) int { return cmp.Compare(a, b) })
}

// coresOf returns how many cores a workload uses on each type where it is compared. A type may be in several cells: that which is known for longest
// says it best.
func coresOf(w *evidence.Workload, fade float64) map[int]float64 {
	cores, longest, replicas := make(map[int]float64), make(map[int]float64), make(map[int]float64)
	moves := true
	for i := range w.Cells {
		c := &w.Cells[i]
		moves = moves && c.Hours() == 0
		for side, t := range [2]int{c.A, c.B} {
			if _, known := cores[t]; !known || c.Uses.N > longest[t] {
				cores[t], longest[t] = fade*c.Uses.Cores[side], c.Uses.N
			}
			replicas[t] = max(replicas[t], c.Replicas[side])
		}
	}
	if moves {
		divide(cores, replicas)
	}
	return cores
}

// divide divides cores between types by replicas. A workload that runs on one type at a time was on some for longer by chance.
func divide(cores, replicas map[int]float64) {
	sum, count := 0.0, 0.0
	for _, t := range slices.Sorted(maps.Keys(cores)) {
		sum += cores[t]
		count += replicas[t]
	}
	for t := range cores {
		cores[t] = sum * replicas[t] / max(count, 1)
	}
}

// lasting is for how many hours deviations of replicas last, where the evidence does not tell.
const lasting = 12.0

// compare fills the pairs. Usual is how much moves usually differ.
func (x *workload) compare(cells []evidence.Cell, slow []slowdown, b *busy, fade, usual float64, s *Settings) {
	for i := range cells {
		c := &cells[i]
		if c.Apart.N*movedHours > c.Like.N && c.Like.N*fade < s.MinHours {
			x.compared = append(x.compared, apart(c, b.correct(c, &c.Apart, slow), fade, usual))
			continue
		}
		for j, of := range [2]*evidence.Compared{&c.Like, &c.Unlike} {
			if of.N <= 0 {
				continue
			}
			m := b.correct(c, of, slow)
			p := pair{
				a: c.A, b: c.B, ratio: -m.Mean, over: m.Squares / max(m.N-1, 1), hours: m.N * fade, replicas: c.Replicas,
				slope: -c.Slope.Mean, weight: c.Slope.Weight, squares: c.Slope.Squares, days: c.Slope.Days,
			}
			if j == 0 {
				x.compared = append(x.compared, p)
			} else {
				p.sizes = c.Sizes
				x.unlike = append(x.unlike, p)
			}
		}
	}
}

const (
	// movesDiffer is the standard deviation of the difference between what a unit of work costs on one day and on another, where too few moves
	// tell. It counts as movesWeight of them, both for all workloads together, and that of all for each.
	movesDiffer, movesWeight = 0.12, 4
	// movedHours is how many hours of the upper half of load a day has.
	movedHours = 12
)

// apart returns the comparison of two types on different days. How certain it is follows from how moves differ: they
// change the replicas, too.
func apart(c *evidence.Cell, m evidence.Moments, fade, usual float64) pair {
	variance := (m.Squares + movesWeight*usual) / (max(m.N-1, 0) + movesWeight)
	return pair{
		a: c.A, b: c.B, ratio: -m.Mean, over: m.Squares / max(m.N-1, 1), hours: movedHours * m.N * fade, replicas: c.Replicas,
		apart: variance / (m.N * fade),
	}
}

// usualMove returns the variance of the difference between two days, of all workloads.
func usualMove(e *evidence.Evidence) float64 {
	squares, freedom := movesWeight*movesDiffer*movesDiffer, float64(movesWeight)
	for _, key := range sorted(e.Workloads) {
		w := e.Workloads[key]
		for i := range w.Cells {
			m := &w.Cells[i].Apart.Moments
			if m.N > 1 {
				squares += m.Squares
				freedom += m.N - 1
			}
		}
	}
	return squares / freedom
}

// add adds the hours of a pair to those of the same pair.
func (x *workload) add(p pair) {
	at := slices.IndexFunc(x.compared, func(own pair) bool { return own.a == p.a && own.b == p.b })
	if at < 0 {
		x.compared = append(x.compared, p)
		return
	}
	own := &x.compared[at]
	sum := own.hours + p.hours
	own.ratio += (p.ratio - own.ratio) * p.hours / sum
	own.over += (p.over - own.over) * p.hours / sum
	own.sizes += (p.sizes - own.sizes) * p.hours / sum
	own.hours = sum
}

// check holds back what one workload by itself shows to mislead.
func (x *workload) check(of use, s *Settings) {
	x.hours = 0
	longest := 0.0
	for i := range x.compared {
		x.hours += x.compared[i].hours
		longest = max(longest, x.compared[i].hours)
	}
	least, steady := s.MinHours, x.days < s.MinDays && !x.known
	if of == shown {
		// Its load may still vary, unless there were days enough for that. The first and the last may not be whole.
		least, steady = s.FirstHours, steady && longest >= movedHours*(s.MinDays+2)
	}
	switch {
	case x.held == Pulls:
	case x.each < s.MinCPU:
		x.held = TooLittleCPU
	case x.throttled > s.MaxThrottled:
		x.held = Throttled
	case x.hours < least && len(x.unlike) > 0:
		x.held = SizesUnlike
	case x.hours < least:
		x.held = TooFewHours
	case x.odd:
		x.held = ReplicasUnlike
	case steady:
		x.held = LoadSteady
	default:
		x.held = ""
	}
}

// weighted are numbers with weights.
type weighted []struct{ number, weight float64 }

func (x *weighted) add(number, weight float64) {
	*x = append(*x, struct{ number, weight float64 }{number, weight})
}

// median returns the weighted median; 0 without any numbers.
func (x weighted) median() float64 {
	slices.SortFunc(x, func(a, b struct{ number, weight float64 }) int { return cmp.Compare(a.number, b.number) })
	sum := 0.0
	for i := range x {
		sum += x[i].weight
	}
	below := 0.0
	for i := range x {
		below += x[i].weight
		switch {
		case below > sum/2*(1+1e-9):
			return x[i].number
		case below >= sum/2*(1-1e-9) && i+1 < len(x):
			return (x[i].number + x[i+1].number) / 2
		}
	}
	return 0
}
