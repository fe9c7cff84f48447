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

// booted is a node that runs a kubelet since a boot.
func booted(kubelet, boot string) *corev1.Node {
	n := node("n4")
	n.Status.NodeInfo = corev1.NodeSystemInfo{KubeletVersion: kubelet, BootID: boot}
	return n
}

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

func TestOnePodFindsOutForAllOfItsNode(t *testing.T) {
	sized := amounts{"800m", "800m", "1Gi", "1Gi"}
	planner := Planner{OwnerKinds: DefaultOwnerKinds}
	refused := said(corev1.PodResizePending, "Infeasible", 5, 20)
	refusedPod := podWith(sized, withStatus(guaranteed, guaranteed), refused, sizedForN4, asResized)
	refusedPod.Status.Conditions[0].Message = staticCPU
	s := snapshotOf(t, refusedPod, booted("v1.36.3", "boot-1"))
	s.Now = start.Add(time.Minute)
	plan := planner.Plan(s)
	if plan.kind != putBack || plan.noteInfeasible != "2026-11-21T00:01:00Z v1.36.3/boot-1 "+staticCPU {
		t.Fatalf("%v because of %v, and records %q", plan.Decision, plan.Reasons, plan.noteInfeasible)
	}
	// Stopped between its two writes, it does not write the first again.
	recorded := refusedPod.DeepCopy()
	annotated("infeasible", plan.noteInfeasible)(recorded)
	managedBy(managed(contract.FieldManager, "", 12, contract.Infeasible))(recorded)
	s.Pod, s.Now = pod.From(recorded), start.Add(2*time.Minute)
	if again := planner.Plan(s); again.kind != putBack || again.noteInfeasible != "" {
		t.Errorf("stopped and planned again: %v, and records %q", again.Decision, again.noteInfeasible)
	}
	// Another pod of the node, in another process.
	all := newAnswers()
	all.hear(pod.From(recorded), s.Around.Node)
	other := snapshotOf(t, podWith(guaranteed, asCreated), s.Around.Node)
	other.Now = start.Add(time.Hour)
	other.Around.Infeasible, other.InfeasibleUntil = all.of(s.Around.Node, other.Pod, other.Now)
	plan = planner.Plan(other)
	if plan.Decision != Skip || plan.Reasons[0].Code != contract.ResizeInfeasible || !plan.replanAt.Equal(other.InfeasibleUntil) {
		t.Errorf("%v because of %v, again at %v", plan.Decision, plan.Reasons, plan.replanAt)
	}
	// Once it counts no more, the next record takes the annotation away.
	recorded.Status.Conditions = nil
	s.Pod = pod.From(recorded)
	s.Now = start.Add(2 * infeasibleFor)
	if plan := planner.Plan(s); plan.record(s.Now)[contract.Infeasible] != nil || !plan.dropInfeasible {
		t.Errorf("two days later: %v because of %v", plan.Decision, plan.Reasons)
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

func TestRefusalsOutlastAChangeOfLeaders(t *testing.T) {
	l := newLedger(testMetrics())
	l.refusedBy(&Plan{kind: putBack, Decision: Resize, wanted: "this", Reasons: []Reason{{contract.ResizeInfeasible, staticCPU}}}, start)
	if refused, _ := l.refusal(types.NamespacedName{}, "", start); refused != nil {
		t.Errorf("what its node refuses whatever the amounts keeps the pod from less: %+v", refused)
	}
	plan := &Plan{kind: putBack, Decision: Resize, wanted: "this", Reasons: []Reason{{contract.ResizeError, "below usage"}}}
	// A replica that does not lead sees it twice before the leader puts the pod back.
	l.refusedBy(plan, start)
	l.refusedBy(plan, start.Add(time.Second))
	l.beginAnew()
	refused, left := l.refusal(plan.Pod, plan.UID, start.Add(time.Second))
	if refused == nil || !refused.waiting || refused.retry || left != firstRefusal-time.Second {
		t.Fatalf("%+v for %v", refused, left)
	}
	if refused, left := l.refusal(plan.Pod, plan.UID, start.Add(firstRefusal)); !refused.retry || left != 0 {
		t.Errorf("what fails is tried again after the pause: %+v, %v", refused, left)
	}
	for range 20 {
		l.succeeded(plan, "1", start)
	}
	if _, left := l.refusal(plan.Pod, plan.UID, start); left != longRefusal {
		t.Errorf("the pause has grown to %v", left)
	}
}
