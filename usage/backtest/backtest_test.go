package backtest

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/reconciler/headroom"
	"github.com/workload-resizer/workload-resizer/reconciler/need"
	"github.com/workload-resizer/workload-resizer/usage/history"
	"github.com/workload-resizer/workload-resizer/usage/recommend"
	"github.com/workload-resizer/workload-resizer/usage/trace"
)

const mib = 1 << 20

// monday is the first second of a day.
const monday = 1767571200

// machine returns a machine whose samples, every five minutes, use what the function says.
func machine(days int, use func(step int) (cpu, memory int64)) *trace.Machine {
	given := recommend.Amounts{CPU: 1000, Memory: 1000 * mib}
	m := &trace.Machine{Name: "m", Given: recommend.Authored{Request: given, Limit: given}}
	for step := range days * slotsPerDay {
		cpu, memory := use(step)
		m.Rows = append(m.Rows, trace.Row{At: monday + int64(step)*slot, CPU: cpu, Memory: memory})
	}
	return m
}

// scripted is a policy that records its samples, and decides as the test says.
type scripted struct {
	samples []Sample
	kills   []history.Kill
	asked   []Pod
	times   []time.Time
	decide  func(p Pod, now time.Time) (request, limit recommend.Amounts, resize bool)
}

func (s *scripted) Name() string { return "scripted" }

func (s *scripted) Sizer(recommend.Authored, []float64) Sizer { return s }

func (s *scripted) Record(_ int, sample Sample) { s.samples = append(s.samples, sample) }

func (s *scripted) Kill(_ int, k history.Kill) { s.kills = append(s.kills, k) }

func (s *scripted) Decide(_ int, p Pod, now time.Time) (request, limit recommend.Amounts, resize bool) {
	s.asked, s.times = append(s.asked, p), append(s.times, now)
	if s.decide == nil {
		return request, limit, false
	}
	return s.decide(p, now)
}

// run replays one machine without a warm-up, and returns what happened.
func run(m *trace.Machine, s *scripted) Row {
	settings := DefaultSettings()
	settings.Warmup = 0
	return Run([]*trace.Machine{m}, s, settings).Summary(Prices{Core: 10, GiB: 2})[0]
}

func TestReplay(t *testing.T) {
	near := func(t *testing.T, name string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-9 {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	t.Run("shows no more memory than the limit, and kills", func(t *testing.T) {
		s := &scripted{}
		row := run(machine(2, func(step int) (int64, int64) {
			if step == 10 || step == 11 {
				return 100, 1500 * mib
			}
			return 100, 1000 * mib
		}), s)
		if s.samples[9].Memory != 1000*mib || s.samples[10].Memory != 1000*mib || len(s.kills) != 2 {
			t.Errorf("%+v, %d kills", s.samples[9:11], len(s.kills))
		}
		if k := s.kills[0]; k.Limit != 1000*mib || k.Request != 1000*mib || !k.At.Equal(time.Unix(monday+10*slot, 0)) {
			t.Errorf("%+v", k)
		}
		near(t, "days with a kill", row.OOMDays, 0.5)
		near(t, "days above the request", row.AboveDays, 0.5)
		near(t, "samples above the request", row.MemoryAbove, 2.0/576)
		if row.OOMKills != 2 {
			t.Errorf("%d kills", row.OOMKills)
		}
	})
	t.Run("replays the replicas of a workload together", func(t *testing.T) {
		constant := func(int) (int64, int64) { return 100, mib }
		first, second, other := machine(10, constant), machine(3, constant), machine(10, constant)
		first.Workload, second.Workload = "web", "web"
		second.Rows = second.Rows[slotsPerDay:]
		for i := range second.Rows {
			second.Rows[i].At += 7*secondsPerDay + 1
		}
		s := &scripted{}
		settings := DefaultSettings()
		result := Run([]*trace.Machine{first, second}, s, settings)
		for i := range s.samples[1:] {
			if !s.samples[i].At.Before(s.samples[i+1].At) {
				t.Fatalf("%v before %v", s.samples[i].At, s.samples[i+1].At)
			}
		}
		// The second machine begins when the 8 days of the workload are over.
		if tally := result.Replicas[0].Tally; result.Machines != 2 || tally.Days != 4 || tally.Samples != 4*slotsPerDay {
			t.Errorf("%d machines, %+v", result.Machines, tally)
		}
		if alone := Run([]*trace.Machine{other, other}, &Recommender{Label: "ours", History: history.DefaultOptions(), Options: recommend.DefaultOptions()}, settings); alone.Machines != 2 {
			t.Errorf("%d machines without a workload", alone.Machines)
		}
	})
	t.Run("shows policies pressure and throttling", func(t *testing.T) {
		m := machine(1, func(int) (int64, int64) { return 100, mib })
		m.Rows[3].Pressure, m.Rows[3].Throttled = 0.5, true
		s := &scripted{}
		run(m, s)
		if got := s.samples[3]; got.Pressure != 0.5 || !got.Throttled || s.samples[4].Throttled {
			t.Errorf("%+v", got)
		}
	})
	t.Run("shares a history between the replicas of a workload", func(t *testing.T) {
		idle, busy := machine(10, func(int) (int64, int64) { return 10, mib }), machine(10, func(int) (int64, int64) { return 800, mib })
		policy := &Recommender{Label: "ours", History: history.DefaultOptions(), Options: recommend.DefaultOptions()}
		cores := func(workload string) float64 {
			idle.Workload, busy.Workload = workload, workload
			return Run([]*trace.Machine{idle, busy}, policy, DefaultSettings()).Replicas[0].Cores
		}
		if apart, together := cores(""), cores("web"); apart > 1.1 || together < 1.8 {
			t.Errorf("%v cores apart, %v together", apart, together)
		}
	})
	t.Run("lets a policy decide each hour, and after a kill", func(t *testing.T) {
		s := &scripted{}
		run(machine(1, func(step int) (int64, int64) { return 100, int64(900+step%20*10) * mib }), s)
		if want := 24 + 288/20*9; len(s.asked) < 24 || len(s.asked) > want+24 {
			t.Errorf("%d decisions", len(s.asked))
		}
		s = &scripted{}
		run(machine(1, func(step int) (int64, int64) { return 100, mib }), s)
		if len(s.asked) != 24 || s.asked[3].MemoryInUse != mib || !s.times[3].Equal(time.Unix(monday+3*3600, 0)) {
			t.Errorf("%d decisions, the fourth of %+v at %v", len(s.asked), s.asked[3], s.times[3])
		}
		s = &scripted{}
		run(machine(1, func(step int) (int64, int64) {
			if step == 5 || step == 7 {
				return 100, 2000 * mib
			}
			return 100, mib
		}), s)
		if len(s.asked) != 26 || !s.asked[1].Killed.Equal(s.times[1]) || s.asked[1].Ran != 25*time.Minute || s.asked[2].Ran != 10*time.Minute {
			t.Errorf("%d decisions, %+v", len(s.asked), s.asked[1:3])
		}
	})
	t.Run("counts requests, usage and money", func(t *testing.T) {
		row := run(machine(2, func(step int) (int64, int64) { return 250, 250 * mib }), &scripted{
			decide: func(p Pod, now time.Time) (request, limit recommend.Amounts, resize bool) {
				half := recommend.Amounts{CPU: 500, Memory: 512 * mib}
				return half, half, now.Unix() == monday+secondsPerDay-3600 && p.Request != half
			},
		})
		// The decision of the last hour of the first day comes after its first sample.
		near(t, "cores", row.Cores, 1-0.5*(576-277)/576)
		near(t, "cost", row.Cost, row.Cores*10+row.GiB*2)
		near(t, "slack of CPU", row.CPUSlack, 1-0.25/row.Cores)
		near(t, "slack of memory", row.MemorySlack, 1-250.0/1024/row.GiB)
		near(t, "resizes", row.Resizes, 0.5)
	})
	t.Run("counts a resize that raises memory after a kill apart", func(t *testing.T) {
		s := &scripted{decide: func(p Pod, now time.Time) (request, limit recommend.Amounts, resize bool) {
			more := recommend.Amounts{CPU: 1000, Memory: 3000 * mib}
			return more, more, p.Killed.Equal(now)
		}}
		row := run(machine(1, func(step int) (int64, int64) { return 100, int64(500+step*10) * mib }), s)
		near(t, "raises", row.OOMRaises, 1)
		near(t, "resizes", row.Resizes, 0)
		s = &scripted{decide: func(p Pod, now time.Time) (request, limit recommend.Amounts, resize bool) {
			return recommend.Amounts{CPU: 500, Memory: 1000 * mib}, recommend.Amounts{Memory: 9000 * mib}, p.Killed.Equal(now)
		}}
		row = run(machine(1, func(step int) (int64, int64) { return 100, int64(500+step*10) * mib }), s)
		near(t, "raises of CPU", row.OOMRaises, 0)
		near(t, "resizes of CPU", row.Resizes, 1)
	})
	t.Run("counts limits, and resizes that reverse others within an hour", func(t *testing.T) {
		s := &scripted{decide: func(p Pod, now time.Time) (request, limit recommend.Amounts, resize bool) {
			request, limit = p.Request, p.Limit
			switch now.Sub(time.Unix(monday, 0)) {
			case 0:
				request.CPU, limit.Memory = 700, 2000*mib
			case 30 * time.Minute:
				request.Memory, limit.Memory = 900*mib, 3000*mib
			case time.Hour:
				request.CPU = 800 // An hour after it was lowered.
			case 90 * time.Minute:
				limit.Memory = 2000 * mib // An hour after it was raised.
			case 2*time.Hour - 5*time.Minute:
				request.CPU, request.Memory, limit.Memory = 700, 800*mib, 4000*mib
			case 3 * time.Hour:
				request.Memory = 1000 * mib
			}
			return request, limit, true
		}}
		settings := DefaultSettings()
		settings.Warmup, settings.Every = 0, 5*time.Minute
		row := Run([]*trace.Machine{machine(1, func(int) (int64, int64) { return 100, mib })}, s, settings).Summary(Prices{})[0]
		near(t, "resizes", row.Resizes, 6)
		near(t, "GiB of limits", row.LimitGiB, (1000*1+2000*6+3000*12+2000*5+4000*264)/288.0/1024)
		if row.Reversed != 1 {
			t.Errorf("%d resizes reverse others", row.Reversed)
		}
	})
	t.Run("tells a policy when each resource was resized", func(t *testing.T) {
		s := &scripted{decide: func(p Pod, now time.Time) (request, limit recommend.Amounts, resize bool) {
			request, limit = p.Request, p.Limit
			switch now.Unix() - monday {
			case 3600:
				request.CPU = 700
			case 2 * 3600:
				request.Memory = 700 * mib
			case 3 * 3600:
				limit.Memory = 5000 * mib
			default:
				return request, limit, false
			}
			return request, limit, true
		}}
		run(machine(1, func(int) (int64, int64) { return 100, mib }), s)
		last := s.asked[len(s.asked)-1]
		for i, at := range []time.Time{last.ResizedCPU, last.ResizedMemory} {
			if want := time.Unix(monday+int64(2*i+1)*3600, 0); !at.Equal(want) { // Memory with its limit.
				t.Errorf("%d: %v, want %v", i, at, want)
			}
		}
	})
	t.Run("calls a day bad if more than 5% of its samples of CPU are above the request", func(t *testing.T) {
		row := run(machine(2, func(step int) (int64, int64) {
			if step < 14 || step >= 288 && step < 288+15 {
				return 1001, mib
			}
			return 1000, mib
		}), &scripted{})
		near(t, "bad days", row.BadDays, 0.5)
		near(t, "samples above", row.CPUAbove, 29.0/576)
	})
	t.Run("does not count the warm-up", func(t *testing.T) {
		s := &scripted{}
		r := Run([]*trace.Machine{machine(10, func(step int) (int64, int64) {
			if step < 8*slotsPerDay {
				return 5000, 5000 * mib
			}
			return 1, mib
		})}, s, DefaultSettings())
		row := r.Summary(Prices{})[0]
		if row.MachineDays != 2 || row.OOMKills != 0 || row.BadDays != 0 || len(s.kills) != 8*slotsPerDay {
			t.Errorf("%+v", row)
		}
		if short := Run([]*trace.Machine{machine(8, func(int) (int64, int64) { return 1, 1 }), {Name: "empty"}}, s, DefaultSettings()); short.Machines != 0 || short.Summary(Prices{})[0].MachineDays != 0 {
			t.Errorf("%+v", short)
		}
	})
	t.Run("divides CPU by the speed of the node", func(t *testing.T) {
		settings := DefaultSettings()
		settings.Warmup, settings.Speeds = 0, []float64{1, 1.25}
		r := Run([]*trace.Machine{machine(1, func(int) (int64, int64) { return 500, mib })}, &scripted{}, settings)
		rows := r.Summary(Prices{})
		near(t, "used on the slow node", 1-rows[0].CPUSlack, 0.5)
		near(t, "used on the fast node", 1-rows[1].CPUSlack, 0.4)
		if rows[1].Speed != 1.25 || rows[0].NodeDays != 0 {
			t.Errorf("%+v", rows)
		}
	})
}

func TestNodes(t *testing.T) {
	load := func(days int, cpu, memory func(slot int) int64) *trace.Machine {
		return machine(days, func(step int) (int64, int64) { return cpu(step), memory(step) })
	}
	constant := func(n int64) func(int) int64 { return func(int) int64 { return n } }
	pack := func(node recommend.Amounts, machines ...*trace.Machine) Nodes {
		settings := DefaultSettings()
		settings.Warmup, settings.Node = 0, node
		return Run(machines, Authored(), settings).Nodes
	}
	calm := load(3, constant(900), constant(900*mib))
	for _, test := range []struct {
		name     string
		node     recommend.Amounts
		machines []*trace.Machine
		want     Nodes
	}{
		{"hold as many machines as fit by their requests", recommend.Amounts{CPU: 2000, Memory: 2000 * mib}, []*trace.Machine{calm, calm, calm, calm}, Nodes{Days: 6}},
		{"hold only machines whose CPU fits", recommend.Amounts{CPU: 1999, Memory: 2000 * mib}, []*trace.Machine{calm, calm}, Nodes{Days: 6}},
		{"hold only machines whose memory fits", recommend.Amounts{CPU: 2000, Memory: 1999 * mib}, []*trace.Machine{calm, calm}, Nodes{Days: 6}},
		{"are as large as a machine that is larger", recommend.Amounts{CPU: 10, Memory: mib}, []*trace.Machine{calm}, Nodes{Days: 3}},
		{"are over on days on which the sum of CPU exceeds them", recommend.Amounts{CPU: 2000, Memory: 2000 * mib}, []*trace.Machine{
			calm, load(3, func(slot int) int64 {
				if slot == 300 {
					return 1101
				}
				return 1100
			}, constant(mib)),
		}, Nodes{Days: 3, CPU: 1, CPUSlots: 1}},
		{"are over if machines need more memory, even if they are killed first", recommend.Amounts{CPU: 2000, Memory: 2000 * mib}, []*trace.Machine{
			calm, load(3, constant(1), constant(1101*mib)),
		}, Nodes{Days: 3, Memory: 3, MemorySlots: 3 * slotsPerDay}},
		{"are over if a machine needs more than 32 bits can count", recommend.Amounts{CPU: 2000, Memory: 2000 * mib}, []*trace.Machine{
			load(3, constant(1<<32), constant(4<<40)),
		}, Nodes{Days: 3, Memory: 3, CPU: 3, MemorySlots: 3 * slotsPerDay, CPUSlots: 3 * slotsPerDay}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := pack(test.node, test.machines...); got != test.want {
				t.Errorf("%+v, want %+v", got, test.want)
			}
		})
	}
	t.Run("are seen to be over if the limits leave room", func(t *testing.T) {
		l := loadWith(headroom.Demand{Steady: headroom.Amounts{1, 1 << 20}})
		l.days[0].seen[7] = 1025
		p := packer{size: recommend.Amounts{CPU: 1, Memory: 1 << 20}}
		p.place(&l.days[0])
		var n Nodes
		n.count(p.nodes[0])
		if n != (Nodes{Days: 1, Seen: 1}) {
			t.Errorf("%+v", n)
		}
	})
}

// generated returns the machines of the generator.
func generated(t testing.TB, count, days int) (machines []*trace.Machine) {
	t.Helper()
	var text bytes.Buffer
	if err := trace.Generate(&text, count, days, 1); err != nil {
		t.Fatal(err)
	}
	if err := trace.Read(&text, func(m *trace.Machine) error { machines = append(machines, m); return nil }); err != nil {
		t.Fatal(err)
	}
	return machines
}

func TestRecommender(t *testing.T) {
	machines := generated(t, 12, 30)
	policy := func(o recommend.Options) *Recommender {
		return &Recommender{Label: "ours", History: history.DefaultOptions(), Options: o}
	}
	ours := policy(recommend.DefaultOptions())
	base := Run(machines, ours, DefaultSettings())
	t.Run("has the same result every time", func(t *testing.T) {
		if again := Run(machines, ours, DefaultSettings()); !reflect.DeepEqual(base, again) {
			t.Errorf("%+v, then %+v", base, again)
		}
	})
	t.Run("requests less than machines were given", func(t *testing.T) {
		given := Run(machines, Authored(), DefaultSettings()).Summary(Prices{})[0]
		got := base.Summary(Prices{})[0]
		if got.GiB > given.GiB*0.6 || got.Cores > given.Cores/2 || got.Resizes == 0 || given.Resizes != 0 {
			t.Errorf("%+v of %+v", got, given)
		}
	})
	t.Run("leaves the same slack on all node types, and one mixed distribution does not", func(t *testing.T) {
		settings := DefaultSettings()
		settings.Speeds = []float64{1, 1.46}
		spread := func(mixed bool) float64 {
			p := *ours
			p.Mixed = mixed
			rows := Run(machines, &p, settings).Summary(Prices{})
			return rows[1].CPUSlack - rows[0].CPUSlack
		}
		if ours, mixed := spread(false), spread(true); math.Abs(ours) > 0.01 || mixed < 0.05 {
			t.Errorf("the slack differs by %v, mixed by %v", ours, mixed)
		}
	})
}

// TestSteadyNoise replays machines that use the same every day, except for noise of a fifth.
func TestSteadyNoise(t *testing.T) {
	const days = 35
	var machines []*trace.Machine
	for seed := range uint64(10) {
		random := rand.New(rand.NewPCG(seed, 0))
		swing := 0.6 * random.Float64()
		machines = append(machines, machine(days, func(step int) (cpu, memory int64) {
			wave := 1 + swing*math.Sin(2*math.Pi*float64(step)/slotsPerDay)
			noise := func() float64 { return 0.8 + 0.4*random.Float64() }
			return int64(300 * wave * noise()), int64(300 * mib * wave * noise())
		}))
	}
	settings := DefaultSettings()
	settings.Warmup = 7 * 24 * time.Hour
	follow := &Recommender{Label: "follow", History: history.DefaultOptions(), Options: recommend.FollowOptions()}
	follow.History.FromNothing = true
	for _, policy := range []*Recommender{{Label: "default", History: history.DefaultOptions(), Options: recommend.DefaultOptions()}, follow} {
		row := Run(machines, policy, settings).Summary(Prices{})[0]
		if row.MachineDays != 10*(days-7) || row.Resizes > 0.1 || row.OOMRaises != 0 || row.OOMDays != 0 {
			t.Errorf("%s: %.3f resizes per machine and day, %+v", policy.Label, row.Resizes, row)
		}
	}
}

// TestLimitsThatFollow replays generated machines, whose limits are their requests. A fifth of them leaks.
func TestLimitsThatFollow(t *testing.T) {
	machines := generated(t, 24, 40)
	replay := func(o recommend.Options, h history.Options) Row {
		return Run(machines, &Recommender{Label: "ours", History: h, Options: o}, DefaultSettings()).Summary(Prices{})[0]
	}
	compat, follow := history.DefaultOptions(), history.DefaultOptions()
	compat.Compat, follow.FromNothing = true, true
	theirs, ours := replay(recommend.CompatOptions(), compat), replay(recommend.FollowOptions(), follow)
	if ours.OOMDays > 0.6*theirs.OOMDays || ours.GiB > 1.15*theirs.GiB {
		t.Errorf("%.4f of the days have a kill and %.1f GiB are requested, by the VPA's rules %.4f and %.1f GiB", ours.OOMDays, ours.GiB, theirs.OOMDays, theirs.GiB)
	}
}

// TestLimitsByTheHighestUsage replays machines with a high peak a week: the limit has room for it, and the request has not.
func TestLimitsByTheHighestUsage(t *testing.T) {
	m := machine(30, func(step int) (cpu, memory int64) {
		if step%(7*slotsPerDay) == slotsPerDay/2 {
			return 300, 800 * mib
		}
		return 300, 100 * mib
	})
	replay := func(change func(*recommend.Options)) Row {
		o := recommend.DefaultOptions()
		change(&o)
		return Run([]*trace.Machine{m}, &Recommender{Label: "ours", History: history.DefaultOptions(), Options: o}, DefaultSettings()).Summary(Prices{})[0]
	}
	highest := replay(func(o *recommend.Options) { o.Limits.Memory, o.Limits.MemoryHeadroom = need.Peak, 0 })
	multiple := replay(func(o *recommend.Options) { o.Limits.MemoryHeadroom = 0 })
	if highest.OOMDays != 0 || highest.LimitGiB < 1.5 || highest.LimitGiB > 1.7 || highest.GiB > 0.5 {
		t.Errorf("%+v", highest)
	}
	if multiple.OOMDays == 0 {
		t.Errorf("a multiple of the request has room for the peak: %+v", multiple)
	}
}

func TestPlot(t *testing.T) {
	var b bytes.Buffer
	if err := Plot(&b, []Row{{Policy: "a<b", Speed: 1, GiB: 700, OOMDays: 0.1}, {Policy: "c", Speed: 1.25, GiB: 350}}); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	for decoder := xml.NewDecoder(&b); ; {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{`a&lt;b</text>`, `c, speed 1.25</text>`, `<circle cx="`, `>850</text>`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if n := strings.Count(text, "<circle"); n != 2 {
		t.Errorf("%d points", n)
	}
	if err := Plot(&b, nil); err != nil {
		t.Error(err)
	}
}
