package recommend

import "time"

// Updates are when a pod's size follows the recommendation.
type Updates struct {
	// Band is the sum of relative differences from which a size is corrected, and After how
	// long after the last resize. A request outside of the bounds is corrected immediately.
	Band  float64
	After time.Duration
	// QuickKill is how soon after its start a kill corrects the size of a pod whose request is
	// within the bounds.
	QuickKill time.Duration
	// DecreaseCPU and DecreaseMemory are the least times between a resize of the resource and
	// its next decrease.
	DecreaseCPU, DecreaseMemory time.Duration
	// DecreaseLimit is the least time between a change to a memory limit that is a multiple of
	// the request and its next decrease: the limit prevents kills, and reserves nothing.
	DecreaseLimit time.Duration
	// Separate decides on CPU and memory separately. Otherwise, both follow if one must.
	Separate bool
	// AnyKill corrects the size after any kill, not only after a quick one.
	AnyKill bool
	// InUse keeps the memory request above what the pod uses.
	InUse bool
}

// CompatUpdates returns the rules of the VPA's updater.
func CompatUpdates() Updates {
	return Updates{Band: 0.1, After: 12 * time.Hour, QuickKill: 10 * time.Minute}
}

// Pod is the state of a pod's container.
type Pod struct {
	Request, Limit Amounts
	// MemoryInUse is what the container uses now, in bytes; 0 if it is unknown.
	MemoryInUse int64
	Authored    Authored
	// ResizedCPU and ResizedMemory are when the requests last changed, or when the pod began,
	// and ResizedLimit is the same for the memory limit.
	ResizedCPU, ResizedMemory, ResizedLimit time.Time
	// Killed is when the container was last killed because of its memory, and Ran how long it
	// had run.
	Killed time.Time
	Ran    time.Duration
}

// Decision is what follows for one pod.
type Decision struct {
	// Resize reports whether the requests change. Request and Limit are what they are then.
	Resize         bool
	Request, Limit Amounts
}

// Decide returns which size a pod gets, given the recommendation in units of its node type.
func (o *Options) Decide(r Recommendation, p Pod, now time.Time) Decision {
	request := o.request(r, p, now)
	if request == p.Request {
		return Decision{Request: p.Request, Limit: p.Limit}
	}
	limit := o.Limits.For(request, p.Authored)
	if o.Limits.memory(p.Authored) == Multiple && now.Sub(p.ResizedLimit) < o.Updates.DecreaseLimit {
		limit.Memory = max(limit.Memory, p.Limit.Memory)
	}
	return Decision{Resize: true, Request: request, Limit: limit}
}

// request returns the requests that a pod gets, which are its own if nothing is due.
func (o *Options) request(r Recommendation, p Pod, now time.Time) Amounts {
	u := &o.Updates
	cpu := change{from: p.Request.CPU, to: r.Target.CPU, lower: r.Lower.CPU, upper: r.Upper.CPU, since: now.Sub(p.ResizedCPU)}
	memory := change{from: p.Request.Memory, to: r.Target.Memory, lower: r.Lower.Memory, upper: r.Upper.Memory, since: now.Sub(p.ResizedMemory)}
	if u.InUse {
		memory.atLeast(p.MemoryInUse)
	}
	unknown := r.Age < o.MinHistory || r.Coverage < o.MinCoverage
	// Where more samples are throttled than may exceed the target, the target is one of them.
	cpu.hold(unknown || r.Throttled > 1-o.CPU.Target, u.DecreaseCPU)
	memory.hold(unknown || o.KeepMemory, u.DecreaseMemory)
	killed := !p.Killed.IsZero() && now.Sub(p.Killed) < u.QuickKill && (u.AnyKill || p.Ran < u.QuickKill)
	if !u.Separate {
		difference, outside := cpu.difference()+memory.difference(), cpu.outside() || memory.outside()
		late := min(cpu.since, memory.since) >= u.After && difference >= u.Band
		due := outside || late || killed
		if !due {
			return p.Request
		}
		return Amounts{CPU: cpu.to, Memory: memory.to}
	}
	due := func(c *change, killed bool) bool {
		return c.outside() || c.difference() >= u.Band && c.since >= u.After || killed && c.to > c.from
	}
	if !due(&cpu, false) {
		cpu.to = cpu.from
	}
	if !due(&memory, killed) {
		memory.to = memory.from
	}
	return Amounts{CPU: cpu.to, Memory: memory.to}
}

// change is a possible change to one request.
type change struct {
	from, to     int64
	lower, upper int64
	// since is the time since the last change.
	since time.Duration
}

// atLeast raises the new request, and the upper bound with it.
func (c *change) atLeast(amount int64) {
	c.to, c.upper = max(c.to, amount), max(c.upper, amount)
}

// hold prevents a decrease, always or for a time since the last change.
func (c *change) hold(always bool, decrease time.Duration) {
	if c.to < c.from && (always || c.since < decrease) {
		c.to = c.from
	}
}

// difference is by how much of the request it changes.
func (c *change) difference() float64 { return apart(c.from, c.to) }

// outside reports whether the request is outside of the bounds and changes.
func (c *change) outside() bool {
	return c.to != c.from && (c.from < c.lower || c.from > c.upper)
}
