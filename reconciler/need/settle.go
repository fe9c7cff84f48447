package need

import (
	"math"
	"time"

	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// State is a container of a pod on its node.
type State struct {
	// Needs are what its resources need, and Factors those of its node, by sizing.Measure.Index. A resource without
	// a recommendation keeps its size.
	Needs   [2]Need
	Factors [2]sizing.Factor
	Size    sizing.Container
	// Guaranteed means that the class of the pod requires limits equal to requests.
	Guaranteed bool
	// Creating means that the pod is being created: its size is the one that it needs, not one that is near enough.
	Creating bool
	// Unsized means that the size of a resource is what its author wrote, which was never scaled for the node, by
	// sizing.Measure.Index.
	Unsized [2]bool
	// KnowsLimit means that a process knows the memory limit from its start, so that it is not lowered.
	KnowsLimit bool
	// Uses is how much memory it uses now, and Charged how much is charged to it, with the page cache; 0 if that is unknown.
	Uses, Charged int64
	// Peak is how much memory this replica used at most within the last seven days; 0 if that is unknown.
	Peak    int64
	Resized Resized
	// Killed is when it was last killed for lack of memory, and Ran how long it had run.
	Killed time.Time
	Ran    time.Duration
	// Now is the zero time if everything happened long ago.
	Now time.Time
}

// Settled is the size that a container gets.
type Settled struct {
	Size sizing.Container
	// Clamped means that a bound determined the request, Why is why a request is not lowered, and Recent means that a request
	// stays because it was set a short time ago, by sizing.Measure.Index.
	Clamped [2]bool
	Why     [2]string
	Recent  [2]bool
	// Again is when the size may change although nothing but the time does; zero if it does not.
	Again time.Time
}

// Settle returns the size that the container gets: what it needs, or the size that it has if that is near enough, or was
// set not long ago. A size outside of the bounds of its need is always corrected.
func (s *State) Settle() Settled {
	to := Settled{Size: s.Size}
	var rules *Rules
	for i := range s.Needs {
		if r := s.Needs[i].Recommended; r != nil {
			rules = r.Rules
		}
	}
	if rules == nil {
		return to
	}
	cpu, memory := s.change(sizing.CPU), s.change(sizing.Memory)
	updates := rules.Updates
	if s.Creating {
		updates.Band = 0
	}
	s.requests(&updates, &cpu, &memory)
	cpu.bound()
	memory.bound()
	to.Clamped, to.Why = [2]bool{cpu.clamped, memory.clamped}, [2]string{cpu.why, memory.why}
	to.Recent = [2]bool{cpu.recent, memory.recent}
	to.Again = Sooner(cpu.again, memory.again)

	limits := [2]int64{s.limit(&cpu), s.limit(&memory)}
	s.keepCPULimit(&updates, &cpu, &limits[sizing.CPU.Index])
	s.rescueLimit(&limits[sizing.Memory.Index], memory.to)
	s.keepLimit(&updates, &limits[sizing.Memory.Index], memory.to)
	// A limit that is too low is raised even if the request stays.
	low := s.low(&updates, limits[sizing.Memory.Index])
	// Otherwise, a limit changes with its request alone.
	if cpu.to != cpu.from {
		to.Size.CPU = sizing.Amount{Request: cpu.to, Limit: limits[sizing.CPU.Index]}
	}
	if memory.to != memory.from || low {
		to.Size.Memory = sizing.Amount{Request: memory.to, Limit: limits[sizing.Memory.Index]}
	}
	return to
}

// requests decides on the requests.
func (s *State) requests(u *Updates, cpu, memory *change) {
	needed, follows := s.Uses, ""
	if s.follows() { // The limit is lowered with the request.
		needed, follows = max(withRoom(s.Uses), s.chargedRequest()), s.keepsLimit()
	}
	if u.InUse {
		memory.inUse(s.Uses, needed)
		s.rescue(memory)
	}
	cpu.hold(u.DecreaseCPU, "")
	memory.hold(u.DecreaseMemory, follows)
	if memory.to < memory.from {
		memory.holdAt(s.peakRequest(), "the replica used %s within the last seven days", s.Peak)
		if needs := s.outgrown(); needs > memory.to {
			memory.holdAt(needs, "the container needs %s, and demand.maxGrowth lowers no memory", needs)
		}
	}
	killed := !s.Killed.IsZero() && !s.Now.IsZero() && s.Now.Sub(s.Killed).Abs() < u.QuickKill && (u.AnyKill || s.Ran < u.QuickKill)
	if u.Separate {
		cpu.unlessDue(u, false)
		memory.unlessDue(u, killed)
		return
	}
	late, differ := min(cpu.since, memory.since) >= u.After, cpu.difference()+memory.difference() >= u.Band
	if cpu.outside() || memory.outside() || late && differ || killed {
		return
	}
	if differ {
		cpu.again = Sooner(cpu.again, s.Now.Add(u.After-min(cpu.since, memory.since)))
		cpu.recent, memory.recent = true, true
	}
	cpu.to, memory.to = cpu.from, memory.from
}

// keepCPULimit keeps a new limit of CPU from being lowered with a request that rises, while the request may not be lowered:
// the present limit may have been set in another mode. With a request that a bound lowers, the limit is lowered, too. A pod
// that was never sized is scaled for the node, and a Guaranteed one has equal requests and limits.
func (s *State) keepCPULimit(u *Updates, cpu *change, limit *int64) {
	r := s.Needs[sizing.CPU.Index].Recommended
	if *limit == 0 || s.Guaranteed || s.Unsized[sizing.CPU.Index] || r == nil || cpu.to < cpu.from {
		return
	}
	if r.Keeps != "" || s.since(sizing.CPU) < u.DecreaseCPU {
		*limit = max(*limit, s.Size.CPU.Limit)
	}
}

// keepLimit keeps a new memory limit from being lowered while that may hurt, even if the request rises: the present limit
// may have been set in another mode. Nor does a bound of growth lower it. The limit of a Guaranteed pod is its request, which is
// kept instead.
func (s *State) keepLimit(u *Updates, limit *int64, request int64) {
	n := &s.Needs[sizing.Memory.Index]
	if *limit == 0 || s.Guaranteed || n.Recommended == nil {
		return
	}
	if s.keepsLimit() != "" || s.mode().apart() && s.since(sizing.Memory) < u.DecreaseLimit {
		*limit = max(*limit, s.Size.Memory.Limit)
	}
	least := max(abovePeak(s.Peak), n.follow(sizing.Memory, request, s.Factors[sizing.Memory.Index], s.Guaranteed))
	if u.InUse {
		least = max(least, withRoom(max(s.Uses, s.Charged)))
	}
	*limit = max(*limit, min(least, s.Size.Memory.Limit))
}

// low reports whether the memory limit is too low, given the one that follows. One that follows the peak may be too low
// by as much as a request may be wrong: a peak that rises step by step must not resize the pod at each step.
func (s *State) low(u *Updates, limit int64) bool {
	has := s.Size.Memory.Limit
	if has == 0 || has >= limit {
		return false
	}
	mode := s.mode()
	return mode == Multiple || mode == Peak && (Endangered(s.Uses, has) || float64(limit-has) >= u.Band*float64(has))
}

// mode returns how the memory limit follows; Keep without a recommendation.
func (s *State) mode() LimitMode {
	if r := s.Needs[sizing.Memory.Index].Recommended; r != nil {
		return r.Rules.Limits.mode(sizing.Memory, s.Guaranteed)
	}
	return Keep
}

// follows reports whether there is a memory limit that is lowered with its request.
func (s *State) follows() bool {
	return s.mode() == Follow && s.Needs[sizing.Memory.Index].Authored.Limit > 0
}

// keepsLimit returns why a memory limit is not lowered; empty if it may be.
func (s *State) keepsLimit() string {
	if s.KnowsLimit {
		return "its process read the memory limit when it started"
	}
	return s.Needs[sizing.Memory.Index].Recommended.KeepsLimit
}

// withRoom returns the least limit next to memory in use, or charged: the kubelet refuses one that the page cache exceeds,
// too.
func withRoom(inUse int64) int64 { return times(inUse, 1.1) }

// chargedRequest returns the request below which memory is not lowered because of the limit that follows it. The page cache
// is no demand, so it raises nothing.
func (s *State) chargedRequest() int64 {
	return s.Needs[sizing.Memory.Index].requestFor(sizing.Memory, withRoom(s.Charged), s.Guaranteed)
}

// limit returns the limit for a new request; the present one if the resource keeps its size.
func (s *State) limit(c *change) int64 {
	if c.need.Recommended == nil {
		return c.measure.Of(&s.Size).Limit
	}
	return c.need.limit(c.measure, c.to, s.Factors[c.measure.Index], s.Guaranteed)
}

// since returns the time since a size changed. Another clock may be ahead, but a time in the far future counts as
// long ago: it must not prevent changes forever.
func (s *State) since(m *sizing.Measure) time.Duration {
	if s.Now.IsZero() {
		return math.MaxInt64
	}
	return s.Now.Sub(s.Resized[m.Index]).Abs()
}

// change is a possible change to one request.
type change struct {
	measure      *sizing.Measure
	need         *Need
	from, to     int64
	lower, upper int64
	guaranteed   bool
	// kept is the request that stays while it must not be lowered: from, or what the author wrote, scaled for the node.
	kept int64
	// most is the most that is recommended; 0 means any amount.
	most int64
	// since is the time since the last change, and now the present time; zero if everything happened long ago.
	since time.Duration
	now   time.Time
	// target is the size of the need, and clamped means that a bound determined it.
	target  int64
	clamped bool
	why     string
	again   time.Time
	// recent means that the request stays because it was set a short time ago.
	recent bool
}

// change returns the change to what a resource needs.
func (s *State) change(m *sizing.Measure) change {
	c := change{measure: m, need: &s.Needs[m.Index], guaranteed: s.Guaranteed, from: m.Of(&s.Size).Request, since: math.MaxInt64, upper: math.MaxInt64}
	c.to, c.kept = c.from, c.from
	if c.need.Recommended == nil {
		return c
	}
	f := s.Factors[m.Index]
	if s.Unsized[m.Index] {
		c.kept = alone(m, c.need.Authored.Request, f)
	}
	size, clamped := c.need.scaled(m, f, s.Guaranteed)
	c.to, c.target, c.clamped = size.Request, size.Request, clamped
	lower, upper := c.need.Tolerated(m, s.Guaranteed)
	c.lower, c.upper, c.most = alone(m, lower, f), alone(m, upper, f), alone(m, c.need.most(), f)
	c.since, c.now = s.since(m), s.Now
	return c
}

// inUse raises the new request, and the upper bound with it, to what is in use, up to a maximum, if any. It prevents a
// decrease below what is needed for that in any case.
func (c *change) inUse(amount, needed int64) {
	if c.need.Recommended == nil {
		return
	}
	amount = min(amount, c.measure.Most)
	least := amount
	if c.most > 0 {
		least = min(amount, c.most)
	}
	least = max(least, min(needed, c.from))
	c.to, c.upper = max(c.to, least), max(c.upper, least)
	if c.need.shares(c.guaranteed) {
		// A container that shares is expected to use more than its request at times, and its neighbors must then make room.
		c.lower = max(c.lower, times(least, 1-c.need.Recommended.Rules.Updates.Band))
	}
}

// hold prevents a decrease while its effect is unknown, and for a time since the last change. follows is why the limit
// must not be lowered with the request; empty if it is not, or may be.
func (c *change) hold(decrease time.Duration, follows string) {
	if c.to >= c.kept {
		return
	}
	c.why = c.need.Recommended.Keeps
	if c.why == "" {
		c.why = follows
	}
	if c.why == "" && c.since < decrease {
		c.again = c.now.Add(decrease - c.since)
		c.recent = c.outside() || c.difference() >= c.need.Recommended.Rules.Updates.Band
	}
	if c.why != "" || c.since < decrease {
		c.to = c.kept
	}
}

// unlessDue keeps the request unless it must change. killed means that the container lacked memory.
func (c *change) unlessDue(u *Updates, killed bool) {
	differs := c.difference() >= u.Band
	if c.outside() || differs && c.since >= u.After || killed && c.to > c.from {
		return
	}
	if differs {
		c.again, c.recent = Sooner(c.again, c.now.Add(u.After-c.since)), true
	}
	c.to = c.from
}

// bound corrects a request outside of the bounds of the need: nothing outranks these.
func (c *change) bound() {
	if c.need.Recommended == nil {
		return
	}
	size, clamped := c.measure.Scale(sizing.Amount{Request: c.to}, sizing.Factor{Num: 1, Den: 1}, c.need.within())
	c.to, c.clamped = size.Request, clamped || c.clamped && size.Request == c.target
}

// difference is by how much of the request it changes.
func (c *change) difference() float64 {
	return math.Abs(float64(c.from-c.to)) / math.Max(float64(c.from), 1)
}

// outside reports whether the request is outside of the bounds and changes.
func (c *change) outside() bool {
	return c.to != c.from && (c.from < c.lower || c.from > c.upper)
}

// Sooner returns the earlier of two times; zero times do not count.
func Sooner(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
