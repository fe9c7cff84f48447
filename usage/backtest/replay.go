package backtest

import (
	"time"

	"github.com/workload-resizer/workload-resizer/usage/history"
	"github.com/workload-resizer/workload-resizer/usage/recommend"
	"github.com/workload-resizer/workload-resizer/usage/trace"
)

// Settings are the rules of a replay.
type Settings struct {
	// Warmup is the time at the beginning of each workload that does not count. Policies learn
	// and resize in it.
	Warmup time.Duration
	// Every is how often a policy decides. It also decides after each kill.
	Every time.Duration
	// Speeds has the speed of the node that each replica of a machine runs on.
	Speeds []float64
	// Node is the size of the nodes that requests are packed on.
	Node recommend.Amounts
	// BadDay is the share of a day's CPU samples above the request from which it is bad.
	BadDay float64
}

// DefaultSettings returns the rules for nodes of one type.
func DefaultSettings() Settings {
	return Settings{
		Warmup: 8 * 24 * time.Hour, Every: time.Hour, Speeds: []float64{1},
		Node: recommend.Amounts{CPU: 16_000, Memory: 64 << 30}, BadDay: 0.05,
	}
}

// Tally is what happened to one replica of a machine.
type Tally struct {
	// Samples is how many samples counted. CPUAbove and MemoryAbove are how many of them were
	// above the request.
	Samples, CPUAbove, MemoryAbove int
	// CPURequest and MemoryRequest are the sums of requests over the samples, in cores and
	// bytes, MemoryLimit that of memory limits, and CPUUsage and MemoryUsage those of usage.
	CPURequest, MemoryRequest, MemoryLimit, CPUUsage, MemoryUsage float64
	// Days is how many days had samples. KillDays had a kill, BadDays too many CPU samples
	// above the request, and AboveDays a sample of memory above the request.
	Days, KillDays, BadDays, AboveDays int
	// Resizes counts all resizes except Raises, which raised memory because of a kill.
	Resizes, Raises int
	// Reversed counts the Resizes that changed a request or the memory limit less than an hour after it had been changed
	// in the other direction.
	Reversed int
	// Kills counts kills.
	Kills int
}

// add adds another tally.
func (t *Tally) add(u Tally) {
	t.Samples += u.Samples
	t.CPUAbove += u.CPUAbove
	t.MemoryAbove += u.MemoryAbove
	t.CPURequest += u.CPURequest
	t.MemoryRequest += u.MemoryRequest
	t.MemoryLimit += u.MemoryLimit
	t.CPUUsage += u.CPUUsage
	t.MemoryUsage += u.MemoryUsage
	t.Days += u.Days
	t.KillDays += u.KillDays
	t.BadDays += u.BadDays
	t.AboveDays += u.AboveDays
	t.Resizes += u.Resizes
	t.Raises += u.Raises
	t.Reversed += u.Reversed
	t.Kills += u.Kills
}

// replica is one replica of a machine during a replay.
type replica struct {
	sizer    Sizer
	number   int
	speed    float64
	settings *Settings
	pod      Pod
	// started is when the container last started, and decided when the policy last decided.
	started, decided time.Time
	counted          time.Time
	tally            Tally
	day              day
	// turns has the last changes to the requests of CPU and memory, and to the memory limit.
	turns [3]turn
	// load has the requests and the usage over time, if nodes are packed.
	load *load
}

// day has the counts of the current day.
type day struct {
	number              int64
	samples, above      int
	killed, memoryAbove bool
}

const secondsPerDay = 24 * 3600

// replay replays the machines of one workload under a policy. It returns what happened to each
// replica: one per machine and speed, the machines in their order.
func replay(machines []*trace.Machine, policy Policy, settings *Settings, loads bool) []*replica {
	var speeds []float64
	begin := machines[0].Rows[0].At
	for _, m := range machines {
		speeds = append(speeds, settings.Speeds...)
		begin = min(begin, m.Rows[0].At)
	}
	counted := time.Unix(begin, 0).UTC().Add(settings.Warmup)
	sizer := policy.Sizer(machines[0].Given, speeds)
	replicas := make([]*replica, len(speeds))
	for i, speed := range speeds {
		m := machines[i/len(settings.Speeds)]
		begin := time.Unix(m.Rows[0].At, 0).UTC()
		replicas[i] = &replica{
			sizer: sizer, number: i, speed: speed, settings: settings, started: begin, counted: counted,
			pod: Pod{
				Request: m.Given.Request, Limit: m.Given.Limit, Authored: m.Given,
				ResizedCPU: begin, ResizedMemory: begin,
			},
		}
		if loads {
			replicas[i].load = &load{}
		}
	}
	for i, row := range inOrder(machines) {
		at := time.Unix(row.At, 0).UTC()
		for j := range settings.Speeds {
			replicas[i*len(settings.Speeds)+j].step(at, row)
		}
	}
	for _, r := range replicas {
		r.endDay()
	}
	return replicas
}

// step replays a row.
func (r *replica) step(at time.Time, row trace.Row) {
	cpu := row.CPU
	if r.speed != 1 {
		cpu = int64(float64(row.CPU) / r.speed)
	}
	seen, killed := row.Memory, false
	if limit := r.pod.Limit.Memory; limit > 0 && row.Memory > limit {
		seen, killed = limit, true
	}
	r.count(at, cpu, row.Memory, seen, killed)
	r.sizer.Record(r.number, Sample{At: at, CPU: cpu, Memory: seen, Pressure: float64(row.Pressure), Throttled: row.Throttled})
	r.pod.MemoryInUse = seen
	if killed {
		r.sizer.Kill(r.number, history.Kill{At: at, Limit: r.pod.Limit.Memory, Request: r.pod.Request.Memory})
		r.pod.Killed, r.pod.Ran, r.started = at, at.Sub(r.started), at
	}
	if killed || at.Truncate(r.settings.Every) != r.decided {
		r.decided = at.Truncate(r.settings.Every)
		r.decide(at, killed)
	}
}

// decide lets the policy decide.
func (r *replica) decide(at time.Time, killed bool) {
	request, limit, resize := r.sizer.Decide(r.number, r.pod, at)
	if !resize || request == r.pod.Request && limit == r.pod.Limit {
		return
	}
	reversed := r.reversed(at, request, limit)
	if !at.Before(r.counted) {
		if killed && request.Memory > r.pod.Request.Memory {
			r.tally.Raises++
		} else {
			r.tally.Resizes++
			if reversed {
				r.tally.Reversed++
			}
		}
	}
	if request.CPU != r.pod.Request.CPU {
		r.pod.ResizedCPU = at
	}
	if request.Memory != r.pod.Request.Memory || limit.Memory != r.pod.Limit.Memory {
		r.pod.ResizedMemory = at
	}
	r.pod.Request, r.pod.Limit = request, limit
}

// reversed notes what a resize changes, and reports whether it reverses one that was made less than an hour ago.
func (r *replica) reversed(at time.Time, request, limit recommend.Amounts) bool {
	is := &r.pod
	cpu := r.turns[0].change(at, is.Request.CPU, request.CPU)
	memory := r.turns[1].change(at, is.Request.Memory, request.Memory)
	return r.turns[2].change(at, is.Limit.Memory, limit.Memory) || cpu || memory
}

// turn is the last change to an amount.
type turn struct {
	at time.Time
	up bool
}

// change notes a change, and reports whether it reverses one that was made less than an hour ago.
func (t *turn) change(at time.Time, from, to int64) bool {
	if from == to {
		return false
	}
	before := *t
	*t = turn{at: at, up: to > from}
	return !before.at.IsZero() && before.up != t.up && at.Sub(before.at) < time.Hour
}

// count counts a sample.
func (r *replica) count(at time.Time, cpu, memory, seen int64, killed bool) {
	if at.Before(r.counted) {
		return
	}
	if number := at.Unix() / secondsPerDay; number != r.day.number {
		r.endDay()
		r.day.number = number
	}
	if r.load != nil {
		r.load.add(at, r.demand, Sample{CPU: cpu, Memory: memory}, seen)
	}
	t := &r.tally
	t.Samples++
	t.CPURequest += float64(r.pod.Request.CPU) / 1000
	t.MemoryRequest += float64(r.pod.Request.Memory)
	t.MemoryLimit += float64(r.pod.Limit.Memory)
	t.CPUUsage += float64(cpu) / 1000
	t.MemoryUsage += float64(memory)
	r.day.samples++
	if cpu > r.pod.Request.CPU {
		t.CPUAbove++
		r.day.above++
	}
	if memory > r.pod.Request.Memory {
		t.MemoryAbove++
		r.day.memoryAbove = true
	}
	if killed {
		t.Kills++
		r.day.killed = true
	}
}

// endDay counts the day that ends.
func (r *replica) endDay() {
	d := r.day
	r.day = day{}
	if d.samples == 0 {
		return
	}
	r.tally.Days++
	if d.killed {
		r.tally.KillDays++
	}
	if d.memoryAbove {
		r.tally.AboveDays++
	}
	if float64(d.above) > r.settings.BadDay*float64(d.samples) {
		r.tally.BadDays++
	}
}
