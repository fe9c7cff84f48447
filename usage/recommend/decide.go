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
	// InUse raises the memory request to what the pod uses, up to the maximum, and never lowers
	// it below.
	InUse bool
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
	// Resize reports whether a request or a limit changes. Request and Limit are what they are
	// then.
	Resize         bool
	Request, Limit Amounts
}

// Decide returns which size a pod gets, given the recommendation in units of its node type.
func (o *Options) Decide(r Recommendation, p Pod, now time.Time) Decision {
	request := o.request(r, p, now)
	limit := o.Limits.For(request, p.Authored)
	multiple := o.Limits.memory(p.Authored) == Multiple
	if multiple && (now.Sub(p.ResizedLimit) < o.Updates.DecreaseLimit || o.unknown("peaks of memory", r.PeaksKnown) != "") {
		limit.Memory = max(limit.Memory, p.Limit.Memory)
	}
	// A limit that is too low is raised even if the request stays.
	low := multiple && p.Limit.Memory > 0 && p.Limit.Memory < limit.Memory
	if request == p.Request && !low {
		return Decision{Request: p.Request, Limit: p.Limit}
	}
	return Decision{Resize: true, Request: request, Limit: limit}
}

// request returns the requests that a pod gets, which are its own if nothing is due.
func (o *Options) request(r Recommendation, p Pod, now time.Time) Amounts {
	u := &o.Updates
	cpu := change{from: p.Request.CPU, to: r.Target.CPU, lower: r.Lower.CPU, upper: r.Upper.CPU, since: now.Sub(p.ResizedCPU)}
	memory := change{from: p.Request.Memory, to: r.Target.Memory, lower: r.Lower.Memory, upper: r.Upper.Memory, since: now.Sub(p.ResizedMemory)}
	if u.InUse {
		memory.inUse(p.MemoryInUse, r.Max.Memory)
	}
	cpu.hold(o.KeepsCPU(&r) != "", u.DecreaseCPU)
	follows := o.Limits.memory(p.Authored) == Follow && p.Authored.Limit.Memory > 0
	memory.hold(o.KeepsMemory(&r, follows) != "", u.DecreaseMemory)
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

// inUse raises the new request, and the upper bound with it, to what is in use: up to a maximum, if
// any, and in any case as far as this prevents a decrease.
func (c *change) inUse(amount, most int64) {
	least := max(min(amount, c.from), clamp(amount, 0, most))
	c.to, c.upper = max(c.to, least), max(c.upper, least)
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
