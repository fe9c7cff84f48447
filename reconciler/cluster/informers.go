package cluster

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/seal"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
)

// The indexes of pods: by the name of their node, and by the end of their controller's
// uid.
const (
	byNode       = "node"
	byController = "controller"
	byDeployment = "deployment"
)

// newInformers returns informers that keep only the inputs of plans.
func newInformers(client kubernetes.Interface, keys func() *seal.Ring) (informers.SharedInformerFactory, error) {
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithTransform(func(obj any) (any, error) { return trim(obj, keys) }))
	err := factory.Core().V1().Pods().Informer().AddIndexers(cache.Indexers{byController: indexController, byDeployment: indexDeployment, byNode: func(obj any) ([]string, error) {
		of, ok := obj.(*pod.Pod)
		if !ok || of.Node() == "" {
			return nil, nil
		}
		return []string{of.Node()}, nil
	}})
	if err != nil {
		return nil, fmt.Errorf("index pods: %w", err)
	}
	if err := factory.Autoscaling().V2().HorizontalPodAutoscalers().Informer().AddIndexers(cache.Indexers{byTarget: indexHPA}); err != nil {
		return nil, fmt.Errorf("index HorizontalPodAutoscalers: %w", err)
	}
	return factory, nil
}

// trim drops what neither plans nor package startup need, to save memory in large clusters. It
// replaces a pod with its pod.Pod, and a PodDisruptionBudget with its workload.Budget.
func trim(obj any, keys func() *seal.Ring) (any, error) {
	switch o := obj.(type) {
	case *corev1.Pod:
		if keys == nil {
			return pod.From(o), nil
		}
		return pod.FromProven(o, keys()), nil
	case *corev1.Node:
		return trimNode(o), nil
	case *policyv1.PodDisruptionBudget:
		return workload.BudgetOf(o), nil
	case metav1.Object:
		o.SetManagedFields(nil)
	}
	return obj, nil
}

func trimNode(n *corev1.Node) *corev1.Node {
	trimmed := &corev1.Node{ObjectMeta: metav1.ObjectMeta{
		Name: n.Name, UID: n.UID, ResourceVersion: n.ResourceVersion, Generation: n.Generation, CreationTimestamp: n.CreationTimestamp, DeletionTimestamp: n.DeletionTimestamp, Labels: n.Labels,
	}}
	trimmed.Spec.Taints, trimmed.Spec.Unschedulable = n.Spec.Taints, n.Spec.Unschedulable
	info := &n.Status.NodeInfo
	trimmed.Status.NodeInfo = corev1.NodeSystemInfo{KubeletVersion: info.KubeletVersion, BootID: info.BootID}
	trimmed.Status.Allocatable, trimmed.Status.Capacity = present(n.Status.Allocatable), trimAmounts(n.Status.Capacity)
	for i := range n.Status.Conditions {
		switch c := &n.Status.Conditions[i]; c.Type {
		case corev1.NodeMemoryPressure, corev1.NodeDiskPressure, corev1.NodePIDPressure:
			trimmed.Status.Conditions = append(trimmed.Status.Conditions, corev1.NodeCondition{Type: c.Type, Status: c.Status})
		case corev1.NodeReady:
			trimmed.Status.Conditions = append(trimmed.Status.Conditions, corev1.NodeCondition{Type: c.Type, Status: c.Status, LastTransitionTime: c.LastTransitionTime})
		}
	}
	return trimmed
}

// present returns all amounts above zero: nodes list a size of huge pages that they have none of.
func present(all corev1.ResourceList) corev1.ResourceList {
	trimmed := corev1.ResourceList{}
	for name, amount := range all {
		if !amount.IsZero() || name == corev1.ResourceCPU || name == corev1.ResourceMemory {
			trimmed[name] = amount
		}
	}
	return trimmed
}

func trimAmounts(all corev1.ResourceList) corev1.ResourceList {
	trimmed := corev1.ResourceList{}
	for _, name := range [...]corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		if amount, ok := all[name]; ok {
			trimmed[name] = amount
		}
	}
	return trimmed
}
