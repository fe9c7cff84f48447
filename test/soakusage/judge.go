package main

import (
	"fmt"
	"io"
	"math"
	"sync"
	"text/tabwriter"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

const (
	// most is how far a recommendation may move.
	most = 0.01
	// starting is how long a replica may take to show recommendations once it is ready, and
	// unreadable how long if the history must first be stored again by another one, which must
	// become the leader before that.
	starting   = 5 * time.Second
	unreadable = time.Minute
)

// phase is what was seen in the time of one disturbance.
type phase struct {
	name string
	// starting is how long a replica may take to show recommendations once it is ready.
	starting time.Duration
	began    time.Time
	took     time.Duration
	// asked is how often a replica answered, and without how often it had no recommendation.
	asked, without int
	// cpu and memory are the farthest moves, as shares.
	cpu, memory float64
	// notes are what else was seen.
	notes string
}

// judge compares recommendations with those before the first disturbance.
type judge struct {
	mu     sync.Mutex
	before map[string]*workloadresizerv1.ResourceAmounts
	phases []*phase
	faults []string
}

// begin begins a phase.
func (j *judge) begin(name string) { j.beginWith(name, starting) }

// beginWith is like begin, with the time that a replica that starts may take.
func (j *judge) beginWith(name string, starting time.Duration) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.end()
	j.phases = append(j.phases, &phase{name: name, starting: starting, began: time.Now()})
	say("%s", name)
}

// end ends the current phase.
func (j *judge) end() {
	if n := len(j.phases); n > 0 && j.phases[n-1].took == 0 {
		j.phases[n-1].took = time.Since(j.phases[n-1].began)
	}
}

// note adds a note to the phase.
func (j *judge) note(format string, args ...any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	p := j.phases[len(j.phases)-1]
	if p.notes != "" {
		p.notes += ", "
	}
	p.notes += fmt.Sprintf(format, args...)
}

// fault adds a violation.
func (j *judge) fault(format string, args ...any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.faults = append(j.faults, fmt.Sprintf(format, args...))
}

// see compares what a replica shows.
func (j *judge) see(of string, a *answer) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if a == nil || len(j.phases) == 0 {
		return
	}
	p := j.phases[len(j.phases)-1]
	p.asked++
	if a.size == nil {
		if a.age > p.starting {
			p.without++
		}
		return
	}
	p.cpu = max(p.cpu, moved(j.before[of].GetCpu(), a.size.GetCpu()))
	p.memory = max(p.memory, moved(j.before[of].GetMemory(), a.size.GetMemory()))
}

// moved returns how far a quantity moved, as a share of what it was.
func moved(from, to string) float64 {
	a, b := amount(from), amount(to)
	if a == 0 && b == 0 {
		return 0
	}
	return math.Abs(b-a) / a
}

func amount(text string) float64 {
	q, err := resource.ParseQuantity(text)
	if err != nil {
		return math.NaN()
	}
	return q.AsApproximateFloat64()
}

// print prints the phases, and returns an error if a recommendation moved too far or was lost.
func (j *judge) print(out io.Writer) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.end()
	table := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "DISTURBANCE\tTOOK\tANSWERS\tWITHOUT\tCPU-MOVED\tMEMORY-MOVED\tNOTES")
	faults := j.faults
	for _, p := range j.phases {
		fmt.Fprintf(table, "%s\t%v\t%d\t%d\t%.2f%%\t%.2f%%\t%s\n", p.name, p.took.Round(time.Second), p.asked, p.without, 100*p.cpu, 100*p.memory, p.notes)
		switch {
		case p.asked == 0:
			faults = append(faults, p.name+": no replica answered")
		case p.without > 0:
			faults = append(faults, fmt.Sprintf("%s: %d answers without a recommendation", p.name, p.without))
		case !(p.cpu <= most && p.memory <= most):
			faults = append(faults, fmt.Sprintf("%s: a recommendation moved by more than %.0f%%", p.name, 100*most))
		}
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if len(faults) > 0 {
		return fmt.Errorf("%q", faults)
	}
	return nil
}
