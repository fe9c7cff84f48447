package trend

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"
)

// BenchmarkCount counts what 10,000 workloads in 200 namespaces have, in an hour and at the end of a day, after 90 days. Their usage changes
// in each hour and on each day. So does what half of them request; what the others request never changes.
func BenchmarkCount(b *testing.B) {
	for _, namespaces := range []int{200, 2000} {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		r := rand.New(rand.NewPCG(1, 2))
		book, now, have := NewBook(), start, map[Subject]*Amounts{{}: few(10_000)}
		changed := func(of Subject, n float64, all bool) {
			a := have[of]
			if a == nil {
				a = few(n)
				have[of] = a
			}
			if all {
				*a = *few(n * (1 + r.Float64()/5))
			}
			a.Used = Resources{321 * n * (1 + r.Float64()), n * (1 << 27) * (1 + r.Float64()/5)}
		}
		workloads := func() {
			for i := range 10_000 {
				changed(Subject{fmt.Sprint(i % namespaces), "Deployment", fmt.Sprint("w", i)}, 3, i%2 == 0)
			}
		}
		for i := range 90 * 24 {
			for n := range namespaces {
				changed(Subject{Namespace: fmt.Sprint(n)}, 50, n%2 == 0)
			}
			if i%24 == 0 {
				workloads()
			}
			book.Count(now, time.Hour, have)
			now = now.Add(time.Hour)
		}
		changes := 0
		for _, r := range book.records {
			changes += len(r.Closed.changes)
		}
		have = map[Subject]*Amounts{{}: few(10_000)}
		runtime.GC()
		runtime.ReadMemStats(&after)
		heap := float64(after.HeapAlloc-before.HeapAlloc) / (1 << 20)
		workloads()
		for name, step := range map[string]time.Duration{"minute": time.Second, "day": day} {
			b.Run(fmt.Sprintf("%d namespaces/%s", namespaces, name), func(b *testing.B) {
				for b.Loop() {
					now = now.Add(step)
					book.Count(now, time.Minute, have)
				}
				b.ReportMetric(heap, "MiB")
				b.ReportMetric(float64(changes)/(1<<20), "MiB-changes")
				b.ReportMetric(float64(len(book.known))/24, "days")
			})
		}
	}
}
