package kernel

import "time"

// Limits restrict a group. Fields that are 0 do not.
type Limits struct {
	// Weight is the group's part when siblings compete for cores, such as its CPU shares.
	Weight float64
	// Quota is in cores, Memory in bytes.
	Quota  float64
	Memory int64
}

// Node is a machine with its pods.
type Node struct {
	Cores  float64
	Memory int64
	// Account counts everything on the node, Pods only its pods.
	Account Account
	Pods    Account
}

// Pod is the group of a pod.
type Pod struct {
	Limits
	Account    Account
	Containers []*Container
}

// Container is the group of a container.
type Container struct {
	Limits
	// OOMScoreAdj is added to the container's score when memory is short.
	OOMScoreAdj int64
	// WantedCores and WantedBytes are what the container needs in this tick.
	WantedCores float64
	WantedBytes int64
	Account     Account
}

// period is the time in which a quota is enforced.
const period = 100 * time.Millisecond

// Account counts what a group used since it exists.
type Account struct {
	// Cores is the usage in the last tick, Bytes the memory at its end.
	Cores float64 `json:"cores"`
	Bytes int64   `json:"bytes"`
	// Usage is the CPU time.
	Usage time.Duration `json:"usage"`
	// Periods are those in which the quota was enforced, and ThrottledPeriods those of them
	// in which it was used up. Throttled is the time for which threads had to wait for that.
	Periods          uint64        `json:"periods"`
	ThrottledPeriods uint64        `json:"throttledPeriods"`
	Throttled        time.Duration `json:"throttled"`
	CPU              Pressure      `json:"cpu"`
	Memory           Pressure      `json:"memory"`
}

// charge counts one tick: what the group demanded, what its quotas allowed, and what it got.
func (a *Account) charge(elapsed time.Duration, limits Limits, demand, allowed, got float64, bytes int64) {
	a.Cores, a.Bytes = got, bytes
	a.Usage += times(elapsed, got)
	if limits.Quota > 0 && demand > 0 {
		periods := uint64(elapsed / period)
		a.Periods += periods
		if demand > limits.Quota {
			a.ThrottledPeriods += periods
			a.Throttled += times(elapsed, demand-limits.Quota)
		}
	}
	a.CPU.add(elapsed, missing(demand, got), missing(demand, allowed))
	tight := tightness(bytes, limits.Memory)
	a.Memory.add(elapsed, tight, tight)
}

// missing returns the part of a demand that is not met.
func missing(demand, there float64) float64 {
	if demand <= 0 {
		return 0
	}
	return max(1-there/demand, 0)
}

// tightStart is the part of the memory limit from which memory is tight.
const tightStart = 0.9

// tightness returns how tight memory is, from 0 to 1.
func tightness(bytes, limit int64) float64 {
	if limit <= 0 {
		return 0
	}
	used := float64(bytes) / float64(limit)
	return min(max((used-tightStart)/(1-tightStart), 0), 1)
}

func times(elapsed time.Duration, cores float64) time.Duration {
	return time.Duration(float64(elapsed) * cores)
}
