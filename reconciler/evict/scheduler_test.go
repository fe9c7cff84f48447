package evict

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// TestScheduler asks the real scheduler: a pod that fits is scheduled, to one of the nodes that fit, and a pod that fits
// nowhere is not.
func TestScheduler(t *testing.T) {
	client, err := kubernetes.NewForConfig(localcluster.ForTest(t, "").Config())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{T: t, client: client}
	w.createNodes()
	fits, nowhere := 0, 0
	for seed := range uint64(120) {
		if w.round(seed) {
			fits++
		} else {
			nowhere++
		}
	}
	if fits < 30 || nowhere < 30 {
		t.Errorf("%d pods fit and %d do not: the cases are too much alike", fits, nowhere)
	}
}

// world has nodes without kubelets, whose pods never run.
type world struct {
	*testing.T
	client kubernetes.Interface
	nodes  []*corev1.Node
}

func (w *world) createNodes() {
	for i := range 8 {
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("n%d", i), Labels: map[string]string{hostname: fmt.Sprintf("n%d", i), zone: fmt.Sprintf("z%d", i%3)}}}
		if i != 5 {
			n.Labels["rack"] = fmt.Sprintf("r%d", i/3)
		}
		switch i {
		case 2:
			n.Spec.Taints = []corev1.Taint{{Key: "only", Value: "batch", Effect: corev1.TaintEffectNoSchedule}}
		case 4:
			n.Spec.Unschedulable = true
		}
		created, err := w.client.CoreV1().Nodes().Create(w.Context(), n, metav1.CreateOptions{})
		if err != nil {
			w.Fatal(err)
		}
		created.Status.Allocatable = amounts("4", "8Gi")
		created.Status.Allocatable[corev1.ResourcePods] = resource.MustParse("6")
		created.Status.Capacity = created.Status.Allocatable
		w.nodes = append(w.nodes, created)
	}
	w.heartbeat(w.Context())
	w.Cleanup(every(5*time.Second, w.heartbeat))
	localcluster.Eventually(w, "the node controller to find the nodes ready", func() error {
		list, err := w.client.CoreV1().Nodes().List(w.Context(), metav1.ListOptions{})
		if err != nil {
			return err
		}
		for i := range list.Items {
			if n := &list.Items[i]; slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.Key == corev1.TaintNodeNotReady }) {
				return fmt.Errorf("%s has the taint of a node that is not ready", n.Name)
			}
			w.nodes[i] = &list.Items[i]
		}
		return nil
	})
}

// heartbeat says that the nodes are ready: without kubelets, nobody else does.
func (w *world) heartbeat(ctx context.Context) {
	for _, n := range w.nodes {
		status := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: n.Name}, Status: n.Status}
		status.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastHeartbeatTime: metav1.Now()}}
		if _, err := w.client.CoreV1().Nodes().UpdateStatus(ctx, status, metav1.UpdateOptions{}); err != nil && ctx.Err() == nil {
			w.Error(err)
		}
	}
}

// every calls do again and again, until the function that it returns is called.
func every(pause time.Duration, do func(context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-ctx.Done():
				return
			case <-time.After(pause):
				do(ctx)
			}
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

// round reports whether a random pod fits next to random others, and fails the test unless the scheduler agrees.
func (w *world) round(seed uint64) bool {
	r := rand.New(rand.NewPCG(seed, 39))
	namespaces := []string{fmt.Sprintf("a%d", seed), fmt.Sprintf("b%d", seed)}
	for _, name := range namespaces {
		if _, err := w.client.CoreV1().Namespaces().Create(w.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
			w.Fatal(err)
		}
		account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
		if _, err := w.client.CoreV1().ServiceAccounts(name).Create(w.Context(), account, metav1.CreateOptions{}); err != nil {
			localcluster.Eventually(w, "the default ServiceAccount", func() error {
				_, err := w.client.CoreV1().ServiceAccounts(name).Get(w.Context(), "default", metav1.GetOptions{})
				return err
			})
		}
	}
	placed := map[string][]*pod.Pod{}
	for i := range r.IntN(16) {
		p := random(r, namespaces[r.IntN(2)], fmt.Sprintf("p%d", i))
		p.Spec.NodeName = w.nodes[r.IntN(len(w.nodes))].Name
		created := w.create(p)
		if !authorChoseNode(created) {
			w.Errorf("seed %d: nothing shows that the node of a pod was chosen: %+v", seed, created.ManagedFields)
		}
		placed[p.Spec.NodeName] = append(placed[p.Spec.NodeName], pod.From(created))
	}
	scene := &Scene{}
	for _, n := range w.nodes {
		scene.Add(n, placed[n.Name])
	}
	p := w.create(random(r, namespaces[0], "moving"))
	fits, why := scene.Fits(p, Requests(p))
	scheduled, message := w.decision(p)
	switch {
	case scheduled != "" && !slices.Contains(fits, scheduled):
		w.Errorf("seed %d: the scheduler chose %s, not one of %v (%s)", seed, scheduled, fits, why)
	case scheduled == "" && len(fits) > 0:
		w.Errorf("seed %d: the scheduler found no node (%s), not %v", seed, message, fits)
	}
	now := int64(0)
	for _, name := range namespaces {
		if err := w.client.CoreV1().Pods(name).DeleteCollection(w.Context(), metav1.DeleteOptions{GracePeriodSeconds: &now}, metav1.ListOptions{}); err != nil {
			w.Fatal(err)
		}
	}
	return len(fits) > 0
}

func (w *world) create(p *corev1.Pod) *corev1.Pod {
	created, err := w.client.CoreV1().Pods(p.Namespace).Create(w.Context(), p, metav1.CreateOptions{})
	if err != nil {
		w.Fatal(err)
	}
	return created
}

// decision waits until the scheduler has decided about a pod, and returns the node or why there is none.
func (w *world) decision(of *corev1.Pod) (node, message string) {
	localcluster.Eventually(w, "the decision of the scheduler", func() error {
		p, err := w.client.CoreV1().Pods(of.Namespace).Get(w.Context(), of.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		for _, c := range p.Status.Conditions {
			if c.Type == corev1.PodScheduled && (p.Spec.NodeName != "" || c.Reason == corev1.PodReasonUnschedulable) {
				if authorChoseNode(p) {
					w.Errorf("the node of a pod that is scheduled counts as chosen: %+v", p.ManagedFields)
				}
				node, message = p.Spec.NodeName, c.Message
				return nil
			}
		}
		return fmt.Errorf("there is none yet")
	})
	return node, message
}

// random returns a pod with random requests, labels and rules about its nodes and neighbors.
func random(r *rand.Rand, namespace, name string) *corev1.Pod {
	apps, keys := []string{"x", "y", "z"}, []string{hostname, zone, "rack"}
	some := func(of []string) string { return of[r.IntN(len(of))] }
	often := func(percent int) bool { return r.IntN(100) < percent }
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{"app": some(apps)}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "app", Image: "app", Resources: corev1.ResourceRequirements{Requests: amounts(fmt.Sprintf("%dm", 200+r.IntN(2600)), fmt.Sprintf("%dMi", 100+r.IntN(4000)))},
		}}},
	}
	term := func() corev1.PodAffinityTerm {
		term := corev1.PodAffinityTerm{LabelSelector: of(some(apps)), TopologyKey: some(keys)}
		switch r.IntN(4) {
		case 0:
			term.Namespaces = []string{namespace}
		case 1:
			term.NamespaceSelector = &metav1.LabelSelector{}
		}
		return term
	}
	p.Spec.Affinity = &corev1.Affinity{}
	if often(25) {
		p.Spec.Affinity.PodAntiAffinity = &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{term()}}
	}
	if often(20) && name == "moving" {
		p.Spec.Affinity.PodAffinity = &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{term()}}
		if often(50) {
			p.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution = append(p.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution, term())
		}
	}
	if often(20) {
		p.Spec.NodeSelector = map[string]string{zone: fmt.Sprintf("z%d", r.IntN(3))}
	}
	if often(30) {
		p.Spec.Tolerations = []corev1.Toleration{{Key: "only", Operator: corev1.TolerationOpExists}}
	}
	if often(20) {
		p.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 80, HostPort: 80}}
	}
	for range r.IntN(3) {
		if often(50) {
			c := corev1.TopologySpreadConstraint{MaxSkew: int32(1 + r.IntN(2)), TopologyKey: some(keys), WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: of(some(apps))}
			honor := []corev1.NodeInclusionPolicy{corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore}
			if often(40) {
				c.NodeTaintsPolicy = &honor[r.IntN(2)]
			}
			if often(40) {
				c.NodeAffinityPolicy = &honor[r.IntN(2)]
			}
			if often(20) {
				c.MinDomains = new(int32(1 + r.IntN(4)))
			}
			if !slices.ContainsFunc(p.Spec.TopologySpreadConstraints, func(o corev1.TopologySpreadConstraint) bool { return o.TopologyKey == c.TopologyKey }) {
				p.Spec.TopologySpreadConstraints = append(p.Spec.TopologySpreadConstraints, c)
			}
		}
	}
	return p
}
