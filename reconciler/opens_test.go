package reconciler

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/ratiotest"
	"github.com/workload-resizer/workload-resizer/reconciler/clustertest"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/loop"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/reconciler/startup"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// opens removes a startup taint although the reconciler may not read pods, so that it will never
// plan any.
func (s *apiServer) opens(t *testing.T) {
	const watcher = "watches-only-nodes"
	if _, err := s.client.RbacV1().ClusterRoles().Create(t.Context(), &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: watcher},
		Rules:      []rbacv1.PolicyRule{{Verbs: []string{"list", "watch"}, APIGroups: []string{""}, Resources: []string{"nodes"}}},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.client.RbacV1().ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: watcher},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: watcher},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: watcher}},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	restricted := rest.CopyConfig(s.cluster.Config())
	restricted.Impersonate.UserName = watcher

	n := podtest.Node("n4")
	n.Name = "opens"
	n.Spec.Taints = []corev1.Taint{{Key: contract.StartupTaint, Effect: corev1.TaintEffectNoSchedule}}
	n, err := s.client.CoreV1().Nodes().Create(t.Context(), n, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ready := fmt.Appendf(nil, `{"status":{"conditions":[{"type":"Ready","status":"True","lastTransitionTime":%q}]}}`, time.Now().Add(-startup.Patience).UTC().Format(time.RFC3339))
	if _, err := s.client.CoreV1().Nodes().Patch(t.Context(), n.Name, types.StrategicMergePatchType, ready, metav1.PatchOptions{}, "status"); err != nil {
		t.Fatal(err)
	}

	r, err := New(Config{
		Client: kubernetes.NewForConfigOrDie(restricted), Dynamic: s.dynamic, Writer: s.client, Asker: s.client,
		Ratios: ratios.NewStore(ratiotest.NewMemory("memory", performance(1.25))), Holds: clustertest.NoHolds{}, Planner: plan.Planner{OwnerKinds: []string{"Node"}},
		Events: loop.NoEvents(), Metrics: prometheus.NewRegistry(), Workers: 1, Nodes: s.client.CoreV1().Nodes(),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- r.Run(ctx) }()
	localcluster.Eventually(t, "the taint to go", func() error {
		n, err := s.client.CoreV1().Nodes().Get(t.Context(), n.Name, metav1.GetOptions{})
		if err == nil && startup.Tainted(n) {
			err = fmt.Errorf("the node has taints %v", n.Spec.Taints)
		}
		return err
	})
	if r.Ready() == nil {
		t.Error("it is ready without having read any pod")
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
