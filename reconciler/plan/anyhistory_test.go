package plan

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/node"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// saga is a pod to which things happen in random order: it is sized for a node, restored,
// resized by other managers, one amount at a time, and loses annotations. Any write may be
// the last one of a process.
type saga struct {
	testing.TB
	arbitrary
	planner      Planner
	created, now *corev1.Pod
	seconds      int
	// meddled holds the resources that other managers set, by resourceOf; lost holds the
	// resources whose annotation was removed.
	meddled, lost map[string]bool
	// adopted means that an original was adopted from another manager.
	adopted bool
	// told is the log of what happened, for failure messages.
	told []string
}

func resourceOf(container string, r *sizing.Measure) string { return container + ": " + r.Name }

func (s *saga) tell(format string, args ...any) {
	s.told = append(s.told, fmt.Sprintf(format, args...))
}

func (s *saga) plan(restoring bool) *Plan {
	snapshot := &Snapshot{Pod: pod.From(s.now), Table: s.table(s), Around: safety.Surroundings{Room: node.Room{Node: podtest.Node(s.nodeType())}}, Restore: restoring}
	s.planner.External = Externals[s.IntN(len(Externals))]
	plan := s.planner.Plan(snapshot)
	if !restoring {
		checkPlan(s, s.now, snapshot, plan)
	}
	if plan.Decision == Resize {
		checkPatch(s, s.now, plan)
	}
	s.checkOriginals(plan, restoring)
	return plan
}

// checkOriginals compares the originals of the plan with the sizes that the pod was created
// with, and checks the plan's sizes.
func (s *saga) checkOriginals(plan *Plan, restoring bool) {
	for i := range plan.Containers {
		c := &plan.Containers[i]
		made := sizing.FromResources(containerOf(s.created, c.Name).Resources)
		for _, r := range sizing.Measures {
			name := resourceOf(c.Name, r)
			author, original, to, has := *r.Of(&made), *r.Of(&c.Original), *r.Of(&c.Desired), *r.Of(&c.Current)
			if s.meddled[name] || plan.Decision == Skip {
				continue
			}
			standing := pod.From(s.now).Containers[c.index].Standings[r.Index]
			known := standing.Claim == pod.Scales || standing.Claim == pod.Theirs && lastOf(plan, i, r).Stage == stageKeep
			if known && original != author {
				s.Errorf("%s: the original is %v, it was created with %v", name, original, author)
			}
			if !known && !s.lost[name] {
				s.Errorf("%s: the original is unknown: %+v", name, standing)
			}
			if known && to != has && to.Limit > to.Request+r.Unit && exceeds(to, author) {
				s.Errorf("%s: %v has a higher limit:request than %v", name, to, author)
			}
			if known && restoring && to != author && to != has {
				s.Errorf("%s: restored to %v, it was created with %v", name, to, author)
			}
		}
	}
}

// exceeds reports whether an amount has a higher limit:request than another.
func exceeds(a, author sizing.Amount) bool {
	x, y := sizing.Factor{Num: uint64(a.Limit), Den: uint64(a.Request)}, sizing.Factor{Num: uint64(author.Limit), Den: uint64(author.Request)}
	return x.Float64() > y.Float64()*(1+1e-12)
}

func (s *saga) size() {
	plan := s.plan(false)
	s.seconds += 10
	s.tell("planned for %s (%s): %v %v: %s", plan.NodeType, s.planner.External, plan.Decision, plan.Reasons, plan.Describe())
	for i := range plan.Containers {
		for _, r := range sizing.Measures {
			c := &plan.Containers[i]
			adopts := lastOf(plan, i, r).Cause == ByAdoption
			s.adopted = s.adopted || adopts
			if adopts && !s.meddled[resourceOf(c.Name, r)] {
				s.Errorf("%s: adopted, although no other manager set it", resourceOf(c.Name, r))
			}
		}
	}
	s.now = carriedOut(s, s.now, plan, s.seconds)
}

func (s *saga) restore() {
	plan := s.plan(true)
	s.seconds += 10
	s.tell("restored (%s): %v %v: %s", s.planner.External, plan.Decision, plan.Reasons, plan.Describe())
	before := s.now
	s.now = carriedOut(s, s.now, plan, s.seconds)
	reasons := fmt.Sprint(plan.Reasons)
	all := true
	for i := range plan.Containers {
		c := &plan.Containers[i]
		made, is := containerOf(s.created, c.Name), containerOf(s.now, c.Name)
		from, to := sizing.FromResources(made.Resources), sizing.FromResources(is.Resources)
		for _, r := range sizing.Measures {
			if *r.Of(&from) == *r.Of(&to) {
				continue
			}
			all = false
			name := resourceOf(c.Name, r)
			ofNobody := pod.From(before).ResizedAt().IsZero() && !pod.From(before).Marked()
			if !strings.Contains(reasons, "container "+name) && !s.meddled[name] && !ofNobody {
				s.Errorf("%s is %v and was created with %v, but the reasons of the restore are %s", name, *r.Of(&to), *r.Of(&from), reasons)
			}
		}
	}
	if !all && !s.adopted && pod.From(before).Marked() && !pod.From(s.now).Marked() {
		s.Errorf("the restore is incomplete, but the record is gone: %s", reasons)
	}
}

// meddle sets one amount as another manager.
func (s *saga) meddle() {
	p := s.now.DeepCopy()
	var all []*corev1.Container
	for i := range p.Spec.Containers {
		all = append(all, &p.Spec.Containers[i])
	}
	c := all[s.IntN(len(all))]
	r := sizing.Measures[s.IntN(2)]
	name := corev1.ResourceName(r.Name)
	list := c.Resources.Requests
	if s.oneIn(2) {
		list = c.Resources.Limits
	}
	q, ok := list[name]
	if !ok || q.IsZero() {
		return
	}
	to := resource.MustParse(r.Text(s.upTo(1 << 40)))
	if s.oneIn(3) {
		to = q.DeepCopy() // The same amount.
	}
	list[name] = to
	a := sizing.FromResources(c.Resources)
	if amount := r.Of(&a); amount.Limit != 0 && amount.Limit < amount.Request || amount.Request == 0 || classOf(p) != classOf(s.now) {
		return // The API server would reject it.
	}
	s.seconds += 10
	manager := []string{"kubectl", "operator"}[s.IntN(2)]
	p.ManagedFields = owning(s.now, p, manager, contract.ResizeSubresource, s.seconds)
	if to.Cmp(q) != 0 {
		s.meddled[resourceOf(c.Name, r)] = true
	}
	s.tell("%s set %s of %s to %s", manager, r.Name, c.Name, to.String())
	s.now = p
}

// lose removes an annotation with an original.
func (s *saga) lose() {
	c := &s.now.Spec.Containers[s.IntN(len(s.now.Spec.Containers))]
	r := sizing.Measures[s.IntN(2)]
	which := []contract.Original{r.Request, r.Limit}[s.IntN(2)]
	if _, ok := which.In(s.now.Annotations, c.Name); !ok {
		return
	}
	p := s.now.DeepCopy()
	delete(p.Annotations, which.Key(c.Name))
	p.ManagedFields = owning(s.now, p, "kubectl-annotate", "", s.seconds)
	s.tell("lost %s", which.Key(c.Name))
	s.lost[resourceOf(c.Name, r)], s.now = true, p
}

func TestAnyHistory(t *testing.T) {
	const seed1, seed2, sagas = 17, 18, 2000
	resized, restored := 0, 0
	for i := range sagas {
		a := arbitrary{rand.New(rand.NewPCG(seed1, seed2+uint64(i)))}
		p := a.pod()
		for c := range podtest.ContainersOf(p) {
			c.ResizePolicy = nil // Other tests cover resize policies.
		}
		asMadeWith(p)
		s := &saga{TB: t, arbitrary: a, created: p, now: p, planner: Planner{OwnerKinds: DefaultOwnerKinds, Sidecars: a.oneIn(2)}, meddled: map[string]bool{}, lost: map[string]bool{}}
		for range 2 + a.IntN(10) {
			switch a.IntN(8) {
			case 0, 1, 2:
				s.size()
			case 3:
				s.restore()
			case 4:
				if a.oneIn(4) {
					s.lose()
				}
			default:
				s.meddle()
			}
			if t.Failed() {
				t.Fatalf("seeds %d, %d:\n%s", seed1, seed2+uint64(i), strings.Join(s.told, "\n"))
			}
		}
		s.restore()
		if t.Failed() {
			t.Fatalf("seeds %d, %d:\n%s", seed1, seed2+uint64(i), strings.Join(s.told, "\n"))
		}
		resized += strings.Count(strings.Join(s.told, "\n"), ": resize")
		if !pod.From(s.now).Marked() {
			restored++
		}
	}
	if resized < sagas || restored < sagas/4 {
		t.Errorf("%d resizes, %d of %d restored completely", resized, restored, sagas)
	}
	t.Logf("%d resizes, %d of %d restored completely", resized, restored, sagas)
}

// ends applies plans until there is nothing to write, while no other manager acts. That takes
// at most the write of the sizes, their record, and a write that only they reveal.
func (s *saga) ends(t *testing.T, table *ratios.Table, nodeType string) {
	t.Helper()
	for range 4 {
		plan := s.planner.Plan(&Snapshot{Pod: pod.From(s.now), Table: table, Around: safety.Surroundings{Room: node.Room{Node: podtest.Node(nodeType)}}})
		if !plan.Pending() {
			return
		}
		s.seconds += 10
		s.tell("planned again for %s (%s): %v %v: %s; writes %v", plan.NodeType, s.planner.External, plan.Decision, plan.Reasons, plan.Describe(), keysOf(recorded(plan, podtest.At(s.seconds))))
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
				plan := s.planner.Plan(&Snapshot{Pod: pod.From(s.now), Table: table, Around: safety.Surroundings{Room: node.Room{Node: podtest.Node(nodeType)}}, Restore: true})
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
