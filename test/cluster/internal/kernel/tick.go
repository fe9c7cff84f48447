package kernel

import (
	"slices"
	"time"
)

// System is what the node needs for itself.
type System struct {
	Cores float64
	Bytes int64
}

// systemWeight makes the node's own processes win against most pods.
const systemWeight = 10_000

// Kill says that a container is killed because memory is short.
type Kill struct {
	Container *Container
	// Global reports whether the node is short of memory, and not only a group.
	Global bool
}

// Tick lets the pods run for a time that has ended. It updates the accounts, and returns which
// containers are killed.
func (n *Node) Tick(elapsed time.Duration, system System, pods []*Pod) (kills []Kill) {
	kills = n.kill(system, pods)
	claims := []claim{{systemWeight, system.Cores}}
	for _, pod := range pods {
		claims = append(claims, claim{pod.Weight, within(pod.Quota, pod.allowed())})
	}
	granted := share(n.Cores, claims)

	var wanted, got float64
	var bytes int64
	for i, pod := range pods {
		podWanted, podBytes := n.run(elapsed, pod, granted[i+1])
		wanted += podWanted
		got += granted[i+1]
		bytes += podBytes
	}
	n.Pods.charge(elapsed, Limits{}, wanted, n.runnable(wanted), got, bytes)
	// By definition, all threads of a node never wait for a CPU.
	wanted += system.Cores
	got += granted[0]
	n.Account.charge(elapsed, Limits{Memory: n.Memory}, wanted, got, got, bytes+system.Bytes)
	return kills
}

// runnable returns the part of a demand that the node has cores for.
func (n *Node) runnable(wanted float64) float64 { return min(wanted, n.Cores) }

// allowed returns how many cores the containers' own quotas let them use together.
func (p *Pod) allowed() float64 {
	var sum float64
	for _, container := range p.Containers {
		sum += within(container.Quota, container.WantedCores)
	}
	return sum
}

// run divides a pod's cores among its containers, and returns their demand and how much memory
// they use.
func (n *Node) run(elapsed time.Duration, pod *Pod, cores float64) (wanted float64, bytes int64) {
	claims := make([]claim, len(pod.Containers))
	for i, container := range pod.Containers {
		claims[i] = claim{container.Weight, within(container.Quota, container.WantedCores)}
	}
	granted := share(cores, claims)
	for i, container := range pod.Containers {
		container.Account.charge(elapsed, container.Limits, container.WantedCores, n.runnable(container.WantedCores), granted[i], container.WantedBytes)
		wanted += container.WantedCores
		bytes += container.WantedBytes
	}
	pod.Account.charge(elapsed, pod.Limits, wanted, n.runnable(wanted), cores, bytes)
	return wanted, bytes
}

func within(quota, wanted float64) float64 {
	if quota > 0 {
		return min(quota, wanted)
	}
	return wanted
}

// kill kills containers until every limit holds. A killed container wants nothing.
func (n *Node) kill(system System, pods []*Pod) (kills []Kill) {
	end := func(container *Container, global bool) {
		container.WantedCores, container.WantedBytes = 0, 0
		kills = append(kills, Kill{Container: container, Global: global})
	}
	var all []*Container
	for _, pod := range pods {
		for _, container := range pod.Containers {
			if container.Memory > 0 && container.WantedBytes > container.Memory {
				end(container, false)
			}
		}
		if pod.Memory > 0 {
			n.killWithin(pod.Memory, pod.Containers, func(victim *Container) { end(victim, false) })
		}
		all = append(all, pod.Containers...)
	}
	n.killWithin(n.Memory-system.Bytes, all, func(victim *Container) { end(victim, true) })
	return kills
}

// killWithin kills the containers with the highest scores until the others fit.
func (n *Node) killWithin(limit int64, containers []*Container, end func(*Container)) {
	var bytes int64
	for _, container := range containers {
		bytes += container.WantedBytes
	}
	for bytes > limit {
		victim := slices.MaxFunc(containers, func(a, b *Container) int {
			return n.compareScores(a, b)
		})
		if victim.WantedBytes == 0 {
			return
		}
		bytes -= victim.WantedBytes
		end(victim)
	}
}

// compareScores compares how deserving of being killed containers are: by the memory that they
// use, in thousandths of the node's, and their adjustment.
func (n *Node) compareScores(a, b *Container) int {
	if (a.WantedBytes == 0) != (b.WantedBytes == 0) {
		if a.WantedBytes == 0 {
			return -1
		}
		return 1
	}
	score := func(c *Container) float64 {
		return float64(c.WantedBytes)*1000/float64(n.Memory) + float64(c.OOMScoreAdj)
	}
	switch difference := score(a) - score(b); {
	case difference < 0:
		return -1
	case difference > 0:
		return 1
	}
	return 0
}
