package plan

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
)

// ends applies plans until there is nothing to write, while no other manager acts. That takes
// at most the write of the sizes, their record, and a write that only they reveal.
func (s *saga) ends(t *testing.T, table *ratios.Table, nodeType string) {
	t.Helper()
	for range 4 {
		plan := s.planner.Plan(&Snapshot{Pod: pod.From(s.now), Table: table, Around: safety.Surroundings{Node: podtest.Node(nodeType)}})
		if !plan.Pending() {
			return
		}
		s.seconds += 10
		s.tell("planned again for %s (%s): %v %v: %s; writes %v", plan.NodeType, s.planner.External, plan.Decision, plan.Reasons, plan.Describe(), keysOf(plan.unrecorded(podtest.At(s.seconds))))
		s.now = carriedOut(s, s.now, plan, s.seconds)
	}
	t.Errorf("the plans never stop writing")
}

func keysOf(annotations map[string]*string) (all []string) {
	for key, value := range annotations {
		text := "-"
		if value != nil {
			text = *value
		}
		all = append(all, key+"="+text)
	}
	return all
}

// crowd makes the API server merge the oldest entries, as if many managers wrote the pod.
func (s *saga) crowd() {
	p := s.now.DeepCopy()
	slices.SortStableFunc(p.ManagedFields, func(a, b metav1.ManagedFieldsEntry) int { return a.Time.Compare(b.Time.Time) })
	n := s.IntN(len(p.ManagedFields) + 1)
	merged := fieldpath.NewSet()
	for i := range p.ManagedFields[:n] {
		merged = merged.Union(fieldsOf(&p.ManagedFields[i]))
	}
	p.ManagedFields = append([]metav1.ManagedFieldsEntry{entryOf(podtest.AncientChanges, "", 0, merged)}, p.ManagedFields[n:]...)
	s.tell("%d entries of managedFields are merged", n)
	s.now = p
}

// After any history of a pod, plans stop writing.
func TestWhatIsWrittenEnds(t *testing.T) {
	const seed1, seed2, sagas = 19, 20, 2000
	for i := range sagas {
		a := arbitrary{rand.New(rand.NewPCG(seed1, seed2+uint64(i)))}
		p := a.pod()
		asMadeWith(p)
		s := &saga{TB: t, arbitrary: a, created: p, now: p, planner: Planner{OwnerKinds: DefaultOwnerKinds, Sidecars: a.oneIn(2)}, meddled: map[string]bool{}, lost: map[string]bool{}}
		table, nodeType := s.table(s), s.nodeType()
		for range 1 + a.IntN(12) {
			s.planner.External = Externals[a.IntN(len(Externals))]
			switch a.IntN(8) {
			case 0:
				table, nodeType = s.table(s), s.nodeType()
			case 1:
				if a.oneIn(4) {
					s.lose()
				}
			case 2:
				plan := s.planner.Plan(&Snapshot{Pod: pod.From(s.now), Table: table, Around: safety.Surroundings{Node: podtest.Node(nodeType)}, Restore: true})
				s.seconds += 10
				s.tell("restored (%s): %v %v: %s", s.planner.External, plan.Decision, plan.Reasons, plan.Describe())
				s.now = carriedOut(s, s.now, plan, s.seconds)
			case 3:
				s.crowd()
			default:
				s.meddle()
			}
			s.ends(t, table, nodeType)
			if t.Failed() {
				t.Fatalf("seeds %d, %d:\n%s", seed1, seed2+uint64(i), strings.Join(s.told, "\n"))
			}
		}
	}
}
