package query

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/clustertest"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
)

func TestLister(t *testing.T) {
	t.Run("makes few allocations for queries of many pods", makesFewAllocationsForQueriesOfManyPods)
	t.Run("plans selected pods in their state at the call", plansSelectedPodsInTheirStateAtTheCall)
}

func makesFewAllocationsForQueriesOfManyPods(t *testing.T) {
	const pods = 200
	all := make([]*corev1.Pod, pods)
	for i := range all {
		all[i] = podtest.Pod(podtest.Guaranteed, clustertest.Named("shop", fmt.Sprintf("web-%03d", i), "n4-0"), podtest.SizedForN4)
	}
	r := filled(t, all, nil)
	for name, ask := range map[string]func() error{
		"count all pods":    func() error { _, err := r.Count(""); return err },
		"count a namespace": func() error { _, err := r.Count("shop"); return err },
		"select all pods":   func() error { _, _, err := r.PreviewAll(t.Context(), Selection{}, PreviewOptions{}); return err },
		"select a node's pods": func() error {
			_, _, err := r.PreviewAll(t.Context(), Selection{Node: "n4-0"}, PreviewOptions{})
			return err
		},
		"select one pod": func() error {
			_, _, err := r.PreviewAll(t.Context(), Selection{Pod: "web-007"}, PreviewOptions{})
			return err
		},
		"list a page of one resize": func() error {
			resizes, err := r.Resizes(t.Context(), ResizeQuery{})
			if err != nil {
				return err
			}
			for _, err = range resizes {
				break
			}
			return err
		},
	} {
		if allocations := testing.AllocsPerRun(1, func() { do(t, ask()) }); allocations >= pods {
			t.Errorf("%s: %.0f allocations among %d pods", name, allocations, pods)
		}
	}
}

// Until their plans are read, pods cost no memory except for their list: the cache has them
// anyway.
func plansSelectedPodsInTheirStateAtTheCall(t *testing.T) {
	r := shop(t)
	total, plans, err := r.PreviewAll(t.Context(), Selection{Workload: workload.Workload{Kind: "Deployment", Name: "web"}}, PreviewOptions{})
	do(t, err)
	var changed []*pod.Pod
	for _, name := range []string{"web-1-x", "web-1-y"} {
		changed = append(changed, pod.From(podtest.Pod(podtest.Amounts{"3", "", "1Gi", ""}, clustertest.Named("shop", name, "b"))))
	}
	do(t, r.Cluster.Know(changed, nil))
	var got []string
	for p := range plans {
		got = append(got, fmt.Sprint(p.Pod, " ", p.Containers[0].Current.CPU.Request))
	}
	if names := strings.Join(got, ", "); names != "shop/web-1-x 1000, shop/web-1-y 1000" || total != 2 {
		t.Errorf("%d in total: %s", total, names)
	}
}
