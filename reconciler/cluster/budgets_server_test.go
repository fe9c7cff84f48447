package cluster

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// guarded is a namespace with pods on an API server whose disruption controller watches over budgets.
type guarded struct {
	*Cluster
	client    kubernetes.Interface
	namespace string

	mu    sync.Mutex
	eased int
}

// Changed implements Changes.
func (g *guarded) Changed(types.NamespacedName) {}

// Eased implements Changes.
func (g *guarded) Eased(place string, reasons ...contract.Reason) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if place == g.namespace && slices.Contains(reasons, contract.DisruptionBudget) {
		g.eased++
	}
}

// reports returns how often waiting pods were reported.
func (g *guarded) reports() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.eased
}

func TestBudgetsOfTheAPIServer(t *testing.T) {
	t.Run("select the pods whose eviction they prevent", selectThePodsWhoseEvictionTheyPrevent)
	t.Run("follow the readiness of pods and changes to budgets", followTheReadinessOfPodsAndChangesToBudgets)
}

// protected returns a namespace with pods of these names and labels. They are ready, without a node that would
// have to exist.
func protected(t *testing.T, pods map[string]map[string]string) *guarded {
	t.Parallel()
	in := localcluster.NamespaceForTest(t)
	config := in.Config()
	g := &guarded{client: kubernetes.NewForConfigOrDie(config), namespace: in.Name}
	var err error
	if g.Cluster, err = New(Config{
		Client: g.client, Dynamic: dynamic.NewForConfigOrDie(config), Planner: &plan.Planner{}, Metrics: prometheus.NewRegistry(), Clock: clock.RealClock{},
	}); err != nil {
		t.Fatal(err)
	}
	g.Serve(g, g.refused)
	for name, labels := range pods {
		no := false
		if _, err := g.client.CoreV1().Pods(g.namespace).Create(t.Context(), &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels},
			Spec:       corev1.PodSpec{SchedulerName: "none", AutomountServiceAccountToken: &no, Containers: []corev1.Container{{Name: "app", Image: "none"}}},
		}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		g.ready(t, name, corev1.ConditionTrue)
	}
	if err := g.Read(t.Context()); err != nil {
		t.Fatal(err)
	}
	return g
}

// ready sets whether a pod is ready, as its kubelet would.
func (g *guarded) ready(t *testing.T, name string, ready corev1.ConditionStatus) {
	t.Helper()
	patch := fmt.Appendf(nil, `{"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": %q}]}}`, ready)
	if _, err := g.client.CoreV1().Pods(g.namespace).Patch(t.Context(), name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status"); err != nil {
		t.Fatal(err)
	}
}

// protect creates a budget, and waits until the disruption controller has observed it.
func (g *guarded) protect(t *testing.T, name string, selector *metav1.LabelSelector, available intstr.IntOrString) {
	t.Helper()
	client := g.client.PolicyV1().PodDisruptionBudgets(g.namespace)
	if _, err := client.Create(t.Context(), &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: policyv1.PodDisruptionBudgetSpec{Selector: selector, MinAvailable: &available},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	localcluster.Eventually(t, "the budget to be observed", func() error {
		o, err := client.Get(t.Context(), name, metav1.GetOptions{})
		if err == nil && o.Status.ObservedGeneration < o.Generation {
			err = fmt.Errorf("status %+v", o.Status)
		}
		return err
	})
}

// await waits until a pod has these budgets, written as name:allowed(pods).
func (g *guarded) await(t *testing.T, step, name, want string) {
	t.Helper()
	localcluster.Eventually(t, step, func() error {
		of := g.Pods(g.namespace).Get(name)
		if of == nil {
			return fmt.Errorf("pod %s is unknown", name)
		}
		var all []string
		for _, b := range budgetsOf(g.Cluster, of) {
			all = append(all, fmt.Sprintf("%s:%d(%s)", b.Name, b.Allowed, podsIn(b)))
		}
		if got := strings.Join(all, " "); got != want {
			return fmt.Errorf("pod %s has %q, want %q", name, got, want)
		}
		return nil
	})
}

func selectThePodsWhoseEvictionTheyPrevent(t *testing.T) {
	g := protected(t, map[string]map[string]string{
		"web": {"app": "web", "tier": "front"}, "cache": {"app": "cache", "tier": "front"}, "db": {"app": "db", "tier": ""}, "bare": nil,
	})
	with := func(key string, operator metav1.LabelSelectorOperator, values ...string) *metav1.LabelSelector {
		return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: key, Operator: operator, Values: values}}}
	}
	for _, tc := range []struct {
		name     string
		selector *metav1.LabelSelector
		want     string
	}{
		{"missing", nil, ""},
		{"empty", &metav1.LabelSelector{}, "bare cache db web"},
		{"labels", &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web", "tier": "front"}}, "web"},
		{"in", with("app", metav1.LabelSelectorOpIn, "web", "db"), "db web"},
		{"not-in", with("app", metav1.LabelSelectorOpNotIn, "web", "db"), "bare cache"},
		{"exists", with("tier", metav1.LabelSelectorOpExists), "cache db web"},
		{"does-not-exist", with("tier", metav1.LabelSelectorOpDoesNotExist), "bare"},
		{"nothing", with("app", metav1.LabelSelectorOpIn, "other"), ""},
	} {
		g.protect(t, tc.name, tc.selector, intstr.FromString("100%"))
		localcluster.Eventually(t, "the cache to show the budget "+tc.name, func() error {
			if in := g.budgetsIn(g.namespace); len(in) != 1 || in[0].GetObjectMeta().GetName() != tc.name {
				return fmt.Errorf("it shows %d budgets", len(in))
			}
			return nil
		})
		var selected []string
		for _, of := range g.Pods(g.namespace).List() {
			found := budgetsOf(g.Cluster, of)
			if len(found) > 0 {
				selected = append(selected, of.Name)
			}
			err := g.client.PolicyV1().Evictions(g.namespace).Evict(t.Context(), &policyv1.Eviction{
				ObjectMeta: metav1.ObjectMeta{Namespace: g.namespace, Name: of.Name}, DeleteOptions: &metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}},
			})
			if prevented := apierrors.IsTooManyRequests(err); prevented != (len(found) > 0) || err != nil && !prevented {
				t.Errorf("%s: the eviction of %s ends with %v, and it has %d budgets", tc.name, of.Name, err, len(found))
			}
		}
		slices.Sort(selected)
		if got := strings.Join(selected, " "); got != tc.want {
			t.Errorf("%s selects %q, want %q", tc.name, got, tc.want)
		}
		if err := g.client.PolicyV1().PodDisruptionBudgets(g.namespace).Delete(t.Context(), tc.name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		localcluster.Eventually(t, "the budget to be gone", func() error {
			if in := g.budgetsIn(g.namespace); len(in) != 0 {
				return fmt.Errorf("it has %d budgets", len(in))
			}
			return nil
		})
	}
}

func followTheReadinessOfPodsAndChangesToBudgets(t *testing.T) {
	web := map[string]string{"app": "web"}
	g := protected(t, map[string]map[string]string{"web-1": web, "web-2": web, "web-3": web, "db": {"app": "db"}})
	g.await(t, "no budget", "web-1", "")
	g.protect(t, "web", &metav1.LabelSelector{MatchLabels: web}, intstr.FromInt32(1))
	g.await(t, "all pods are ready", "web-1", "web:2(web-1 web-2 web-3)")
	g.await(t, "other pods have no budget", "db", "")

	g.ready(t, "web-2", corev1.ConditionFalse)
	g.await(t, "a pod is not ready", "web-1", "web:1(web-1 web-2 web-3)")
	before := g.reports()
	g.ready(t, "web-2", corev1.ConditionTrue)
	g.await(t, "the pod is ready again", "web-1", "web:2(web-1 web-2 web-3)")
	localcluster.Eventually(t, "a report that more disruptions are allowed", func() error {
		if now := g.reports(); now == before {
			return fmt.Errorf("there are %d", now)
		}
		return nil
	})

	budgets := g.client.PolicyV1().PodDisruptionBudgets(g.namespace)
	patch := func(text string) {
		t.Helper()
		if _, err := budgets.Patch(t.Context(), "web", types.MergePatchType, []byte(text), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	patch(`{"spec": {"selector": {"matchLabels": {"app": "db"}}}}`)
	g.await(t, "the selector changes", "web-1", "")
	g.await(t, "the selector changes", "db", "web:0(db)")
	if _, err := g.client.CoreV1().Pods(g.namespace).Patch(t.Context(), "web-1", types.MergePatchType, []byte(`{"metadata": {"labels": {"app": "db"}}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	g.await(t, "the labels of a pod change", "db", "web:1(db web-1)")

	patch(`{"spec": {"minAvailable": 2}}`)
	g.await(t, "the minimum rises", "db", "web:0(db web-1)")
	if err := budgets.Delete(t.Context(), "web", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	g.await(t, "the budget is deleted", "db", "")
}
