package node

import (
	"context"
	"fmt"
	"path"
	"time"

	cadvisorapi "github.com/google/cadvisor/info/v1"
	cadvisorapiv2 "github.com/google/cadvisor/info/v2"
	"k8s.io/kubernetes/pkg/kubelet/cadvisor"
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

// ContainerInfoV2 returns the usage of the machine ("/"), of all pods, or of one pod's
// cgroup. A recursive request includes the cgroups below.
func (m advisor) ContainerInfoV2(name string, options cadvisorapiv2.RequestOptions) (map[string]cadvisorapiv2.ContainerInfo, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	infos := map[string]cadvisorapiv2.ContainerInfo{}
	ofAll := name == "/" || name == podCgroupRoot
	var total uint64
	for uid, cgroup := range m.pods {
		podName := cgroup.name.ToCgroupfs()
		usage := m.memoryUsage(uid)
		total += usage
		if podName != name && (!ofAll || !options.Recursive) {
			continue
		}
		infos[podName] = usageInfo(usage, nil)
		if !options.Recursive {
			continue
		}
		for id, container := range m.containers {
			if container.running() && uidOf(container.status.Labels) == uid {
				infos[path.Join(podName, id)] = usageInfo(containerMemory, container.status.Labels)
			}
		}
	}
	if ofAll {
		infos[name] = usageInfo(total, nil)
	}
	if _, found := infos[name]; !found {
		return nil, fmt.Errorf("no cgroup %s", name)
	}
	return infos, nil
}

func usageInfo(memory uint64, labels map[string]string) cadvisorapiv2.ContainerInfo {
	return cadvisorapiv2.ContainerInfo{
		Spec: cadvisorapiv2.ContainerSpec{HasCpu: true, HasMemory: true, Labels: labels},
		Stats: []*cadvisorapiv2.ContainerStats{{
			Timestamp: time.Now(),
			Cpu:       &cadvisorapi.CpuStats{},
			CpuInst:   &cadvisorapiv2.CpuInstStats{},
			Memory:    &cadvisorapi.MemoryStats{Usage: memory, WorkingSet: memory, RSS: memory},
		}},
	}
}

// GetRequestedContainersInfo returns nothing: its only caller is the metrics endpoint of
// the kubelet's server, which is disabled.
func (m advisor) GetRequestedContainersInfo(string, cadvisorapiv2.RequestOptions) (map[string]*cadvisorapi.ContainerInfo, error) {
	return nil, nil
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
