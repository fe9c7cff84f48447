package e2e

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// replicas expects each replica to know the samples that any of them received. If the
// leader, which moves ratios, is killed, the other replica keeps the published ratios.
func (b *benchmarked) replicas(t *testing.T) {
	other := b.serve(t)
	sent, err := b.s.api.IngestSamples(t.Context(), []*workloadresizerv1.BenchmarkSample{{
		Id: "1", NodeType: "far", Benchmark: "coremark", Score: 100, Vcpus: 8, Threads: 8, Machine: "a", MeasureTime: timestamppb.New(time.Now().Truncate(time.Second)),
	}}, false)
	if err != nil || sent.GetStored() != 1 {
		t.Fatalf("sent: %v, %v", sent, err)
	}
	localcluster.Eventually(t, "the other replica to know the sample", func() error {
		for got, err := range other.api.ListBenchmarks(t.Context(), &workloadresizerv1.ListBenchmarksRequest{NodeType: "far"}) {
			if err != nil || got.GetSamples() == 1 {
				return err
			}
		}
		return errors.New("it does not know the sample")
	})

	published := func(s *server) string {
		t.Helper()
		got, err := s.api.Ratios().GetRatio(t.Context(), &workloadresizerv1.GetRatioRequest{NodeType: "t2d"})
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%.6f by %s", got.GetRatio().GetCpuPerf(), got.GetRatio().GetProvenance().GetSource())
	}
	before := published(b.s)
	if !leads(t, b.s) {
		t.Fatal("the first replica does not lead")
	}
	if err := b.s.Kill(); err != nil {
		t.Fatal(err)
	}
	localcluster.Eventually(t, "the other replica to lead", func() error {
		if !leads(t, other) {
			return errors.New("it does not lead")
		}
		return nil
	})
	if now := published(other); now != before || before != "1.456000 by benchmark" {
		t.Errorf("the ratio changed from %s to %s", before, now)
	}
}
