package productiontest

import (
	"math"
	"slices"
)

// Bias is a way in which a workload misleads.
type Bias string

// The ways in which workloads mislead.
const (
	// Balanced: under load, its load balancer sends less to slower replicas.
	Balanced Bias = "balanced"
	// Pulling: its replicas pull work from a queue when they have time.
	Pulling Bias = "pulling"
	// Led: one replica does more than the others, mostly one on the slowest type.
	Led Bias = "led"
	// Sharded: its replicas serve shards of different size.
	Sharded Bias = "sharded"
	// Sticky: its connections last for days.
	Sticky Bias = "sticky"
	// Warming: its replicas on the fastest type start every few hours, and then use more.
	Warming Bias = "warming"
	// Spinning: a third of its usage grows with time, not with work.
	Spinning Bias = "spinning"
	// Throttled: limits throttle its replicas, mostly on slow types.
	Throttled Bias = "throttled"
	// Scaled: replicas come and go within hours, and versions that use less replace others.
	Scaled Bias = "scaled"
	// Resized: after half of the time, replicas on faster types are smaller, and smaller ones get less of the work.
	Resized Bias = "resized"
)

// Biases are all biases.
var Biases = []Bias{Balanced, Pulling, Led, Sharded, Sticky, Warming, Spinning, Throttled, Scaled, Resized}

// lead gives the replicas of biased workloads what stays with them.
func (w *Workload) lead() {
	switch w.Bias {
	case Led:
		slowest := slices.MinFunc(w.replicas, func(a, b *replica) int { return a.kind - b.kind })
		leader := w.replicas[w.random.IntN(len(w.replicas))]
		if w.random.Float64() < 0.7 {
			leader = slowest
		}
		leader.led = math.Log(2.5)
	case Sharded:
		for _, r := range w.replicas {
			r.led = 0.7 * w.random.NormFloat64()
		}
	}
}

// shares moves work between replicas, depending on the load relative to its mean.
func (w *Workload) shares(load float64, resized bool) {
	depends := 0.0
	switch w.Bias {
	case Balanced:
		depends = 1 / (1 + math.Exp(-load/0.3))
	case Pulling:
		depends = 1
	}
	sum := 0.0
	for _, r := range w.replicas {
		r.share = math.Exp(depends * r.speed)
		if resized {
			r.share *= math.Sqrt(r.request)
		}
		sum += r.share
	}
	for _, r := range w.replicas {
		r.share *= float64(len(w.replicas)) / sum
	}
}
