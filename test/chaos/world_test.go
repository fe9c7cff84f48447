package chaos

import (
	"context"
	"fmt"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	listersv1 "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/workload-resizer/workload-resizer/ratios/ratiotest"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
)

// world is the environment of a reconciler: nodes and pods on a real API server, ratios
// and holds.
type world struct {
	config *rest.Config
	client kubernetes.Interface
	// seen watches all pods directly on the API server.
	seen  cache.SharedIndexInformer
	pods  listersv1.PodLister
	nodes []*corev1.Node

	ratios *ratiotest.Memory
	holds  *holds
	// life is the last process that was started.
	life *incarnation

	// mu guards the current state below.
	mu        sync.Mutex
	table     *table
	nodeTypes map[string]string
	// external is how new processes treat external resizes.
	external plan.External
	// rules are the rules of the last lives, the current one last.
	rules [3][]rule
	// created are the pods as they were created.
	created map[types.NamespacedName]*corev1.Pod
}

// newWorld returns a world with one node of each of these types. It ends with the test
// and leaves nothing behind.
func newWorld(t *testing.T, config *rest.Config, tbl *table, nodeTypes ...string) *world {
	t.Helper()
	client := kubernetes.NewForConfigOrDie(config)
	factory := informers.NewSharedInformerFactory(client, 0)
	w := &world{
		config: config, client: client,
		seen: factory.Core().V1().Pods().Informer(), pods: factory.Core().V1().Pods().Lister(),
		ratios: ratiotest.NewMemory("memory", tbl.update()), holds: newHolds(),
		table: tbl, nodeTypes: map[string]string{}, external: plan.OverrideExternal, created: map[types.NamespacedName]*corev1.Pod{},
	}
	ctx, cancel := context.WithCancel(klog.NewContext(context.Background(), klog.Logger{}))
	factory.StartWithContext(ctx)
	if err := factory.WaitForCacheSyncWithContext(ctx).AsError(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		w.clear(t)
		cancel()
		factory.Shutdown()
	})
	for i, nodeType := range nodeTypes {
		w.addNode(t, fmt.Sprintf("node-%d", i), nodeType)
	}
	return w
}

// clear deletes all pods and nodes.
func (w *world) clear(t *testing.T) {
	ctx := context.WithoutCancel(t.Context())
	for key := range w.created {
		if err := w.client.CoreV1().Pods(key.Namespace).Delete(ctx, key.Name, now); err != nil && !apierrors.IsNotFound(err) {
			t.Error(err)
		}
	}
	for _, node := range w.nodes {
		if err := w.client.CoreV1().Nodes().Delete(ctx, node.Name, now); err != nil {
			t.Error(err)
		}
	}
}

// now deletes without a grace period.
var now = metav1.DeleteOptions{GracePeriodSeconds: new(int64)}

// setTable puts another table into effect.
func (w *world) setTable(t *table) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.table = t
	w.noteRule()
	w.ratios.Set(t.update())
}
