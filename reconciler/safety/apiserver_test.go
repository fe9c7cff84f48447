package safety

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/workload-resizer/workload-resizer/reconciler/node"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// resize is a pod and its resize.
type resize struct {
	pod []func(*corev1.Pod)
	to  func(*corev1.Pod)
	// status changes the status of the running pod.
	status func(*corev1.Pod)
}

// apply returns the pod after the resize.
func (r *resize) apply(p *corev1.Pod) *corev1.Pod {
	p = p.DeepCopy()
	r.to(p)
	return p
}

func sameSizes(a, b *corev1.Pod) bool {
	same := func(a, b []corev1.Container) bool {
		for i := range a {
			if !apiequality.Semantic.DeepEqual(a[i].Resources, b[i].Resources) {
				return false
			}
		}
		return true
	}
	return same(a.Spec.Containers, b.Spec.Containers) && same(a.Spec.InitContainers, b.Spec.InitContainers)
}

type apiServer struct {
	client kubernetes.Interface
	node   *corev1.Node
}

func (s *apiServer) createNode(t *testing.T) {
	t.Helper()
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{GenerateName: "safety-"}}
	n.Status.Allocatable = list("cpu", "8", "memory", "32Gi", "pods", "100")
	n.Status.Capacity = n.Status.Allocatable
	var err error
	if s.node, err = s.client.CoreV1().Nodes().Create(t.Context(), n, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// run creates the pod of the resize, and sets its status to running on the node.
func (s *apiServer) run(t *testing.T, ns, name string, r resize) *corev1.Pod {
	t.Helper()
	p := podWith(r.pod...)
	p.Name, p.Spec.NodeName, p.OwnerReferences = name, s.node.Name, nil
	var created *corev1.Pod
	localcluster.Eventually(t, "the namespace's ServiceAccount", func() (err error) {
		created, err = s.client.CoreV1().Pods(ns).Create(t.Context(), p, metav1.CreateOptions{})
		return err
	})
	created.Status.Phase = corev1.PodRunning
	for i := range created.Spec.Containers {
		c := &created.Spec.Containers[i]
		running(c.Name, &corev1.ResourceRequirements{Requests: c.Resources.Requests, Limits: c.Resources.Limits})(created)
		created.Status.ContainerStatuses[i].AllocatedResources = c.Resources.Requests
	}
	if r.status != nil {
		r.status(created)
	}
	created, err := s.client.CoreV1().Pods(ns).UpdateStatus(t.Context(), created, metav1.UpdateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return created
}

// constrain creates the objects that are not nil, and waits until the quota's usage is
// counted.
func (s *apiServer) constrain(t *testing.T, ns string, limitRange *corev1.LimitRange, quota *corev1.ResourceQuota) {
	t.Helper()
	if limitRange != nil {
		limitRange.Name = "limits"
		if _, err := s.client.CoreV1().LimitRanges(ns).Create(t.Context(), limitRange, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if quota == nil {
		return
	}
	// If the quota controller counts before it sees the pod, it counts the pod only minutes
	// later.
	localcluster.Eventually(t, "the quota controller to see the pod", func() error {
		probe := &corev1.ResourceQuota{Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("100")}}}
		probe.Name = "probe"
		used := s.counted(t, ns, probe)
		if err := s.client.CoreV1().ResourceQuotas(ns).Delete(t.Context(), probe.Name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		if used.Pods().IsZero() {
			return fmt.Errorf("the counted usage is %v", used)
		}
		return nil
	})
	quota.Name = "quota"
	s.counted(t, ns, quota)
}

// counted creates a quota, waits until its usage is counted, and returns the usage.
func (s *apiServer) counted(t *testing.T, ns string, quota *corev1.ResourceQuota) corev1.ResourceList {
	t.Helper()
	if _, err := s.client.CoreV1().ResourceQuotas(ns).Create(t.Context(), quota, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	var used corev1.ResourceList
	localcluster.Eventually(t, "the quota controller", func() error {
		got, err := s.client.CoreV1().ResourceQuotas(ns).Get(t.Context(), quota.Name, metav1.GetOptions{})
		if err == nil && len(got.Status.Used) == 0 {
			err = fmt.Errorf("no usage is counted")
		}
		if err == nil {
			used = got.Status.Used
		}
		return err
	})
	return used
}

// dryRun returns the pod as the API server would resize it.
func (s *apiServer) dryRun(t *testing.T, to *corev1.Pod) (*corev1.Pod, error) {
	t.Helper()
	return s.client.CoreV1().Pods(to.Namespace).UpdateResize(t.Context(), to.Name, to, metav1.UpdateOptions{DryRun: []string{metav1.DryRunAll}})
}

// veto runs our checks on the same objects; the pod's owner does not matter here.
func (s *apiServer) veto(t *testing.T, p, after *corev1.Pod) *Veto {
	t.Helper()
	owned := p.DeepCopy()
	owned.OwnerReferences = podWith().OwnerReferences
	if veto := Scope(Snapshot{Pod: pod.From(owned), OwnerKinds: []string{"ReplicaSet"}}); veto != nil {
		return veto
	}
	on, err := s.client.CoreV1().Nodes().Get(t.Context(), s.node.Name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	limitRanges, err := s.client.CoreV1().LimitRanges(p.Namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	quotas, err := s.client.CoreV1().ResourceQuotas(p.Namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	around := &Surroundings{Room: node.Room{Node: on}}
	for i := range limitRanges.Items {
		around.LimitRanges = append(around.LimitRanges, &limitRanges.Items[i])
	}
	for i := range quotas.Items {
		around.Quotas = append(around.Quotas, &quotas.Items[i])
	}
	return changeTo(p, after, around)
}
