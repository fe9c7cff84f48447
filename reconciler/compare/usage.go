package compare

import (
	"slices"
	"time"

	"github.com/workload-resizer/workload-resizer/ratios/production/evidence"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
)

// Sample is how much CPU a container used in some time.
type Sample struct {
	// At is when the measurement ended, and Length how long it took.
	At     time.Time
	Length time.Duration
	// Cores is the mean usage.
	Cores float64
	// Throttled is the share of the periods in which its limit throttled the container; below 0 if unknown.
	Throttled float64
}

const (
	// slot is the part of an hour that one sample is enough for.
	slot  = 5 * time.Minute
	slots = int(time.Hour / slot)
	// longest is the longest sample that counts: its mean would otherwise hide when the usage was.
	longest = 3 * slot
	// skew is how far clocks of nodes may be ahead.
	skew = time.Minute
	// much is the share of throttled periods from which a container would have used more CPU. The work of a few periods is done in the next ones.
	much = 0.05
	// nearLimit is the share of its limit above which usage may have been throttled if that is not known: usage varies within a sample.
	nearLimit = 0.8
	// mostContainers is of how many containers usage is kept at most. Those of finished pods are kept for up to two hours.
	mostContainers = 600_000
	// mostCores is how many cores a sample has at most.
	mostCores = 10_000
)

// usage is what a container used in the two hours that are not folded. There is one of each container in the cluster, so it has no pointers.
type usage struct {
	node evidence.Key
	// last is when the last sample ended that counts, in milliseconds since 1970.
	last int64
	// size is a hash of the CPU that the container was given, and restarts how often it had restarted: both when the last sample arrived.
	size     uint32
	restarts int32
	// hours has the hours by their number, modulo 2.
	hours [2]sums
}

// sums are about a container in an hour.
type sums struct {
	// cores is the integral of the usage over the time of the samples, in core seconds, and seconds is that time.
	// near is for how many seconds of it no source knows whether a limit throttled the container, which was near its limit.
	cores, seconds, near float32
	// covered has a bit for each slot in which there are samples.
	covered uint16
	flags
}

// flags are facts about a container in an hour.
type flags uint8

const (
	throttled flags = 1 << iota
	resized
	restarted
	// cold means that it restarted in the hour before.
	cold
	// told means that a source knows whether it was throttled.
	told
)

// wasThrottled reports whether a limit throttled the container, as far as it is known, or may have.
func (s *sums) wasThrottled() bool {
	return s.flags&throttled != 0 || s.flags&told == 0 && s.near > much*s.seconds
}

// partFor returns how many slots a part of an hour has, so that each has samples.
func partFor(every time.Duration) int {
	for part := 1; part < slots; part++ {
		if slots%part == 0 && time.Duration(part)*slot >= 2*every {
			return part
		}
	}
	return slots
}

// parts returns in how many parts of an hour there are samples.
func (c *Comparisons) parts(covered uint16) (n int) {
	for ; covered != 0; covered >>= c.part {
		if covered&(1<<c.part-1) != 0 {
			n++
		}
	}
	return n
}

// share returns the share of the hour in which there are samples.
func (c *Comparisons) share(s *sums) float64 {
	return float64(c.parts(s.covered)*c.part) / float64(slots)
}

// covers reports whether the samples are about the whole hour, except for at most ten minutes.
func (c *Comparisons) covers(s *sums) bool {
	lost := slots/c.part - c.parts(s.covered)
	return lost <= 0 || lost == 1 && c.part <= 2
}

// mean returns the mean usage in cores while there were samples.
func (s *sums) mean() float64 {
	if s.seconds == 0 {
		return 0
	}
	return float64(s.cores / s.seconds)
}

// Take takes a sample of a container of a pod. Repeated samples, and those of several sources, do not count twice. Those of hours that are folded
// do not count.
func (c *Comparisons) Take(of *pod.Pod, container string, s *Sample, now time.Time) {
	if s.Length <= 0 || s.Length > longest || !(s.Cores >= 0 && s.Cores <= mostCores) || s.At.After(now.Add(skew)) {
		return
	}
	is := containerOf(of, container)
	if is == nil {
		return
	}
	key := c.key(of, container)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open == 0 {
		c.open = hourOf(now)
	}
	if !c.collects(hourOf(s.At.Add(-time.Nanosecond))) {
		return // Even its end is in another hour.
	}
	u, known := c.usages[key]
	if !known && len(c.usages) >= c.most {
		return
	}
	size := sizeOf(is)
	if known {
		c.notice(&u, size, is.RestartCount(), hourOf(now))
	} else {
		u.node = evidence.KeyOf(of.Node())
	}
	u.size, u.restarts = size, is.RestartCount()
	c.tell(&u, s)
	limit := is.InForce().CPU.Limit
	c.add(&u, s, limit > 0 && 1000*s.Cores >= nearLimit*float64(limit))
	c.usages[key] = u
}

// tell notes whether a limit throttled a container in a sample, if its source knows. Another source may have measured the usage already.
func (c *Comparisons) tell(u *usage, s *Sample) {
	hour := hourOf(s.At.Add(-time.Nanosecond))
	if !c.collects(hour) || s.Throttled < 0 {
		return
	}
	flags := &u.hours[hour%2].flags
	*flags |= told
	if s.Throttled >= much {
		*flags |= throttled
	}
}

// collects reports whether an hour is neither folded nor in the future.
func (c *Comparisons) collects(hour int64) bool { return hour == c.open || hour == c.open+1 }

// notice notes what has changed about a container since its last sample arrived.
func (c *Comparisons) notice(u *usage, size uint32, restarts int32, hour int64) {
	if !c.collects(hour) {
		return
	}
	h := &u.hours[hour%2]
	if size != u.size {
		h.flags |= resized
	}
	if restarts != u.restarts {
		h.flags |= restarted
	}
}

// add adds a sample to the hours in which it was measured. Near reports whether the usage was near the limit.
func (c *Comparisons) add(u *usage, s *Sample, near bool) {
	from, until := s.At.Add(-s.Length), s.At
	if last := time.UnixMilli(u.last); from.Before(last) {
		from = last
	}
	if !from.Before(until) {
		return
	}
	u.last = until.UnixMilli()
	for hour := hourOf(from); hour <= hourOf(until); hour++ {
		begin, end := startOf(hour), startOf(hour+1)
		first, last := slices.MaxFunc([]time.Time{from, begin}, time.Time.Compare), slices.MinFunc([]time.Time{until, end}, time.Time.Compare)
		if !c.collects(hour) || !first.Before(last) {
			continue
		}
		h, seconds := &u.hours[hour%2], last.Sub(first).Seconds()
		h.cores += float32(s.Cores * seconds)
		h.seconds += float32(seconds)
		if near {
			h.near += float32(seconds)
		}
		for i := int(first.Sub(begin) / slot); i <= int((last.Sub(begin)-1)/slot); i++ {
			h.covered |= 1 << i
		}
	}
}

// sizeOf returns a hash of the CPU that a container is given.
func sizeOf(c *pod.Container) uint32 {
	is := c.InForce().CPU
	n := uint64(is.Request)*0x9e3779b97f4a7c15 + uint64(is.Limit)*0xc2b2ae3d27d4eb4f
	return uint32(n >> 32)
}

// containerOf returns a container of a pod that runs as long as the pod does; nil if it has none with the name.
func containerOf(of *pod.Pod, name string) *pod.Container {
	for i := range of.Containers {
		if c := &of.Containers[i]; c.Name() == name && lasts(c) {
			return c
		}
	}
	return nil
}

// lasts reports whether a container runs as long as its pod does.
func lasts(c *pod.Container) bool { return !c.Init() || c.Sidecar() }

// requestOf returns the cores that the containers of a pod request; 0 if any requests none.
func requestOf(of *pod.Pod) float64 {
	sum := int64(0)
	for i := range of.Containers {
		if c := &of.Containers[i]; lasts(c) {
			request := c.InForce().CPU.Request
			if request == 0 {
				return 0
			}
			sum += request
		}
	}
	return float64(sum) / 1000
}
