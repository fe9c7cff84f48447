package fill

import (
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func TestCopy(t *testing.T) {
	t.Run("copies belong to workloads", copiesBelongToWorkloads)
}

// copiesBelongToWorkloads expects workloads of equal size, each with copies of one
// template. No two workloads share an owner or a hash.
func copiesBelongToWorkloads(t *testing.T) {
	template := func(name string) *corev1.Pod {
		return &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				Name: name, Labels: map[string]string{"pod-template-hash": "66fb46dc94"},
				OwnerReferences: []metav1.OwnerReference{{Kind: "ReplicaSet", Name: "web-66fb46dc94", UID: "5d2c3f0e-2f5c-4a86-9b8f-6f3a0d9f1c11"}},
			},
			Spec: corev1.PodSpec{NodeName: name + "-0"},
		}
	}
	templates := []*corev1.Pod{template("one"), template("two")}
	const copies, nodes = 24, 4
	for _, size := range []int{1, 3, 4} {
		t.Run(fmt.Sprintf("%d pods per workload", size), func(t *testing.T) {
			o := &Options{Namespace: "many", Nodes: nodes, PerWorkload: size}
			names, uids := map[string]bool{}, map[types.UID]bool{}
			owners, onNode, of := map[metav1.OwnerReference]int{}, map[string]int{}, map[string]int{}
			for number := range copies {
				pod := o.copy(templates, number)
				owner, hash := pod.OwnerReferences[0], pod.Labels["pod-template-hash"]
				names[owner.Name+hash], uids[owner.UID] = true, true
				owners[owner]++
				onNode[pod.Spec.NodeName]++
				of[fmt.Sprint(owner.UID, pod.Spec.NodeName[:3])]++
			}
			workloads := copies / size
			if len(names) != workloads || len(uids) != workloads || len(owners) != workloads || len(of) != workloads {
				t.Errorf("%d names, %d uids, %d owners, %d pairs of owner and template; want %d of each", len(names), len(uids), len(owners), len(of), workloads)
			}
			for owner, pods := range owners {
				if pods != size {
					t.Errorf("%s has %d pods", owner.Name, pods)
				}
			}
			var each []int
			for _, pods := range onNode {
				each = append(each, pods)
			}
			if len(each) != len(templates)*nodes || slices.Min(each) != slices.Max(each) {
				t.Errorf("the nodes have %v pods", onNode)
			}
		})
	}
	if pod := (&Options{}).copy(templates, 3); pod.OwnerReferences[0].Name != "web-66fb46dc94" || pod.Spec.NodeName != "two-0" {
		t.Errorf("without workloads and nodes, the copy belongs to %s on %s", pod.OwnerReferences[0].Name, pod.Spec.NodeName)
	}
}
