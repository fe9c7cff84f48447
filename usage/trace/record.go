package trace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/workload-resizer/workload-resizer/usage"
	"github.com/workload-resizer/workload-resizer/usage/history"
	"github.com/workload-resizer/workload-resizer/usage/recommend"
)

// Container is a container of a pod.
type Container struct {
	Namespace, Pod, Name string
}

// Record reads what a source has measured in a time, as machines: one per replica of each
// container. A pod that begins after another one of its workload has ended continues its machine.
//
// describe returns the name of the workload that a container belongs to and what it was given, or
// false to leave the container out. Pods with the same name follow each other. After
// usage.ErrIncomplete, the machines lack what the source lacks.
func Record(ctx context.Context, source usage.Source, since, until time.Time, describe func(Container) (workload string, given recommend.Authored, ok bool)) ([]*Machine, error) {
	recorded := map[Container]*recording{}
	incomplete := source.Read(ctx, since, until, func(s usage.Sample) {
		c := Container{s.Namespace, s.Name, s.Container}
		if recorded[c] == nil {
			recorded[c] = &recording{}
		}
		recorded[c].add(&s)
	})
	if incomplete != nil {
		incomplete = fmt.Errorf("read usage from %s: %w", source.Name(), incomplete)
		if !errors.Is(incomplete, usage.ErrIncomplete) {
			return nil, incomplete
		}
	}
	workloads := map[string][]*Machine{}
	for _, c := range slices.SortedFunc(maps.Keys(recorded), Container.compare) {
		workload, given, ok := describe(c)
		rows := recorded[c].rows()
		delete(recorded, c) // Its memory is needed for the rows of others.
		if ok && len(rows) > 0 {
			workloads[workload] = append(workloads[workload], &Machine{Workload: workload, Given: given, Rows: rows})
		}
	}
	var machines []*Machine
	for _, workload := range slices.Sorted(maps.Keys(workloads)) {
		machines = append(machines, replicas(workloads[workload])...)
	}
	return machines, incomplete
}

// compare orders containers.
func (c Container) compare(d Container) int {
	return cmp.Or(strings.Compare(c.Namespace, d.Namespace), strings.Compare(c.Pod, d.Pod), strings.Compare(c.Name, d.Name))
}

// replicas unites machines that follow each other, and gives each machine its name. A machine was
// given the amounts of its last pod.
func replicas(pods []*Machine) (machines []*Machine) {
	slices.SortStableFunc(pods, func(a, b *Machine) int { return cmp.Compare(a.Rows[0].At, b.Rows[0].At) })
	for _, pod := range pods {
		i := slices.IndexFunc(machines, func(m *Machine) bool { return m.Rows[len(m.Rows)-1].At < pod.Rows[0].At })
		if i < 0 {
			pod.Name = fmt.Sprintf("%s-%d", pod.Workload, len(machines))
			machines = append(machines, pod)
			continue
		}
		machines[i].Rows, machines[i].Given = append(machines[i].Rows, pod.Rows...), pod.Given
	}
	return machines
}

// recording is what one container used. Its samples are in the order of time, unless several pods had
// its name.
type recording struct {
	cpu    []Row
	memory []point
}

// point is a sample of memory.
type point struct{ at, usage int64 }

// add adds a sample.
func (r *recording) add(s *usage.Sample) {
	if at := s.At.Unix(); s.Resource == history.Memory {
		r.memory = append(r.memory, point{at, s.Usage})
	} else {
		r.cpu = append(r.cpu, Row{At: at, CPU: s.Usage, Pressure: float32(s.Pressure), Throttled: s.Throttled})
	}
}

// rows returns the samples of both resources at the same times. It leaves out samples of only one
// resource: the other one is unknown, not zero.
//
// An interval in which two pods had the name counts once, with the higher usage.
func (r *recording) rows() (rows []Row) {
	slices.SortStableFunc(r.cpu, func(a, b Row) int { return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(b.CPU, a.CPU)) })
	slices.SortStableFunc(r.memory, func(a, b point) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(b.usage, a.usage)) })
	r.cpu = slices.CompactFunc(r.cpu, func(a, b Row) bool { return a.At == b.At })
	memory := r.memory
	rows = r.cpu[:0]
	for _, row := range r.cpu {
		for len(memory) > 0 && memory[0].at < row.At {
			memory = memory[1:]
		}
		if len(memory) > 0 && memory[0].at == row.At {
			row.Memory = memory[0].usage
			rows = append(rows, row)
		}
	}
	return rows
}
