package plan

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/node"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
	"github.com/workload-resizer/workload-resizer/reconciler/seal"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// asMadeWith makes the pod's creator the owner of all amounts and annotations in
// managedFields.
func asMadeWith(p *corev1.Pod) {
	bare := p.DeepCopy()
	bare.Annotations = nil
	for c := range podtest.ContainersOf(bare) {
		c.Resources = corev1.ResourceRequirements{}
	}
	created := fieldpath.NewSet(fieldpath.MakePathOrDie("spec", "restartPolicy"))
	bare.ManagedFields = []metav1.ManagedFieldsEntry{entryOf("kube-controller-manager", "", 0, created)}
	p.ManagedFields = owning(bare, p, "kube-controller-manager", "", 0)
}

func entryOf(manager, subresource string, seconds int, fields *fieldpath.Set) metav1.ManagedFieldsEntry {
	raw, err := fields.ToJSON()
	if err != nil {
		panic(err)
	}
	when := metav1.NewTime(podtest.At(seconds))
	return metav1.ManagedFieldsEntry{Manager: manager, Subresource: subresource, Time: &when, FieldsV1: metav1.NewFieldsV1(string(raw))}
}

// fieldsOf returns the fields of an entry.
func fieldsOf(m *metav1.ManagedFieldsEntry) *fieldpath.Set {
	set := &fieldpath.Set{}
	if m.FieldsV1 == nil {
		return set
	}
	if err := set.FromJSON(bytes.NewReader(m.FieldsV1.GetRawBytes())); err != nil {
		panic(err)
	}
	return set
}

// ownedFields returns the amounts and annotations of a pod with their values.
func ownedFields(p *corev1.Pod) map[string]ownedField {
	all := map[string]ownedField{}
	add := func(is string, parts ...any) {
		path := fieldpath.MakePathOrDie(parts...)
		all[path.String()] = ownedField{path, is}
	}
	for key, text := range p.Annotations {
		add(text, "metadata", "annotations", key)
	}
	for i, containers := range [][]corev1.Container{p.Spec.Containers, p.Spec.InitContainers} {
		list := [...]string{"containers", "initContainers"}[i]
		for _, c := range containers {
			name := fieldpath.KeyByFields("name", c.Name)
			size := sizing.FromResources(c.Resources)
			for _, which := range contract.Originals {
				kind, resource := "requests", "cpu"
				if which != which.OfRequest() {
					kind = "limits"
				}
				if which >= contract.MemoryRequest {
					resource = "memory"
				}
				if text := sizing.MeasureOf(which).Text(size.Amount(which)); size.Amount(which) != 0 {
					add(text, "spec", list, name, "resources", kind, resource)
				}
			}
		}
	}
	return all
}

type ownedField struct {
	fieldpath.Path
	is string
}

var _ = value.Field{}

// owning returns managedFields after a manager changes before to after, by an update or a
// patch: the manager becomes the only owner of what it changes.
func owning(before, after *corev1.Pod, manager, subresource string, seconds int) []metav1.ManagedFieldsEntry {
	was, is := ownedFields(before), ownedFields(after)
	changed, gone := fieldpath.NewSet(), fieldpath.NewSet()
	for name, field := range is {
		if was[name].is != field.is {
			changed.Insert(field.Path)
		}
	}
	for name, field := range was {
		if _, ok := is[name]; !ok {
			gone.Insert(field.Path)
		}
	}
	var now []metav1.ManagedFieldsEntry
	mine := changed
	for i := range before.ManagedFields {
		m := before.ManagedFields[i]
		has := fieldsOf(&m).Difference(gone)
		if m.Manager == manager && m.Subresource == subresource && m.Operation != metav1.ManagedFieldsOperationApply {
			mine = mine.Union(has)
			continue
		}
		m.FieldsV1 = entryOf("", "", 0, has.Difference(changed)).FieldsV1
		if !has.Difference(changed).Empty() || m.Manager == podtest.AncientChanges {
			now = append(now, m)
		}
	}
	if mine.Empty() {
		return now
	}
	return append(now, entryOf(manager, subresource, seconds, mine))
}

func TestTakeOver(t *testing.T) {
	t.Run("keeps originals of another controller after our resize", keepsOriginalsOfAnotherControllerAfterOurResize)
	t.Run("keeps originals of a controller whose resize we override", keepsOriginalsOfAControllerWhoseResizeWeOverride)
	t.Run("becomes the owner of an original that another controller wrote in odd bytes", becomesTheOwnerOfAnOriginalThatAnotherControllerWroteInOddBytes)
}

// Another controller recorded the originals and stopped before it resized the pod. After our
// resize, they are still known.
func keepsOriginalsOfAnotherControllerAfterOurResize(t *testing.T) {
	p := podtest.Pod(podtest.Guaranteed, asMadeWith)
	podtest.Annotated("original-cpu.app", "1", "original-memory.app", "1Gi")(p)
	p.ManagedFields = append(p.ManagedFields, podtest.Managed("published", "", 5, contract.OriginalPrefix+"cpu.app", contract.OriginalPrefix+"memory.app"))
	planner := Planner{OwnerKinds: DefaultOwnerKinds}
	p = carriedOut(t, p, planner.Plan(snapshotOf(t, p, podtest.Node("n4"))), 10)
	if again := planner.Plan(snapshotOf(t, p, podtest.Node("big"))); again.Containers[0].Desired.CPU.Request != 500 {
		t.Errorf("on another node type: %v because of %v", again.Decision, again.Reasons)
	}
	s := snapshotOf(t, p, podtest.Node("n4"))
	s.Restore = true
	if restored := planner.Plan(s); restored.Decision != Resize || keepsRecord(restored) {
		t.Errorf("restored: %v because of %v", restored.Decision, restored.Reasons)
	}
}

// Another controller recorded the originals, resized the pod, and stopped before it recorded
// that. After we override the resize, the originals are still known.
func keepsOriginalsOfAControllerWhoseResizeWeOverride(t *testing.T) {
	p := podtest.Pod(podtest.Amounts{"1", "", "1Gi", ""}, asMadeWith)
	podtest.Annotated("original-cpu.app", "1", "original-memory.app", "1Gi")(p)
	p.ManagedFields = append(p.ManagedFields, podtest.Managed("published", "", 5, contract.OriginalPrefix+"cpu.app", contract.OriginalPrefix+"memory.app"))
	p = resizedBy(p, "published", podtest.Amounts{"700m", "", "1Gi", ""})
	planner := Planner{OwnerKinds: DefaultOwnerKinds, External: OverrideExternal}
	p = carriedOut(t, p, planner.Plan(snapshotOf(t, p, podtest.Node("n4"))), 30)
	if again := planner.Plan(snapshotOf(t, p, podtest.Node("big"))); again.Containers[0].Desired.CPU.Request != 500 {
		t.Errorf("on another node type: %v because of %v", again.Decision, again.Reasons)
	}
}

// Every amount has several spellings.
func becomesTheOwnerOfAnOriginalThatAnotherControllerWroteInOddBytes(t *testing.T) {
	for _, memory := range []string{"123456789", "1000000", "1k", "1023", "1Gi"} {
		p := podtest.Pod(podtest.Amounts{"1", "", memory, ""}, asMadeWith)
		has := p.Spec.Containers[0].Resources.Requests.Memory()
		podtest.Annotated("original-memory.app", has.String(), "original-cpu.app", "1")(p)
		p.ManagedFields = append(p.ManagedFields, podtest.Managed("published", "", 5, contract.OriginalPrefix+"cpu.app", contract.OriginalPrefix+"memory.app"))
		plan := (&Planner{OwnerKinds: DefaultOwnerKinds}).Plan(snapshotOf(t, p, podtest.Node("n4")))
		written := recorded(plan, podtest.At(10))[contract.MemoryRequest.Key("app")]
		if written == nil || *written == has.String() {
			t.Errorf("for %s, %v is written", memory, written)
			continue
		}
		if amount, err := sizing.ParseMemory(*written); err != nil || amount != has.Value() {
			t.Errorf("for %s, %q is written: %d, %v", memory, *written, amount, err)
		}
	}
}

// The annotations of a pod that was sized at its creation may be gone or wrong, since its record proves the originals. The first
// resize ends that, so they are written before.
func TestOriginalsBeforeTheFirstResize(t *testing.T) {
	keys, _ := (*seal.Ring)(nil).Renewed(podtest.Start.Add(-time.Hour))
	created := func(changes ...func(*corev1.Pod)) *pod.Pod {
		return pod.FromProven(podtest.Pod(podtest.Amounts{"800m", "1600m", "512Mi", "1Gi"}, append([]func(*corev1.Pod){podtest.AsCreated, func(p *corev1.Pod) {
			p.CreationTimestamp, p.OwnerReferences[0].UID = metav1.NewTime(podtest.Start), "owner"
			text, err := keys.Sign(seal.SubjectOf(&p.ObjectMeta, p.Namespace), seal.Creation{NodeType: "n4", At: podtest.Start, Sizes: "app 0 cpu 1/2>800m/1600m memory 1Gi/2Gi>512Mi/1Gi"})
			if err != nil {
				t.Fatal(err)
			}
			p.Annotations = map[string]string{contract.CreatedSizes: text, contract.CPURequest.Key("app"): "50m"}
		}}, changes...)...), keys)
	}
	killed := func(p *corev1.Pod) {
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{
			Name: "app", RestartCount: 1, Resources: &p.Spec.Containers[0].Resources, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(podtest.At(40))}},
			LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 137, Reason: "OOMKilled", StartedAt: metav1.NewTime(podtest.At(10)), FinishedAt: metav1.NewTime(podtest.At(30))}},
		}}
	}
	for _, tc := range []struct {
		name    string
		of      *pod.Pod
		restore bool
		kind    Kind
	}{
		{"a restore", created(), true, Restore},
		{"a revert", created(killed), false, Revert},
	} {
		t.Run(tc.name, func(t *testing.T) {
			planner := &Planner{OwnerKinds: DefaultOwnerKinds}
			p := planner.Plan(&Snapshot{Pod: tc.of, Table: podtest.Table(t), Around: safety.Surroundings{Room: node.Room{Node: podtest.Node("n4")}}, Restore: tc.restore, Now: podtest.At(60)})
			actions := p.Actions()
			if p.Kind != tc.kind || len(actions) < 2 || actions[0].Step != StepOriginals {
				t.Fatalf("kind %d with actions %v, because %v", p.Kind, actions, p.Reasons)
			}
			for _, which := range contract.Originals {
				want := map[contract.Original]string{contract.CPURequest: "1", contract.CPULimit: "2", contract.MemoryRequest: "1Gi", contract.MemoryLimit: "2Gi"}[which]
				if got := actions[0].Annotations[which.Key("app")]; got == nil || *got != want {
					t.Errorf("%s: got %v, want %s", which.Key("app"), got, want)
				}
			}
		})
	}
}

func TestWhatWasAdoptedStaysWhenMoreIsAdopted(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		planner := Planner{OwnerKinds: DefaultOwnerKinds, External: AdoptExternal}
		req := 100 + r.Int64N(3000)
		lim := req + 1 + r.Int64N(3000)
		p := podtest.Pod(podtest.Amounts{sizing.CPUText(req), sizing.CPUText(lim), "1Gi", "2Gi"})
		asMadeWith(p)

		nt := []string{"n4", "slow"}[r.IntN(2)]
		p = carriedOut(t, p, planner.Plan(snapshotOf(t, p, podtest.Node(nt))), 10)
		seconds := 20
		for k := range 3 {
			q := p.DeepCopy()
			res := q.Spec.Containers[0].Resources
			rq, lq := res.Requests.Cpu().MilliValue(), res.Limits.Cpu().MilliValue()
			if (k+r.IntN(2))%2 == 0 {
				res.Requests[corev1.ResourceCPU] = resource.MustParse(sizing.CPUText(max(50, 1+r.Int64N(lq-1))))
			} else {
				res.Limits[corev1.ResourceCPU] = resource.MustParse(sizing.CPUText(rq + 1 + r.Int64N(3000)))
			}
			if res.Requests.Cpu().Cmp(*res.Limits.Cpu()) >= 0 {
				continue
			}
			q.ManagedFields = owning(p, q, "kubectl", contract.ResizeSubresource, seconds)
			p = q
			seconds += 10
			plan := planner.Plan(snapshotOf(t, p, podtest.Node(nt)))
			c, adopted := &plan.Containers[0], pod.From(p).Containers[0].Standings[sizing.CPU.Index].Adopted
			for _, which := range []contract.Original{contract.CPURequest, contract.CPULimit} {
				if adopted&(1<<which) != 0 && c.Desired.Amount(which) != c.Current.Amount(which) {
					t.Errorf("adoption changes %[2]v to %[1]v: %[3]v", c.Desired.CPU, c.Current.CPU, plan.Reasons)
				}
			}
			p = carriedOut(t, p, plan, seconds)
			seconds += 10
			again := planner.Plan(snapshotOf(t, p, podtest.Node(nt)))
			if again.Pending() {
				t.Fatalf("planned again: %[2]v to %[1]v because of %[3]v", again.Containers[0].Desired.CPU, again.Containers[0].Current.CPU, again.Reasons)
			}
		}
	}
}

func TestAdopt(t *testing.T) {
	t.Run("adopts again when managedFields are merged", adoptsAgainWhenManagedFieldsAreMerged)
	t.Run("keeps an adopted limit less than a unit above its request", keepsAnAdoptedLimitLessThanAUnitAboveItsRequest)
	t.Run("adopts a size next to a hand-written original", adoptsASizeNextToAHandWrittenOriginal)
	t.Run("ignores an adoption that another manager wrote", ignoresAnAdoptionThatAnotherManagerWrote)
}

// managedFields no longer show who adopted the size, but still show who set it. The size is
// adopted again, with other texts, so that the reconciler becomes the owner.
func adoptsAgainWhenManagedFieldsAreMerged(t *testing.T) {
	p := adopts(t, resizedBy(podtest.Pod(podtest.Amounts{"1", "", "1Gi", "1Gi"}, asMadeWith), "they", podtest.Amounts{"2", "", "1Gi", "1Gi"}), "n2d")
	merged, kept := fieldpath.NewSet(), []metav1.ManagedFieldsEntry{}
	for i := range p.ManagedFields {
		if m := &p.ManagedFields[i]; m.Manager == "they" {
			kept = append(kept, *m)
		} else {
			merged = merged.Union(fieldsOf(m))
		}
	}
	p.ManagedFields = append(kept, entryOf(podtest.AncientChanges, "", 0, merged))
	p = adopts(t, p, "n2d")
	planner := Planner{OwnerKinds: DefaultOwnerKinds, External: AdoptExternal}
	if plan := planner.Plan(snapshotOf(t, p, podtest.Node("n2d"))); plan.Pending() {
		t.Errorf("it is adopted forever: %v %v", plan.Reasons, keysOf(recorded(plan, podtest.At(90))))
	}
	for _, key := range []string{contract.CPURequest.AdoptedKey("app"), contract.CPURequest.Key("app")} {
		if text := p.Annotations[key]; text == "2" {
			t.Errorf("annotation %s still has the text %q, so its owner stays unknown", key, text)
		}
	}
	if plan := planner.Plan(snapshotOf(t, p, podtest.Node("n4"))); plan.Containers[0].Desired.CPU.Request != 1600 {
		t.Errorf("adopted as 2, cpu is %d on n4: %v", plan.Containers[0].Desired.CPU.Request, plan.Reasons)
	}
}

// Another manager wrote the correct original by hand. After the adoption, the reconciler owns
// it.
func adoptsASizeNextToAHandWrittenOriginal(t *testing.T) {
	p := resizedBy(podtest.Pod(podtest.Amounts{"1", "", "1Gi", "1Gi"}, asMadeWith), "kubectl-edit", podtest.Amounts{"2", "", "1Gi", "1Gi"})
	before := p.DeepCopy()
	podtest.Annotated("original-cpu.app", "2")(p)
	p.ManagedFields = owning(before, p, "kubectl-annotate", "", 20)
	p = adopts(t, p, "n2d")
	planner := Planner{OwnerKinds: DefaultOwnerKinds, External: AdoptExternal}
	if plan := planner.Plan(snapshotOf(t, p, podtest.Node("n4"))); plan.Containers[0].Desired.CPU.Request != 1600 {
		t.Errorf("adopted as 2, cpu is %d on n4: %v", plan.Containers[0].Desired.CPU.Request, plan.Reasons)
	}
}

// An adopted cpu request does not validate what another manager wrote about memory.
func ignoresAnAdoptionThatAnotherManagerWrote(t *testing.T) {
	p := podtest.Pod(podtest.Amounts{"3", "", "6Gi", ""},
		podtest.Annotated("original-cpu.app", "6", "adopted-cpu.app", "3", "adopted-memory.app", "6Gi", "original-memory.app", "1Gi", "applied-instance-type", "big"),
		podtest.ManagedBy(podtest.BareMade, podtest.Managed("kubectl-edit", "resize", 10),
			podtest.Managed("kubectl-annotate", "", 12, contract.AdoptedPrefix+"memory.app"),
			podtest.Managed(contract.FieldManager, "", 11, contract.AppliedAt, contract.OriginalPrefix+"cpu.app", contract.OriginalPrefix+"memory.app", contract.AdoptedPrefix+"cpu.app")))
	plan := (&Planner{OwnerKinds: DefaultOwnerKinds, External: LeaveExternal}).Plan(snapshotOf(t, p, podtest.Node("big")))
	if c := &plan.Containers[0]; c.Desired.Memory != c.Current.Memory {
		t.Errorf("memory that kubectl-edit set becomes %v", c.Desired.Memory)
	}
}

func keepsAnAdoptedLimitLessThanAUnitAboveItsRequest(t *testing.T) {
	p := resizedBy(podtest.Pod(podtest.Amounts{"1", "1", "100000000", "128Mi"}, asMadeWith), "they", podtest.Amounts{"1", "1", "100000000", "100200000"})
	planner := Planner{OwnerKinds: DefaultOwnerKinds, External: AdoptExternal}
	for seconds := 30; seconds < 60; seconds += 10 {
		plan := planner.Plan(snapshotOf(t, p, podtest.Node("n2d")))
		if c := &plan.Containers[0]; c.Desired != c.Current {
			t.Errorf("%v becomes %v", c.Current, c.Desired)
		}
		p = carriedOut(t, p, plan, seconds)
	}
}

// adopts plans a pod with AdoptExternal on a node until nothing remains to be done.
func adopts(t *testing.T, p *corev1.Pod, nodeType string) *corev1.Pod {
	t.Helper()
	planner := Planner{OwnerKinds: DefaultOwnerKinds, External: AdoptExternal}
	for seconds := 30; seconds < 60; seconds += 10 {
		plan := planner.Plan(snapshotOf(t, p, podtest.Node(nodeType)))
		p = carriedOut(t, p, plan, seconds)
	}
	return p
}

// resizedBy returns the pod after a resize by another manager.
func resizedBy(p *corev1.Pod, manager string, to podtest.Amounts) *corev1.Pod {
	after := p.DeepCopy()
	after.Spec.Containers[0].Resources = to.Requirements()
	after.ManagedFields = owning(p, after, manager, contract.ResizeSubresource, 20)
	return after
}

func TestAdoptBeside(t *testing.T) {
	t.Run("sizes the limit when it adopts the request", sizesTheLimitWhenItAdoptsTheRequest)
	t.Run("keeps an adopted limit when it sizes the request", keepsAnAdoptedLimitWhenItSizesTheRequest)
}

// Another actor sets the request of a pod that was never sized. The request is adopted, and
// the limit is scaled from its original.
func sizesTheLimitWhenItAdoptsTheRequest(t *testing.T) {
	p := adopts(t, resizedBy(podtest.Pod(podtest.Amounts{"1", "4", "1Gi", "1Gi"}, asMadeWith), "they", podtest.Amounts{"2", "4", "1Gi", "1Gi"}), "n4")
	has := p.Spec.Containers[0].Resources
	if has.Requests.Cpu().String() != "2" || has.Limits.Cpu().String() != "3200m" {
		t.Errorf("cpu %s/%s, want 2/3200m", has.Requests.Cpu(), has.Limits.Cpu())
	}
}

// Another actor sets the limit of a pod that was never sized. The limit is adopted, and stays
// when the request is sized.
func keepsAnAdoptedLimitWhenItSizesTheRequest(t *testing.T) {
	p := adopts(t, resizedBy(podtest.Pod(podtest.Amounts{"1", "4", "1Gi", "1Gi"}, asMadeWith), "they", podtest.Amounts{"1", "5", "1Gi", "1Gi"}), "slow")
	has := p.Spec.Containers[0].Resources
	if has.Requests.Cpu().String() != "1250m" || has.Limits.Cpu().String() != "5" {
		t.Errorf("cpu %s/%s, want 1250m/5", has.Requests.Cpu(), has.Limits.Cpu())
	}
}

func TestAdoptedLimit(t *testing.T) {
	t.Run("keeps an adopted limit at any factor", keepsAnAdoptedLimitAtAnyFactor)
	t.Run("keeps an added limit less than a unit above its request", keepsAnAddedLimitLessThanAUnitAboveItsRequest)
}

func keepsAnAdoptedLimitAtAnyFactor(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		nodeType := []string{"n2d", "n4", "big", "slow"}[r.IntN(4)]
		cpu, memory := 60+r.Int64N(3000), 70<<20+r.Int64N(200<<20)
		cpuLimit, memoryLimit := cpu+1+r.Int64N(3), memory+1+r.Int64N(3<<20)
		if cpu == 1000 || cpuLimit == 2000 {
			continue // An original amount is not adopted.
		}
		set := podtest.Amounts{fmt.Sprintf("%dm", cpu), fmt.Sprintf("%dm", cpuLimit), fmt.Sprint(memory), fmt.Sprint(memoryLimit)}
		p := resizedBy(podtest.Pod(podtest.Amounts{"1", "2", "128Mi", "256Mi"}, asMadeWith), "they", set)
		if q := adopts(t, p, nodeType); podtest.SizesOf(q) != podtest.SizesOf(p) {
			t.Fatalf("on %s, %s becomes %s", nodeType, podtest.SizesOf(p), podtest.SizesOf(q))
		}
	}
}

func keepsAnAddedLimitLessThanAUnitAboveItsRequest(t *testing.T) {
	p := podtest.Pod(podtest.Amounts{"1", "", "100000000", "100200000"},
		podtest.Annotated("original-cpu.app", "1", "original-memory.app", "100000000", "applied-instance-type", "n2d"),
		podtest.ManagedBy(podtest.BareMade, podtest.ResizeBy(contract.FieldManager, 10, contract.CPURequest, contract.MemoryRequest),
			podtest.Managed(contract.FieldManager, "", 11, contract.AppliedAt, contract.OriginalPrefix+"cpu.app", contract.OriginalPrefix+"memory.app")))
	plan := (&Planner{OwnerKinds: DefaultOwnerKinds}).Plan(snapshotOf(t, p, podtest.Node("n2d")))
	if c := &plan.Containers[0]; c.Desired != c.Current {
		t.Errorf("%v becomes %v", c.Current, c.Desired)
	}
}
