package cluster

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
)

// uid returns a pod with another uid.
func uid(uid types.UID) *corev1.Pod {
	return podtest.Pod(podtest.Guaranteed, func(p *corev1.Pod) { p.UID = uid })
}

// saying returns a pod that we resized, and on which we recorded its node's answer.
func saying(text string) *corev1.Pod {
	return podtest.Pod(podtest.Guaranteed, podtest.AsResized, podtest.ManagedBy(podtest.Managed(contract.FieldManager, "", 12, contract.Infeasible)), podtest.Annotated("infeasible", text))
}

func TestAnswers(t *testing.T) {
	t.Run("a refusal of any size counts for a day", aRefusalOfAnySizeCountsForADay)
	t.Run("only our records on pods that we resized count", onlyOurRecordsOnPodsThatWeResizedCount)
	t.Run("an answer from the future does not count", anAnswerFromTheFutureDoesNotCount)
	t.Run("answers of deleted nodes are dropped", answersOfDeletedNodesAreDropped)
	t.Run("an answer of a new machine replaces the old one", anAnswerOfANewMachineReplacesTheOldOne)
}

func aRefusalOfAnySizeCountsForADay(t *testing.T) {
	said := pod.Answer{At: podtest.Start, Machine: "v1.36.3/boot-1", Message: podtest.StaticCPU}
	for _, tc := range []struct {
		name  string
		text  string
		node  *corev1.Node
		after time.Duration
		want  bool
	}{
		{"does not count before its time", pod.Answer{At: podtest.Start.Add(time.Hour), Machine: "v1.36.3/boot-1", Message: podtest.StaticCPU}.String(), podtest.Booted("v1.36.3", "boot-1"), 0, false},
		{"counts after an hour", said.String(), podtest.Booted("v1.36.3", "boot-1"), time.Hour, true},
		{"counts for nearly a day", said.String(), podtest.Booted("v1.36.3", "boot-1"), plan.InfeasibleFor - time.Second, true},
		{"does not count an hour after a day", said.String(), podtest.Booted("v1.36.3", "boot-1"), plan.InfeasibleFor + time.Hour, false},
		{"does not count after a reboot", said.String(), podtest.Booted("v1.36.3", "boot-2"), time.Hour, false},
		{"does not count for another kubelet version", said.String(), podtest.Booted("v1.36.4", "boot-1"), time.Hour, false},
		{"does not count if it depends on the size", pod.Answer{At: podtest.Start, Machine: "v1.36.3/boot-1", Message: "Node didn't have enough capacity: cpu"}.String(), podtest.Booted("v1.36.3", "boot-1"), time.Hour, false},
		{"does not count if it is invalid", "yesterday v1.36.3/boot-1 " + podtest.StaticCPU, podtest.Booted("v1.36.3", "boot-1"), time.Hour, false},
		{"does not count if it is empty", "", podtest.Booted("v1.36.3", "boot-1"), time.Hour, false},
		{"does not count for an unknown node", said.String(), nil, time.Hour, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			all := newAnswers()
			all.hear(pod.From(saying(tc.text)), tc.node)
			messages, until := all.of(tc.node, pod.From(uid("another")), podtest.Start.Add(tc.after))
			if got := len(messages) == 1; got != tc.want || got && (messages[0] != podtest.StaticCPU || until.Before(podtest.Start.Add(plan.InfeasibleFor)) || until.After(podtest.Start.Add(plan.InfeasibleFor+time.Hour))) {
				t.Errorf("%q until %v, want %v", messages, until, tc.want)
			}
			if all.forget("node"); len(all.nodes) != 0 {
				t.Errorf("of a deleted node: %v", all.nodes)
			}
		})
	}
}

func onlyOurRecordsOnPodsThatWeResizedCount(t *testing.T) {
	text := pod.Answer{At: podtest.Start, Machine: plan.MachineOf(podtest.Node("n4")), Message: podtest.StaticCPU}.String()
	by := func(entries ...metav1.ManagedFieldsEntry) *corev1.Pod {
		return podtest.Pod(podtest.Guaranteed, podtest.ManagedBy(entries...), podtest.Annotated("infeasible", text))
	}
	ours := podtest.Managed(contract.FieldManager, "", 12, contract.Infeasible)
	for name, p := range map[string]*corev1.Pod{
		"not if another actor wrote it":             by(podtest.AsMade, podtest.ResizeOf(10, "app"), podtest.Managed("kubectl", "", 12, contract.Infeasible)),
		"not if the pod was created with it":        by(podtest.Managed(contract.FieldManager, "", 0, "restartPolicy", contract.Infeasible), podtest.ResizeOf(10, "app")),
		"not if we never resized the pod":           by(podtest.AsMade, ours),
		"not if it is unknown which actor wrote it": by(),
	} {
		t.Run(name, func(t *testing.T) {
			all := newAnswers()
			if all.hear(pod.From(p), podtest.Node("n4")); len(all.nodes) != 0 {
				t.Errorf("it counts: %v", all.nodes)
			}
		})
	}
	all := newAnswers()
	for range 3 {
		all.hear(pod.From(saying(text)), podtest.Node("n4"))
		all.hear(pod.From(saying(pod.Answer{At: podtest.Start.Add(time.Hour), Machine: plan.MachineOf(podtest.Node("n4")), Message: podtest.StaticCPU}.String())), podtest.Node("n4"))
	}
	if len(all.nodes["node"]["default"]) != 1 {
		t.Errorf("heard several times: %v", all.nodes)
	}
	// An answer counts elsewhere only if two namespaces have it.
	elsewhere := pod.From(podtest.Pod(podtest.Guaranteed, func(p *corev1.Pod) { p.Namespace = "elsewhere" }))
	if messages, _ := all.of(podtest.Node("n4"), elsewhere, podtest.Start.Add(2*time.Hour)); messages != nil {
		t.Errorf("in another namespace: %v", messages)
	}
	second := saying(text)
	second.Namespace = "second"
	all.hear(pod.From(second), podtest.Node("n4"))
	if messages, until := all.of(podtest.Node("n4"), elsewhere, podtest.Start.Add(2*time.Hour)); len(messages) != 1 || until.IsZero() {
		t.Errorf("after two namespaces have it: %v", messages)
	}
	if all.of(podtest.Node("n4"), elsewhere, podtest.Start.Add(2*plan.InfeasibleFor)); len(all.nodes["node"]) != 0 {
		t.Errorf("still kept after two days: %v", all.nodes)
	}
}

func anAnswerFromTheFutureDoesNotCount(t *testing.T) {
	a := newAnswers()
	n := podtest.Node("n4")
	p := saying(pod.Answer{At: podtest.At(0).AddDate(100, 0, 0), Machine: plan.MachineOf(n), Message: podtest.StaticCPU}.String())
	a.hear(pod.From(p), n)
	if messages, _ := a.of(n, pod.From(uid("another")), podtest.At(0).AddDate(1, 0, 0)); len(messages) != 0 {
		t.Errorf("after a year: %v", messages)
	}
}

func answersOfDeletedNodesAreDropped(t *testing.T) {
	r := known(t)
	n := podtest.Node("n4")
	p := saying(pod.Answer{At: podtest.At(0), Machine: plan.MachineOf(n), Message: podtest.StaticCPU}.String())
	r.podChanged(nil, pod.From(p))
	r.nodeChanged(n, nil)
	r.podChanged(pod.From(p), nil)
	if len(r.answers.nodes) != 0 {
		t.Errorf("%d nodes have answers, want none", len(r.answers.nodes))
	}
}

func anAnswerOfANewMachineReplacesTheOldOne(t *testing.T) {
	a := newAnswers()
	n := podtest.Node("n4")
	n.Status.NodeInfo.BootID = "new"
	message := podtest.StaticCPU
	a.hear(pod.From(saying(pod.Answer{At: podtest.At(3600), Machine: "v1.36.3/old", Message: message}.String())), n)
	a.hear(pod.From(saying(pod.Answer{At: podtest.At(600), Machine: plan.MachineOf(n), Message: message}.String())), n)
	if messages, _ := a.of(n, pod.From(uid("another")), podtest.At(700)); len(messages) != 1 {
		t.Errorf("%v", messages)
	}
}
