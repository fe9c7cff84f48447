package intake

import (
	"strings"
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
)

func TestIntake(t *testing.T) {
	t.Run("does not store samples before the node types are known", doesNotStoreSamplesBeforeTheNodeTypesAreKnown)
}

func doesNotStoreSamplesBeforeTheNodeTypesAreKnown(t *testing.T) {
	p := benchmark.New(benchmark.Config{})
	in := New(Config{Provider: p, Ratios: ratios.NewStore(p)})
	row := sample.Sample{ID: "a", InstanceType: "n4-standard-8", Benchmark: "coremark", Score: 1, VCPUs: 8, Threads: 8, Machine: "row", Time: time.Unix(1, 0)}
	if err := in.deliver(t.Context(), "table", []sample.Sample{row}); err == nil || !strings.Contains(err.Error(), "there is no ratio table yet") {
		t.Errorf("got %v", err)
	}
}
