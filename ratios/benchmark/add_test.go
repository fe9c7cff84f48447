package benchmark

import (
	"strings"
	"testing"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
)

func TestWhatAFeedSaysIsNotKeptBeforeNodeTypesHaveTheirNames(t *testing.T) {
	p := New(Config{})
	p.Follow(ratios.NewStore(p))
	row := sample.Sample{ID: "a", InstanceType: "n4-standard-8", Benchmark: "coremark", Score: 1, VCPUs: 8, Threads: 8, Machine: "row", Time: began}
	if err := p.deliver(t.Context(), "table", []sample.Sample{row}); err == nil || !strings.Contains(err.Error(), "no table of ratios is known yet") {
		t.Errorf("got %v", err)
	}
}
