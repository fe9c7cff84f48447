package node

import (
	"context"
	"time"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/workload-resizer/workload-resizer/test/cluster/internal/kernel"
)

// ContainerStats returns what a running container uses.
func (m runtime) ContainerStats(_ context.Context, id string) (*runtimeapi.ContainerStats, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	container := m.containers[id]
	if container == nil || !container.running() {
		return nil, notFound("running container", id)
	}
	return m.statsOf(container), nil
}

// ListContainerStats returns what the running containers use that the filter selects.
func (m runtime) ListContainerStats(_ context.Context, filter *runtimeapi.ContainerStatsFilter) ([]*runtimeapi.ContainerStats, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []*runtimeapi.ContainerStats
	for id, container := range m.containers {
		if !container.running() ||
			filter.GetId() != "" && filter.GetId() != id ||
			filter.GetPodSandboxId() != "" && filter.GetPodSandboxId() != container.sandboxID ||
			!matches(filter.GetLabelSelector(), container.status.Labels) {
			continue
		}
		list = append(list, m.statsOf(container))
	}
	return list, nil
}

// statsOf returns what a container uses. Labels and annotations never change, so they are not
// copied. The caller holds mu.
func (m *machine) statsOf(c *container) *runtimeapi.ContainerStats {
	account, ticked := &c.group.Account, m.ticked.UnixNano()
	stats := &runtimeapi.ContainerStats{
		Attributes: &runtimeapi.ContainerAttributes{
			Id:          c.status.Id,
			Metadata:    c.status.Metadata,
			Labels:      c.status.Labels,
			Annotations: c.status.Annotations,
		},
		Cpu: &runtimeapi.CpuUsage{
			Timestamp:            ticked,
			UsageCoreNanoSeconds: value(uint64(account.Usage)),
			UsageNanoCores:       value(nanoCores(account)),
			Psi:                  psi(account.CPU),
		},
		Memory: &runtimeapi.MemoryUsage{
			Timestamp:       ticked,
			WorkingSetBytes: value(uint64(account.Bytes)),
			UsageBytes:      value(uint64(account.Bytes)),
			RssBytes:        value(uint64(account.Bytes)),
			Psi:             psi(account.Memory),
		},
	}
	if limit := c.group.Memory; limit > 0 {
		stats.Memory.AvailableBytes = value(uint64(max(limit-account.Bytes, 0)))
	}
	return stats
}

func value(number uint64) *runtimeapi.UInt64Value { return &runtimeapi.UInt64Value{Value: number} }

func nanoCores(account *kernel.Account) uint64 {
	return uint64(account.Cores * float64(time.Second))
}

// psi converts pressure. Totals are in microseconds, as kernels report them and as runtimes and
// cAdvisor pass them on, although the API calls them nanoseconds.
func psi(pressure kernel.Pressure) *runtimeapi.PsiStats {
	return &runtimeapi.PsiStats{Some: psiData(pressure.Some), Full: psiData(pressure.Full)}
}

func psiData(stall kernel.Stall) *runtimeapi.PsiData {
	return &runtimeapi.PsiData{
		Total: uint64(stall.Total.Microseconds()), Avg10: stall.Avg10, Avg60: stall.Avg60, Avg300: stall.Avg300,
	}
}
