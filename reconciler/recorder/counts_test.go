package recorder

import (
	"testing"

	"github.com/workload-resizer/workload-resizer/reconciler/workload"
)

func TestCountsFor(t *testing.T) {
	set, operator := workload.Workload{Kind: "StatefulSet", Name: "prometheus-k8s"}, workload.Workload{Kind: "Prometheus", Name: "k8s"}
	replicas, rollout, job := workload.Workload{Kind: "ReplicaSet", Name: "web-1"}, workload.Workload{Kind: "Rollout", Name: "web"}, workload.Workload{Kind: "Job", Name: "once"}
	for _, tc := range []struct {
		name   string
		owners []workload.Workload
		want   workload.Workload
	}{
		{"no owner", nil, workload.Workload{}},
		{"owned by an operator", []workload.Workload{set, operator}, set},
		{"of a kind that nobody knows", []workload.Workload{replicas, rollout}, rollout},
		{"a Job without an owner", []workload.Workload{job}, job},
	} {
		if got := CountsFor("monitoring", tc.owners); got != tc.want {
			t.Errorf("%s: %v, want %v", tc.name, got, tc.want)
		}
	}
}
