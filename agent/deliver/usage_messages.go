package deliver

import (
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/workload-resizer/workload-resizer/agent/usage"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// usageMessages returns usages as protobuf messages. They have the ID of the container and not its
// name: the server knows the name.
func usageMessages(usages []usage.Usage) []*workloadresizerv1.ContainerUsage {
	all := make([]*workloadresizerv1.ContainerUsage, len(usages))
	for i := range usages {
		u := &usages[i]
		all[i] = &workloadresizerv1.ContainerUsage{
			PodUid: u.PodUID, ContainerId: u.ContainerID, EndTime: timestamppb.New(u.End), MeasureDuration: durationpb.New(u.Duration),
			CpuCores: u.CPU, MemoryPeakBytes: u.Memory, MemoryChargedBytes: u.Charged,
			Throttled: u.Throttled, CpuPressure: u.CPUPressure, MemoryPressure: u.MemoryPressure, MemoryLimitEvents: u.LimitEvents,
		}
	}
	return all
}

// nodeMessage returns the usage of a node as a protobuf message; nil if nothing was measured.
func nodeMessage(u usage.Node) *workloadresizerv1.NodeUsage {
	if u.CPUPressure == nil && u.Load == nil {
		return nil
	}
	return &workloadresizerv1.NodeUsage{CpuPressure: u.CPUPressure, VcpuLoad: u.Load}
}
