package estimate

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
)

// fleet returns one sample per benchmark and node.
func fleet(nodes, benchmarks, types int) []sample.Sample {
	random := rand.New(rand.NewPCG(1, 2))
	samples := make([]sample.Sample, 0, nodes*benchmarks)
	for n := range nodes {
		for b := range benchmarks {
			samples = append(samples, sample.Sample{
				ID: fmt.Sprintf("%d-%d", n, b), NodeType: fmt.Sprintf("t%d", n%types), CPUModel: fmt.Sprintf("Intel-6-%d", n%types),
				Benchmark: fmt.Sprintf("bench-node:kernel-%d", b), Version: "1",
				Score: 1000 * (1 + 0.02*random.NormFloat64()), VCPUs: 8, Threads: 8, SingleThread: 200,
				Machine: fmt.Sprintf("node-%d", n), Time: now.Add(-time.Duration(n) * time.Second),
			})
		}
	}
	return samples
}

// BenchmarkModels has a type in which each machine claims a different CPU.
func BenchmarkModels(b *testing.B) {
	for _, models := range []int{mostModels, 2400} {
		samples, s := fleet(models, 2, 1), Defaults()
		for i := range samples {
			samples[i].CPUModel = samples[i].Machine
		}
		samples = append(samples, group{"n2d", "", 3, 100, "bench-node:kernel-0 bench-node:kernel-1"}.samples()...)
		for i := range samples {
			samples[i].Version = ""
		}
		aggregates := Aggregates(samples, now, s)
		s.MinMachines = 1 // All of them are credible.
		b.Run(fmt.Sprintf("models=%d", models), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Estimates(aggregates, "n2d", Cluster{}, s)
			}
		})
	}
}

func BenchmarkFleet(b *testing.B) {
	for _, types := range []int{3, 50} {
		samples, s := fleet(10_000, 8, types), Defaults()
		aggregates := Aggregates(samples, now, s)
		b.Run(fmt.Sprintf("aggregates/types=%d", types), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Aggregates(samples, now, s)
			}
		})
		b.Run(fmt.Sprintf("estimates/types=%d", types), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Estimates(aggregates, "t0", Cluster{}, s)
			}
		})
	}
}
