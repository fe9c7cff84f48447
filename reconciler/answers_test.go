package reconciler

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
)

// uid is another pod.
func uid(uid types.UID) *corev1.Pod {
	return podWith(guaranteed, func(p *corev1.Pod) { p.UID = uid })
}

// saying is a pod that we resized, and on which we recorded what its node answered.
func saying(text string) *corev1.Pod {
	return podWith(guaranteed, asResized, managedBy(managed(contract.FieldManager, "", 12, contract.Infeasible)), annotated("infeasible", text))
}

func TestWhatANodeRefusesWhateverTheAmountsIsBelievedForADay(t *testing.T) {
	said := pod.Answer{At: start, Machine: "v1.36.3/boot-1", Message: staticCPU}
	for _, tc := range []struct {
		name  string
		text  string
		node  *corev1.Node
		after time.Duration
		want  bool
	}{
		{"not before its time", pod.Answer{At: start.Add(time.Hour), Machine: "v1.36.3/boot-1", Message: staticCPU}.String(), booted("v1.36.3", "boot-1"), 0, false},
		{"by its own words", said.String(), booted("v1.36.3", "boot-1"), time.Hour, true},
		{"nearly a day later", said.String(), booted("v1.36.3", "boot-1"), infeasibleFor - time.Second, true},
		{"not more than an hour after that", said.String(), booted("v1.36.3", "boot-1"), infeasibleFor + time.Hour, false},
		{"not once it has booted", said.String(), booted("v1.36.3", "boot-2"), time.Hour, false},
		{"not by another kubelet", said.String(), booted("v1.36.4", "boot-1"), time.Hour, false},
		{"not what depends on the amounts", pod.Answer{At: start, Machine: "v1.36.3/boot-1", Message: "Node didn't have enough capacity: cpu"}.String(), booted("v1.36.3", "boot-1"), time.Hour, false},
		{"not what cannot be read", "yesterday v1.36.3/boot-1 " + staticCPU, booted("v1.36.3", "boot-1"), time.Hour, false},
		{"not what is not there", "", booted("v1.36.3", "boot-1"), time.Hour, false},
		{"not by a node that is not known", said.String(), nil, time.Hour, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			all := newAnswers()
			all.hear(pod.From(saying(tc.text)), tc.node)
			messages, until := all.of(tc.node, pod.From(uid("another")), start.Add(tc.after))
			if got := len(messages) == 1; got != tc.want || got && (messages[0] != staticCPU || until.Before(start.Add(infeasibleFor)) || until.After(start.Add(infeasibleFor+time.Hour))) {
				t.Errorf("%q until %v, want %v", messages, until, tc.want)
			}
			if all.forget("node"); len(all.nodes) != 0 {
				t.Errorf("of a node that is gone: %v", all.nodes)
			}
		})
	}
}

func TestOnlyWhatWeWroteOnAPodThatWeResizedCountsForItsNode(t *testing.T) {
	text := pod.Answer{At: start, Machine: machineOf(node("n4")), Message: staticCPU}.String()
	by := func(entries ...metav1.ManagedFieldsEntry) *corev1.Pod {
		return podWith(guaranteed, managedBy(entries...), annotated("infeasible", text))
	}
	ours := managed(contract.FieldManager, "", 12, contract.Infeasible)
	for name, p := range map[string]*corev1.Pod{
		"somebody else wrote it":                    by(asMade, resizeOf(10, "app"), managed("kubectl", "", 12, contract.Infeasible)),
		"it came with the pod, as if we created it": by(managed(contract.FieldManager, "", 0, "restartPolicy", contract.Infeasible), resizeOf(10, "app")),
		"we never resized the pod":                  by(asMade, ours),
		"nobody knows who wrote it":                 by(),
	} {
		t.Run(name, func(t *testing.T) {
			all := newAnswers()
			if all.hear(pod.From(p), node("n4")); len(all.nodes) != 0 {
				t.Errorf("it counts: %v", all.nodes)
			}
		})
	}
	all := newAnswers()
	for range 3 {
		all.hear(pod.From(saying(text)), node("n4"))
		all.hear(pod.From(saying(pod.Answer{At: start.Add(time.Hour), Machine: machineOf(node("n4")), Message: staticCPU}.String())), node("n4"))
	}
	if len(all.nodes["node"]["default"]) != 1 {
		t.Errorf("heard again and again: %v", all.nodes)
	}
	// One namespace cannot speak for another; two can.
	elsewhere := pod.From(podWith(guaranteed, func(p *corev1.Pod) { p.Namespace = "elsewhere" }))
	if messages, _ := all.of(node("n4"), elsewhere, start.Add(2*time.Hour)); messages != nil {
		t.Errorf("in another namespace: %v", messages)
	}
	second := saying(text)
	second.Namespace = "second"
	all.hear(pod.From(second), node("n4"))
	if messages, until := all.of(node("n4"), elsewhere, start.Add(2*time.Hour)); len(messages) != 1 || until.IsZero() {
		t.Errorf("once two namespaces have it: %v", messages)
	}
	if all.of(node("n4"), elsewhere, start.Add(2*infeasibleFor)); len(all.nodes["node"]) != 0 {
		t.Errorf("two days later, it is still kept: %v", all.nodes)
	}
}

func TestAnAnswerOfTheFutureDoesNotCount(t *testing.T) {
	a := newAnswers()
	n := node("n4")
	p := saying(pod.Answer{At: at(0).AddDate(100, 0, 0), Machine: machineOf(n), Message: staticCPU}.String())
	a.hear(pod.From(p), n)
	if messages, _ := a.of(n, pod.From(uid("another")), at(0).AddDate(1, 0, 0)); len(messages) != 0 {
		t.Errorf("after a year: %v", messages)
	}
}

func TestAnswersOfNodesThatAreGoneAreForgotten(t *testing.T) {
	r := ruled(t)
	n := node("n4")
	p := saying(pod.Answer{At: at(0), Machine: machineOf(n), Message: staticCPU}.String())
	r.podChanged(nil, pod.From(p))
	r.nodeChanged(n, nil)
	r.podChanged(pod.From(p), nil)
	if len(r.answers.nodes) != 0 {
		t.Errorf("%d nodes are known, and there is none", len(r.answers.nodes))
	}
}

func TestAnAnswerOfANewMachineIsHeard(t *testing.T) {
	a := newAnswers()
	n := node("n4")
	n.Status.NodeInfo.BootID = "new"
	message := staticCPU
	a.hear(pod.From(saying(pod.Answer{At: at(3600), Machine: "v1.36.3/old", Message: message}.String())), n)
	a.hear(pod.From(saying(pod.Answer{At: at(600), Machine: machineOf(n), Message: message}.String())), n)
	if messages, _ := a.of(n, pod.From(uid("another")), at(700)); len(messages) != 1 {
		t.Errorf("%v", messages)
	}
}
