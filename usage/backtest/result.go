package backtest

import (
	"runtime"
	"slices"
	"strconv"
	"sync"

	"github.com/workload-resizer/workload-resizer/usage/trace"
)

// Result is what happened under a policy.
type Result struct {
	Policy   string
	Machines int
	// Replicas has the sum over machines for each speed, with the mean requests of machines in
	// cores and bytes.
	Replicas []Replica
	// Nodes are the nodes that machines were packed on, if there is one speed.
	Nodes Nodes
	// Lasting is what happened if machines stayed on their nodes, if there is one speed.
	Lasting Lasting
}

// Replica is the sum over the replicas of all machines on nodes of one speed.
type Replica struct {
	Speed float64
	Tally Tally
	// Cores and Bytes are the sums over machines of their mean requests, LimitBytes of their mean memory limits, and
	// UsedCores and UsedBytes of their mean usage.
	Cores, Bytes, LimitBytes, UsedCores, UsedBytes float64
}

// Run replays machines under a policy. It uses all processors, and its results do not depend on
// their number.
func Run(machines []*trace.Machine, policy Policy, settings Settings) Result {
	pack1 := len(settings.Speeds) == 1
	workloads := byWorkload(machines)
	all := make([][]*replica, len(workloads))
	var wait sync.WaitGroup
	next := make(chan int)
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for i := range next {
				all[i] = replay(workloads[i], policy, &settings, pack1)
			}
		})
	}
	for i := range workloads {
		next <- i
	}
	close(next)
	wait.Wait()
	result := Result{Policy: policy.Name(), Replicas: make([]Replica, len(settings.Speeds))}
	for i, speed := range settings.Speeds {
		result.Replicas[i].Speed = speed
	}
	var loads []*load
	for workload, replicas := range all {
		for machine := range slices.Chunk(replicas, len(settings.Speeds)) {
			if machine[0].tally.Samples == 0 {
				continue
			}
			result.Machines++
			for i, r := range machine {
				result.Replicas[i].add(r.tally)
				if r.load != nil {
					r.load.workload = strconv.Itoa(workload)
					loads = append(loads, r.load)
				}
			}
		}
	}
	if pack1 {
		sharing := sharingOf(policy)
		result.Nodes = pack(loads, settings.Node, sharing, settings.BadDay)
		result.Lasting = lasting(loads, settings.Node, sharing)
		if sharing != nil {
			result.share(loads)
		}
	}
	return result
}

// byWorkload returns the machines of each workload. A machine without samples is not in it.
func byWorkload(machines []*trace.Machine) (workloads [][]*trace.Machine) {
	index := map[string]int{}
	for _, m := range machines {
		if len(m.Rows) == 0 {
			continue
		}
		i, known := index[m.Workload]
		if !known || m.Workload == "" {
			i = len(workloads)
			index[m.Workload] = i
			workloads = append(workloads, nil)
		}
		workloads[i] = append(workloads[i], m)
	}
	return workloads
}

// add adds the tally of a machine.
func (r *Replica) add(t Tally) {
	n := float64(t.Samples)
	r.Cores += t.CPURequest / n
	r.Bytes += t.MemoryRequest / n
	r.LimitBytes += t.MemoryLimit / n
	r.UsedCores += t.CPUUsage / n
	r.UsedBytes += t.MemoryUsage / n
	r.Tally.add(t)
}
