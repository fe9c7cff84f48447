package evidence

import "math"

// Load is how much load a workload has: the mean of the logarithms of what its replicas use, or of the work that they do if it is known.
type Load struct {
	// Middle is the median, and Swing the mean distance from it.
	Middle, Swing float64
}

// loadOf returns the load of replicas. Known means that their work is known.
func loadOf(replicas []Replica, known bool) float64 {
	sum := 0.0
	for i := range replicas {
		if known {
			sum += math.Log(replicas[i].Work)
		} else {
			sum += math.Log(replicas[i].CPU)
		}
	}
	return sum / float64(len(replicas))
}

// upper reports whether a load is in the upper half, and moves the median toward it.
func (l *Load) upper(load float64) bool {
	const follow = 1.0 / 24 // A day.
	if l.Swing == 0 {
		l.Middle, l.Swing = load, 0.1
		return true
	}
	above := load >= l.Middle
	l.Swing += follow * (math.Abs(load-l.Middle) - l.Swing)
	l.Swing = max(l.Swing, 1e-3)
	l.Middle += math.Copysign(follow*l.Swing, load-l.Middle)
	return above
}
