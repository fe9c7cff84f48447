package productiontest

import (
	"math"

	"github.com/workload-resizer/workload-resizer/ratios/production/evidence"
)

// step adds an hour of all workloads.
func (c *Cluster) step(e *evidence.Evidence) {
	c.hour++
	clock := 2 * math.Pi * float64(c.hour%24) / 24
	for _, t := range c.types {
		for _, n := range t.nodes {
			n.now = min(max(n.packed*(1+0.3*math.Sin(clock))+0.05*c.random.NormFloat64(), 0), 1)
		}
	}
	for _, w := range c.Workloads {
		e.Add(c.hourOf(w, clock))
	}
}

// noise is the standard deviation of an hour's mean of minutes.
func (s *Settings) noise() float64 {
	return s.Minute * math.Sqrt((1+s.Follows)/(1-s.Follows)/60)
}

// hourOf returns an hour of a workload.
func (c *Cluster) hourOf(w *Workload, clock float64) evidence.Hour {
	w.wander = 0.9*w.wander + 0.05*w.random.NormFloat64()
	swing := w.swing*math.Sin(clock+w.phase) + w.wander
	lasting := c.s.Lasting
	if w.Bias == Sticky {
		lasting = 100
	}
	keep := math.Exp(-1 / lasting)
	renew := math.Sqrt(1 - keep*keep)
	noise := c.s.noise()
	c.move(w)
	active := w.active(c.hour)
	const days = 72
	w.drift = w.drift*(1-1.0/days) + c.s.Drift*math.Sqrt(2.0/days)*w.random.NormFloat64()
	half := c.hour-began > int64(c.s.Days)*12
	for _, r := range w.replicas {
		r.age++
		r.speed = c.types[r.kind].speed + w.deviations[r.kind] + r.node.deviation
		spread := c.s.Replicas
		if w.Bias == Sticky {
			spread *= 2
		}
		r.deviation = keep*r.deviation + renew*spread*w.random.NormFloat64()
		if w.Bias == Resized && half {
			r.request = math.Exp(-c.types[r.kind].speed)
		}
		if c.Applied != nil && !c.Alike {
			r.request = 1 / c.Applied[r.kind]
		}
	}
	w.shares(swing, w.Bias == Resized && (half || c.Applied != nil && !c.Alike))
	h := evidence.Hour{Workload: w.Key, Namespace: w.Namespace, At: c.hour, Replicas: make([]evidence.Replica, 0, len(w.replicas))}
	rollout := w.Bias == Scaled && c.hour%36 < 2
	for i, r := range w.replicas {
		if active >= 0 && r.kind != active {
			continue
		}
		log := w.drift + swing - r.speed + math.Log(r.share) + r.deviation + r.led + c.s.Slowdown*(r.node.now-0.5) + noise*w.random.NormFloat64()
		usage := math.Exp(log)
		x := evidence.Replica{
			Node: r.node.key, NodeType: c.types[r.kind].name, Zone: r.node.zone, CPUModel: r.node.model,
			Request: r.request, Busy: r.node.now, Whole: true,
		}
		if c.Blind {
			x.Busy = math.NaN()
		}
		switch w.Bias {
		case Spinning:
			usage += 0.5
		case Warming:
			if r.kind == w.fastest() && r.age >= 6 {
				r.age = 0
			}
			if r.age == 0 {
				usage, x.Whole = 1.3*usage, false
			}
		case Throttled:
			if limit := 1.3; usage > limit {
				usage, x.Throttled = limit, true
			}
		case Scaled:
			if rollout && i%2 == 0 {
				usage *= 0.8
				x.Revision = 1
			}
			if (int(c.hour)+i)%5 == 0 {
				usage, x.Whole = usage*w.random.Float64(), false
			}
		}
		if w.Known {
			x.Work = 1000 * math.Exp(swing+r.led) * r.share
		}
		if active >= 0 && r.age <= 1 {
			x.Whole = false
		}
		x.CPU = usage * math.Exp(w.level)
		h.Replicas = append(h.Replicas, x)
	}
	return h
}

// fastest returns the fastest type of the workload.
func (w *Workload) fastest() int {
	fastest := 0
	for _, r := range w.replicas {
		fastest = max(fastest, r.kind)
	}
	return fastest
}
