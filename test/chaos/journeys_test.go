package chaos

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
)

// state is the visible progress of a pod.
type state struct {
	sizes     string
	originals bool
	// applied is the node type that the pod is sized for, according to its annotation.
	applied string
}

func stateOf(pod *corev1.Pod) state {
	_, originals := contract.CPURequest.In(pod.Annotations, "app")
	return state{sizesOf(pod), originals, pod.Annotations[contract.AppliedInstanceType]}
}

// checkState compares the pod on the API server with the expected state.
func (w *world) checkState(t *testing.T, key types.NamespacedName, want state) {
	t.Helper()
	pod, err := w.client.CoreV1().Pods(key.Namespace).Get(t.Context(), key.Name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := stateOf(pod); got != want {
		t.Errorf("the pod has %+v, want %+v", got, want)
	}
}

// The sizes of a pod at the stages of the journeys below.
const (
	asCreated = "app: cpu 1000m/1000m, memory 1Gi/1Gi; "
	asSized   = "app: cpu 800m/800m, memory 1Gi/1Gi; "
	asResized = "app: cpu 500m/500m, memory 1Gi/1Gi; "
)

// journey is one way in which the reconciler writes a pod.
type journey struct {
	name     string
	nodeType string
	// sizedBefore is whether the pod is sized before anything else.
	sizedBefore bool
	// change then gives a reason to write.
	change func(w *world, pod hold.Scope)
	// steps are the writes, and states are the states before the first of them and after
	// each.
	steps  []string
	states []state
}

// journeys are all of them, except for the revert of a resize that a node refuses.
var journeys = []journey{
	{
		"a new pod", "n4", false, nil,
		[]string{"originals", "resize", "applied"},
		[]state{{asCreated, false, ""}, {asCreated, true, ""}, {asSized, true, ""}, {asSized, true, "n4"}},
	},
	{
		"a new pod with nothing to resize", "n2d", false, nil,
		[]string{"record"},
		[]state{{asCreated, false, ""}, {asCreated, true, "n2d"}},
	},
	{
		"a ratio changes", "n4", true, func(w *world, _ hold.Scope) { w.setTable(simpleTable("2")) },
		[]string{"resize", "applied"},
		[]state{{asSized, true, "n4"}, {asResized, true, "n4"}, {asResized, true, "n4"}},
	},
	{
		"a pod is restored", "n4", true, func(w *world, pod hold.Scope) { w.holds.put(hold.Restore, pod) },
		[]string{"resize", "clean"},
		[]state{{asSized, true, "n4"}, {asCreated, true, "n4"}, {asCreated, false, ""}},
	},
	{
		"a pod that was not resized is restored", "n2d", true, func(w *world, pod hold.Scope) { w.holds.put(hold.Restore, pod) },
		[]string{"clean"},
		[]state{{asCreated, true, "n2d"}, {asCreated, false, ""}},
	},
}
