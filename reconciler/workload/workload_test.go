package workload

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/pod"
)

func TestAboveByName(t *testing.T) {
	for _, tc := range []struct {
		name     string
		workload Workload
		group    string
		hash     string
		want     Workload
	}{
		{"a ReplicaSet of a Deployment", Workload{"ReplicaSet", "web-api-66fb46dc94"}, "apps", "66fb46dc94", Workload{"Deployment", "web-api"}},
		{"a standalone ReplicaSet", Workload{"ReplicaSet", "web-1"}, "apps", "", Workload{}},
		{"a ReplicaSet with another name", Workload{"ReplicaSet", "web-1"}, "apps", "66fb46dc94", Workload{}},
		{"a ReplicaSet of another group", Workload{"ReplicaSet", "web-api-66fb46dc94"}, "example.com", "66fb46dc94", Workload{}},
		{"a Job of another group", Workload{"Job", "night-ly-29876543"}, "batch.volcano.sh", "", Workload{}},
		{"a Job of a CronJob", Workload{"Job", "night-ly-29876543"}, "batch", "", Workload{"CronJob", "night-ly"}},
		{"a standalone Job", Workload{"Job", "migrate-db"}, "batch", "", Workload{}},
		{"a Job whose name is a number", Workload{"Job", "-29876543"}, "batch", "", Workload{}},
		{"a StatefulSet", Workload{"StatefulSet", "db-0"}, "apps", "", Workload{}},
		{"none", Workload{}, "", "66fb46dc94", Workload{}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, ok := AboveByName(tc.workload, tc.group, pod.From(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"pod-template-hash": tc.hash}}}))
			if got != tc.want || ok != (tc.want != Workload{}) {
				t.Errorf("got %v, %v; want %v", got, ok, tc.want)
			}
		})
	}
}
