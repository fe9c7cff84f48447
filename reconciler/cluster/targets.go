package cluster

import (
	"fmt"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/client-go/tools/cache"

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

// ofTarget returns the autoscalers of a workload, in any order.
func ofTarget(autoscalers cache.Indexer, namespace string, w workload.Workload) []any {
	found, err := autoscalers.ByIndex(byTarget, targetKey(namespace, w.Kind, w.Name))
	if err != nil {
		// The only error is an index that was never added.
		panic(fmt.Sprintf("cluster: autoscalers by target: %v", err))
	}
	return found
}
