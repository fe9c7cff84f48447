package mover

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/evict"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

const (
	// storeName is the ConfigMap that stores the book.
	storeName = "evictions"
	// appLabel has the name of a workload, and kindLabel whether its pods may move.
	appLabel, kindLabel = "app", "kind"
	movable, protected  = "movable", "protected"
)

// plane is a namespace of a real API server, with real controllers of workloads and of budgets. There are no kubelets and no
// nodes that the scheduler may use: pods are placed, run and end when the test says so.
type plane struct {
	*testing.T
	config    *rest.Config
	client    kubernetes.Interface
	namespace string
	tally     *tally
	// kept are the pods that must never move, and services the workloads whose pods may move.
	kept     []*corev1.Pod
	services []*service
}

// createNodes creates nodes, and reports that they are ready for as long as the test runs, so that no controller touches the pods
// on them. They have nothing to allocate, so that the scheduler places none there.
func createNodes(t *testing.T, client kubernetes.Interface, nodes []*corev1.Node) {
	for _, n := range nodes {
		if _, err := client.CoreV1().Nodes().Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: n.Name}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	beat := func() {
		for _, n := range nodes {
			body := fmt.Appendf(nil, `{"status":{"conditions":[{"type":"Ready","status":"True","lastHeartbeatTime":%q}]}}`, time.Now().UTC().Format(time.RFC3339))
			if _, err := client.CoreV1().Nodes().Patch(ctx, n.Name, types.StrategicMergePatchType, body, metav1.PatchOptions{}, "status"); err != nil && ctx.Err() == nil {
				t.Error(err)
			}
		}
	}
	beat()
	go func() {
		defer close(ended)
		for {
			select {
			case <-ctx.Done():
				return
			case <-time.After(heartbeat):
				beat()
			}
		}
	}()
}

// heartbeat is how often nodes report their state; after 40 seconds without, their pods are no longer ready.
const heartbeat = 5 * time.Second

// newPlane returns a namespace with an empty book, and with pods that must never move, although nodes lack room for them.
func newPlane(t *testing.T, config *rest.Config, namespace string, nodes []*corev1.Node, counted *tally) *plane {
	p := &plane{T: t, config: config, client: kubernetes.NewForConfigOrDie(config), namespace: namespace, tally: counted}
	_, err := p.client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{})
	if err == nil {
		_, err = p.client.CoreV1().ConfigMaps(namespace).Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: storeName}}, metav1.CreateOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
	localcluster.Eventually(t, "the ServiceAccount of pods", func() error {
		_, err := p.client.CoreV1().ServiceAccounts(namespace).Get(t.Context(), "default", metav1.GetOptions{})
		return err
	})
	p.keep(nodes)
	return p
}

// reasons are why pods must never move, by the names of their ReplicaSets.
var reasons = map[string]func(*corev1.PodTemplateSpec){
	"pinned":   func(t *corev1.PodTemplateSpec) { t.Annotations = map[string]string{evict.SafeToEvict: "false"} },
	"kept":     func(t *corev1.PodTemplateSpec) { t.Annotations = map[string]string{evict.DoNotDisrupt: "true"} },
	"never":    func(t *corev1.PodTemplateSpec) { t.Annotations = map[string]string{contract.EvictionRank: "never"} },
	"typo":     func(t *corev1.PodTemplateSpec) { t.Annotations = map[string]string{contract.EvictionRank: "nver"} },
	"critical": func(t *corev1.PodTemplateSpec) { t.Spec.PriorityClassName = "system-cluster-critical" },
	"local": func(t *corev1.PodTemplateSpec) {
		t.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
	},
	"bound": func(t *corev1.PodTemplateSpec) {
		t.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/data"}}}}
	},
}

// keptApps are all workloads with pods that must never move; keptAtATime of them are part of a round.
var keptApps = append(slices.Sorted(maps.Keys(reasons)), "daemon", "job", "bare")

const keptAtATime = 2

// keep creates the pods that must never move: two for each reason, and a DaemonSet's on each node.
func (p *plane) keep(nodes []*corev1.Node) {
	two := int32(2)
	for name, change := range reasons {
		t := template(name, protected, 0)
		change(&t)
		p.must(p.client.AppsV1().ReplicaSets(p.namespace).Create(p.Context(), &appsv1.ReplicaSet{
			ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: appsv1.ReplicaSetSpec{Replicas: &two, Selector: selecting(name), Template: t},
		}, metav1.CreateOptions{}))
	}
	p.must(p.client.AppsV1().DaemonSets(p.namespace).Create(p.Context(), &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Name: "daemon"}, Spec: appsv1.DaemonSetSpec{Selector: selecting("daemon"), Template: template("daemon", protected, 0)},
	}, metav1.CreateOptions{}))
	job := template("job", protected, 0)
	job.Spec.RestartPolicy = corev1.RestartPolicyNever
	p.must(p.client.BatchV1().Jobs(p.namespace).Create(p.Context(), &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: "job"}, Spec: batchv1.JobSpec{Parallelism: &two, Completions: &two, Template: job},
	}, metav1.CreateOptions{}))
	for i := range two {
		bare := template("bare", protected, 0)
		p.must(p.client.CoreV1().Pods(p.namespace).Create(p.Context(), &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("bare-%d", i), Labels: bare.Labels}, Spec: bare.Spec,
		}, metav1.CreateOptions{}))
	}
	r := rand.New(rand.NewPCG(0, 39))
	var created []*corev1.Pod
	localcluster.Eventually(p, "the pods that must never move", func() error {
		if created = p.list(protected); len(created) != len(nodes)+2*(len(reasons)+2) {
			return fmt.Errorf("there are %d", len(created))
		}
		return nil
	})
	for _, of := range created {
		node := nodes[r.IntN(len(nodes))].Name
		if a := of.Spec.Affinity; a != nil {
			node = a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[0].MatchFields[0].Values[0]
		}
		p.kept = append(p.kept, p.run(of, node))
	}
}

// must fails the test if the API server does not accept a call. The first result is what it returned.
func (p *plane) must(_ any, err error) {
	p.Helper()
	if err != nil {
		p.Fatal(err)
	}
}

// list returns the pods of a kind.
func (p *plane) list(kind string) (pods []*corev1.Pod) {
	list, err := p.client.CoreV1().Pods(p.namespace).List(p.Context(), metav1.ListOptions{LabelSelector: kindLabel + "=" + kind})
	if err != nil {
		p.Fatal(err)
	}
	for i := range list.Items {
		pods = append(pods, &list.Items[i])
	}
	return pods
}

// auditKept checks that nobody has touched the pods that must never move.
func (p *plane) auditKept() {
	p.Helper()
	now := map[types.UID]*corev1.Pod{}
	for _, is := range p.list(protected) {
		now[is.UID] = is
	}
	for _, was := range p.kept {
		is := now[was.UID]
		touched := is == nil || is.DeletionTimestamp != nil || !equality.Semantic.DeepEqual(is.Spec, was.Spec) || !maps.Equal(is.Annotations, was.Annotations) ||
			slices.ContainsFunc(is.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.DisruptionTarget })
		if touched {
			p.Fatalf("%s was touched, which must never move", was.Name)
		}
	}
}

// template returns a pod with a core and one GiB. It tolerates that nobody reports the state of its node.
func template(app, kind string, grace int64) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{appLabel: app, kindLabel: kind}},
		Spec: corev1.PodSpec{
			TerminationGracePeriodSeconds: &grace, Tolerations: []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
			Containers: []corev1.Container{{Name: "app", Image: "app", Resources: podtest.Amounts{"1", "", "1Gi", ""}.Requirements()}},
		},
	}
}

func selecting(app string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{appLabel: app}}
}

// run places a pod on a node, and reports that it is ready.
func (p *plane) run(of *corev1.Pod, node string) *corev1.Pod {
	p.Helper()
	err := p.client.CoreV1().Pods(of.Namespace).Bind(p.Context(), &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: of.Name, UID: of.UID}, Target: corev1.ObjectReference{Kind: "Node", Name: node}}, metav1.CreateOptions{})
	if err != nil {
		p.Fatal(err)
	}
	return p.report(of, true)
}

// report reports that a pod runs, and whether it is ready.
func (p *plane) report(of *corev1.Pod, is bool) *corev1.Pod {
	p.Helper()
	status := corev1.ConditionFalse
	if is {
		status = corev1.ConditionTrue
	}
	body := fmt.Appendf(nil, `{"metadata":{"uid":%q},"status":{"phase":"Running","conditions":[{"type":"Ready","status":%q}]}}`, of.UID, status)
	now, err := p.client.CoreV1().Pods(of.Namespace).Patch(p.Context(), of.Name, types.StrategicMergePatchType, body, metav1.PatchOptions{}, "status")
	if err != nil {
		p.Fatal(err)
	}
	return now
}

// pin lets a pod have the annotation with which its author protects it, or not.
func (r *round) pin(of *corev1.Pod, is bool) {
	r.Helper()
	value := "null"
	if is {
		value = `"false"`
	}
	body := fmt.Appendf(nil, `{"metadata":{"uid":%q,"annotations":{%q:%s}}}`, of.UID, evict.SafeToEvict, value)
	now, err := r.client.CoreV1().Pods(of.Namespace).Patch(r.Context(), of.Name, types.MergePatchType, body, metav1.PatchOptions{})
	if err != nil {
		r.Fatal(err)
	}
	r.pods[of.Name] = now
	r.note("%s must stay: %t", of.Name, is)
}

// end lets a pod be gone.
func (p *plane) end(of *corev1.Pod) {
	p.Helper()
	err := p.client.CoreV1().Pods(of.Namespace).Delete(p.Context(), of.Name, metav1.DeleteOptions{GracePeriodSeconds: new(int64), Preconditions: &metav1.Preconditions{UID: &of.UID}})
	if err != nil && !apierrors.IsNotFound(err) {
		p.Fatal(err)
	}
}

// service is a workload whose pods may move.
type service struct {
	workload.Workload
	app   string
	pods  int
	grace int64
	// budget reports whether it has a PodDisruptionBudget, and least how many pods that keeps ready.
	budget bool
	least  int
	// changed means that the controller of budgets may not know the current state of its pods.
	changed bool
}

// create creates a workload and its budget.
func (p *plane) create(s *service) {
	p.Helper()
	meta := metav1.ObjectMeta{Name: s.app, Labels: map[string]string{kindLabel: movable}}
	replicas, t := int32(s.pods), template(s.app, movable, s.grace)
	switch s.Kind {
	case "Deployment":
		p.must(p.client.AppsV1().Deployments(p.namespace).Create(p.Context(), &appsv1.Deployment{ObjectMeta: meta, Spec: appsv1.DeploymentSpec{Replicas: &replicas, Selector: selecting(s.app), Template: t}}, metav1.CreateOptions{}))
	case "ReplicaSet":
		p.must(p.client.AppsV1().ReplicaSets(p.namespace).Create(p.Context(), &appsv1.ReplicaSet{ObjectMeta: meta, Spec: appsv1.ReplicaSetSpec{Replicas: &replicas, Selector: selecting(s.app), Template: t}}, metav1.CreateOptions{}))
	case "StatefulSet":
		p.must(p.client.AppsV1().StatefulSets(p.namespace).Create(p.Context(), &appsv1.StatefulSet{
			ObjectMeta: meta, Spec: appsv1.StatefulSetSpec{Replicas: &replicas, Selector: selecting(s.app), Template: t, PodManagementPolicy: appsv1.ParallelPodManagement},
		}, metav1.CreateOptions{}))
	}
	if s.budget {
		p.must(p.client.PolicyV1().PodDisruptionBudgets(p.namespace).Create(p.Context(), &policyv1.PodDisruptionBudget{
			ObjectMeta: meta, Spec: policyv1.PodDisruptionBudgetSpec{Selector: selecting(s.app), MinAvailable: new(intstr.FromInt(s.pods))},
		}, metav1.CreateOptions{}))
	}
}

// setBudget changes how many pods the budget of a workload keeps ready, in one of the ways to write that.
func (p *plane) setBudget(s *service, least int, asMost bool) {
	p.Helper()
	spec := fmt.Appendf(nil, `{"spec":{"minAvailable":%d,"maxUnavailable":null}}`, least)
	if asMost {
		spec = fmt.Appendf(nil, `{"spec":{"minAvailable":null,"maxUnavailable":%d}}`, s.pods-least)
	}
	p.must(p.client.PolicyV1().PodDisruptionBudgets(p.namespace).Patch(p.Context(), s.app, types.MergePatchType, spec, metav1.PatchOptions{}))
	s.least, s.changed = least, true
}

// counted waits until the controller of budgets knows which of the pods of a workload are ready.
func (p *plane) counted(s *service, pods []*corev1.Pod) {
	p.Helper()
	if !s.budget || !s.changed {
		return
	}
	localcluster.Eventually(p, "the budget of "+s.app, func() error {
		b, err := p.client.PolicyV1().PodDisruptionBudgets(p.namespace).Get(p.Context(), s.app, metav1.GetOptions{})
		if err != nil {
			return err
		}
		healthy := 0
		for _, of := range pods {
			if _, evicted := b.Status.DisruptedPods[of.Name]; !evicted && of.DeletionTimestamp == nil && isReady(of) {
				healthy++
			}
		}
		if b.Status.ObservedGeneration != b.Generation || int(b.Status.CurrentHealthy) != healthy {
			return fmt.Errorf("the controller knows generation %d of %d, and that %d of %d pods are ready", b.Status.ObservedGeneration, b.Generation, b.Status.CurrentHealthy, healthy)
		}
		return nil
	})
	s.changed = false
}

// empty empties the book.
func (p *plane) empty() {
	p.must(p.client.CoreV1().ConfigMaps(p.namespace).Patch(p.Context(), storeName, types.JSONPatchType, []byte(`[{"op":"add","path":"/data","value":{}}]`), metav1.PatchOptions{}))
}

// clear deletes the workloads whose pods may move.
func (p *plane) clear() {
	options, all := metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationBackground)}, metav1.ListOptions{LabelSelector: kindLabel + "=" + movable}
	err := errors.Join(
		p.client.AppsV1().Deployments(p.namespace).DeleteCollection(p.Context(), options, all),
		p.client.AppsV1().StatefulSets(p.namespace).DeleteCollection(p.Context(), options, all),
		p.client.AppsV1().ReplicaSets(p.namespace).DeleteCollection(p.Context(), options, all),
		p.client.PolicyV1().PodDisruptionBudgets(p.namespace).DeleteCollection(p.Context(), metav1.DeleteOptions{}, all))
	if err != nil {
		p.Fatal(err)
	}
	p.services = nil
	localcluster.Eventually(p, "the pods of workloads to be deleted", func() error {
		if err := p.client.CoreV1().Pods(p.namespace).DeleteCollection(p.Context(), metav1.DeleteOptions{GracePeriodSeconds: new(int64)}, all); err != nil {
			return err
		}
		if left := len(p.list(movable)); left > 0 {
			return fmt.Errorf("%d are left", left)
		}
		return nil
	})
}

// tally counts what happened in all rounds.
type tally struct {
	mu     sync.Mutex
	counts map[string]int
}

func (t *tally) add(what string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.counts[what]++
}
