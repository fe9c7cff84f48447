package cluster

import (
	"fmt"
	"slices"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
)

// byTarget is the index of autoscalers by the workload that they scale.
const byTarget = "target"

func targetKey(namespace, kind, name string) string { return namespace + "/" + kind + "/" + name }

func indexHPA(obj any) ([]string, error) {
	hpa, ok := obj.(*autoscalingv2.HorizontalPodAutoscaler)
	if !ok {
		return nil, nil
	}
	return []string{targetKey(hpa.Namespace, hpa.Spec.ScaleTargetRef.Kind, hpa.Spec.ScaleTargetRef.Name)}, nil
}

// scales reports whether a HorizontalPodAutoscaler targets a workload of a pod. Its target is in the API group that it
// names: kinds of the same name exist in several groups, and the version does not matter.
func (c *Cluster) scales(hpa *autoscalingv2.HorizontalPodAutoscaler, of *pod.Pod) bool {
	target := &hpa.Spec.ScaleTargetRef
	in, err := schema.ParseGroupVersion(target.APIVersion)
	return err == nil && hpa.Namespace == of.Namespace() && c.owners.Has(of, workload.Workload{Kind: target.Kind, Name: target.Name}, in.Group)
}

// hpaChanged reports the pods whose workload a HorizontalPodAutoscaler scales by utilization, or no longer does: usage
// does not size what it measures. Its status changes every 15 seconds, and matters to no pod.
func (c *Cluster) hpaChanged(old, obj any) {
	before, _ := old.(*autoscalingv2.HorizontalPodAutoscaler)
	now, _ := obj.(*autoscalingv2.HorizontalPodAutoscaler)
	if before != nil && now != nil && apiequality.Semantic.DeepEqual(before.Spec, now.Spec) || !c.IsFilled() {
		return // Before the cluster is read, no pod is planned.
	}
	states := slices.DeleteFunc([]*autoscalingv2.HorizontalPodAutoscaler{before, now}, func(hpa *autoscalingv2.HorizontalPodAutoscaler) bool {
		return hpa == nil || !safety.ScalesByUtilization(hpa)
	})
	if len(states) == 0 {
		return
	}
	for _, of := range c.pods.Pods(states[0].Namespace).List() {
		if slices.ContainsFunc(states, func(hpa *autoscalingv2.HorizontalPodAutoscaler) bool { return c.scales(hpa, of) }) {
			c.changes.Changed(of.NamespacedName())
		}
	}
}

// ofTarget returns the autoscalers of a workload, in any order.
func ofTarget(autoscalers cache.Indexer, namespace string, w workload.Workload) []any {
	found, err := autoscalers.ByIndex(byTarget, targetKey(namespace, w.Kind, w.Name))
	if err != nil {
		// The only error is an index that was never added.
		panic(fmt.Sprintf("cluster: autoscalers by target: %v", err))
	}
	return found
}
