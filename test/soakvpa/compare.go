package main

import (
	"fmt"
	"io"
	"math"
	"text/tabwriter"

	"github.com/workload-resizer/workload-resizer/usage/recommend"
)

// buckets returns by how many buckets of the VPA's histograms two targets differ.
func buckets(a, b int64, first float64) int {
	return int(math.Abs(math.Round(bucket(a, first) - bucket(b, first))))
}

// bucket returns the bucket whose upper edge, with the margin, is the target. first is the size of
// the first one.
func bucket(target int64, first float64) float64 {
	return math.Log(float64(target)/1.15*0.05/first+1) / math.Log(1.05)
}

// The sizes of the first buckets, in millicores and bytes.
const firstCPU, firstMemory = 10, 1e7

// tally counts the comparisons of one workload.
type tally struct {
	compared, same int
	// cpu and memory are the largest differences, in buckets.
	cpu, memory int
	// changes is how often the VPA's target changed, and kills how often containers were killed.
	changes, kills int
	// samples is how many samples of CPU the VPA has seen, and ours how many we have.
	samples, ours int
	// theirs is the VPA's target at the tick before, and recent has our newest targets.
	theirs recommend.Amounts
	recent []recommend.Amounts
}

// remembered is how many of our targets one of the VPA is compared with: those of the tick before
// it, of its own, and of the one after it. Both recommenders look at different moments, and the VPA
// writes its targets later.
const remembered = 3

// add compares the VPA's target of the tick before with ours.
func (t *tally) add(theirs, ours recommend.Amounts) {
	t.recent = append(t.recent, ours)
	if len(t.recent) > remembered {
		t.recent = t.recent[1:]
	}
	if len(t.recent) == remembered {
		t.compare()
	}
	if t.theirs != theirs {
		t.changes++
	}
	t.theirs = theirs
}

func (t *tally) compare() {
	t.compared++
	cpu, memory, same := math.MaxInt, math.MaxInt, false
	for _, r := range t.recent {
		cpu = min(cpu, buckets(t.theirs.CPU, r.CPU, firstCPU))
		memory = min(memory, buckets(t.theirs.Memory, r.Memory, firstMemory))
		same = same || t.theirs == r
	}
	if same {
		t.same++
	}
	t.cpu, t.memory = max(t.cpu, cpu), max(t.memory, memory)
}

// judge prints the tallies, and returns an error if targets differ by more than a bucket, or too few
// were compared.
func judge(out io.Writer, tallies map[string]*tally) error {
	table := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "WORKLOAD\tSAMPLES\tOURS\tKILLS\tCOMPARED\tSAME\tCHANGES\tCPU-BUCKETS\tMEMORY-BUCKETS")
	var faults []string
	for _, w := range workloads {
		t := tallies[w.name]
		if t == nil {
			t = &tally{}
		}
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\n", w.name, t.samples, t.ours, t.kills, t.compared, t.same, t.changes, t.cpu, t.memory)
		switch missed := t.samples - t.ours; {
		case missed > w.replicas || missed < -w.replicas: // The newest ones may be on their way.
			faults = append(faults, fmt.Sprintf("%d samples of %s reached only one recommender: this machine is too slow", missed, w.name))
		case t.compared < 30:
			faults = append(faults, fmt.Sprintf("%s was compared only %d times", w.name, t.compared))
		case t.cpu > 1 || t.memory > 1:
			faults = append(faults, fmt.Sprintf("%s differs by more than one bucket", w.name))
		case w.memory != "" && t.kills == 0:
			faults = append(faults, fmt.Sprintf("%s was never killed", w.name))
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
