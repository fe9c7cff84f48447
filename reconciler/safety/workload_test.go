package safety

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestWorkloads(t *testing.T) {
	owned := func(kind, name string, labels ...string) *corev1.Pod {
		return pod(func(p *corev1.Pod) {
			p.OwnerReferences[0].Kind, p.OwnerReferences[0].Name = kind, name
			if len(labels) > 0 {
				p.Labels = map[string]string{"pod-template-hash": labels[0]}
			}
		})
	}
	for _, tc := range []struct {
		name               string
		pod                *corev1.Pod
		controller, parent Workload
	}{
		{"a ReplicaSet of a Deployment", owned("ReplicaSet", "web-api-66fb46dc94", "66fb46dc94"), Workload{"ReplicaSet", "web-api-66fb46dc94"}, Workload{"Deployment", "web-api"}},
		{"a ReplicaSet of its own", owned("ReplicaSet", "web-1"), Workload{"ReplicaSet", "web-1"}, Workload{}},
		{"a ReplicaSet of another name", owned("ReplicaSet", "web-1", "66fb46dc94"), Workload{"ReplicaSet", "web-1"}, Workload{}},
		{"a Job of a CronJob", owned("Job", "night-ly-29876543"), Workload{"Job", "night-ly-29876543"}, Workload{"CronJob", "night-ly"}},
		{"a Job of its own", owned("Job", "migrate-db"), Workload{"Job", "migrate-db"}, Workload{}},
		{"a StatefulSet", owned("StatefulSet", "db-0"), Workload{"StatefulSet", "db-0"}, Workload{}},
		{"bare", pod(func(p *corev1.Pod) { p.OwnerReferences = nil }), Workload{}, Workload{}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if controller, parent := Workloads(tc.pod); controller != tc.controller || parent != tc.parent {
				t.Errorf("got %v and %v", controller, parent)
			}
			for w, want := range map[Workload]bool{tc.controller: true, tc.parent: true, {"Deployment", "other"}: false} {
				if got := Targets(w.Kind, w.Name, tc.pod); got != (want && w != Workload{}) {
					t.Errorf("Targets(%v) = %v", w, got)
				}
			}
		})
	}
}

func TestVPAActive(t *testing.T) {
	for mode, want := range map[string]bool{"": true, "Auto": true, "Recreate": true, "InPlaceOrRecreate": true, "InPlace": true, "Off": false, "Initial": false} {
		if got := VPAActive(mode); got != want {
			t.Errorf("updateMode %q: %v", mode, got)
		}
	}
}
