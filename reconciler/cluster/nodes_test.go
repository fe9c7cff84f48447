package cluster

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
)

func TestNodes(t *testing.T) {
	t.Run("are known with when they became ready", areKnownWithWhenTheyBecameReady)
	t.Run("report their pods when they become ready or not", reportTheirPodsWhenTheyBecomeReadyOrNot)
}

// nodeReady returns a node as the informer keeps it.
func nodeReady(t *testing.T, ready corev1.ConditionStatus, seconds int) *corev1.Node {
	t.Helper()
	n := podtest.Node("n4")
	n.Status.Conditions = []corev1.NodeCondition{{
		Type: corev1.NodeReady, Status: ready, Message: "long", LastTransitionTime: metav1.NewTime(podtest.At(seconds)), LastHeartbeatTime: metav1.NewTime(time.Now()),
	}}
	kept, err := trim(n, nil)
	if err != nil {
		t.Fatal(err)
	}
	return kept.(*corev1.Node)
}

// A pod is not judged while its node is not ready, so the guard must know.
func areKnownWithWhenTheyBecameReady(t *testing.T) {
	got := nodeReady(t, corev1.ConditionTrue, 10).Status.Conditions
	if len(got) != 1 || got[0].Status != corev1.ConditionTrue || !got[0].LastTransitionTime.Time.Equal(podtest.At(10)) || got[0].Message != "" {
		t.Errorf("the conditions are %v", got)
	}
}

func reportTheirPodsWhenTheyBecomeReadyOrNot(t *testing.T) {
	r := known(t, podtest.Pod(podtest.Guaranteed))
	told := &told{}
	r.Serve(told, r.refused)
	for _, tc := range []struct {
		name    string
		to      *corev1.Node
		changed int
	}{
		{"the same again", nodeReady(t, corev1.ConditionTrue, 10), 0},
		{"not ready", nodeReady(t, corev1.ConditionUnknown, 20), 1},
		{"ready since later", nodeReady(t, corev1.ConditionTrue, 30), 1},
	} {
		told.changed = 0
		if r.nodeChanged(nodeReady(t, corev1.ConditionTrue, 10), tc.to); told.changed != tc.changed {
			t.Errorf("%s: %d pods reported, want %d", tc.name, told.changed, tc.changed)
		}
	}
}
