package recommend

import (
	"testing"
	"time"
)

func TestLimits(t *testing.T) {
	authored := Authored{Request: Amounts{500, 1000 * mib}, Limit: Amounts{2000, 1500 * mib}}
	for _, test := range []struct {
		name     string
		limits   Limits
		authored Authored
		request  Amounts
		want     Amounts
	}{
		{"follow the author's proportion", Limits{}, authored, Amounts{1000, 2000 * mib}, Amounts{4000, 3000 * mib}},
		{"keep the author's", Limits{CPU: Keep, Memory: Keep}, authored, Amounts{1000, 1200 * mib}, Amounts{2000, 1500 * mib}},
		{"keep the author's unless the request exceeds them", Limits{CPU: Keep, Memory: Keep}, authored, Amounts{3000, 1600 * mib}, Amounts{3000, 1600 * mib}},
		{"may be removed from CPU, not from memory", Limits{CPU: None, Memory: None}, authored, Amounts{100, 100 * mib}, Amounts{0, 1500 * mib}},
		{"are a multiple of the memory request", Limits{Memory: Multiple, MemoryMultiple: 2, MemoryHeadroom: 250 * mib}, authored, Amounts{100, 1000 * mib}, Amounts{400, 2000 * mib}},
		{"leave headroom to small requests", Limits{Memory: Multiple, MemoryMultiple: 2, MemoryHeadroom: 250 * mib}, authored, Amounts{100, 100 * mib}, Amounts{400, 350 * mib}},
		{"are never below the request", Limits{Memory: Multiple, MemoryMultiple: 0.5}, authored, Amounts{100, 100 * mib}, Amounts{400, 100 * mib}},
		{"do not exist without the author's", Limits{Memory: Multiple, MemoryMultiple: 2}, Authored{Request: authored.Request}, Amounts{100, 100 * mib}, Amounts{}},
		{"of an author without requests stay", Limits{}, Authored{Limit: authored.Limit}, Amounts{100, 100 * mib}, authored.Limit},
		{"of Guaranteed pods equal the requests", Limits{CPU: None, Memory: Multiple, MemoryMultiple: 2}, Authored{Request: authored.Request, Limit: authored.Request, Guaranteed: true}, Amounts{123, 456 * mib}, Amounts{123, 456 * mib}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := test.limits.For(test.request, test.authored); got != test.want {
				t.Errorf("%+v, want %+v", got, test.want)
			}
		})
	}
}

func TestDecision(t *testing.T) {
	now := began.Add(100 * day)
	steady := Recommendation{
		Target: Amounts{500, 1000 * mib}, Lower: Amounts{400, 800 * mib}, Upper: Amounts{600, 1200 * mib},
		CPUKnown: Known{8 * day, 1}, MemoryKnown: Known{8 * day, 1}, PeaksKnown: Known{8 * day, 1},
	}
	pod := Pod{
		Request: Amounts{500, 1000 * mib}, Limit: Amounts{500, 2000 * mib}, Authored: Authored{Request: Amounts{500, 1000 * mib}, Limit: Amounts{500, 1000 * mib}},
		ResizedCPU: now.Add(-100 * day), ResizedMemory: now.Add(-100 * day), ResizedLimit: now.Add(-100 * day),
	}
	type change func(o *Options, r *Recommendation, p *Pod)
	request := func(cpu, memory int64) change {
		return func(_ *Options, _ *Recommendation, p *Pod) { p.Request = Amounts{cpu, memory * mib} }
	}
	since := func(cpu, memory time.Duration) change {
		return func(_ *Options, _ *Recommendation, p *Pod) {
			p.ResizedCPU, p.ResizedMemory = now.Add(-cpu), now.Add(-memory)
		}
	}
	killed := func(ago, ran time.Duration) change {
		return func(_ *Options, _ *Recommendation, p *Pod) { p.Killed, p.Ran = now.Add(-ago), ran }
	}
	inUse := func(memory int64) change {
		return func(_ *Options, _ *Recommendation, p *Pod) { p.MemoryInUse = memory * mib }
	}
	cpuKnown := func(age time.Duration, coverage float64) change {
		return func(_ *Options, r *Recommendation, _ *Pod) { r.CPUKnown = Known{age, coverage} }
	}
	memoryKnown := func(age time.Duration, coverage float64) change {
		return func(_ *Options, r *Recommendation, _ *Pod) { r.MemoryKnown = Known{age, coverage} }
	}
	peaksKnown := func(age time.Duration, coverage float64) change {
		return func(_ *Options, r *Recommendation, _ *Pod) { r.PeaksKnown = Known{age, coverage} }
	}
	most := func(memory int64) change {
		return func(_ *Options, r *Recommendation, _ *Pod) { r.Max.Memory = memory * mib }
	}
	decide := func(o Options, changes ...change) Decision {
		r, p := steady, pod
		for _, change := range changes {
			change(&o, &r, &p)
		}
		d := o.Decide(r, p, now)
		if d.Resize != (d.Request != p.Request || d.Limit != p.Limit) || !d.Resize && d.Limit != p.Limit {
			t.Errorf("%+v of %+v", d, p.Request)
		}
		return d
	}
	for _, test := range []struct {
		name    string
		options Options
		changes []change
		want    Amounts
	}{
		{"as in the VPA, keeps a request on target", CompatOptions(), nil, Amounts{500, 1000}},
		{"as in the VPA, keeps a request within the bounds for 12 hours", CompatOptions(), []change{request(550, 1150), since(12*time.Hour-1, 12*time.Hour-1)}, Amounts{550, 1150}},
		{"as in the VPA, corrects it after 12 hours if the sum of differences is 10%", CompatOptions(), []change{request(525, 1070), since(12*time.Hour, 12*time.Hour)}, Amounts{500, 1000}},
		{"as in the VPA, keeps it if the sum is less", CompatOptions(), []change{request(520, 1040)}, Amounts{520, 1040}},
		{"as in the VPA, counts the time from the last resize of either", CompatOptions(), []change{request(550, 1150), since(13*time.Hour, time.Hour)}, Amounts{550, 1150}},
		{"as in the VPA, corrects both if one is below its bound", CompatOptions(), []change{request(399, 1010), since(0, 0)}, Amounts{500, 1000}},
		{"as in the VPA, corrects both if one is above its bound", CompatOptions(), []change{request(510, 1201), since(0, 0)}, Amounts{500, 1000}},
		{"as in the VPA, keeps a request at its bounds", CompatOptions(), []change{request(400, 1200), since(0, 0)}, Amounts{400, 1200}},
		{"as in the VPA, corrects both after a quick kill", CompatOptions(), []change{request(510, 990), since(0, 0), killed(time.Minute, time.Minute)}, Amounts{500, 1000}},
		{"as in the VPA, ignores a kill after 10 minutes", CompatOptions(), []change{request(510, 990), killed(time.Minute, 10*time.Minute)}, Amounts{510, 990}},
		{"as in the VPA, ignores a kill of 10 minutes ago", CompatOptions(), []change{request(510, 990), killed(10*time.Minute, 0)}, Amounts{510, 990}},

		{"as in the VPA, corrects a difference of exactly 10%", CompatOptions(), []change{func(_ *Options, r *Recommendation, p *Pod) {
			p.Request.CPU = 5000
			r.Target.CPU = 4500
			r.Upper.CPU = 6000
		}}, Amounts{4500, 1000}},
		{"corrects a difference of exactly 10%", DefaultOptions(), []change{func(_ *Options, r *Recommendation, p *Pod) {
			p.Request.CPU = 5000
			r.Target.CPU = 4500
			r.Upper.CPU = 6000
		}}, Amounts{4500, 1000}},
		{"lowers CPU if as many samples are throttled as may exceed the target", DefaultOptions(), []change{request(1000, 1000), func(o *Options, r *Recommendation, _ *Pod) { r.Throttled = 1 - o.CPU.Target }}, Amounts{500, 1000}},

		{"keeps a request on target", DefaultOptions(), nil, Amounts{500, 1000}},
		{"corrects CPU and memory separately", DefaultOptions(), []change{request(399, 1010), since(0, 0)}, Amounts{500, 1010}},
		{"corrects a request within the bounds after 12 hours if it differs by 10%", DefaultOptions(), []change{request(454, 1112), since(12*time.Hour, 12*time.Hour)}, Amounts{500, 1000}},
		{"not if it differs by less", DefaultOptions(), []change{request(456, 1111)}, Amounts{456, 1111}},
		{"not before 12 hours have passed", DefaultOptions(), []change{request(454, 1112), since(12*time.Hour-1, 12*time.Hour-1)}, Amounts{454, 1112}},
		{"lowers CPU a day after its last resize", DefaultOptions(), []change{request(1000, 1000), since(day, 0)}, Amounts{500, 1000}},
		{"not earlier", DefaultOptions(), []change{request(1000, 1000), since(day-1, day)}, Amounts{1000, 1000}},
		{"lowers memory immediately if its limit is separate", DefaultOptions(), []change{request(500, 2000), since(0, 0)}, Amounts{500, 1000}},
		{"lowers memory after 36 hours if its limit follows", FollowOptions(), []change{request(500, 2000), since(0, 36*time.Hour)}, Amounts{500, 1000}},
		{"not earlier, since the limit would be lower, too", FollowOptions(), []change{request(500, 2000), since(0, 36*time.Hour-1)}, Amounts{500, 2000}},
		{"raises memory after any kill", DefaultOptions(), []change{request(510, 990), since(0, 0), killed(time.Minute, day)}, Amounts{510, 1000}},
		{"does not lower memory after a kill", DefaultOptions(), []change{request(510, 1010), killed(time.Minute, 0)}, Amounts{510, 1010}},
		{"never lowers memory below what the pod uses", DefaultOptions(), []change{request(500, 2000), inUse(1500)}, Amounts{500, 1500}},
		{"keeps memory that is in use even above the bound", DefaultOptions(), []change{request(500, 1500), inUse(1500)}, Amounts{500, 1500}},
		{"raises memory to what the pod uses", DefaultOptions(), []change{request(500, 700), inUse(1500)}, Amounts{500, 1500}},
		{"ignores usage in the VPA's mode", CompatOptions(), []change{request(500, 2000), inUse(1500)}, Amounts{500, 1000}},
		{"raises memory to what the pod uses up to the maximum", DefaultOptions(), []change{request(500, 700), inUse(1500), most(1100)}, Amounts{500, 1100}},
		{"never lowers memory below what the pod uses, even above the maximum", DefaultOptions(), []change{request(500, 2000), inUse(1500), most(1100)}, Amounts{500, 1500}},
		{"keeps memory that is in use, even above the maximum", DefaultOptions(), []change{request(500, 1400), inUse(1500), most(1100)}, Amounts{500, 1400}},
		{"lowers no CPU with less than a day of its history", DefaultOptions(), []change{request(1000, 2000), cpuKnown(day-1, 1)}, Amounts{1000, 1000}},
		{"lowers no memory with less than a day of its history", DefaultOptions(), []change{request(1000, 2000), memoryKnown(day-1, 1)}, Amounts{500, 2000}},
		{"raises with any history", DefaultOptions(), []change{request(100, 200), cpuKnown(0, 0), memoryKnown(0, 0), peaksKnown(0, 0)}, Amounts{500, 1000}},
		{"lowers no CPU if less than half of its history is known", DefaultOptions(), []change{request(1000, 2000), cpuKnown(8*day, 0.49)}, Amounts{1000, 1000}},
		{"lowers no memory if less than half of its history is known", DefaultOptions(), []change{request(1000, 2000), memoryKnown(8*day, 0.49)}, Amounts{500, 2000}},
		{"lowers with a day of history, half of it known", DefaultOptions(), []change{request(1000, 2000), cpuKnown(day, 0.5), memoryKnown(day, 0.5), peaksKnown(0, 0)}, Amounts{500, 1000}},
		{"lowers no memory with a limit that follows while its peaks are unknown", FollowOptions(), []change{request(1000, 2000), peaksKnown(8*day, 0.49)}, Amounts{500, 2000}},
		{"lowers memory with a limit that follows if half of its peaks are known", FollowOptions(), []change{request(1000, 2000), peaksKnown(day, 0.5)}, Amounts{500, 1000}},
		{"lowers memory without a limit while its peaks are unknown", FollowOptions(), []change{request(1000, 2000), peaksKnown(0, 0), func(_ *Options, _ *Recommendation, p *Pod) { p.Authored.Limit.Memory, p.Limit.Memory = 0, 0 }}, Amounts{500, 1000}},
		{"does not lower CPU if throttled samples reach the percentile", DefaultOptions(), []change{request(1000, 2000), func(_ *Options, r *Recommendation, _ *Pod) { r.Throttled = 0.11 }}, Amounts{1000, 1000}},
		{"lowers CPU if fewer are throttled", DefaultOptions(), []change{request(1000, 2000), func(_ *Options, r *Recommendation, _ *Pod) { r.Throttled = 0.09 }}, Amounts{500, 1000}},
		{"never lowers the memory of a runtime that keeps it", DefaultOptions(), []change{request(1000, 2000), func(o *Options, _ *Recommendation, _ *Pod) { o.KeepMemory = true }}, Amounts{500, 2000}},
		{"raises the memory of a runtime that keeps it", DefaultOptions(), []change{request(500, 500), func(o *Options, _ *Recommendation, _ *Pod) { o.KeepMemory = true }}, Amounts{500, 1000}},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := decide(test.options, test.changes...)
			if want := (Amounts{test.want.CPU, test.want.Memory * mib}); d.Request != want {
				t.Errorf("%d millicores and %d MiB, want %+v", d.Request.CPU, d.Request.Memory/mib, test.want)
			}
		})
	}
	limit := func(memory int64, ago time.Duration) change {
		return func(_ *Options, _ *Recommendation, p *Pod) {
			p.Limit.Memory, p.ResizedLimit = memory*mib, now.Add(-ago)
		}
	}
	for _, test := range []struct {
		name    string
		options Options
		changes []change
		want    int64
	}{
		{"raises a limit with its request", DefaultOptions(), []change{request(500, 500), limit(1000, 0)}, 2000},
		{"keeps a limit for 3 days", DefaultOptions(), []change{request(500, 2000), limit(4000, 72*time.Hour-1)}, 4000},
		{"lowers a limit after 3 days", DefaultOptions(), []change{request(500, 2000), limit(4000, 72*time.Hour)}, 2000},
		{"keeps a limit while peaks are unknown", DefaultOptions(), []change{request(500, 2000), limit(4000, 72*time.Hour), peaksKnown(day-1, 1)}, 4000},
		{"raises a limit that is too low for a request that stays", DefaultOptions(), []change{limit(1000, 0), peaksKnown(0, 0)}, 2000},
		{"keeps a limit that is too high for a request that stays", DefaultOptions(), []change{limit(3000, 72*time.Hour)}, 3000},
		{"adds no limit", DefaultOptions(), []change{limit(0, 0)}, 0},
		{"keeps a limit that follows if the request stays", FollowOptions(), []change{limit(900, 0)}, 900},
		{"lowers a limit that follows with its request", FollowOptions(), []change{request(500, 2000), limit(2000, 0)}, 1000},
	} {
		t.Run(test.name, func(t *testing.T) {
			if d := decide(test.options, test.changes...); d.Limit.Memory != test.want*mib {
				t.Errorf("%d MiB, want %d MiB", d.Limit.Memory/mib, test.want)
			}
		})
	}
}
