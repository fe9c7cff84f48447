package statuswriter

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
)

const (
	// workers is how many pods are written at once. The API server is the limit.
	workers = 16
	// retryAtFirst and retryAtMost bound the time until a write that failed is
	// tried again.
	retryAtFirst, retryAtMost = 10 * time.Millisecond, time.Second
)

// Options say what to write. All of them may be left out.
type Options struct {
	// Nodes are the names of the nodes to write for; none means all nodes.
	Nodes []string
	// Outcome says what becomes of a resize: of any pod whose spec asks for
	// other sizes than its status shows. It is asked whenever the pod has
	// changed, by many goroutines, and must not change the pod. nil means
	// Actuated.
	Outcome func(pod *corev1.Pod) Outcome
	// Behind is by how much the clocks of nodes are behind, by their names.
	Behind map[string]time.Duration
}

// Writer writes the statuses of pods.
type Writer struct {
	client  kubernetes.Interface
	options Options
	pods    cache.SharedIndexInformer
	queue   workqueue.TypedRateLimitingInterface[string]
	// generations says whether the API server keeps observed generations.
	generations bool

	mu      sync.Mutex
	refused error
	// sized is by the keys of pods.
	sized map[string]sized
}

// Start writes statuses until the test is over, which fails if the API server
// refuses one; that it cannot be reached for a while is no failure. Start it
// after the cluster, so that it ends before.
func Start(tb testing.TB, cfg *rest.Config, options Options) *Writer {
	tb.Helper()
	w, err := newWriter(cfg, options)
	if err != nil {
		tb.Fatal(err)
	}
	// client-go's log is silenced: an API server may come and go here.
	ctx, cancel := context.WithCancel(klog.NewContext(context.Background(), klog.Logger{}))
	var done sync.WaitGroup
	done.Go(func() { w.pods.RunWithContext(ctx) })
	for range workers {
		done.Go(func() {
			for w.work(ctx) {
			}
		})
	}
	tb.Cleanup(func() {
		cancel()
		w.queue.ShutDown()
		done.Wait()
		if w.refused != nil {
			tb.Errorf("write as kubelets do: %v", w.refused)
		}
	})
	return w
}

func newWriter(cfg *rest.Config, options Options) (*Writer, error) {
	cfg = rest.CopyConfig(cfg)
	cfg.QPS = -1
	client, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return nil, fmt.Errorf("set up a client to write statuses with: %w", err)
	}
	info, err := client.Discovery().ServerVersion()
	if err != nil {
		return nil, fmt.Errorf("ask the API server for its version: %w", err)
	}
	server, err := version.ParseGeneric(info.GitVersion)
	if err != nil {
		return nil, fmt.Errorf("read the API server's version: %w", err)
	}
	w := &Writer{
		client:  client,
		options: options,
		pods:    informers.NewSharedInformerFactory(client, 0).Core().V1().Pods().Informer(),
		queue: workqueue.NewTypedRateLimitingQueue(
			workqueue.NewTypedItemExponentialFailureRateLimiter[string](retryAtFirst, retryAtMost)),
		generations: server.AtLeast(generationsSince),
		sized:       map[string]sized{},
	}
	if err := w.pods.SetWatchErrorHandlerWithContext(func(context.Context, *cache.Reflector, error) {}); err != nil {
		return nil, fmt.Errorf("watch pods: %w", err)
	}
	if _, err := w.pods.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    w.add,
		UpdateFunc: func(_, pod any) { w.add(pod) },
		DeleteFunc: w.add,
	}); err != nil {
		return nil, fmt.Errorf("watch pods: %w", err)
	}
	return w, nil
}

func (w *Writer) add(pod any) {
	if key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(pod); err == nil {
		w.queue.Add(key)
	}
}

// Reconsider asks again what becomes of the resizes that are not actuated.
func (w *Writer) Reconsider() {
	for _, key := range w.pods.GetStore().ListKeys() {
		w.queue.Add(key)
	}
}
