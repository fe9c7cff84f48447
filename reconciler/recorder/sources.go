package recorder

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/reconciler/journal"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
	"github.com/workload-resizer/workload-resizer/usage"
)

// Wrote records an executed plan, and what was said about it.
func (r *Recorder) Wrote(p *plan.Plan, said []plan.Reason) {
	if r == nil || p.Decision != plan.Resize || len(said) == 0 {
		return
	}
	e := journal.Entry{
		Kind: journal.Resize, At: r.config.Clock.Now(), Namespace: p.Pod.Namespace, Workload: CountsFor(p.Pod.Namespace, p.Workloads), Author: contract.AppName,
		Reason: string(said[0].Code), Sizes: sizesOf(p),
	}
	switch {
	case (p.Kind == plan.Revert || p.Kind == plan.RevertRefused) && said[0].Code != contract.Resized:
		e.Kind, e.Pod, e.Node, e.Message = journal.Revert, p.Pod.Name, p.Node, said[0].Message
		e.Ref = string(p.UID) + " " + strconv.FormatInt(e.At.UnixNano(), 36)
	case p.Kind == plan.Sizes:
		e.Reason, e.Message = string(contract.Resized), because(p)
	case p.Kind == plan.Restore:
		e.Message = strings.Join(origins(p), ", ")
	}
	r.add(e, string(p.UID))
}

// because says in short why a plan changes sizes: for which node, and what is scaled for it.
func because(p *plan.Plan) string {
	var why []string
	if p.CPUFactor.Den != 0 {
		why = append(why, fmt.Sprintf("for node type %s (cpu × %.4g, memory × %.4g)", p.NodeType, p.CPUFactor.Float64(), p.MemoryFactor.Float64()))
	}
	return strings.Join(append(why, origins(p)...), ", ")
}

// origin is what a size follows from.
type origin struct {
	cause plan.Cause
	text  string
}

// sizedBy are the origins that both resources can have.
var sizedBy = []origin{
	{plan.ByDemand, "from usage"},
	{plan.ByRatio, "from what the author wrote"},
	{plan.ByRestore, "to what the author wrote"},
}

// origins says what the sizes that a plan changes follow from: for each resource, if they differ in that.
func origins(p *plan.Plan) (all []string) {
	var of [2][]string
	for _, from := range sizedBy {
		for _, m := range sizing.Measures {
			if causes(p, m, from.cause) {
				of[m.Index] = append(of[m.Index], from.text)
			}
		}
	}
	cpu, memory, boosts := of[sizing.CPU.Index], of[sizing.Memory.Index], causes(p, sizing.CPU, plan.ByBoost)
	switch {
	case len(memory) == 0 || slices.Equal(cpu, memory):
		all = cpu
	case len(cpu) > 0:
		all = []string{"cpu " + strings.Join(cpu, " and "), "memory " + strings.Join(memory, " and ")}
	case boosts:
		all = []string{"memory " + strings.Join(memory, " and ")}
	default:
		all = memory
	}
	if boosts {
		all = append(all, "when a CPU boost began or ended")
	}
	return all
}

// causes reports whether a resource of any container changes by a cause.
func causes(p *plan.Plan, m *sizing.Measure, cause plan.Cause) bool {
	return slices.ContainsFunc(p.Containers, func(c plan.ContainerPlan) bool { return c.Causes[m.Index] == cause })
}

// Evicted records that a pod was evicted.
func (r *Recorder) Evicted(of Pod, said plan.Reason) {
	if r == nil || said.Code != contract.Evicted {
		return
	}
	r.Record(journal.Entry{
		Kind: journal.Eviction, At: r.config.Clock.Now(), Namespace: of.Namespace, Workload: CountsFor(of.Namespace, of.Workloads), Pod: of.Name, Node: of.Node,
		Author: contract.AppName, Reason: string(said.Code), Message: said.Message, Ref: of.UID,
	})
}

// Pod is a pod as entries name it.
type Pod struct {
	Namespace, Name, UID, Node string
	// Workloads are its known owners, the narrowest first.
	Workloads []workload.Workload
}

// CountsFor returns the workload that people see a pod under, given its known owners, the narrowest first. It is the one that its usage
// counts for: an operator may own several. A Job without an owner has no name there, and has its own here.
func CountsFor(namespace string, workloads []workload.Workload) workload.Workload {
	if len(workloads) == 0 {
		return workload.Workload{}
	}
	owners := make([]usage.Owner, len(workloads))
	for i, w := range workloads {
		owners[i] = usage.Owner{Kind: w.Kind, Name: w.Name}
	}
	if w, ok := usage.WorkloadOf(namespace, owners, ""); ok {
		return workload.Workload{Kind: w.Kind, Name: w.Name}
	}
	return workloads[len(workloads)-1]
}

// sizesOf returns what the containers of a pod request together before and after a plan.
func sizesOf(p *plan.Plan) journal.Sizes {
	var sum [4]int64
	for i := range p.Containers {
		c := &p.Containers[i]
		sum[0] += c.Current.CPU.Request
		sum[1] += c.Current.Memory.Request
		sum[2] += c.Desired.CPU.Request
		sum[3] += c.Desired.Memory.Request
	}
	of := func(amount int64) journal.Range { return journal.Range{Least: amount, Most: amount} }
	return journal.Sizes{FromCPU: of(sum[0]), FromMemory: of(sum[1]), ToCPU: of(sum[2]), ToMemory: of(sum[3])}
}

// HoldsEnded records who ended holds, and why.
func (r *Recorder) HoldsEnded(holds []hold.Hold, author, reason string) {
	if r == nil {
		return
	}
	for _, h := range holds {
		began := holdEntry(h)
		r.Record(began) // It may have begun a moment ago.
		r.Record(journal.Ended(began, r.config.Clock.Now(), author, reason))
	}
}

// Unfrozen records who ended a freeze, and why.
func (r *Recorder) Unfrozen(f hold.Freeze, author, reason string) {
	if r == nil {
		return
	}
	began := freezeEntry(f)
	r.Record(began)
	r.Record(journal.Ended(began, r.config.Clock.Now(), author, reason))
}

// look records what has changed in the holds, the freeze and the overrides.
func (r *Recorder) look() {
	now := r.config.Clock.Now()
	if table, err := r.config.Holds(); err == nil && table != r.holds {
		for _, e := range journal.Changes(r.known(), standing(table), now) {
			r.Record(e)
		}
		r.holds = table
	}
	if r.config.Overrides == nil {
		return
	}
	changes := r.config.Overrides()
	if len(changes) == 0 || changes[0].ID() == r.overrides {
		return
	}
	known := map[string]bool{}
	for _, e := range r.known() {
		if e.Kind == journal.Override {
			known[e.ID()] = true
		}
	}
	for _, e := range changes {
		if !known[e.ID()] && now.Sub(e.At) <= journal.Age {
			r.Record(e)
		}
	}
	r.overrides = changes[0].ID()
}

// standing returns an entry for the beginning of each hold, open breaker and freeze in effect.
func standing(table *hold.Table) (all []journal.Entry) {
	for _, h := range table.All() {
		all = append(all, holdEntry(h))
	}
	if f := table.Freeze(); f != nil {
		all = append(all, freezeEntry(*f))
	}
	return all
}

func holdEntry(h hold.Hold) journal.Entry {
	e := journal.Entry{
		Kind: journal.Hold, At: h.Since, Namespace: h.Scope.Namespace, Workload: h.Scope.Workload, Pod: h.Scope.Pod, Author: h.Author, Reason: h.Reason,
		From: journal.None, To: "pause",
	}
	what := e.To
	switch h.Kind {
	case hold.Pause:
	case hold.Restore:
		what, e.To = "restore", "restore"
		if h.Emergency {
			e.To = "emergency restore"
		}
	case hold.Breaker:
		what, e.To, e.Kind = "breaker", "open", journal.Breaker
	}
	if !h.Expires.IsZero() {
		e.To += " until " + h.Expires.UTC().Format(time.RFC3339)
	}
	sum := fnv.New32a()
	fmt.Fprintf(sum, "%q %q %q %q", h.Scope.UID, h.Author, h.Reason, e.To)
	e.Ref = fmt.Sprintf("%s %d %08x", what, h.Since.Unix(), sum.Sum32())
	return e
}

func freezeEntry(f hold.Freeze) journal.Entry {
	return journal.Entry{
		Kind: journal.Freeze, At: f.Since, Author: f.Author, Reason: f.Reason, From: journal.None, To: "frozen", Ref: fmt.Sprintf("freeze %d", f.Since.Unix()),
	}
}
