package chaos

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/deploy"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// stampOriginals lets the API server stamp the originals of new pods, whose controllers
// are nodes here.
func (s *suite) stampOriginals(t *testing.T) {
	policy := bytes.Replace(deploy.StampOriginals(), []byte(`o.kind == "Job"`), []byte(`o.kind == "Job" || o.kind == "Node"`), 1)
	if err := localcluster.Apply(t.Context(), s.config, policy); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, s.config, simpleTable("1.25"), "n4")
	key := w.create(t, plain, "probe", &shapes[0], 0)
	probe := w.template(key, &shapes[0], 0)
	localcluster.Eventually(t, "the policy to take effect", func() error {
		probe.Name = "another"
		made, err := w.client.CoreV1().Pods(plain).Create(t.Context(), probe, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err == nil && !hasOriginals(made) {
			err = errors.New("no originals are stamped")
		}
		return err
	})
}

func hasOriginals(pod *corev1.Pod) bool {
	_, ok := contract.CPURequest.In(pod.Annotations, "app")
	return ok
}

// stampedJourneys are the journeys of pods that are created with their originals. A
// resize takes two writes, and a pod with nothing to resize takes one.
var stampedJourneys = slices.Concat([]journey{
	{
		"a new pod", "n4", false, nil,
		[]string{"resize", "applied"},
		[]state{{asCreated, true, ""}, {asSized, true, ""}, {asSized, true, "n4"}},
	},
	{
		"a new pod with nothing to resize", "n2d", false, nil,
		[]string{"applied"},
		[]state{{asCreated, true, ""}, {asCreated, true, "n2d"}},
	},
	{
		"a new pod is restored", "n4", false, func(w *world, pod hold.Scope) { w.holds.put(hold.Restore, pod) },
		[]string{"clean"},
		[]state{{asCreated, true, ""}, {asCreated, false, ""}},
	},
}, journeys[2:])
