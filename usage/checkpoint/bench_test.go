package checkpoint

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/workload-resizer/workload-resizer/usage"
	"github.com/workload-resizer/workload-resizer/usage/history"
)

// A large cluster.
const (
	workloads = 10_000
	// replicas is how many pods a workload has, each with one container.
	replicas = 15
	// habits is how many different workloads there are: the others are copies of them, with pods
	// of their own.
	habits = 100
	days   = 8
)

// large returns a store with what a large cluster used in eight days, one sample a minute. What a
// workload uses follows the hour, with noise and rare peaks.
func large(b *testing.B, options func(history.Container) history.Options) *usage.Store {
	b.Helper()
	types := []string{"n2d", "n4", "c3", "c4a"}
	state := usage.NewState()
	begin := began.Add(-days * 24 * time.Hour)
	for habit := range habits {
		random := rand.New(rand.NewPCG(1, uint64(habit)))
		cpu, memory := 20*math.Exp(4.5*random.Float64()), 5e7*math.Exp(4*random.Float64())
		swing, noise := random.Float64(), 0.1+0.4*random.Float64()
		h := history.New(options)
		var copies []history.Container
		var pods [][]history.Pod
		for i := habit; i < workloads; i += habits {
			copies = append(copies, history.Container{Namespace: fmt.Sprintf("team-%d", i%97), Kind: "Deployment", Workload: fmt.Sprintf("service-%d", i), Name: "main"})
			var own []history.Pod
			for p := range replicas {
				id, _ := uuid.NewRandomFromReader(randomBytes{random})
				own = append(own, history.Pod{UID: id.String(), NodeType: types[p%len(types)]})
			}
			pods = append(pods, own)
		}
		record := func(c history.Container, s history.Sample) {
			if err := h.Record(c, s, s.At.Add(time.Minute)); err != nil {
				b.Fatal(err)
			}
		}
		// The first copy has all samples. The others have its distributions, but pods of their own.
		for minute := range days * 24 * 60 {
			load := 1 + swing*math.Sin(float64(minute)/1440*2*math.Pi)
			for p, pod := range pods[0] {
				s := history.Sample{Pod: pod, At: begin.Add(time.Duration(minute)*time.Minute + time.Duration(p)*time.Second), Length: time.Minute}
				s.Usage = int64(cpu * load * math.Exp(noise*random.NormFloat64()))
				if random.Float64() < 0.0005 {
					s.Usage *= 4
				}
				record(copies[0], s)
				s.Resource = history.Memory
				s.Usage = int64(memory*(0.6+0.4*load)*math.Exp(0.1*random.NormFloat64())) &^ 4095
				record(copies[0], s)
			}
		}
		add := func(h *history.History, c history.Container) {
			known := copied(b, h.State(c), c)
			if err := state.Add(c, known.State, known.ratios, began); err != nil {
				b.Fatal(err)
			}
		}
		add(h, copies[0])
		for i, c := range copies[1:] {
			other := history.New(options)
			if err := other.Restore(c, copied(b, h.State(copies[0]), c).State, began); err != nil {
				b.Fatal(err)
			}
			for p, pod := range pods[0] {
				other.Forget(c, pod.UID)
				// As metrics.k8s.io delivers them: measurements with holes between them.
				start := began.Add(time.Duration(-p)*time.Second - time.Duration(49*3600+random.IntN(80000))*time.Second)
				times := []time.Time{start, start.Add(24 * time.Hour)}
				for age := 4 * time.Hour; age >= 0; age -= 3 * time.Minute {
					times = append(times, began.Add(-age))
				}
				for _, at := range times {
					s := history.Sample{Pod: pods[i+1][p], At: at, Length: 15 * time.Second}
					if age := began.Sub(at); age <= 4*time.Hour {
						s.At = at.Add(-time.Duration(random.IntN(15)) * time.Second)
					}
					s.Usage = int64(cpu)
					if err := other.Record(c, s, began); err != nil {
						b.Fatal(err)
					}
					s.Resource = history.Memory
					s.Usage = int64(memory*math.Exp(0.1*random.NormFloat64())) &^ 4095
					if err := other.Record(c, s, began); err != nil {
						b.Fatal(err)
					}
				}
			}
			add(other, c)
		}
	}
	store := newStore()
	store.Restore(state)
	return store
}

// copied returns a copy of what is known of a container, for another one.
func copied(b *testing.B, of *history.State, c history.Container) container {
	b.Helper()
	form, err := (&container{c, []string{"globals"}, of}).append(nil)
	if err != nil {
		b.Fatal(err)
	}
	again, err := unpackContainer(form)
	if err != nil {
		b.Fatal(err)
	}
	return again
}

// randomBytes reads random bytes.
type randomBytes struct{ *rand.Rand }

func (r randomBytes) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return len(b), nil
}

// shards packs a store into as many shards as are needed, and returns their forms.
func shards(b *testing.B, k *Keeper, store *usage.Store) (forms [][]byte) {
	b.Helper()
	for index := 0; index < k.count; index++ {
		h := header{written: began, index: index, count: k.count}
		_, err := k.pack(store, h, math.MaxInt)
		var form []byte
		if err == nil {
			form, err = k.packer.finish(h, full)
		}
		if errors.Is(err, errLarge) {
			k.count *= 2
			return shards(b, k, store)
		}
		if err != nil {
			b.Fatal(err)
		}
		forms = append(forms, form)
	}
	return forms
}

// usual are the options of a cluster in which nothing is shared, and slotted those of one in which all is.
func usual(history.Container) history.Options { return history.DefaultOptions() }

func slotted(history.Container) history.Options {
	o := history.DefaultOptions()
	o.SteadyCPU, o.SteadyMemory = 10*time.Minute, 30*time.Minute
	return o
}

// BenchmarkSlots measures what the slots of steady demand take in a large cluster, in memory and in a checkpoint.
func BenchmarkSlots(b *testing.B) {
	for _, options := range []func(history.Container) history.Options{usual, slotted} {
		b.Run(fmt.Sprintf("of %v", options(history.Container{}).SteadyCPU), func(b *testing.B) {
			heap := func() float64 {
				var m runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&m)
				return float64(m.HeapAlloc)
			}
			for b.Loop() {
				before := heap()
				store := large(b, options)
				taken := heap() - before
				k := New(Config{Interval: Interval})
				k.count = 1
				bytes := 0
				for _, form := range shards(b, k, store) {
					bytes += len(form)
				}
				b.ReportMetric(taken/workloads, "heap-B/workload")
				b.ReportMetric(float64(bytes)/workloads, "stored-B/workload")
				runtime.KeepAlive(store)
			}
		})
	}
}

// BenchmarkLarge measures the checkpoint of a large cluster: 150,000 containers of 10,000 workloads.
func BenchmarkLarge(b *testing.B) {
	store := large(b, usual)
	if n := len(store.Containers()); n != workloads {
		b.Fatalf("%d containers", n)
	}
	k := New(Config{Interval: Interval})
	k.count = 1
	forms := shards(b, k, store)
	b.Run("write", func(b *testing.B) {
		b.ReportAllocs()
		bytes := 0
		for b.Loop() {
			forms, bytes = shards(b, k, store), 0
			for _, form := range forms {
				bytes += len(form)
			}
		}
		b.ReportMetric(float64(bytes), "bytes")
		b.ReportMetric(float64(len(forms)), "shards")
	})
	b.Run("read", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			read := newStore()
			for _, form := range forms {
				_, c, _, err := unpack(form)
				if err != nil {
					b.Fatal(err)
				}
				state := usage.NewState()
				if err := c.addTo(state, began); err != nil {
					b.Fatal(err)
				}
				read.Restore(state)
			}
			if n := len(read.Containers()); n != workloads {
				b.Fatalf("%d containers", n)
			}
		}
	})
	b.Run("equal recommendations", func(b *testing.B) {
		read := newStore()
		for _, form := range forms {
			_, c, _, _ := unpack(form)
			state := usage.NewState()
			_ = c.addTo(state, began)
			read.Restore(state)
		}
		different := 0
		for b.Loop() {
			want, got := store.Publish(uniform, began), read.Publish(uniform, began)
			different = 0
			for _, c := range store.Containers() {
				x, _ := want.Demand(usage.Key{Container: c, Ratios: "all"})
				y, _ := got.Demand(usage.Key{Container: c, Ratios: "all"})
				if x.Target != y.Target || x.Lower != y.Lower || x.Upper != y.Upper {
					different++
				}
			}
		}
		b.ReportMetric(float64(different), "different")
	})
}
