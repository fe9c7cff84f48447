package backtest

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/reconciler/headroom"
	"github.com/workload-resizer/workload-resizer/usage/history"
	"github.com/workload-resizer/workload-resizer/usage/recommend"
	"github.com/workload-resizer/workload-resizer/usage/trace"
)

// loadWith returns the load of a day without usage.
func loadWith(demand headroom.Demand) *load {
	l := &load{days: []loadDay{{number: 1, demand: demand}}}
	l.days[0].of = l
	return l
}

// sharers returns machines that use little, and much in three hours of each day: in the same ones, or an eighth of them each.
func sharers(count, days int, together bool) (machines []*trace.Machine) {
	for n := range count {
		m := machine(days, func(step int) (int64, int64) {
			part := step % slotsPerDay / 36
			if part == 3 && together || part == n%8 && !together {
				return 3000, 3000 * mib
			}
			return 500, 500 * mib
		})
		m.Given.Request = recommend.Amounts{CPU: 4000, Memory: 4000 * mib}
		m.Given.Limit = recommend.Amounts{CPU: 8000, Memory: 8000 * mib}
		machines = append(machines, m)
	}
	return machines
}

// sharing returns our recommender, whose machines share.
func sharing(s *Sharing) *Recommender {
	r := &Recommender{Label: "shared", History: history.DefaultOptions(), Options: recommend.DefaultOptions(), Sharing: s}
	recommend.KeepSlots(&r.History)
	return r
}

func TestSharing(t *testing.T) {
	demand := recommend.DefaultShared()
	withMemory := demand
	withMemory.WithMemory = true
	alone := &Recommender{Label: "default", History: history.DefaultOptions(), Options: recommend.DefaultOptions()}
	of := func(p Policy, machines []*trace.Machine) (Row, Result) {
		result := Run(machines, p, DefaultSettings())
		return result.Summary(Prices{Core: 1})[0], result
	}
	apart, together := sharers(24, 12, false), sharers(24, 12, true)
	t.Run("needs fewer nodes, and leaves limits, kills and resizes as they are", func(t *testing.T) {
		without, _ := of(alone, apart)
		for _, reserve := range []headroom.Reserve{headroom.Largest, headroom.Independent} {
			cpu, _ := of(sharing(NewSharing(demand, reserve, false)), apart)
			if cpu.Cores >= without.Cores || cpu.GiB > without.GiB+0.01 || cpu.NodeDays > without.NodeDays {
				t.Errorf("%v cores and %v GiB on %v nodes, without %v, %v, %v", cpu.Cores, cpu.GiB, cpu.NodeDays, without.Cores, without.GiB, without.NodeDays)
			}
			both, _ := of(sharing(NewSharing(withMemory, reserve, false)), apart)
			if both.GiB >= without.GiB || math.Abs(both.Cores-cpu.Cores) > 0.3*cpu.Cores {
				t.Errorf("%v GiB, without %v", both.GiB, without.GiB)
			}
			for _, row := range []Row{cpu, both} {
				if row.OOMKills != without.OOMKills || row.LimitGiB != without.LimitGiB || row.Cost != row.Cores {
					t.Errorf("%+v, without %+v", row, without)
				}
			}
		}
	})
	t.Run("overloads no node if peaks come apart, and does if they come together", func(t *testing.T) {
		s := NewSharing(demand, headroom.Largest, false)
		if row, _ := of(sharing(s), apart[:8]); row.OverCPU != 0 || row.CPUSlots != 0 {
			t.Errorf("apart: %+v", row)
		}
		if row, _ := of(sharing(NewSharing(demand, headroom.Independent, false)), apart); row.OverCPU != 0 {
			t.Errorf("several at a time: %+v", row)
		}
		row, result := of(sharing(s), together)
		if row.OverCPU == 0 || math.Abs(row.CPUSlots-result.Nodes.CPUSlots/288/result.Nodes.Days) > 1e-12 || row.CPUSlots > 1.0/8 {
			t.Errorf("together: %+v", row)
		}
		// The measured correlation tells both apart.
		s = NewSharing(demand, headroom.Independent, true)
		if row, _ := of(sharing(s), together); row.OverCPU > 0 {
			t.Errorf("correlated: %+v", row)
		}
	})
	t.Run("keeps a part of memory free, and is as large as one machine that needs more", func(t *testing.T) {
		d := headroom.Demand{Steady: headroom.Amounts{1, 60 << 20}, Peak: headroom.Amounts{1, 90 << 20}}
		p := packer{size: recommend.Amounts{CPU: 10, Memory: 100 << 20}, sharing: NewSharing(withMemory, headroom.Largest, false)}
		p.place(&loadWith(d).days[0])
		if len(p.nodes) != 1 || p.nodes[0].size.Memory != 100<<20 {
			t.Errorf("%d nodes", len(p.nodes))
		}
		d.Peak[1]++
		p.place(&loadWith(d).days[0])
		if len(p.nodes) != 2 || p.nodes[1].size.Memory <= 100<<20 {
			t.Errorf("%d nodes", len(p.nodes))
		}
	})
	t.Run("counts replicas of a workload together", func(t *testing.T) {
		p := packer{size: recommend.Amounts{CPU: 3000, Memory: 1}, rules: headroom.Rules{{Reserve: headroom.Independent}, {}}}
		place := func(workload string) {
			l := loadWith(headroom.Demand{Peak: headroom.Amounts{1000, 0}})
			l.workload = workload
			p.place(&l.days[0])
		}
		for range 4 {
			place("web")
		}
		if len(p.nodes) != 2 {
			t.Errorf("%d nodes", len(p.nodes))
		}
		for _, workload := range []string{"a", "b", "c", "d"} {
			place(workload)
		}
		if len(p.nodes) != 2 {
			t.Errorf("%d nodes with other workloads", len(p.nodes))
		}
	})
	t.Run("counts what machines get on their nodes, and samples above that", func(t *testing.T) {
		l := loadWith(headroom.Demand{Steady: headroom.Amounts{1000, 1 << 30}, Peak: headroom.Amounts{3000, 1 << 30}})
		for slot := range 100 {
			l.days[0].cpu[slot], l.days[0].memory[slot] = 1900, 1<<20
		}
		for slot := range 6 {
			l.days[0].cpu[slot], l.days[0].memory[slot] = 2001, 1<<20+1
		}
		other := loadWith(headroom.Demand{Peak: headroom.Amounts{2000, 0}})
		n := &packed{}
		n.add(&l.days[0])
		n.add(&other.days[0])
		n.tally(headroom.Rules{}, 0.05)
		if want := (onNodes{days: 1, cpu: 2, memory: 1 << 30, cpuAbove: 6, memoryAbove: 6, badDays: 1, aboveDays: 1}); l.sized != want {
			t.Errorf("%+v, want %+v", l.sized, want)
		}
		if other.sized.cpu != 1 || other.sized.badDays != 0 {
			t.Errorf("%+v", other.sized)
		}
	})
	t.Run("has the same result every time", func(t *testing.T) {
		p := sharing(NewSharing(withMemory, headroom.Independent, true))
		machines := generated(t, 8, 12)
		if a, b := Run(machines, p, DefaultSettings()), Run(machines, p, DefaultSettings()); !reflect.DeepEqual(a, b) {
			t.Errorf("%+v, then %+v", a, b)
		}
	})
	t.Run("needs less CPU on a faster node", func(t *testing.T) {
		settings := DefaultSettings()
		settings.Speeds = []float64{2}
		p := sharing(NewSharing(demand, headroom.Largest, false))
		if slow, fast := Run(apart, p, DefaultSettings()).Replicas[0].Cores, Run(apart, p, settings).Replicas[0].Cores; math.Abs(fast-slow/2) > 0.1*fast {
			t.Errorf("%v cores, and %v on nodes that are twice as fast", slow, fast)
		}
	})
	t.Run("shares nothing while nothing is known", func(t *testing.T) {
		s := sharing(NewSharing(demand, headroom.Largest, false)).Sizer(recommend.Authored{}, []float64{1}).(sharer)
		if _, ok := s.share(0, recommend.Amounts{}, time.Unix(monday, 0)); ok {
			t.Error("a demand without usage")
		}
	})
}

func TestCorrelations(t *testing.T) {
	// loads returns loads of machines whose usage of CPU is a sum of noise of their own and common noise.
	loads := func(common float64) (all []*load) {
		shared := rand.New(rand.NewPCG(1, 1))
		var noise [20 * slotsPerDay]float64
		for i := range noise {
			noise[i] = shared.NormFloat64()
		}
		for n := range 30 {
			own := rand.New(rand.NewPCG(2, uint64(n)))
			l := &load{}
			for number := range int64(20) {
				d := loadDay{of: l, number: number}
				for i := range slotsPerDay {
					x := math.Sqrt(common)*noise[number*slotsPerDay+int64(i)] + math.Sqrt(1-common)*own.NormFloat64()
					d.cpu[i], d.memory[i] = uint32(1000+100*x), 5
				}
				l.days = append(l.days, d)
			}
			all = append(all, l)
		}
		return all
	}
	for _, want := range []float64{0, 0.3, 0.9} {
		got := correlations(loads(want))
		if got[0] != [2]float64{1, 1} {
			t.Errorf("on the first day: %v", got[0])
		}
		for day := int64(1); day < 20; day++ {
			if math.Abs(got[day][0]-want) > 0.05 || got[day][1] != 0 {
				t.Errorf("on day %d: %v, want %v", day, got[day], want)
			}
		}
	}
}
