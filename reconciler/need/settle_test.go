package need_test

import (
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/reconciler/need"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
	"github.com/workload-resizer/workload-resizer/usage/recommend"
)

const (
	day = 24 * time.Hour
	mib = 1 << 20
)

// amounts are millicores and bytes.
type amounts struct{ CPU, Memory int64 }

// size returns requests and limits as a size.
func size(request, limit amounts) sizing.Container {
	return sizing.Container{
		CPU:    sizing.Amount{Request: request.CPU, Limit: limit.CPU},
		Memory: sizing.Amount{Request: request.Memory, Limit: limit.Memory},
	}
}

// authored is what the author of a container wrote.
type authored struct {
	Request, Limit amounts
	Guaranteed     bool
}

// pod is the state of a pod's container.
type pod struct {
	Request, Limit                   amounts
	MemoryInUse, MemoryCharged, Peak int64
	Authored                         authored
	ResizedCPU, ResizedMemory        time.Time
	Killed                           time.Time
	KnowsLimit                       bool
	Ran                              time.Duration
}

// state returns the pod on a node of the baseline, without bounds.
func (p *pod) state(o *recommend.Options, r *recommend.Recommendation, now time.Time) need.State {
	shown, wrote, unbounded := o.Need(r), size(p.Authored.Request, p.Authored.Limit), &sizing.Range{}
	one := sizing.Factor{Num: 1, Den: 1}
	return need.State{
		Needs: [2]need.Need{
			{Authored: wrote.CPU, Recommended: &shown.CPU, Bounds: unbounded},
			{Authored: wrote.Memory, Recommended: &shown.Memory, Bounds: unbounded},
		},
		Factors: [2]sizing.Factor{one, one}, Size: size(p.Request, p.Limit), Guaranteed: p.Authored.Guaranteed,
		Uses: p.MemoryInUse, Charged: p.MemoryCharged, Peak: p.Peak, KnowsLimit: p.KnowsLimit, Resized: need.Resized{p.ResizedCPU, p.ResizedMemory},
		Killed: p.Killed, Ran: p.Ran, Now: now,
	}
}

var began = time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)

func TestSettle(t *testing.T) {
	now := began.Add(100 * day)
	steady := recommend.Recommendation{
		Target: recommend.Amounts{CPU: 500, Memory: 1000 * mib}, Lower: recommend.Amounts{CPU: 400, Memory: 800 * mib}, Upper: recommend.Amounts{CPU: 600, Memory: 1200 * mib},
		CPUKnown: recommend.Known{Age: 8 * day, Coverage: 1}, MemoryKnown: recommend.Known{Age: 8 * day, Coverage: 1}, PeaksKnown: recommend.Known{Age: 8 * day, Coverage: 1},
	}
	steadily := pod{
		Request: amounts{500, 1000 * mib}, Limit: amounts{500, 2000 * mib}, Authored: authored{Request: amounts{500, 1000 * mib}, Limit: amounts{500, 1000 * mib}},
		ResizedCPU: now.Add(-100 * day), ResizedMemory: now.Add(-100 * day),
	}
	type change func(o *recommend.Options, r *recommend.Recommendation, p *pod)
	request := func(cpu, memory int64) change {
		return func(_ *recommend.Options, _ *recommend.Recommendation, p *pod) {
			p.Request = amounts{cpu, memory * mib}
		}
	}
	since := func(cpu, memory time.Duration) change {
		return func(_ *recommend.Options, _ *recommend.Recommendation, p *pod) {
			p.ResizedCPU, p.ResizedMemory = now.Add(-cpu), now.Add(-memory)
		}
	}
	killed := func(ago, ran time.Duration) change {
		return func(_ *recommend.Options, _ *recommend.Recommendation, p *pod) { p.Killed, p.Ran = now.Add(-ago), ran }
	}
	inUse := func(memory int64) change {
		return func(_ *recommend.Options, _ *recommend.Recommendation, p *pod) { p.MemoryInUse = memory * mib }
	}
	charged := func(memory int64) change {
		return func(_ *recommend.Options, _ *recommend.Recommendation, p *pod) { p.MemoryCharged = memory * mib }
	}
	proportional := func(_ *recommend.Options, _ *recommend.Recommendation, p *pod) {
		p.Authored.Limit.Memory, p.Limit.Memory = 2*p.Authored.Request.Memory, 2*p.Request.Memory
	}
	guaranteed := func(_ *recommend.Options, _ *recommend.Recommendation, p *pod) {
		p.Authored.Guaranteed, p.Authored.Limit.CPU, p.Limit = true, p.Authored.Request.CPU, p.Request
	}
	peak := func(memory int64) change {
		return func(_ *recommend.Options, _ *recommend.Recommendation, p *pod) { p.Peak = memory * mib }
	}
	version := func(age time.Duration) change {
		return func(_ *recommend.Options, r *recommend.Recommendation, _ *pod) { r.New = age }
	}
	tooSmall := func(cpu, memory, limit int64) change {
		return func(_ *recommend.Options, r *recommend.Recommendation, _ *pod) {
			r.Floors.Request, r.Floors.Limit.Memory = recommend.Amounts{CPU: cpu, Memory: memory * mib}, limit*mib
		}
	}
	limitAt := func(memory int64) change {
		return func(_ *recommend.Options, _ *recommend.Recommendation, p *pod) { p.Limit.Memory = memory * mib }
	}
	cpuKnown := func(age time.Duration, coverage float64) change {
		return func(_ *recommend.Options, r *recommend.Recommendation, _ *pod) {
			r.CPUKnown = recommend.Known{Age: age, Coverage: coverage}
		}
	}
	memoryKnown := func(age time.Duration, coverage float64) change {
		return func(_ *recommend.Options, r *recommend.Recommendation, _ *pod) {
			r.MemoryKnown = recommend.Known{Age: age, Coverage: coverage}
		}
	}
	peaksKnown := func(age time.Duration, coverage float64) change {
		return func(_ *recommend.Options, r *recommend.Recommendation, _ *pod) {
			r.PeaksKnown = recommend.Known{Age: age, Coverage: coverage}
		}
	}
	most := func(memory int64) change {
		return func(_ *recommend.Options, r *recommend.Recommendation, _ *pod) { r.Max.Memory = memory * mib }
	}
	wrote := func(memory int64) change {
		return func(_ *recommend.Options, _ *recommend.Recommendation, p *pod) {
			p.Authored.Request.Memory, p.Authored.Limit.Memory = memory*mib, memory*mib
		}
	}
	decide := func(o recommend.Options, changes ...change) sizing.Container {
		r, p := steady, steadily
		for _, change := range changes {
			change(&o, &r, &p)
		}
		s := p.state(&o, &r, now)
		return s.Settle().Size
	}
	for _, test := range []struct {
		name    string
		options recommend.Options
		changes []change
		want    amounts
	}{
		{"as in the VPA, keeps a request on target", recommend.CompatOptions(), nil, amounts{500, 1000}},
		{"as in the VPA, keeps a request within the bounds for 12 hours", recommend.CompatOptions(), []change{request(550, 1150), since(12*time.Hour-1, 12*time.Hour-1)}, amounts{550, 1150}},
		{"as in the VPA, corrects it after 12 hours if the sum of differences is 10%", recommend.CompatOptions(), []change{request(525, 1070), since(12*time.Hour, 12*time.Hour)}, amounts{500, 1000}},
		{"as in the VPA, keeps it if the sum is less", recommend.CompatOptions(), []change{request(520, 1040)}, amounts{520, 1040}},
		{"as in the VPA, counts the time from the last resize of either", recommend.CompatOptions(), []change{request(550, 1150), since(13*time.Hour, time.Hour)}, amounts{550, 1150}},
		{"as in the VPA, corrects both if one is below its bound", recommend.CompatOptions(), []change{request(399, 1010), since(0, 0)}, amounts{500, 1000}},
		{"as in the VPA, corrects both if one is above its bound", recommend.CompatOptions(), []change{request(510, 1201), since(0, 0)}, amounts{500, 1000}},
		{"as in the VPA, keeps a request at its bounds", recommend.CompatOptions(), []change{request(400, 1200), since(0, 0)}, amounts{400, 1200}},
		{"as in the VPA, corrects both after a quick kill", recommend.CompatOptions(), []change{request(510, 990), since(0, 0), killed(time.Minute, time.Minute)}, amounts{500, 1000}},
		{"as in the VPA, ignores a kill after 10 minutes", recommend.CompatOptions(), []change{request(510, 990), killed(time.Minute, 10*time.Minute)}, amounts{510, 990}},
		{"as in the VPA, ignores a kill of 10 minutes ago", recommend.CompatOptions(), []change{request(510, 990), killed(10*time.Minute, 0)}, amounts{510, 990}},

		{"as in the VPA, corrects a difference of exactly 10%", recommend.CompatOptions(), []change{func(_ *recommend.Options, r *recommend.Recommendation, p *pod) {
			p.Request.CPU = 5000
			r.Target.CPU = 4500
			r.Upper.CPU = 6000
		}}, amounts{4500, 1000}},
		{"corrects a difference of exactly 10%", recommend.DefaultOptions(), []change{func(_ *recommend.Options, r *recommend.Recommendation, p *pod) {
			p.Request.CPU, p.Authored.Request.CPU = 5000, 5000
			r.Target.CPU = 4500
			r.Upper.CPU = 6000
		}}, amounts{4500, 1000}},
		{"lowers CPU if as many samples are throttled as may exceed the target", recommend.DefaultOptions(), []change{request(1000, 1000), func(o *recommend.Options, r *recommend.Recommendation, _ *pod) { r.Throttled = 1 - o.CPU.Target }}, amounts{500, 1000}},

		{"keeps a request on target", recommend.DefaultOptions(), nil, amounts{500, 1000}},
		{"lowers CPU that another clock resized in the far future", recommend.DefaultOptions(), []change{request(1000, 1000), since(-100*365*day, 0)}, amounts{500, 1000}},
		{"lowers no CPU that a clock resized that is a little ahead", recommend.DefaultOptions(), []change{request(1000, 1000), since(-time.Minute, 0)}, amounts{1000, 1000}},
		{"as in the VPA, ignores a kill in the far future", recommend.CompatOptions(), []change{request(510, 990), since(0, 0), killed(-day, 0)}, amounts{510, 990}},
		{"corrects CPU and memory separately", recommend.DefaultOptions(), []change{request(399, 1010), since(0, 0)}, amounts{500, 1010}},
		{"corrects a request within the bounds after 12 hours if it differs by 10%", recommend.DefaultOptions(), []change{request(454, 1112), since(12*time.Hour, 12*time.Hour)}, amounts{500, 1000}},
		{"not if it differs by less", recommend.DefaultOptions(), []change{request(456, 1111)}, amounts{456, 1111}},
		{"not before 12 hours have passed", recommend.DefaultOptions(), []change{request(454, 1112), since(12*time.Hour-1, 12*time.Hour-1)}, amounts{454, 1112}},
		{"lowers CPU a day after its last resize", recommend.DefaultOptions(), []change{request(1000, 1000), since(day, 0)}, amounts{500, 1000}},
		{"not earlier", recommend.DefaultOptions(), []change{request(1000, 1000), since(day-1, day)}, amounts{1000, 1000}},
		{"lowers memory after an hour if its limit is separate", recommend.DefaultOptions(), []change{request(500, 2000), since(0, time.Hour)}, amounts{500, 1000}},
		{"not earlier, since what it was raised for may come back", recommend.DefaultOptions(), []change{request(500, 2000), since(0, time.Hour-1)}, amounts{500, 2000}},
		{"lowers memory after 36 hours if its limit follows", recommend.FollowOptions(), []change{request(500, 2000), since(0, 36*time.Hour)}, amounts{500, 1000}},
		{"not earlier, since the limit would be lower, too", recommend.FollowOptions(), []change{request(500, 2000), since(0, 36*time.Hour-1)}, amounts{500, 2000}},
		{"raises memory after any kill", recommend.DefaultOptions(), []change{request(510, 990), since(0, 0), killed(time.Minute, day)}, amounts{510, 1000}},
		{"does not lower memory after a kill", recommend.DefaultOptions(), []change{request(510, 1010), killed(time.Minute, 0)}, amounts{510, 1010}},
		{"never lowers memory below what the pod uses", recommend.DefaultOptions(), []change{request(500, 2000), inUse(1500)}, amounts{500, 1500}},
		{"never lowers memory below what the replica used within a week", recommend.DefaultOptions(), []change{request(500, 2000), peak(1500)}, amounts{500, 1500}},
		{"keeps memory that the replica used within a week even above the bound", recommend.DefaultOptions(), []change{request(500, 1500), peak(1500)}, amounts{500, 1500}},
		{"does not raise memory to what the replica used within a week", recommend.DefaultOptions(), []change{request(500, 1000), peak(1500)}, amounts{500, 1000}},
		{"keeps memory below what the replica used within a week", recommend.DefaultOptions(), []change{request(500, 1400), peak(1500)}, amounts{500, 1400}},
		{"lowers memory if the replica never used more than is needed", recommend.DefaultOptions(), []change{request(500, 2000), peak(900)}, amounts{500, 1000}},
		{"keeps a fifth more of memory if its limit follows", recommend.FollowOptions(), []change{request(500, 2000), peak(1500)}, amounts{500, 1800}},
		{"keeps memory in proportion if its limit follows at twice the request", recommend.FollowOptions(), []change{request(500, 2000), peak(1500), func(_ *recommend.Options, _ *recommend.Recommendation, p *pod) {
			p.Authored.Limit.Memory, p.Limit.Memory = 2*p.Authored.Request.Memory, 4000*mib
		}}, amounts{500, 1500}},
		{"keeps memory that is in use even above the bound", recommend.DefaultOptions(), []change{request(500, 1500), inUse(1500)}, amounts{500, 1500}},
		{"raises memory to what the pod uses", recommend.DefaultOptions(), []change{request(500, 700), inUse(1500)}, amounts{500, 1500}},
		{"ignores usage in the VPA's mode", recommend.CompatOptions(), []change{request(500, 2000), inUse(1500)}, amounts{500, 1000}},
		{"does not lower a limit that follows to what the pod uses", recommend.FollowOptions(), []change{request(500, 2000), inUse(1500)}, amounts{500, 1650}},
		{"raises no limit that follows for the same reason", recommend.FollowOptions(), []change{request(500, 1550), inUse(1500)}, amounts{500, 1550}},
		{"lowers a request below what is charged", recommend.DefaultOptions(), []change{request(500, 2000), inUse(900), charged(1900)}, amounts{500, 1000}},
		{"raises no request to what is charged", recommend.DefaultOptions(), []change{request(500, 700), inUse(600), charged(1900)}, amounts{500, 1000}},
		{"does not lower a limit that follows to what is charged", recommend.FollowOptions(), []change{request(500, 2000), inUse(900), charged(1500)}, amounts{500, 1650}},
		{"does not lower a limit that follows at twice the request to what is charged", recommend.FollowOptions(), []change{request(500, 2000), proportional, inUse(900), charged(3000)}, amounts{500, 1650}},
		{"does not lower a Guaranteed pod to what is charged", recommend.FollowOptions(), []change{request(500, 2000), guaranteed, inUse(900), charged(1500)}, amounts{500, 1650}},
		{"lowers a Guaranteed pod when less is charged", recommend.FollowOptions(), []change{request(500, 2000), guaranteed, inUse(900), charged(905)}, amounts{500, 1000}},
		{"raises no Guaranteed pod for what is charged", recommend.FollowOptions(), []change{request(500, 1000), guaranteed, inUse(900), charged(1000)}, amounts{500, 1000}},
		{"ignores what is charged in the VPA's mode", recommend.CompatOptions(), []change{request(500, 2000), charged(1900)}, amounts{500, 1000}},
		{"raises memory that is in use up to what the author wrote, times the growth", recommend.DefaultOptions(), []change{request(500, 1000), wrote(300), inUse(1500)}, amounts{500, 1200}},
		{"raises memory to what the pod uses up to the maximum", recommend.DefaultOptions(), []change{request(500, 700), inUse(1500), most(1100)}, amounts{500, 1100}},
		{"never lowers memory below what the pod uses, even above the maximum", recommend.DefaultOptions(), []change{request(500, 2000), inUse(1500), most(1100)}, amounts{500, 1500}},
		{"keeps memory that is in use, even above the maximum", recommend.DefaultOptions(), []change{request(500, 1400), inUse(1500), most(1100)}, amounts{500, 1400}},
		{"lowers no CPU with less than a day of its history", recommend.DefaultOptions(), []change{request(1000, 2000), cpuKnown(day-1, 1)}, amounts{1000, 1000}},
		{"lowers no memory with less than a day of its history", recommend.DefaultOptions(), []change{request(1000, 2000), memoryKnown(day-1, 1)}, amounts{500, 2000}},
		{"raises with any history", recommend.DefaultOptions(), []change{request(100, 200), cpuKnown(0, 0), memoryKnown(0, 0), peaksKnown(0, 0)}, amounts{500, 1000}},
		{"lowers no CPU if less than half of its history is known", recommend.DefaultOptions(), []change{request(1000, 2000), cpuKnown(8*day, 0.49)}, amounts{1000, 1000}},
		{"lowers no memory if less than half of its history is known", recommend.DefaultOptions(), []change{request(1000, 2000), memoryKnown(8*day, 0.49)}, amounts{500, 2000}},
		{"lowers with a day of history, half of it known", recommend.DefaultOptions(), []change{request(1000, 2000), cpuKnown(day, 0.5), memoryKnown(day, 0.5), peaksKnown(0, 0)}, amounts{500, 1000}},
		{"lowers no memory with a limit that follows while its peaks are unknown", recommend.FollowOptions(), []change{request(1000, 2000), peaksKnown(8*day, 0.49)}, amounts{500, 2000}},
		{"lowers memory with a limit that follows if half of its peaks are known", recommend.FollowOptions(), []change{request(1000, 2000), peaksKnown(day, 0.5)}, amounts{500, 1000}},
		{"lowers memory without a limit while its peaks are unknown", recommend.FollowOptions(), []change{request(1000, 2000), peaksKnown(0, 0), func(_ *recommend.Options, _ *recommend.Recommendation, p *pod) {
			p.Authored.Limit.Memory, p.Limit.Memory = 0, 0
		}}, amounts{500, 1000}},
		{"lowers nothing until a new version has a day of history", recommend.DefaultOptions(), []change{request(1000, 2000), version(day - 1)}, amounts{1000, 2000}},
		{"lowers with a day of history of a new version", recommend.DefaultOptions(), []change{request(1000, 2000), version(day)}, amounts{500, 1000}},
		{"raises what a new version needs", recommend.DefaultOptions(), []change{request(100, 200), version(time.Minute)}, amounts{500, 1000}},
		{"raises memory immediately that is nearly its limit", recommend.FollowOptions(), []change{request(500, 1000), limitAt(1000), since(0, 0), inUse(950)}, amounts{500, 1140}},
		{"not if less is in use", recommend.FollowOptions(), []change{request(500, 1000), limitAt(1000), since(0, 0), inUse(949)}, amounts{500, 1000}},
		{"raises memory immediately next to a limit that is nearly in use", recommend.DefaultOptions(), []change{request(500, 1100), limitAt(1400), since(0, 0), inUse(1340)}, amounts{500, 1340}},
		{"raises memory that is nearly its limit up to the maximum", recommend.FollowOptions(), []change{request(500, 1000), limitAt(1000), since(0, 0), inUse(990), most(1050)}, amounts{500, 1050}},
		{"does not lower CPU to what was too small", recommend.DefaultOptions(), []change{request(1000, 1000), tooSmall(700, 0, 0)}, amounts{700, 1000}},
		{"does not lower memory to a limit that was too small and follows", recommend.FollowOptions(), []change{request(500, 2000), tooSmall(0, 0, 1500)}, amounts{500, 1500}},
		{"raises memory immediately whose limit was too small", recommend.FollowOptions(), []change{request(500, 1249), since(0, 0), tooSmall(0, 0, 1500)}, amounts{500, 1500}},
		{"not if it is larger than what was too small", recommend.FollowOptions(), []change{request(500, 1260), since(0, 0), tooSmall(0, 0, 1500)}, amounts{500, 1260}},
		{"does not lower CPU if throttled samples reach the percentile", recommend.DefaultOptions(), []change{request(1000, 2000), func(_ *recommend.Options, r *recommend.Recommendation, _ *pod) { r.Throttled = 0.11 }}, amounts{1000, 1000}},
		{"lowers CPU if fewer are throttled", recommend.DefaultOptions(), []change{request(1000, 2000), func(_ *recommend.Options, r *recommend.Recommendation, _ *pod) { r.Throttled = 0.09 }}, amounts{500, 1000}},
		{"never lowers the memory of a runtime that keeps it", recommend.DefaultOptions(), []change{request(1000, 2000), func(o *recommend.Options, _ *recommend.Recommendation, _ *pod) { o.KeepMemory = true }}, amounts{500, 2000}},
		{"raises the memory of a runtime that keeps it", recommend.DefaultOptions(), []change{request(500, 500), func(o *recommend.Options, _ *recommend.Recommendation, _ *pod) { o.KeepMemory = true }}, amounts{500, 1000}},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := decide(test.options, test.changes...)
			if got, want := (amounts{d.CPU.Request, d.Memory.Request}), (amounts{test.want.CPU, test.want.Memory * mib}); got != want {
				t.Errorf("%d millicores and %d MiB, want %+v", got.CPU, got.Memory/mib, test.want)
			}
		})
	}
	knows := func(_ *recommend.Options, _ *recommend.Recommendation, p *pod) { p.KnowsLimit = true }
	once := func(o *recommend.Options, _ *recommend.Recommendation, _ *pod) {
		o.Limits.MemoryMultiple, o.Limits.MemoryHeadroom = 1, 0
	}
	limit := func(memory int64, ago time.Duration) change {
		return func(_ *recommend.Options, _ *recommend.Recommendation, p *pod) {
			p.Limit.Memory, p.ResizedMemory = memory*mib, now.Add(-ago)
		}
	}
	for _, test := range []struct {
		name    string
		options recommend.Options
		changes []change
		want    int64
	}{
		{"raises a limit with its request", recommend.DefaultOptions(), []change{request(500, 500), limit(1000, 0)}, 2000},
		{"keeps a limit for 3 days", recommend.DefaultOptions(), []change{request(500, 2000), limit(4000, 72*time.Hour-1)}, 4000},
		{"lowers a limit after 3 days", recommend.DefaultOptions(), []change{request(500, 2000), limit(4000, 72*time.Hour)}, 2000},
		{"keeps a limit a fifth above what the replica used within a week", recommend.DefaultOptions(), []change{request(500, 500), limit(4000, 72*time.Hour), peak(2500)}, 3000},
		{"keeps a limit that follows a fifth above what the replica used within a week", recommend.FollowOptions(), []change{request(500, 2000), limit(2000, 72*time.Hour), peak(1500)}, 1800},
		{"does not raise a limit to what the replica used within a week", recommend.FollowOptions(), []change{request(500, 900), limit(900, 72*time.Hour), peak(1500)}, 1000},
		{"keeps a limit while peaks are unknown", recommend.DefaultOptions(), []change{request(500, 2000), limit(4000, 72*time.Hour), peaksKnown(day-1, 1)}, 4000},
		{"keeps a limit until a new version has a day of history", recommend.DefaultOptions(), []change{request(500, 500), limit(4000, 72*time.Hour), version(day - 1)}, 4000},
		{"keeps a limit that follows until a new version has a day of history", recommend.FollowOptions(), []change{request(500, 2000), limit(2000, 0), version(day - 1)}, 2000},
		{"raises a limit immediately at which a container was killed", recommend.DefaultOptions(), []change{limit(2000, 0), tooSmall(0, 0, 2400)}, 2400},
		{"raises a limit that is too low for a request that stays", recommend.DefaultOptions(), []change{limit(1000, 0), peaksKnown(0, 0)}, 2000},
		{"keeps a limit that is too high for a request that stays", recommend.DefaultOptions(), []change{limit(3000, 72*time.Hour)}, 3000},
		{"keeps a limit with room for what is in use", recommend.DefaultOptions(), []change{request(500, 2000), limit(2000, 72*time.Hour), inUse(1500), once}, 1650},
		{"raises no limit for the same reason", recommend.DefaultOptions(), []change{request(500, 1500), limit(1600, 72*time.Hour), inUse(1500), once}, 1600},
		{"keeps a limit with room for what is charged", recommend.DefaultOptions(), []change{request(500, 2000), limit(2000, 72*time.Hour), inUse(900), charged(1500), once}, 1650},
		{"keeps a limit with room for what is in use if less is charged", recommend.DefaultOptions(), []change{request(500, 2000), limit(2000, 72*time.Hour), inUse(1500), charged(1400), once}, 1650},
		{"keeps a limit that the page cache fills", recommend.DefaultOptions(), []change{request(500, 2000), limit(2000, 72*time.Hour), inUse(900), charged(2000), once}, 2000},
		{"lowers a limit when less is charged", recommend.DefaultOptions(), []change{request(500, 2000), limit(2000, 72*time.Hour), inUse(900), charged(905), once}, 1000},
		{"keeps a limit that follows with room for what is charged", recommend.FollowOptions(), []change{request(500, 2000), limit(2000, 36*time.Hour), charged(1500)}, 1650},
		{"keeps a limit of a Guaranteed pod with room for what is charged", recommend.FollowOptions(), []change{request(500, 2000), guaranteed, charged(1500)}, 1650},
		{"keeps a limit that a process knows", recommend.DefaultOptions(), []change{request(500, 2000), limit(4000, 72*time.Hour), knows}, 4000},
		{"keeps a limit that a process knows and that follows", recommend.FollowOptions(), []change{request(500, 2000), limit(2000, 72*time.Hour), knows}, 2000},
		{"keeps a limit of a runtime that keeps its memory although the request is raised", recommend.DefaultOptions(), []change{request(500, 500), limit(4000, 72*time.Hour), func(o *recommend.Options, _ *recommend.Recommendation, _ *pod) { o.KeepMemory = true }}, 4000},
		{"raises a limit that a process knows", recommend.DefaultOptions(), []change{request(500, 500), limit(1000, 0), knows}, 2000},
		{"adds no limit", recommend.DefaultOptions(), []change{limit(0, 0)}, 0},
		{"keeps a limit that follows if the request stays", recommend.FollowOptions(), []change{limit(900, 0)}, 900},
		{"lowers a limit that follows with its request", recommend.FollowOptions(), []change{request(500, 2000), limit(2000, 72*time.Hour)}, 1000},
	} {
		t.Run(test.name, func(t *testing.T) {
			if d := decide(test.options, test.changes...); d.Memory.Limit != test.want*mib {
				t.Errorf("%d MiB, want %d MiB", d.Memory.Limit/mib, test.want)
			}
		})
	}
}
