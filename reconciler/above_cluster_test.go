package reconciler

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/prometheus/common/expfmt"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/ratiotest"
	"github.com/workload-resizer/workload-resizer/reconciler/demand"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/reconciler/loop"
	"github.com/workload-resizer/workload-resizer/reconciler/owners"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/reconciler/query"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
	"github.com/workload-resizer/workload-resizer/test/statuswriter"
)

// Custom resource kinds that the tests install.
var (
	rollouts     = customKind{"rollouts", "Rollout", "argoproj.io", "v1alpha1"}
	prometheuses = customKind{"prometheuses", "Prometheus", "monitoring.coreos.com", "v1"}
	apps         = customKind{"apps", "App", "example.com", "v1beta1"}
	stacks       = customKind{"stacks", "Stack", "example.com", "v1beta1"}
	tuners       = customKind{"verticalpodautoscalers", "VerticalPodAutoscaler", "autoscaling.k8s.io", "v1"}
)

type customKind struct{ plural, kind, group, version string }

func (k customKind) definition() []byte {
	return fmt.Appendf(nil, `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: %[1]s.%[3]s
  annotations: { api-approved.kubernetes.io: "https://github.com/kubernetes/kubernetes/pull/63797" }
spec:
  group: %[3]s
  scope: Namespaced
  names: { kind: %[2]s, plural: %[1]s, singular: %[5]s, listKind: %[2]sList }
  versions:
    - name: %[4]s
      served: true
      storage: true
      schema: { openAPIV3Schema: { type: object, x-kubernetes-preserve-unknown-fields: true } }
`, k.plural, k.kind, k.group, k.version, strings.ToLower(k.kind))
}

func (k customKind) resource() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: k.group, Version: k.version, Resource: k.plural}
}

// above is a cluster with a reconciler that follows the owners of controllers, as far as
// its user may read them.
type above struct {
	*apiServer
	config *rest.Config
	holds  *hold.Store
	r      *Reconciler
}

// reader is the user that reads the owners of controllers.
const reader = "reader"

func TestAboveCluster(t *testing.T) {
	t.Parallel()
	t.Run("follows the owners of controllers", followsTheOwnersOfControllers)
}

func followsTheOwnersOfControllers(t *testing.T) {
	t.Parallel()
	cluster := localcluster.ForTest(t, "")
	config := cluster.Config()
	config.QPS = -1
	s := &above{config: config, apiServer: &apiServer{cluster: cluster, client: kubernetes.NewForConfigOrDie(config), dynamic: dynamic.NewForConfigOrDie(config)}}
	statuswriter.Start(t, config, statuswriter.Options{})
	s.node(t, "node")
	if _, err := s.client.CoreV1().ConfigMaps("default").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "holds"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, k := range []customKind{rollouts, prometheuses, stacks, tuners} {
		if err := localcluster.Apply(t.Context(), config, k.definition()); err != nil {
			t.Fatal(err)
		}
	}
	s.allow(t, rbacv1.PolicyRule{Verbs: []string{"list", "watch"}, APIGroups: []string{"apps"}, Resources: []string{"replicasets", "statefulsets", "deployments"}},
		rbacv1.PolicyRule{Verbs: []string{"list", "watch"}, APIGroups: []string{rollouts.group, apps.group}, Resources: []string{"rollouts", "apps"}})
	s.start(t, "replicasets.apps", "deployments.apps", "statefulsets.apps", "rollouts.argoproj.io", "prometheuses.monitoring.coreos.com", "apps.example.com")

	t.Run("applies holds of a Rollout to its pods", s.holdsOfARollout)
	t.Run("applies autoscalers of a Rollout to its pods", s.autoscalersOfARollout)
	t.Run("sizes by usage only what no autoscaler compares with usage", s.usageNextToAutoscalers)
	t.Run("finds a Deployment above its ReplicaSet", s.deployment)
	t.Run("reports a kind that it may not read, and reads it once permitted", s.missingPermission)
	t.Run("names a right that it lacks, and is ready once it has the right", s.missingRight)
	t.Run("plans pods again when their controller gets an owner", s.laterOwner)
	t.Run("reads a kind that is installed later", s.laterKind)
	s.uninstall(t, apps)
	t.Run("reads a kind that is uninstalled and installed again", s.laterKind)
}

// start runs the reconciler.
func (s *above) start(t *testing.T, resources ...string) {
	kinds, err := owners.ParseResources(resources)
	if err != nil {
		t.Fatal(err)
	}
	restricted := rest.CopyConfig(s.config)
	restricted.Impersonate.UserName = reader
	configured := performance(1.25)
	configured.Layer.Rules = []ratios.Rule{ruleByUsage}
	store := ratios.NewStore(ratiotest.NewMemory("memory", configured))
	s.holds = hold.New(s.client, "default", "holds")
	source := &busy{pods: func() []*pod.Pod { return s.r.Cluster.Pods("").List() }}
	if s.r, err = New(Config{
		Client: s.client, Dynamic: s.dynamic, Metadata: metadata.NewForConfigOrDie(restricted), WorkloadKinds: kinds,
		Writer: s.client, Asker: s.client, Ratios: store, Holds: s.holds,
		Planner: plan.Planner{OwnerKinds: plan.DefaultOwnerKinds}, Events: loop.NoEvents(), Metrics: prometheus.NewRegistry(), Workers: 4,
		Usage: &demand.Usage{Sources: []demand.Source{{Source: source, Interval: 200 * time.Millisecond}}, Interval: 200 * time.Millisecond},
	}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 3)
	for _, part := range []func(context.Context) error{store.Run, s.holds.Run, s.r.Run} {
		go func() { ended <- part(ctx) }()
	}
	t.Cleanup(func() {
		cancel()
		for range cap(ended) {
			if err := <-ended; err != nil {
				t.Errorf("ended with %v", err)
			}
		}
	})
	localcluster.Eventually(t, "the reconciler", s.r.Ready)
}

// allow grants the reader additional permissions.
func (s *above) allow(t *testing.T, rules ...rbacv1.PolicyRule) {
	t.Helper()
	meta := metav1.ObjectMeta{GenerateName: reader + "-"}
	role, err := s.client.RbacV1().ClusterRoles().Create(t.Context(), &rbacv1.ClusterRole{ObjectMeta: meta, Rules: rules}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.client.RbacV1().ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: reader}},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// custom creates an object of a custom kind, and returns an owner reference to it as a
// controller.
func (s *above) custom(t *testing.T, k customKind, ns, name string, content map[string]any, by ...metav1.OwnerReference) []metav1.OwnerReference {
	t.Helper()
	o := &unstructured.Unstructured{Object: content}
	if content == nil {
		o.Object = map[string]any{}
	}
	o.SetAPIVersion(k.group + "/" + k.version)
	o.SetKind(k.kind)
	o.SetName(name)
	o.SetOwnerReferences(by)
	localcluster.Eventually(t, "the API server to accept a "+k.kind, func() error {
		created, err := s.dynamic.Resource(k.resource()).Namespace(ns).Create(t.Context(), o, metav1.CreateOptions{})
		if err == nil {
			o = created
		}
		return err
	})
	return []metav1.OwnerReference{*metav1.NewControllerRef(o, o.GroupVersionKind())}
}

func templateOf(name string) (*metav1.LabelSelector, corev1.PodTemplateSpec) {
	app, no := map[string]string{"app": name}, false
	return &metav1.LabelSelector{MatchLabels: app}, corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: app}, Spec: corev1.PodSpec{
		NodeName: "node", AutomountServiceAccountToken: &no,
		Containers: []corev1.Container{{Name: "app", Image: "none", Resources: podtest.Amounts{"1", "", "1Gi", ""}.Requirements()}},
	}}
}

// replicaSet creates a ReplicaSet, and returns the pod that its controller creates.
func (s *above) replicaSet(t *testing.T, ns, name string, by []metav1.OwnerReference) types.NamespacedName {
	t.Helper()
	one := int32(1)
	selector, template := templateOf(name)
	if _, err := s.client.AppsV1().ReplicaSets(ns).Create(t.Context(), &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Name: name, OwnerReferences: by}, Spec: appsv1.ReplicaSetSpec{Replicas: &one, Selector: selector, Template: template},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	return s.podOf(t, ns, name)
}

// podOf returns the pod of an app once it exists.
func (s *above) podOf(t *testing.T, ns, app string) types.NamespacedName {
	t.Helper()
	var name types.NamespacedName
	localcluster.Eventually(t, "a pod of "+app, func() error {
		list, err := s.client.CoreV1().Pods(ns).List(t.Context(), metav1.ListOptions{LabelSelector: "app=" + app})
		if err != nil || len(list.Items) != 1 {
			return fmt.Errorf("there are %d, %w", len(list.Items), err)
		}
		name = types.NamespacedName{Namespace: ns, Name: list.Items[0].Name}
		return nil
	})
	return name
}

// awaitCPU waits until the pod requests this much cpu. A cpu of 1 means that the pod is
// not sized.
func (s *above) awaitCPU(t *testing.T, name types.NamespacedName, cpu string) {
	t.Helper()
	localcluster.Eventually(t, fmt.Sprintf("%s to request %s", name.Name, cpu), func() error {
		p, err := s.client.CoreV1().Pods(name.Namespace).Get(t.Context(), name.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if got := p.Spec.Containers[0].Resources.Requests.Cpu().String(); got != cpu || pod.From(p).Sized() != (cpu != "1") {
			return fmt.Errorf("it requests %s, %v", got, p.Annotations)
		}
		return nil
	})
}

// awaitReason waits until the plan of a pod has the reason.
func (s *above) awaitReason(t *testing.T, pod types.NamespacedName, options query.PreviewOptions, want string) {
	t.Helper()
	localcluster.Eventually(t, fmt.Sprintf("the plan of %s to have %s", pod.Name, want), func() error {
		p, err := s.r.Preview(t.Context(), pod, options)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(p.Reasons, func(r plan.Reason) bool { return strings.Contains(string(r.Code)+": "+r.Message, want) }) {
			return fmt.Errorf("it has %v", p.Reasons)
		}
		return nil
	})
}

// hold puts a hold on a workload.
func (s *above) hold(t *testing.T, kind hold.Kind, ns string, w workload.Workload) hold.Scope {
	t.Helper()
	scope := hold.Scope{Namespace: ns, Workload: w}
	if _, err := s.holds.Put(t.Context(), hold.Hold{Kind: kind, Scope: scope, Since: podtest.Start}); err != nil {
		t.Fatal(err)
	}
	return scope
}

func (s *above) release(t *testing.T, scope hold.Scope) {
	t.Helper()
	if _, err := s.holds.Release(t.Context(), hold.Ending{Scope: scope}); err != nil {
		t.Fatal(err)
	}
}

func (s *above) holdsOfARollout(t *testing.T) {
	ns, web := s.namespace(t), workload.Workload{Kind: "Rollout", Name: "web"}
	paused := s.hold(t, hold.Pause, ns, web)
	pod := s.replicaSet(t, ns, "web-1", s.custom(t, rollouts, ns, "web", nil))
	other := s.replicaSet(t, ns, "cart-1", s.custom(t, rollouts, ns, "cart", nil))
	s.awaitCPU(t, other, "800m")
	s.awaitReason(t, pod, query.PreviewOptions{}, "Paused: the pause of Rollout "+ns+"/web began at ")
	s.awaitCPU(t, pod, "1")
	s.release(t, paused)
	s.awaitCPU(t, pod, "800m")

	if got, want := s.r.Workloads(pod), []workload.Workload{{Kind: "ReplicaSet", Name: "web-1"}, web}; !slices.Equal(got, want) {
		t.Errorf("workloads %v, want %v", got, want)
	}
	if n, err := s.r.CountOf(ns, web); n != 1 || err != nil {
		t.Errorf("%d pods counted, %v", n, err)
	}
	if n, _, err := s.r.PreviewAll(t.Context(), query.Selection{Namespace: ns, Workload: web}, query.PreviewOptions{}); n != 1 || err != nil {
		t.Errorf("%d pods selected, %v", n, err)
	}
	localcluster.Eventually(t, "the resize of the pod to be listed", func() error {
		resize, err := s.r.ResizeOfPod(pod)
		if err == nil && resize.Workload != web {
			t.Errorf("workload of the resize: %v", resize.Workload)
		}
		return err
	})

	restored := s.hold(t, hold.Restore, ns, web)
	s.awaitCPU(t, pod, "1")
	s.awaitCPU(t, other, "800m")
	s.release(t, restored)
	s.awaitCPU(t, pod, "800m")
}

// missingRight reads the cluster with the rights of an older version, which did not read
// PodDisruptionBudgets.
func (s *above) missingRight(t *testing.T) {
	s.allow(t, rbacv1.PolicyRule{Verbs: []string{"list", "watch"}, APIGroups: []string{"", "autoscaling", tuners.group},
		Resources: []string{"pods", "nodes", "limitranges", "resourcequotas", "horizontalpodautoscalers", tuners.plural}})
	restricted := rest.CopyConfig(s.config)
	restricted.Impersonate.UserName = reader
	store := ratios.NewStore(ratiotest.NewMemory("memory", performance(1.25)))
	r, err := New(Config{
		Client: kubernetes.NewForConfigOrDie(restricted), Dynamic: dynamic.NewForConfigOrDie(restricted),
		Writer: s.client, Asker: s.client, Ratios: store, Holds: s.holds, DryRun: true,
		Planner: plan.Planner{OwnerKinds: plan.DefaultOwnerKinds}, Events: loop.NoEvents(), Metrics: prometheus.NewRegistry(), Workers: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 2)
	for _, part := range []func(context.Context) error{store.Run, r.Run} {
		go func() { ended <- part(ctx) }()
	}
	t.Cleanup(func() {
		cancel()
		for range cap(ended) {
			if err := <-ended; err != nil {
				t.Errorf("ended with %v", err)
			}
		}
	})
	localcluster.Eventually(t, "the reconciler to name the missing right", func() error {
		const want = `poddisruptionbudgets.policy is forbidden: User "reader" cannot list resource "poddisruptionbudgets"`
		if err := r.Ready(); err == nil || !strings.Contains(err.Error(), want) {
			return fmt.Errorf("it reports %w", err)
		}
		return nil
	})
	s.allow(t, rbacv1.PolicyRule{Verbs: []string{"list", "watch"}, APIGroups: []string{"policy"}, Resources: []string{"poddisruptionbudgets"}})
	localcluster.Eventually(t, "the reconciler to be ready with the right", r.Ready)
}

func (s *above) autoscalersOfARollout(t *testing.T) {
	ns := s.namespace(t)
	target := map[string]any{"apiVersion": "argoproj.io/v1alpha1", "kind": "Rollout", "name": "web"}
	if err := localcluster.Apply(t.Context(), s.config, fmt.Appendf(nil, `
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: { name: scaler, namespace: %s }
spec:
  scaleTargetRef: { apiVersion: argoproj.io/v1alpha1, kind: Rollout, name: web }
  maxReplicas: 3
  metrics: [{ type: Resource, resource: { name: cpu, target: { type: Utilization, averageUtilization: 80 } } }]
`, ns)); err != nil {
		t.Fatal(err)
	}
	pod := s.replicaSet(t, ns, "web-1", s.custom(t, rollouts, ns, "web", nil))
	s.awaitCPU(t, pod, "800m")
	s.awaitReason(t, pod, query.PreviewOptions{NodeType: "n2d"}, "HPAUtilization: HorizontalPodAutoscaler scaler targets 80% of cpu requests")
	s.custom(t, tuners, ns, "tuner", map[string]any{"spec": map[string]any{"targetRef": target}})
	s.awaitReason(t, pod, query.PreviewOptions{}, "ActiveVPA: VerticalPodAutoscaler tuner sizes the pod's workload")
}

func (s *above) deployment(t *testing.T) {
	ns, one := s.namespace(t), int32(1)
	selector, template := templateOf("web")
	if _, err := s.client.AppsV1().Deployments(ns).Create(t.Context(), &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: appsv1.DeploymentSpec{Replicas: &one, Selector: selector, Template: template},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	pod := s.podOf(t, ns, "web")
	s.awaitCPU(t, pod, "800m")
	if chain := s.r.Workloads(pod); len(chain) != 2 || chain[1] != (workload.Workload{Kind: "Deployment", Name: "web"}) {
		t.Errorf("workloads %v", chain)
	}
}

// missingPermission has a Stack that owns a Prometheus that owns a StatefulSet.
func (s *above) missingPermission(t *testing.T) {
	ns, one := s.namespace(t), int32(1)
	main, all := workload.Workload{Kind: "Prometheus", Name: "main"}, workload.Workload{Kind: "Stack", Name: "all"}
	by := s.custom(t, prometheuses, ns, main.Name, nil, s.custom(t, stacks, ns, all.Name, nil)...)
	selector, template := templateOf("db")
	if _, err := s.client.AppsV1().StatefulSets(ns).Create(t.Context(), &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Name: "db", OwnerReferences: by}, Spec: appsv1.StatefulSetSpec{Replicas: &one, Selector: selector, Template: template},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	pod := s.podOf(t, ns, "db")
	s.awaitCPU(t, pod, "800m")
	db := workload.Workload{Kind: "StatefulSet", Name: "db"}
	if got, want := s.r.Workloads(pod), []workload.Workload{db, main}; !slices.Equal(got, want) {
		t.Errorf("workloads %v, want %v", got, want)
	}
	const want = `prometheuses.monitoring.coreos.com cannot be read, so holds and autoscalers on their owners are ignored: prometheuses.monitoring.coreos.com is forbidden: User "reader" cannot list resource`
	if err := s.r.UnknownOwners(); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
		t.Errorf("unknown owners: %v", err)
	}
	s.readable(t, `workload_resizer_workload_kind_readable{kind="prometheuses.monitoring.coreos.com"} 0`)

	// The Stack becomes known after the pod. Nothing else about the pod changes.
	s.hold(t, hold.Restore, ns, all)
	s.allow(t, rbacv1.PolicyRule{Verbs: []string{"list", "watch"}, APIGroups: []string{prometheuses.group}, Resources: []string{"prometheuses"}})
	s.awaitCPU(t, pod, "1")
	if got, want := s.r.Workloads(pod), []workload.Workload{db, main, all}; !slices.Equal(got, want) {
		t.Errorf("workloads %v, want %v", got, want)
	}
	localcluster.Eventually(t, "all owners to be known", s.r.UnknownOwners)
	s.readable(t, `workload_resizer_workload_kind_readable{kind="prometheuses.monitoring.coreos.com"} 1`)
}

func (s *above) readable(t *testing.T, want string) {
	t.Helper()
	text, err := testutil.CollectAndFormat(s.r.Cluster.Owners(), expfmt.TypeTextPlain, "workload_resizer_workload_kind_readable")
	if err != nil || !strings.Contains(string(text), want) {
		t.Errorf("want %s in\n%s, %v", want, text, err)
	}
}

func (s *above) laterOwner(t *testing.T) {
	ns := s.namespace(t)
	pod := s.replicaSet(t, ns, "web-1", nil)
	s.awaitCPU(t, pod, "800m")
	s.hold(t, hold.Restore, ns, workload.Workload{Kind: "Rollout", Name: "web"})
	by := s.custom(t, rollouts, ns, "web", nil)
	set, err := s.client.AppsV1().ReplicaSets(ns).Get(t.Context(), "web-1", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	set.OwnerReferences = by
	if _, err := s.client.AppsV1().ReplicaSets(ns).Update(t.Context(), set, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	s.awaitCPU(t, pod, "1")
}

// uninstall removes a kind and its objects from the cluster.
func (s *above) uninstall(t *testing.T, k customKind) {
	t.Helper()
	definitions := s.dynamic.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
	if err := definitions.Delete(t.Context(), k.plural+"."+k.group, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	localcluster.Eventually(t, k.plural+" to be gone", func() error {
		if _, err := s.dynamic.Resource(k.resource()).List(t.Context(), metav1.ListOptions{}); !apierrors.IsNotFound(err) {
			return fmt.Errorf("the API server returns %w", err)
		}
		return nil
	})
}

// laterKind has a Stack that owns an App that owns a Rollout.
func (s *above) laterKind(t *testing.T) {
	ns := s.namespace(t)
	if err := localcluster.Apply(t.Context(), s.config, apps.definition()); err != nil {
		t.Fatal(err)
	}
	all := s.custom(t, stacks, ns, "all", nil)
	pod := s.replicaSet(t, ns, "web-1", s.custom(t, rollouts, ns, "web", nil, s.custom(t, apps, ns, "shop", nil, all...)...))
	s.hold(t, hold.Restore, ns, workload.Workload{Kind: "Stack", Name: "all"})
	localcluster.Eventually(t, "the App to be known", func() error {
		if chain := s.r.Workloads(pod); len(chain) != 4 {
			return fmt.Errorf("workloads %v", chain)
		}
		return nil
	})
	s.awaitCPU(t, pod, "1")
	if err := s.r.UnknownOwners(); err != nil {
		t.Error(err)
	}
}
