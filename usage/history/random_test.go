package history

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/usage/histogram"
)

// arriving is a measurement and when it arrives.
type arriving struct {
	Sample
	arrives time.Time
}

// measurements returns what a source measures in half a day. It has outages, in which it measures
// nothing or delivers nothing, and it repeats itself.
func measurements(random *rand.Rand, rank uint8, interval, length time.Duration) (all []arriving) {
	within := func(most time.Duration) time.Duration { return time.Duration(random.Int64N(int64(most))) }
	var silent, held time.Time
	delay := within(5 * time.Minute)
	for at := began.Add(within(time.Hour)); at.Before(began.Add(12 * time.Hour)); at = at.Add(interval) {
		if random.IntN(200) == 0 {
			silent = at.Add(within(2 * time.Hour))
		}
		if random.IntN(200) == 0 {
			held = at.Add(within(2 * time.Hour))
		}
		if at.Before(silent) {
			continue
		}
		m := arriving{Sample{Pod: slow, At: at, Length: length, Usage: 100, Rank: rank}, at.Add(delay)}
		if m.arrives.Before(held) {
			m.arrives = held
		}
		all = append(all, m)
		if random.IntN(10) == 0 {
			m.arrives = m.arrives.Add(within(2 * time.Hour))
			all = append(all, m)
		}
	}
	return all
}

// spanned returns the time that measurements take, and how much of it they have.
func spanned(all []Sample) (sum, union time.Duration) {
	var until time.Time
	begin := func(s Sample) time.Time { return s.At.Add(-s.Length) }
	for _, s := range slices.SortedFunc(slices.Values(all), func(a, b Sample) int { return begin(a).Compare(begin(b)) }) {
		sum += s.Length
		if from := begin(s); from.After(until) {
			until = from
		}
		if s.At.After(until) {
			union, until = union+s.At.Sub(until), s.At
		}
	}
	return sum, union
}

// TestRandomSources lets three sources measure a container, out of phase, while the process restarts
// now and then.
func TestRandomSources(t *testing.T) {
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 1))
		all := measurements(random, 0, 5*time.Minute, 5*time.Minute)
		all = append(all, measurements(random, 1, time.Minute, time.Minute)...)
		all = append(all, measurements(random, 2, 20*time.Second, 15*time.Second)...)
		slices.SortStableFunc(all, func(a, b arriving) int { return a.arrives.Compare(b.arrives) })
		f := newFixture(t)
		var measured, counted []Sample
		for _, m := range all {
			measured = append(measured, m.Sample)
			if err := f.Record(web, m.Sample, m.arrives); err != nil {
				continue
			}
			counted = append(counted, m.Sample)
			if random.IntN(50) == 0 {
				g := newFixture(t)
				if err := g.Restore(web, f.State(web), m.arrives); err != nil {
					t.Fatal(err)
				}
				f = g
			}
		}
		// Where one source follows another, up to half a measurement counts twice.
		sum, union := spanned(counted)
		if sum > union*102/100 {
			t.Errorf("seed %d: %v of time counted for %v", seed, union, sum)
		}
		if _, available := spanned(measured); union < available*8/10 {
			t.Errorf("seed %d: %v of time counted of %v", seed, union, available)
		}
	}
}

// numbers are a fuzzed form.
type numbers []byte

// next returns the next number of the form; 0 at its end.
func (n *numbers) next() (number uint64) {
	if len(*n) >= 8 {
		number, *n = binary.LittleEndian.Uint64(*n), (*n)[8:]
	}
	return number
}

// formOf returns the form that has some numbers.
func formOf(all ...uint64) (n numbers) {
	for _, number := range all {
		n = binary.LittleEndian.AppendUint64(n, number)
	}
	return n
}

// bounds are the least and the highest usage that counts, in cores and in bytes.
type bounds struct{ least, highest [2]float64 }

func (b *bounds) add(r Resource, usage float64) {
	b.least[r], b.highest[r] = min(b.least[r], usage), max(b.highest[r], usage)
}

// check checks that sizes follow only from usage that counts.
func (b *bounds) check(t *testing.T, v TypeView) {
	t.Helper()
	for r, distribution := range []*histogram.Histogram{v.CPU, v.Memory} {
		first := []float64{0.01, 1e7}[r]
		for _, p := range []float64{0.5, 0.9, 1} {
			if got := distribution.Percentile(p); !(got == 0 || got >= b.least[r]*0.999 && got <= b.highest[r]*1.06+first) {
				t.Errorf("percentile %v of resource %d is %v, but usage is from %v to %v", p, r, got, b.least[r], b.highest[r])
			}
		}
	}
	if !(v.Throttled >= 0 && v.Throttled <= 1) {
		t.Errorf("a share of %v is throttled", v.Throttled)
	}
}

// FuzzRecord records any samples and kills, with any clock, among true samples. It checks that those that
// cannot be true are rejected, and that the history can be stored and read.
func FuzzRecord(f *testing.F) {
	f.Add([]byte(formOf(0, 0, 0, 1e9, math.Float64bits(0.5), 0)))
	f.Add([]byte(formOf(1, math.MaxUint64-1e15, 0, 1e15, math.Float64bits(math.NaN()), 7)))
	f.Add([]byte(formOf(2, 1e18, 1e12, math.MaxInt64, math.Float64bits(-1), 1<<8|3)))
	f.Add([]byte(formOf(3, math.MaxInt64, 1, 1, math.Float64bits(math.Inf(1)), 1<<16)))
	f.Fuzz(func(t *testing.T, form []byte) {
		g, now, n := newFixture(t), began, numbers(form)
		b := bounds{[2]float64{0.1, 1e8}, [2]float64{0.1, 1e8}}
		for range 20 {
			now = now.Add(time.Minute)
			_ = g.Record(web, Sample{Pod: slow, At: now, Length: time.Minute, Usage: 100}, now)
			_ = g.Record(web, Sample{Pod: slow, Resource: Memory, At: now, Usage: 1e8}, now)
			what, at, length, usage, pressure, of := n.next(), now.Add(time.Duration(n.next())), int64(n.next()), int64(n.next()), n.next(), n.next()
			pod := Pod{UID: string(rune('a' + of%3)), NodeType: string(rune('a' + of>>8%3))}
			if what%4 == 3 { // The clock jumps.
				if now = at; now.Year() < 1980 || now.Year() > 2200 {
					now = began
				}
			}
			if what%4 == 2 {
				k := Kill{Pod: pod, At: at, Limit: usage, Request: length, Usage: int64(pressure)}
				if err := g.RecordKill(web, k, now); err == nil {
					b.add(Memory, float64(max(k.Limit, k.Usage)))
					b.highest[Memory] = max(1.2*b.highest[Memory], b.highest[Memory]+100*mib)
				}
			} else {
				s := Sample{Pod: pod, Resource: Resource(what >> 8 % 2), At: at, Length: time.Duration(length), Usage: usage, Rank: uint8(of >> 16 % 4)}
				s.Throttled, s.Pressure = of>>24%2 == 1, math.Float64frombits(pressure)
				if err := g.Record(web, s, now); err == nil {
					if math.IsNaN(s.Pressure) || s.Usage < 0 || at.After(now.Add(Skew)) || now.Sub(at) >= g.options.Kept() {
						t.Errorf("counted %+v at %v", s, now)
					}
					b.add(s.Resource, float64(s.Usage)*[]float64{0.001, 1}[s.Resource])
				}
			}
			view, _ := g.View(web, now)
			for _, v := range view.Types {
				b.check(t, v)
			}
			if r := g.State(web); r != nil {
				if err := newFixture(t).Restore(web, r, now); err != nil {
					t.Fatalf("it cannot be read again: %v", err)
				}
			}
			g.Expire(now)
		}
	})
}
