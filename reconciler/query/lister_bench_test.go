package query

import (
	"fmt"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/clustertest"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
)

// BenchmarkPreviewOfAWorkload measures the cost of finding 20 pods among 20,000, and
// the memory held while their plans are read.
func BenchmarkPreviewOfAWorkload(b *testing.B) {
	r, of := about(clustertest.Thousands(b, 20_000, 1)), Selection{Workload: workload.Workload{Kind: "ReplicaSet", Name: "checkout-0000007"}}
	before := podtest.HeapInUse()
	total, plans, err := r.PreviewAll(b.Context(), of, PreviewOptions{})
	if err != nil || total != 20 {
		b.Fatal(total, err)
	}
	held := podtest.HeapInUse() - before
	for range plans {
	}
	b.ReportAllocs()
	for b.Loop() {
		_, plans, err := r.PreviewAll(b.Context(), of, PreviewOptions{})
		do(b, err)
		for range plans {
		}
	}
	b.ReportMetric(held, "held-B")
}

// BenchmarkResizesPage measures the cost of a page of 500 resizes among 20,000, at the start
// and in the middle, and the memory held while the page is read.
func BenchmarkResizesPage(b *testing.B) {
	for _, namespaces := range []int{1, 200} {
		r := about(clustertest.Thousands(b, 20_000, namespaces))
		for _, tc := range []struct {
			name  string
			after types.NamespacedName
		}{
			{"the first", types.NamespacedName{}},
			{"from the middle", types.NamespacedName{Namespace: fmt.Sprint("team-", namespaces/2), Name: "checkout-66fb46dc94-02710"}},
		} {
			b.Run(fmt.Sprintf("%s in %d namespaces", tc.name, namespaces), func(b *testing.B) {
				read := func(each func()) {
					page, err := r.Resizes(b.Context(), ResizeQuery{After: tc.after})
					do(b, err)
					left := 500
					for _, err := range page {
						do(b, err)
						each()
						if left--; left == 0 {
							return
						}
					}
					b.Fatalf("%d are missing", left)
				}
				before := podtest.HeapInUse()
				held := sync.OnceValue(func() float64 { return podtest.HeapInUse() - before })
				read(func() { held() })
				b.ReportAllocs()
				for b.Loop() {
					read(func() {})
				}
				b.ReportMetric(held(), "held-B")
			})
		}
	}
}

// BenchmarkCount measures the cost of counting 20,000 pods, and 20 among them.
func BenchmarkCount(b *testing.B) {
	r := about(clustertest.Thousands(b, 20_000, 1))
	for _, tc := range []struct {
		name  string
		count func() (int, error)
	}{
		{"all", func() (int, error) { return r.Count("") }},
		{"a namespace", func() (int, error) { return r.Count("team-0") }},
		{"a workload", func() (int, error) {
			return r.CountOf("team-0", workload.Workload{Kind: "ReplicaSet", Name: "checkout-0000007"})
		}},
	} {
		b.Run(tc.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if n, err := tc.count(); err != nil || n == 0 {
					b.Fatal(n, err)
				}
			}
		})
	}
}
