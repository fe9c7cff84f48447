package agent

import (
	"fmt"
	"text/tabwriter"
)

func (a *Agent) say(format string, args ...any) {
	fmt.Fprintf(a.config.Summary, format+"\n", args...)
}

// describe prints what is measured, and which limits are in effect.
func (a *Agent) describe() {
	m := &a.config.Machine
	cores := "threads per core unknown"
	switch {
	case m.ThreadsPerCore > 1:
		cores = fmt.Sprintf("%d threads per core (SMT)", m.ThreadsPerCore)
	case m.ThreadsPerCore == 1:
		cores = "no SMT"
	}
	name := m.CPUName
	if name == "" {
		name = "CPU"
	}
	a.say("node %s: %s (%s), %d vCPUs, %s, Linux %s", a.config.Node, name, orUnknown(m.CPUModel), m.Online.Size(), cores, orUnknown(m.Kernel))
	if m.VCPUs() < m.Online.Size() {
		a.say("this process may use %d of %d vCPUs (%s); only these are measured", m.VCPUs(), m.Online.Size(), m.CPUs)
	}
	if m.Quota > 0 {
		a.say("CPU quota: %v CPUs; scores are per CPU time, so the quota affects only memory scores", m.Quota)
	}
	if m.MemoryBytes > 0 {
		a.say("usable memory: %d MiB", m.MemoryBytes>>20)
	}
}

func orUnknown(text string) string {
	if text == "" {
		return "unknown"
	}
	return text
}

// summarize prints the results of a run.
func (a *Agent) summarize(r Results, full bool) {
	w := tabwriter.NewWriter(a.config.Summary, 0, 0, 3, ' ', tabwriter.AlignRight)
	header := "BENCHMARK\tSINGLE THREAD\tUNIT\tSPREAD\tRUNS\tDISTURBED\t"
	if full {
		header = "BENCHMARK\tALL VCPUS\tPER VCPU\tSINGLE THREAD\tUNIT\tSPREAD\tRUNS\tDISTURBED\t"
	}
	fmt.Fprintln(w, header)
	for _, s := range r.Scores {
		scores := fmt.Sprintf("%.2f", s.Single)
		if full {
			scores = fmt.Sprintf("%.2f\t%.2f\t%.2f", s.All, s.All/float64(a.config.Machine.VCPUs()), s.Single)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%.1f%%\t%d\t%.0f%%\t\n", s.Kernel.Name, scores, s.Kernel.Unit, 100*s.Spread, s.Runs, 100*s.Disturbed)
	}
	_ = w.Flush()
	a.say("other processes used %.0f%% of the vCPUs' time", 100*r.OtherLoad)
	for _, skip := range r.Skipped {
		a.say("%s was not measured: %s", skip.Kernel, skip.Reason)
	}
}
