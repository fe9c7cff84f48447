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
	t.Run("what a feed says is not kept before node types have their names", whatAFeedSaysIsNotKeptBeforeNodeTypesHaveTheirNames)
}

func whatAFeedSaysIsNotKeptBeforeNodeTypesHaveTheirNames(t *testing.T) {
	p := benchmark.New(benchmark.Config{})
	in := New(Config{Provider: p, Ratios: ratios.NewStore(p)})
	row := sample.Sample{ID: "a", InstanceType: "n4-standard-8", Benchmark: "coremark", Score: 1, VCPUs: 8, Threads: 8, Machine: "row", Time: time.Unix(1, 0)}
	if err := in.deliver(t.Context(), "table", []sample.Sample{row}); err == nil || !strings.Contains(err.Error(), "no table of ratios is known yet") {
		t.Errorf("got %v", err)
	}
}
