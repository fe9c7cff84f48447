package plan

import (
	"bytes"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
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
