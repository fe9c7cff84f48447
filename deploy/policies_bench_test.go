package deploy

import (
	"errors"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// BenchmarkPolicies measures the cost of the policies: it sends the same requests to one API
// server, first without and then with the policies. It creates pods of a ReplicaSet as a dry
// run, and patches statuses.
func BenchmarkPolicies(b *testing.B) {
	config := localcluster.ForTest(b, "").Config()
	client := kubernetes.NewForConfigOrDie(config)
	pods := client.CoreV1().Pods(metav1.NamespaceDefault)
	kubelets := kubernetes.NewForConfigOrDie(localcluster.AsNodes(config)).CoreV1().Pods(metav1.NamespaceDefault)
	s := stamped{containers: []corev1.Container{container("app", "1", "2", "1Gi", "2Gi"), container("log", "100m", "", "64Mi", "")}}
	pod := s.pod()
	create := func() (*corev1.Pod, error) {
		return pods.Create(b.Context(), pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	}
	bare := s.pod()
	bare.OwnerReferences, bare.Name, bare.Spec.SchedulerName = nil, "bare", "nobody"
	localcluster.Eventually(b, "the namespace's ServiceAccount", func() error {
		_, err := pods.Create(b.Context(), bare, metav1.CreateOptions{})
		return err
	})
	writes := 0
	status := func() error {
		writes++
		body := fmt.Sprintf(`{"status":{"message":"%d"}}`, writes)
		_, err := kubelets.Patch(b.Context(), bare.Name, types.StrategicMergePatchType, []byte(body), metav1.PatchOptions{}, "status")
		return err
	}
	measure := func(with string) {
		b.Run("create/"+with, func(b *testing.B) {
			for b.Loop() {
				if _, err := create(); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("status/"+with, func(b *testing.B) {
			for b.Loop() {
				if err := status(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	measure("without")
	if err := localcluster.Apply(b.Context(), config, StampOriginals(), AnnotationGuard()); err != nil {
		b.Fatal(err)
	}
	localcluster.Eventually(b, "both policies to be in effect", func() error {
		made, err := create()
		if err != nil {
			return err
		}
		if _, ok := contract.CPURequest.In(made.Annotations, "app"); !ok {
			return errors.New("originals are not stamped")
		}
		_, err = pods.Patch(b.Context(), bare.Name, types.MergePatchType, []byte(`{"metadata":{"annotations":{"workload-resizer.io/probe":"1"}}}`), metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}})
		if err == nil {
			return errors.New("annotations are not guarded")
		}
		return nil
	})
	measure("with")
}
