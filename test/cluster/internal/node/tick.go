package node

import (
	"cmp"
	"context"
	"hash/fnv"
	"path"
	"time"

	"github.com/euank/go-kmsg-parser/kmsgparser"
	"k8s.io/apimachinery/pkg/types"
	kubelettypes "k8s.io/kubelet/pkg/types"

	"github.com/workload-resizer/workload-resizer/test/cluster/internal/kernel"
)

const (
	// tickInterval is how often containers get what they want, or not.
	tickInterval = time.Second
	// leastCores and leastBytes are what any program uses. Like real containers, none uses
	// nothing, which metrics-server treats as a failed measurement.
	leastCores, leastBytes = 0.0001, 4096
	// exitOOMKilled is the exit code of a program that the kernel killed.
	exitOOMKilled = 137
	// reasonOOMKilled is the reason that container runtimes report for it.
	reasonOOMKilled = "OOMKilled"
)

// system is what the node's own processes need.
var system = kernel.System{Cores: 0.01, Bytes: 128 << 20}

// startWork starts the work of a container that has started. The caller holds mu.
func (m *machine) startWork(c *container) {
	labels := c.status.Labels
	seed := fnv.New64a()
	// A hash never fails to be written.
	_, _ = seed.Write([]byte(path.Join(kubelettypes.GetPodNamespace(labels), kubelettypes.GetPodName(labels), c.status.GetMetadata().GetName())))
	now := m.clock.At(time.Unix(0, c.status.StartedAt))
	c.run = c.program().Start(now, m.speed(), seed.Sum64())
	c.group.Account.Bytes = c.run.Bytes(now)
	c.ready = c.run.Ready(now)
}

// speed returns the node's speed, which is 1 unless it is set.
func (m *machine) speed() float64 { return cmp.Or(m.node.Speed, 1) }

// keepTicking lets the containers work until the context ends.
func (m *machine) keepTicking(ctx context.Context) {
	ticker := time.NewTicker(tickInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			if changed := m.tick(time.Now()); len(changed) > 0 {
				m.readinessChanged(changed)
			}
		}
	}
}

// tick lets the containers work from the last tick until now. It returns the pods that have
// containers whose readiness changed.
func (m *machine) tick(now time.Time) (changed []types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	elapsed := now.Sub(m.ticked)
	if elapsed <= 0 {
		return nil
	}
	m.ticked = now
	shown := m.clock.At(now)
	running, pods := m.prepare(shown)
	for _, kill := range m.kernel.Tick(elapsed, system, pods) {
		container := running[kill.Container]
		delete(running, kill.Container)
		container.finish(exitOOMKilled)
		container.status.Reason = reasonOOMKilled
		if kill.Global {
			logOOM(container.status.GetMetadata().GetName())
		}
	}
	for group, container := range running {
		container.run.Advance(shown, group.WantedCores, group.Account.Cores, m.clock.Span(elapsed))
		if exitCode, ended := container.run.Ended(); ended {
			container.finish(exitCode)
			continue
		}
		if ready := container.run.Ready(shown); ready != container.ready {
			container.ready = ready
			changed = append(changed, types.NamespacedName{
				Namespace: kubelettypes.GetPodNamespace(container.status.Labels),
				Name:      kubelettypes.GetPodName(container.status.Labels),
			})
		}
	}
	return changed
}

// prepare tells the kernel what the running containers want, and their current limits. It
// returns the containers by their groups. The caller holds mu.
func (m *machine) prepare(shown time.Time) (map[*kernel.Container]*container, []*kernel.Pod) {
	for _, pod := range m.pods {
		pod.group.Containers = pod.group.Containers[:0]
	}
	running := make(map[*kernel.Container]*container, len(m.containers))
	for _, container := range m.containers {
		pod := m.pods[uidOf(container.status.Labels)]
		if pod == nil || !container.running() {
			continue
		}
		resources := container.status.Resources.GetLinux()
		container.group.Limits = limits(resources.GetCpuShares(), resources.GetCpuQuota(), resources.GetCpuPeriod(), resources.GetMemoryLimitInBytes())
		container.group.OOMScoreAdj = resources.GetOomScoreAdj()
		container.group.WantedCores = max(container.run.Cores(shown), leastCores)
		container.group.WantedBytes = max(container.run.Bytes(shown), leastBytes)
		running[&container.group] = container
		pod.group.Containers = append(pod.group.Containers, &container.group)
	}
	pods := make([]*kernel.Pod, 0, len(m.pods))
	for _, pod := range m.pods {
		config := &pod.config
		pod.group.Limits = limits(int64(*config.CPUShares), *config.CPUQuota, int64(*config.CPUPeriod), *config.Memory)
		pods = append(pods, &pod.group)
	}
	return running, pods
}

// limits converts the settings of a cgroup, of which those that are not positive do not limit.
func limits(shares, quota, period, memory int64) kernel.Limits {
	limits := kernel.Limits{Weight: float64(max(shares, 0)), Memory: max(memory, 0)}
	if quota > 0 && period > 0 {
		limits.Quota = float64(quota) / float64(period)
	}
	return limits
}

// logOOM writes to the kernel's log that the node is out of memory, in the words of Linux. The
// kubelet turns them into an event of the node. To itself, the killed program has PID 1.
func logOOM(container string) {
	kmsgparser.Log(container + " invoked oom-killer: gfp_mask=0x140cca(GFP_HIGHUSER_MOVABLE|__GFP_COMP), order=0, oom_score_adj=0")
	kmsgparser.Log("Out of memory: Killed process 1 (" + container + ")")
}
