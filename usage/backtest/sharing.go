package backtest

import (
	"math"
	"time"

	"github.com/workload-resizer/workload-resizer/reconciler/headroom"
	"github.com/workload-resizer/workload-resizer/usage/history"
	"github.com/workload-resizer/workload-resizer/usage/recommend"
)

// Sharing is how the machines of a node share what they rarely need at the same time.
type Sharing struct {
	// Demand is how the steady demand and the peak of a machine follow from its usage.
	Demand recommend.Shared
	// CPU and Memory are the reserves for all machines of a node.
	CPU, Memory headroom.Reserve
	// Correlated measures how much the usage of all machines rose and fell together in the last seven days, and keeps more
	// of an independent reserve for that.
	Correlated bool
	// Free is the part of the memory of a node that its machines are not to get.
	Free float64
	// SameHour makes the peak of a machine the highest usage of this and the next hour a week ago, where that is known.
	SameHour bool
}

// NewSharing returns how machines share CPU, and memory if the demand says so, of which a part is then kept free.
func NewSharing(demand recommend.Shared, reserve headroom.Reserve, correlated bool) *Sharing {
	s := &Sharing{Demand: demand, CPU: reserve, Memory: reserve, Correlated: correlated}
	if demand.WithMemory {
		s.Free = headroom.FreeMemory
	}
	return s
}

// Shared returns how machines share in variants of a policy, by the part of its name that differs: "" is the default.
func Shared() map[string]*Sharing {
	demand := recommend.DefaultShared()
	withMemory := demand
	withMemory.WithMemory = true
	sameHour := NewSharing(withMemory, headroom.Largest, false)
	sameHour.SameHour = true
	return map[string]*Sharing{
		"":            NewSharing(demand, headroom.Independent, false),
		"-largest":    NewSharing(demand, headroom.Largest, false),
		"-correlated": NewSharing(demand, headroom.Independent, true),
		"-memory":     NewSharing(withMemory, headroom.Independent, false),
		"-same-hour":  sameHour,
	}
}

// rules returns the rules of a day.
func (s *Sharing) rules(day int64, correlations map[int64][2]float64) (rules headroom.Rules) {
	if s == nil {
		return rules
	}
	rules[0].Reserve, rules[1].Reserve = s.CPU, s.Memory
	if s.Correlated {
		for i := range rules {
			rules[i].Correlation = correlations[day][i]
		}
	}
	return rules
}

// free returns the part of the memory of a node that is kept free.
func (s *Sharing) free() float64 {
	if s == nil {
		return 0
	}
	return s.Free
}

// sharer is a sizer whose machines may share.
type sharer interface {
	// share returns the demand of a replica in its own units, and false if it does not share what it has.
	share(replica int, has recommend.Amounts, now time.Time) (headroom.Demand, bool)
}

// sharingOf returns how the machines of a policy share; nil if they do not.
func sharingOf(p Policy) *Sharing {
	if r, ours := p.(*Recommender); ours {
		return r.Sharing
	}
	return nil
}

// amountsOf converts amounts.
func amountsOf(a recommend.Amounts) headroom.Amounts { return headroom.Amounts{a.CPU, a.Memory} }

// demand returns what a replica needs: what it requests, unless it shares.
func (r *replica) demand(at time.Time) headroom.Demand {
	if s, shares := r.sizer.(sharer); shares {
		if d, ok := s.share(r.number, r.pod.Request, at); ok {
			return d
		}
	}
	return headroom.Demand{Steady: amountsOf(r.pod.Request), Peak: amountsOf(r.pod.Request)}
}

func (s *sizer) share(replica int, has recommend.Amounts, now time.Time) (d headroom.Demand, ok bool) {
	sharing, options := s.recommender.Sharing, &s.recommender.Options
	if sharing == nil {
		return d, false
	}
	view, _ := s.history.View(s.container, now)
	demand := recommend.NewDemand(view, s.speedOf)
	r, ok := recommend.For(demand, 1, options, now)
	if !ok {
		return d, false
	}
	p := sharing.Demand.Parts(&demand, options, &r, 1, now)
	if sharing.SameHour {
		s.sameHour(&p, &view, now)
	}
	speed := s.speeds[s.pods[replica].NodeType]
	d = headroom.NewDemand([2]float64{float64(p.Steady.CPU) / speed.CPU, float64(p.Steady.Memory)}, [2]float64{float64(p.Peak.CPU) / speed.CPU, float64(p.Peak.Memory)})
	if !sharing.Demand.WithMemory {
		d.Steady[1], d.Peak[1] = has.Memory, has.Memory
	}
	return d, true
}

// sameHour makes the peaks the highest usage of this and the next hour a week ago, where that is known.
func (s *sizer) sameHour(p *recommend.Parts, view *history.View, now time.Time) {
	var highest recommend.Amounts
	for i := range view.Types {
		of := &view.Types[i]
		for _, at := range []time.Time{now, now.Add(time.Hour)} {
			if cpu, known := of.Peak(history.CPU, at); known {
				highest.CPU = max(highest.CPU, int64(math.Ceil(float64(cpu)*s.speeds[of.NodeType].CPU)))
			}
			if memory, known := of.Peak(history.Memory, at); known {
				highest.Memory = max(highest.Memory, memory)
			}
		}
	}
	if highest.CPU > 0 {
		p.Peak.CPU = max(highest.CPU, p.Steady.CPU)
	}
	if highest.Memory > 0 {
		p.Peak.Memory = max(highest.Memory, p.Steady.Memory)
	}
}

// week is for how many days usage is compared.
const week = 7

// moments are the number of samples of a day, their sum, and that of their squares.
type moments struct{ n, sum, squares float64 }

func (m *moments) add(x float64) {
	m.n++
	m.sum += x
	m.squares += x * x
}

// plus returns the moments of both.
func (m moments) plus(o moments) moments {
	return moments{m.n + o.n, m.sum + o.sum, m.squares + o.squares}
}

// variance returns the variance if there are n samples, of which the missing ones are 0.
func (m moments) variance(n float64) float64 {
	if n == 0 {
		return 0
	}
	return max(0, m.squares/n-m.sum/n*m.sum/n)
}

// correlations returns, for each day, how much the usage of different machines rose and fell together in the seven days
// before: of CPU and memory. It is 1 where nothing is known.
func correlations(loads []*load) map[int64][2]float64 {
	own := make([]map[int64]*[2]moments, len(loads))
	total := map[int64]*[2][slotsPerDay]float64{}
	for i, l := range loads {
		own[i] = map[int64]*[2]moments{}
		for k := range l.days {
			d := &l.days[k]
			all, of := total[d.number], &[2]moments{}
			if all == nil {
				all = &[2][slotsPerDay]float64{}
				total[d.number] = all
			}
			for slot := range slotsPerDay {
				for resource, x := range [2]float64{float64(d.cpu[slot]), float64(d.memory[slot])} {
					of[resource].add(x)
					all[resource][slot] += x
				}
			}
			own[i][d.number] = of
		}
	}
	result := map[int64][2]float64{}
	for day := range total {
		var together [2]float64
		for resource := range together {
			var sum moments
			for before := day - week; before < day; before++ {
				if all := total[before]; all != nil {
					for _, x := range all[resource] {
						sum.add(x)
					}
				}
			}
			if sum.n == 0 {
				together[resource] = 1
				continue
			}
			var variances, deviations float64
			for i := range loads {
				var m moments
				for before := day - week; before < day; before++ {
					if of := own[i][before]; of != nil {
						m = m.plus(of[resource])
					}
				}
				v := m.variance(sum.n)
				variances, deviations = variances+v, deviations+math.Sqrt(v)
			}
			together[resource] = headroom.Correlation(variances, deviations, sum.variance(sum.n))
		}
		result[day] = together
	}
	return result
}

// onNodes is what a replica gets on nodes, summed over days and packings.
type onNodes struct {
	// days counts days; cpu and memory are the sums of what it gets on each day.
	days, cpu, memory float64
	// cpuAbove and memoryAbove are the slots in which it used more than that, and badDays and aboveDays the days on which it
	// used more CPU in too many of them, or more memory in one.
	cpuAbove, memoryAbove, badDays, aboveDays float64
}

// tally notes what each machine of a node gets, and how often it used more than that.
func (p *packed) tally(rules headroom.Rules, badDay float64) {
	share := rules.Shares(&p.sum)
	for _, m := range p.machines {
		size, of := m.demand.Size(share), &m.of.sized
		var slots, cpu, memory float64
		for i := range slotsPerDay {
			if m.cpu[i] == 0 && m.memory[i] == 0 {
				continue // Without a sample, or idle.
			}
			slots++
			if int64(m.cpu[i]) > size[0] {
				cpu++
			}
			if int64(m.memory[i]) > size[1]>>10 {
				memory++
			}
		}
		of.days++
		of.cpu += float64(size[0]) / 1000
		of.memory += float64(size[1])
		of.cpuAbove += cpu
		of.memoryAbove += memory
		if cpu > badDay*slots {
			of.badDays++
		}
		if memory > 0 {
			of.aboveDays++
		}
	}
}

// share replaces what machines requested with what they got on nodes.
func (r *Result) share(loads []*load) {
	of := &r.Replicas[0]
	var all onNodes
	of.Cores, of.Bytes = 0, 0
	for _, l := range loads {
		s := &l.sized
		of.Cores += s.cpu / s.days
		of.Bytes += s.memory / s.days
		all.cpuAbove += s.cpuAbove
		all.memoryAbove += s.memoryAbove
		all.badDays += s.badDays
		all.aboveDays += s.aboveDays
	}
	mean := func(sum float64) int { return int(math.Round(sum / packings)) }
	of.Tally.CPUAbove, of.Tally.MemoryAbove = mean(all.cpuAbove), mean(all.memoryAbove)
	of.Tally.BadDays, of.Tally.AboveDays = mean(all.badDays), mean(all.aboveDays)
}
