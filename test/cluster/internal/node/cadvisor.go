package node

import (
	"context"
	"fmt"
	"math"
	"path"
	"strings"
	"time"

	cadvisorapi "github.com/google/cadvisor/info/v1"
	cadvisorapiv2 "github.com/google/cadvisor/info/v2"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kubernetes/pkg/kubelet/cadvisor"

	"github.com/workload-resizer/workload-resizer/test/cluster/internal/kernel"
)

// inodes is the number of inodes on the disk.
const inodes = 1 << 20

// advisor presents the machine as cAdvisor would: its size and its usage.
type advisor struct{ *machine }

var _ cadvisor.Interface = advisor{}

// Start has nothing to start.
func (m advisor) Start() error { return nil }

// MachineInfo describes the machine's size.
func (m advisor) MachineInfo() (*cadvisorapi.MachineInfo, error) {
	return &cadvisorapi.MachineInfo{
		NumCores:         m.cpus,
		NumPhysicalCores: m.cpus,
		NumSockets:       1,
		MemoryCapacity:   uint64(m.memory),
		MachineID:        m.node.Name,
		SystemUUID:       m.node.Name,
		BootID:           m.node.Name,
		InstanceID:       cadvisorapi.InstanceID(m.node.Name),
	}, nil
}

// VersionInfo returns the versions of the machine's software.
func (m advisor) VersionInfo() (*cadvisorapi.VersionInfo, error) {
	return &cadvisorapi.VersionInfo{
		KernelVersion:      "6.12.0-simulated",
		ContainerOsVersion: "simulated machine",
	}, nil
}

// group is a cgroup as cAdvisor sees it.
type group struct {
	account kernel.Account
	limits  kernel.Limits
	created time.Time
	// id, image and labels describe a container; they are empty for other cgroups.
	id     string
	image  string
	labels map[string]string
}

// groups returns all cgroups by their names: the machine ("/"), all pods, each pod, and each
// running container. The caller holds mu.
func (m *machine) groups() map[string]group {
	groups := map[string]group{
		"/":           {account: m.kernel.Account, limits: kernel.Limits{Memory: m.memory}, created: m.started},
		podCgroupRoot: {account: m.kernel.Pods, created: m.started},
	}
	created := map[types.UID]time.Time{}
	for _, sandbox := range m.sandboxes {
		created[uidOf(sandbox.status.Labels)] = time.Unix(0, sandbox.status.CreatedAt)
	}
	for uid, pod := range m.pods {
		groups[pod.name.ToCgroupfs()] = group{account: pod.group.Account, limits: pod.group.Limits, created: created[uid]}
	}
	for id, container := range m.containers {
		pod := m.pods[uidOf(container.status.Labels)]
		if pod == nil || !container.running() {
			continue
		}
		groups[path.Join(pod.name.ToCgroupfs(), id)] = group{
			account: container.group.Account,
			limits:  container.group.Limits,
			created: time.Unix(0, container.status.CreatedAt),
			id:      id,
			image:   container.status.GetImage().GetImage(),
			labels:  container.status.Labels,
		}
	}
	return groups
}

// ContainerInfoV2 returns the usage of a cgroup. A recursive request includes the cgroups
// below.
func (m advisor) ContainerInfoV2(name string, options cadvisorapiv2.RequestOptions) (map[string]cadvisorapiv2.ContainerInfo, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	groups := m.groups()
	if _, found := groups[name]; !found {
		return nil, fmt.Errorf("no cgroup %s", name)
	}
	infos := map[string]cadvisorapiv2.ContainerInfo{}
	for other, group := range groups {
		if other == name || options.Recursive && strings.HasPrefix(other, strings.TrimSuffix(name, "/")+"/") {
			infos[other] = m.infoV2(&group)
		}
	}
	return infos, nil
}

func (m *machine) infoV2(g *group) cadvisorapiv2.ContainerInfo {
	cpu, memory := cpuStats(&g.account), memoryStats(&g.account)
	return cadvisorapiv2.ContainerInfo{
		Spec: cadvisorapiv2.ContainerSpec{
			CreationTime: g.created, Labels: g.labels, Image: g.image, HasCpu: true, HasMemory: true,
			Memory: cadvisorapiv2.MemorySpec{Limit: memoryLimit(g.limits)},
		},
		Stats: []*cadvisorapiv2.ContainerStats{{
			Timestamp: m.ticked,
			Cpu:       &cpu,
			CpuInst:   &cadvisorapiv2.CpuInstStats{Usage: cadvisorapiv2.CpuInstUsage{Total: nanoCores(&g.account)}},
			Memory:    &memory,
		}},
	}
}

// GetRequestedContainersInfo returns the usage of all cgroups for /metrics/cadvisor.
func (m advisor) GetRequestedContainersInfo(string, cadvisorapiv2.RequestOptions) (map[string]*cadvisorapi.ContainerInfo, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	infos := map[string]*cadvisorapi.ContainerInfo{}
	for name, group := range m.groups() {
		infos[name] = m.infoV1(name, &group)
	}
	return infos, nil
}

func (m *machine) infoV1(name string, g *group) *cadvisorapi.ContainerInfo {
	info := &cadvisorapi.ContainerInfo{
		ContainerReference: cadvisorapi.ContainerReference{Name: name},
		Spec: cadvisorapi.ContainerSpec{
			CreationTime: g.created, Labels: g.labels, Image: g.image, HasCpu: true, HasMemory: true,
			Cpu: cadvisorapi.CpuSpec{
				Limit: uint64(g.limits.Weight), Period: cpuPeriodMicroseconds,
				Quota: uint64(math.Round(g.limits.Quota * cpuPeriodMicroseconds)),
			},
			Memory: cadvisorapi.MemorySpec{Limit: memoryLimit(g.limits)},
		},
		Stats: []*cadvisorapi.ContainerStats{{
			Timestamp: m.ticked, Cpu: cpuStats(&g.account), Memory: memoryStats(&g.account),
		}},
	}
	if g.id != "" {
		info.Aliases = []string{g.id}
	}
	return info
}

func cpuStats(account *kernel.Account) cadvisorapi.CpuStats {
	return cadvisorapi.CpuStats{
		// The kernel takes no time on behalf of simulated programs.
		Usage: cadvisorapi.CpuUsage{Total: uint64(account.Usage), User: uint64(account.Usage)},
		CFS: cadvisorapi.CpuCFS{
			Periods: account.Periods(), ThrottledPeriods: account.ThrottledPeriods(), ThrottledTime: uint64(account.Throttled),
		},
		PSI: psiStats(account.CPU),
	}
}

func memoryStats(account *kernel.Account) cadvisorapi.MemoryStats {
	bytes := uint64(account.Bytes)
	return cadvisorapi.MemoryStats{Usage: bytes, MaxUsage: uint64(account.Peak), WorkingSet: bytes, RSS: bytes, PSI: psiStats(account.Memory)}
}

func psiStats(pressure kernel.Pressure) cadvisorapi.PSIStats {
	convert := func(stall kernel.Stall) cadvisorapi.PSIData {
		data := psiData(stall)
		return cadvisorapi.PSIData{Total: data.Total, Avg10: data.Avg10, Avg60: data.Avg60, Avg300: data.Avg300}
	}
	return cadvisorapi.PSIStats{Some: convert(pressure.Some), Full: convert(pressure.Full)}
}

// memoryLimit returns a limit in cAdvisor's terms, in which the largest number is none.
func memoryLimit(limits kernel.Limits) uint64 {
	if limits.Memory == 0 {
		return math.MaxUint64
	}
	return uint64(limits.Memory)
}

// ImagesFsInfo describes the disk.
func (m advisor) ImagesFsInfo(context.Context) (cadvisorapiv2.FsInfo, error) { return disk(), nil }

// RootFsInfo describes the disk.
func (m advisor) RootFsInfo() (cadvisorapiv2.FsInfo, error) { return disk(), nil }

// ContainerFsInfo describes the disk.
func (m advisor) ContainerFsInfo(context.Context) (cadvisorapiv2.FsInfo, error) { return disk(), nil }

// GetDirFsInfo describes the disk.
func (m advisor) GetDirFsInfo(string) (cadvisorapiv2.FsInfo, error) { return disk(), nil }

func disk() cadvisorapiv2.FsInfo {
	return cadvisorapiv2.FsInfo{
		Timestamp:  time.Now(),
		Device:     "/dev/simulated",
		Mountpoint: "/",
		Capacity:   diskSize,
		Available:  diskSize / 10 * 9,
		Usage:      diskSize / 10,
		Inodes:     new(uint64(inodes)),
		InodesFree: new(uint64(inodes / 10 * 9)),
	}
}
