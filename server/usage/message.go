package usage

import (
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler/demand"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
	"github.com/workload-resizer/workload-resizer/server/values"
	"github.com/workload-resizer/workload-resizer/usage/recommend"
)

// message returns an item. priced means that it has costs.
func message(i *demand.Item, priced bool) *workloadresizerv1.Recommendation {
	m := &workloadresizerv1.Recommendation{
		Namespace: i.Container.Namespace, Workload: &workloadresizerv1.Workload{Kind: i.Container.Kind, Name: i.Container.Workload},
		Container: i.Container.Name, Rule: i.Rule, DemandFrom: i.Demand.From, DemandMode: values.DemandMode(i.Demand), Sums: sums(&i.Sums, priced),
		CpuWithheldMessage: i.Withheld[sizing.CPU.Index], MemoryWithheldMessage: i.Withheld[sizing.Memory.Index], SizeRules: sizeRules(i),
	}
	if i.Known {
		m.Baseline = baseline(i)
	} else {
		m.UnknownMessage = "when recommendations were last computed (every minute), no CPU had been measured on a node whose type has a ratio"
	}
	for _, on := range i.On {
		size := &workloadresizerv1.SizeOnNodeType{NodeType: on.NodeType, Pods: int64(on.Pods)}
		if on.Known {
			size.Size = Amounts(on.Size)
		}
		m.NodeTypes = append(m.NodeTypes, size)
	}
	return m
}

func baseline(i *demand.Item) *workloadresizerv1.RecommendedSize {
	r := &i.Recommendation
	size := &workloadresizerv1.RecommendedSize{
		Target: Amounts(r.Target), Lower: Amounts(r.Lower), Upper: Amounts(r.Upper), UncappedTarget: Amounts(r.Uncapped), Used: Amounts(r.Used),
		CpuConfidence: r.CPUConfidence, MemoryConfidence: r.MemoryConfidence,
		CpuMayDecrease: i.KeepsCPU == "", MemoryMayDecrease: i.KeepsMemory == "", CpuDecreaseMessage: i.KeepsCPU, MemoryDecreaseMessage: i.KeepsMemory,
		LeastRequests: known(r.Floors.Request), LeastLimits: known(r.Floors.Limit),
		CpuKnownDuration: hours(r.CPUKnown.Age), MemoryKnownDuration: hours(r.MemoryKnown.Age),
	}
	for _, m := range sizing.Measures {
		if of, shares := i.Shared(m); shares {
			if size.Shared == nil {
				size.Shared = map[string]*workloadresizerv1.SharedDemand{}
			}
			size.Shared[m.Name] = values.Shared(m, of)
		}
	}
	if r.Peak > 0 {
		size.PeakMemory = sizing.MemoryText(r.Peak)
	}
	return size
}

// hours returns a time in whole hours, so that watches do not report it every minute; nil for less than one.
func hours(d time.Duration) *durationpb.Duration {
	if d = d.Truncate(time.Hour); d <= 0 {
		return nil
	}
	return durationpb.New(d)
}

// known returns amounts as quantities; nil without any, and empty for those that are 0.
func known(a recommend.Amounts) *workloadresizerv1.ResourceAmounts {
	if a == (recommend.Amounts{}) {
		return nil
	}
	m := Amounts(a)
	if a.CPU == 0 {
		m.Cpu = ""
	}
	if a.Memory == 0 {
		m.Memory = ""
	}
	return m
}

func sums(s *demand.Sums, priced bool) *workloadresizerv1.UsageSums {
	m := &workloadresizerv1.UsageSums{
		Pods: int64(s.Pods), UnknownPods: int64(s.Unknown), Authored: Amounts(s.Authored), Requested: Amounts(s.Current),
		Compared: Amounts(s.Compared), Used: Amounts(s.Used), Recommended: Amounts(s.Recommended),
	}
	if priced {
		m.AuthoredCost, m.RecommendedCost = &s.AuthoredCost, &s.RecommendedCost
	}
	return m
}

// Amounts returns amounts as quantities.
func Amounts(a recommend.Amounts) *workloadresizerv1.ResourceAmounts {
	return &workloadresizerv1.ResourceAmounts{Cpu: sizing.CPUText(a.CPU), Memory: sizing.MemoryText(a.Memory)}
}
