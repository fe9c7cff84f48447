package usage

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
	usagestore "github.com/workload-resizer/workload-resizer/usage"
	"github.com/workload-resizer/workload-resizer/usage/history"
)

// fault is why a usage is rejected.
type fault struct {
	code           workloadresizerv1.UsageErrorCode
	field, message string
}

func invalid(field, format string, args ...any) *fault {
	return &fault{workloadresizerv1.UsageErrorCode_USAGE_ERROR_CODE_INVALID, field, fmt.Sprintf(format, args...)}
}

// appendSamples appends the samples of a usage, or returns its fault.
func (r *report) appendSamples(all []usagestore.Sample, u *workloadresizerv1.ContainerUsage) ([]usagestore.Sample, *fault) {
	if wrong := faultOf(u, r.service.config.Demands.Clock.Now()); wrong != nil {
		return nil, wrong
	}
	p := r.pods[types.UID(u.GetPodUid())]
	if p == nil {
		return nil, r.unknown(u)
	}
	name, ok := containerOf(p, u)
	if !ok {
		return nil, &fault{workloadresizerv1.UsageErrorCode_USAGE_ERROR_CODE_CONTAINER_UNKNOWN, "container", fmt.Sprintf("the pod %s has no such container; if it has just started, send the usage again later", p.NamespacedName())}
	}
	one := usagestore.Sample{Namespace: p.Namespace(), Name: p.Name, Container: name}
	one.UID, one.At, one.Length = string(p.UID), u.GetEndTime().AsTime().Truncate(time.Millisecond), u.GetMeasureDuration().AsDuration()
	has := r.service.config.Demands.Capacity(p)
	if u.CpuCores != nil {
		cpu := one
		cpu.Usage, _ = history.Millicores(u.GetCpuCores())
		cpu.Cores = u.GetCpuCores()
		if has.CPU > 0 && cpu.Usage > mostOfNode*has.CPU {
			return nil, invalid("cpu_cores", "must not be more than %d times what the node has: %v of %s", mostOfNode, u.GetCpuCores(), sizing.CPUText(has.CPU))
		}
		cpu.Strain = usagestore.Strain{Throttled: measured(u.Throttled), Pressure: measured(u.CpuPressure)}
		cpu.Resource, cpu.Throttled, cpu.Pressure = history.CPU, u.GetThrottled() > 0, u.GetCpuPressure()
		all = append(all, cpu)
	}
	if u.MemoryPeakBytes != nil {
		memory := one
		memory.Usage, _ = history.Bytes(float64(u.GetMemoryPeakBytes()))
		if has.Memory > 0 && memory.Usage > mostOfNode*has.Memory {
			return nil, invalid("memory_peak_bytes", "must not be more than %d times what the node has: %s of %s", mostOfNode, sizing.MemoryText(memory.Usage), sizing.MemoryText(has.Memory))
		}
		memory.Strain = usagestore.Strain{Pressure: measured(u.MemoryPressure), LimitEvents: measured(u.MemoryLimitEvents), Charged: measured(u.MemoryChargedBytes)}
		memory.Resource, memory.Pressure = history.Memory, u.GetMemoryPressure()
		all = append(all, memory)
	}
	return all, nil
}

// measured returns a value of a usage that may be absent.
func measured[N int64 | float64](n *N) usagestore.Value {
	if n == nil {
		return usagestore.Value{}
	}
	return usagestore.ValueOf(float64(*n))
}

// mostTime is how long a measurement may take, and mostUID how many bytes a UID has at most. mostOfNode is
// how many times what its node has a container may use: counters are not read at exactly the time of the
// clock.
const (
	mostTime   = 10 * time.Minute
	mostUID    = 64
	mostOfNode = 2
)

// faultOf returns what is wrong with the fields of a usage, or nil.
func faultOf(u *workloadresizerv1.ContainerUsage, now time.Time) *fault {
	if n := len(u.GetPodUid()); n == 0 || n > mostUID {
		return invalid("pod_uid", "must have 1 to %d characters", mostUID)
	}
	if (u.GetContainer() == "") == (u.GetContainerId() == "") {
		return invalid("container", "or container_id must be set, but not both")
	}
	if err := u.GetEndTime().CheckValid(); err != nil {
		return invalid("end_time", "must be a valid time")
	}
	// It would wait for its time, and take the place of others.
	if ahead := u.GetEndTime().AsTime().Sub(now); ahead > history.Skew {
		return invalid("end_time", "must not be more than %v in the future: set the clock of the node", history.Skew)
	}
	if took := u.GetMeasureDuration(); took.CheckValid() != nil || took.AsDuration() <= 0 || took.AsDuration() > mostTime {
		return invalid("measure_duration", "must be above 0 and at most %v", mostTime)
	}
	if u.CpuCores == nil && u.MemoryPeakBytes == nil {
		return invalid("cpu_cores", "or memory_peak_bytes must be set")
	}
	if _, ok := history.Millicores(u.GetCpuCores()); !ok {
		return invalid("cpu_cores", "must be a number of cores, not %v", u.GetCpuCores())
	}
	for _, bytes := range []struct {
		field string
		of    int64
	}{{"memory_peak_bytes", u.GetMemoryPeakBytes()}, {"memory_charged_bytes", u.GetMemoryChargedBytes()}} {
		if _, ok := history.Bytes(float64(bytes.of)); !ok {
			return invalid(bytes.field, "must be a number of bytes, not %d", bytes.of)
		}
	}
	for _, share := range []struct {
		field string
		of    float64
	}{{"throttled", u.GetThrottled()}, {"cpu_pressure", u.GetCpuPressure()}, {"memory_pressure", u.GetMemoryPressure()}} {
		if !(share.of >= 0 && share.of <= 1) { // Including NaN.
			return invalid(share.field, "must be from 0 to 1, not %v", share.of)
		}
	}
	if u.GetMemoryLimitEvents() < 0 {
		return invalid("memory_limit_events", "must not be negative")
	}
	return nil
}

// unknown returns the fault of a usage whose pod the caller may not report. Callers that are bound to a
// node learn nothing about pods on other nodes.
func (r *report) unknown(u *workloadresizerv1.ContainerUsage) *fault {
	if r.pods == nil {
		return &fault{workloadresizerv1.UsageErrorCode_USAGE_ERROR_CODE_NODE_NOT_YOURS, "pod_uid", "your token is bound to a pod whose node is not known"}
	}
	where := ""
	if r.node != "" {
		where = fmt.Sprintf(" on node %q, which your token is bound to", r.node)
	}
	return &fault{workloadresizerv1.UsageErrorCode_USAGE_ERROR_CODE_CONTAINER_UNKNOWN, "pod_uid", fmt.Sprintf("%q is no pod%s; if it is new, send the usage again later", u.GetPodUid(), where)}
}

// containerOf returns the name of the container of a usage, and whether the pod has it.
func containerOf(p *pod.Pod, u *workloadresizerv1.ContainerUsage) (name string, ok bool) {
	id := pod.RuntimeIDOf(u.GetContainerId())
	for i := range p.Containers {
		if c := &p.Containers[i]; c.Name() == u.GetContainer() || c.Ran(id) {
			return c.Name(), true
		}
	}
	return "", false
}
