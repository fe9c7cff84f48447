package chaos

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// lateResize delays a resize of the previous process until a pod that already has its
// originals is about to lose its annotations. The annotations must stay until the pod has
// its originals again.
func (s *suite) lateResize(t *testing.T) {
	w := newWorld(t, s.config, simpleTable("1.25"), "n2d")
	key := w.create(t, plain, "pod", &shapes[0], 0)
	w.awaitRunning(t)
	arrived := make(chan error, 1)
	var first sync.Once
	proxy := localcluster.ProxyForTest(t, s.config, nil)
	proxy.Interfere(func(r *http.Request) localcluster.Action {
		if strings.HasSuffix(r.URL.Path, "/pods/"+key.Name) {
			first.Do(func() { arrived <- w.resizeAsBefore(r.Context(), key) })
		}
		return localcluster.Forward
	})
	w.start(t, s.through(proxy), s.through(proxy))
	w.awaitAllRight(t, "before it is restored")
	w.holds.put(hold.Restore, hold.Scope{Namespace: plain})
	if err := <-arrived; err != nil {
		t.Fatal(err)
	}
	w.awaitAllRight(t, "after the late resize")
}

// resizeAsBefore resizes a pod in the name of the reconciler, and waits until the kubelet
// has actuated the resize.
func (w *world) resizeAsBefore(ctx context.Context, key types.NamespacedName) error {
	pod := w.pod(key).DeepCopy()
	pod.ResourceVersion = "" // It does not know what has changed since.
	resources, to := &pod.Spec.Containers[0].Resources, resource.MustParse("700m")
	resources.Requests[corev1.ResourceCPU], resources.Limits[corev1.ResourceCPU] = to, to
	if _, err := w.client.CoreV1().Pods(key.Namespace).UpdateResize(ctx, key.Name, pod, metav1.UpdateOptions{FieldManager: contract.FieldManager}); err != nil {
		return err
	}
	return wait.PollUntilContextCancel(ctx, 10*time.Millisecond, true, func(context.Context) (bool, error) {
		runs := w.pod(key).Status.ContainerStatuses[0].Resources.Requests[corev1.ResourceCPU]
		return runs.Cmp(to) == 0, nil
	})
}
