package usage

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/workload-resizer/workload-resizer/policy"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler/demand"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

func TestSizeRules(t *testing.T) {
	amounts := func(cpu, memory string) *workloadresizerv1.ResourceAmounts {
		return &workloadresizerv1.ResourceAmounts{Cpu: cpu, Memory: memory}
	}
	for _, tc := range []struct {
		name   string
		change func(*demand.Item)
		want   *workloadresizerv1.SizeRules
	}{
		{"of pods that nothing limits", func(*demand.Item) {}, &workloadresizerv1.SizeRules{CpuLimit: "follow", MemoryLimit: "multiple", MemoryLimitMultiple: 2, MemoryLimitHeadroom: "250Mi"}},
		{"of limits that follow the peak, and stay", func(i *demand.Item) {
			i.Demand.CPU.Limit, i.Demand.Memory.Limit = "keep", "peak"
		}, &workloadresizerv1.SizeRules{CpuLimit: "keep", MemoryLimit: "peak", MemoryLimitMultiple: 2}},
		{"of amounts that may grow, within bounds", func(i *demand.Item) {
			i.Demand.Memory.Limit = "follow"
			i.Bounds = policy.Bounds{CPU: sizing.Range{Min: 10, Max: 3000}, Memory: sizing.Range{Max: 8 << 30}}
			i.MostAuthored = sizing.Container{CPU: sizing.Amount{Request: 1000}, Memory: sizing.Amount{Request: 1 << 30, Limit: 1 << 30}}
		}, &workloadresizerv1.SizeRules{
			CpuLimit: "follow", MemoryLimit: "follow", MinRequests: amounts("10m", ""), MaxRequests: amounts("3", "4Gi"), MaxLimits: amounts("", "4Gi"),
		}},
		{"of the largest amounts", func(i *demand.Item) {
			i.Demand.Memory.Limit = "keep"
			i.MostAuthored = sizing.Container{Memory: sizing.Amount{Request: sizing.Memory.Most}}
		}, &workloadresizerv1.SizeRules{CpuLimit: "follow", MemoryLimit: "keep", MaxRequests: amounts("", "1Ei")}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := policy.Demand{MaxGrowth: 4}
			d.CPU.Limit, d.Memory.Limit, d.Memory.Multiple, d.Memory.Headroom = "follow", "multiple", 2, 250<<20
			item := &demand.Item{Demand: &d}
			tc.change(item)
			if diff := cmp.Diff(tc.want, sizeRules(item), protocmp.Transform()); diff != "" {
				t.Errorf("wrong rules (-want +got):\n%s", diff)
			}
		})
	}
}
