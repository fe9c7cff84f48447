package values

import (
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/workload-resizer/workload-resizer/policy"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// Resources returns the requests and limits of a container.
func Resources(c sizing.Container) *workloadresizerv1.Resources {
	return &workloadresizerv1.Resources{
		Requests: Quantities(c.CPU.Request, c.Memory.Request),
		Limits:   Quantities(c.CPU.Limit, c.Memory.Limit),
	}
}

// Quantities returns millicores and bytes as Kubernetes quantities by resource name, without
// zero values; nil if both are zero.
func Quantities(cpu, memory int64) map[string]string {
	if cpu == 0 && memory == 0 {
		return nil
	}
	m := make(map[string]string, 2)
	if cpu != 0 {
		m["cpu"] = sizing.CPUText(cpu)
	}
	if memory != 0 {
		m["memory"] = sizing.MemoryText(memory)
	}
	return m
}

// Decision returns the decision about a pod.
func Decision(d plan.Decision) workloadresizerv1.Decision {
	switch d {
	case plan.Resize:
		return workloadresizerv1.Decision_DECISION_RESIZE
	case plan.Align:
		return workloadresizerv1.Decision_DECISION_ALIGNED
	}
	return workloadresizerv1.Decision_DECISION_SKIP
}

// DemandMode returns how usage determines the sizes of pods.
func DemandMode(d *policy.Demand) workloadresizerv1.DemandMode {
	switch {
	case d.From == policy.FromAuthor:
		return workloadresizerv1.DemandMode_DEMAND_MODE_AUTHOR
	case d.Mode == policy.Apply:
		return workloadresizerv1.DemandMode_DEMAND_MODE_APPLY
	case d.Mode == policy.Initial:
		return workloadresizerv1.DemandMode_DEMAND_MODE_INITIAL
	}
	return workloadresizerv1.DemandMode_DEMAND_MODE_OBSERVE
}

// UnusedDemandMode returns the mode that has no effect because demand does not come from usage; unspecified if there is
// none. A mode that only observes has no effect on sizes in any case.
func UnusedDemandMode(d *policy.Demand) workloadresizerv1.DemandMode {
	switch {
	case d.From != policy.FromAuthor:
	case d.Mode == policy.Apply:
		return workloadresizerv1.DemandMode_DEMAND_MODE_APPLY
	case d.Mode == policy.Initial:
		return workloadresizerv1.DemandMode_DEMAND_MODE_INITIAL
	}
	return workloadresizerv1.DemandMode_DEMAND_MODE_UNSPECIFIED
}

// Timestamp returns a timestamp, nil for the zero time.
func Timestamp(t time.Time) *timestamppb.Timestamp {
	if t.IsZero() {
		return nil
	}
	return timestamppb.New(t)
}

// Known returns a number that is above 0 if it is known; nil if it is not.
func Known(n float64) *float64 {
	if n == 0 {
		return nil
	}
	return &n
}
