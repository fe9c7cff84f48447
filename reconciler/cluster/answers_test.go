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

// uid is another pod.
func uid(uid types.UID) *corev1.Pod {
	return podtest.Pod(podtest.Guaranteed, func(p *corev1.Pod) { p.UID = uid })
}

// saying is a pod that we resized, and on which we recorded what its node answered.
func saying(text string) *corev1.Pod {
	return podtest.Pod(podtest.Guaranteed, podtest.AsResized, podtest.ManagedBy(podtest.Managed(contract.FieldManager, "", 12, contract.Infeasible)), podtest.Annotated("infeasible", text))
}

func TestAnswers(t *testing.T) {
	t.Run("what a node refuses whatever the amounts is believed for a day", whatANodeRefusesWhateverTheAmountsIsBelievedForADay)
	t.Run("only what we wrote on a pod that we resized counts for its node", onlyWhatWeWroteOnAPodThatWeResizedCountsForItsNode)
	t.Run("an answer of the future does not count", anAnswerOfTheFutureDoesNotCount)
	t.Run("answers of nodes that are gone are forgotten", answersOfNodesThatAreGoneAreForgotten)
	t.Run("an answer of a new machine is heard", anAnswerOfANewMachineIsHeard)
}

func whatANodeRefusesWhateverTheAmountsIsBelievedForADay(t *testing.T) {
	said := pod.Answer{At: podtest.Start, Machine: "v1.36.3/boot-1", Message: podtest.StaticCPU}
	for _, tc := range []struct {
		name  string
		text  string
		node  *corev1.Node
		after time.Duration
		want  bool
	}{
		{"not before its time", pod.Answer{At: podtest.Start.Add(time.Hour), Machine: "v1.36.3/boot-1", Message: podtest.StaticCPU}.String(), podtest.Booted("v1.36.3", "boot-1"), 0, false},
		{"by its own words", said.String(), podtest.Booted("v1.36.3", "boot-1"), time.Hour, true},
		{"nearly a day later", said.String(), podtest.Booted("v1.36.3", "boot-1"), plan.InfeasibleFor - time.Second, true},
		{"not more than an hour after that", said.String(), podtest.Booted("v1.36.3", "boot-1"), plan.InfeasibleFor + time.Hour, false},
		{"not once it has booted", said.String(), podtest.Booted("v1.36.3", "boot-2"), time.Hour, false},
		{"not by another kubelet", said.String(), podtest.Booted("v1.36.4", "boot-1"), time.Hour, false},
		{"not what depends on the amounts", pod.Answer{At: podtest.Start, Machine: "v1.36.3/boot-1", Message: "Node didn't have enough capacity: cpu"}.String(), podtest.Booted("v1.36.3", "boot-1"), time.Hour, false},
		{"not what cannot be read", "yesterday v1.36.3/boot-1 " + podtest.StaticCPU, podtest.Booted("v1.36.3", "boot-1"), time.Hour, false},
		{"not what is not there", "", podtest.Booted("v1.36.3", "boot-1"), time.Hour, false},
		{"not by a node that is not known", said.String(), nil, time.Hour, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			all := newAnswers()
			all.hear(pod.From(saying(tc.text)), tc.node)
			messages, until := all.of(tc.node, pod.From(uid("another")), podtest.Start.Add(tc.after))
			if got := len(messages) == 1; got != tc.want || got && (messages[0] != podtest.StaticCPU || until.Before(podtest.Start.Add(plan.InfeasibleFor)) || until.After(podtest.Start.Add(plan.InfeasibleFor+time.Hour))) {
				t.Errorf("%q until %v, want %v", messages, until, tc.want)
			}
			if all.forget("node"); len(all.nodes) != 0 {
				t.Errorf("of a node that is gone: %v", all.nodes)
			}
		})
	}
}

func onlyWhatWeWroteOnAPodThatWeResizedCountsForItsNode(t *testing.T) {
	text := pod.Answer{At: podtest.Start, Machine: plan.MachineOf(podtest.Node("n4")), Message: podtest.StaticCPU}.String()
	by := func(entries ...metav1.ManagedFieldsEntry) *corev1.Pod {
		return podtest.Pod(podtest.Guaranteed, podtest.ManagedBy(entries...), podtest.Annotated("infeasible", text))
	}
	ours := podtest.Managed(contract.FieldManager, "", 12, contract.Infeasible)
	for name, p := range map[string]*corev1.Pod{
		"somebody else wrote it":                    by(podtest.AsMade, podtest.ResizeOf(10, "app"), podtest.Managed("kubectl", "", 12, contract.Infeasible)),
		"it came with the pod, as if we created it": by(podtest.Managed(contract.FieldManager, "", 0, "restartPolicy", contract.Infeasible), podtest.ResizeOf(10, "app")),
		"we never resized the pod":                  by(podtest.AsMade, ours),
		"nobody knows who wrote it":                 by(),
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
		t.Errorf("heard again and again: %v", all.nodes)
	}
	// One namespace cannot speak for another; two can.
	elsewhere := pod.From(podtest.Pod(podtest.Guaranteed, func(p *corev1.Pod) { p.Namespace = "elsewhere" }))
	if messages, _ := all.of(podtest.Node("n4"), elsewhere, podtest.Start.Add(2*time.Hour)); messages != nil {
		t.Errorf("in another namespace: %v", messages)
	}
	second := saying(text)
	second.Namespace = "second"
	all.hear(pod.From(second), podtest.Node("n4"))
	if messages, until := all.of(podtest.Node("n4"), elsewhere, podtest.Start.Add(2*time.Hour)); len(messages) != 1 || until.IsZero() {
		t.Errorf("once two namespaces have it: %v", messages)
	}
	if all.of(podtest.Node("n4"), elsewhere, podtest.Start.Add(2*plan.InfeasibleFor)); len(all.nodes["node"]) != 0 {
		t.Errorf("two days later, it is still kept: %v", all.nodes)
	}
}

func anAnswerOfTheFutureDoesNotCount(t *testing.T) {
	a := newAnswers()
	n := podtest.Node("n4")
	p := saying(pod.Answer{At: podtest.At(0).AddDate(100, 0, 0), Machine: plan.MachineOf(n), Message: podtest.StaticCPU}.String())
	a.hear(pod.From(p), n)
	if messages, _ := a.of(n, pod.From(uid("another")), podtest.At(0).AddDate(1, 0, 0)); len(messages) != 0 {
		t.Errorf("after a year: %v", messages)
	}
}

func answersOfNodesThatAreGoneAreForgotten(t *testing.T) {
	r := known(t)
	n := podtest.Node("n4")
	p := saying(pod.Answer{At: podtest.At(0), Machine: plan.MachineOf(n), Message: podtest.StaticCPU}.String())
	r.podChanged(nil, pod.From(p))
	r.nodeChanged(n, nil)
	r.podChanged(pod.From(p), nil)
	if len(r.answers.nodes) != 0 {
		t.Errorf("%d nodes are known, and there is none", len(r.answers.nodes))
	}
}

func anAnswerOfANewMachineIsHeard(t *testing.T) {
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
