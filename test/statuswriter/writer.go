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
	// workers is how many pods are processed at the same time. The API server is the
	// bottleneck.
	workers = 16
	// retryAtFirst and retryAtMost are the first and the longest delay before a
	// failed write is retried.
	retryAtFirst, retryAtMost = 10 * time.Millisecond, time.Second
)

// Options configure what to write. All of them are optional.
type Options struct {
	// Nodes are the names of the nodes to simulate; empty means all nodes.
	Nodes []string
	// Outcome returns the outcome of a resize, for any pod whose spec and status
	// have different sizes. It is called whenever the pod changes, concurrently,
	// and must not change the pod. If it is nil, all resizes are Actuated.
	Outcome func(pod *corev1.Pod) Outcome
	// Behind is how far the clocks of nodes are behind, by node name.
	Behind map[string]time.Duration
}

// Writer writes the statuses of pods.
type Writer struct {
	client  kubernetes.Interface
	options Options
	pods    cache.SharedIndexInformer
	queue   workqueue.TypedRateLimitingInterface[string]
	// generations reports whether the API server stores observed generations.
	generations bool

	mu      sync.Mutex
	refused error
	// sized is keyed by pod.
	sized map[string]sized
}

// Start writes statuses until the test ends. The test fails if the API server refuses a write.
// It does not fail if the API server is temporarily unavailable. Call Start after the cluster
// has started, so that the writer ends first.
func Start(tb testing.TB, cfg *rest.Config, options Options) *Writer {
	tb.Helper()
	w, err := newWriter(cfg, options)
	if err != nil {
		tb.Fatal(err)
	}
	// Discard client-go's log: the API server may be unavailable at times.
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
			tb.Errorf("the API server refused statuses: %v", w.refused)
		}
	})
	return w
}

func newWriter(cfg *rest.Config, options Options) (*Writer, error) {
	cfg = rest.CopyConfig(cfg)
	cfg.QPS = -1
	client, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return nil, fmt.Errorf("create the client for writing statuses: %w", err)
	}
	info, err := client.Discovery().ServerVersion()
	if err != nil {
		return nil, fmt.Errorf("get the API server's version: %w", err)
	}
	server, err := version.ParseGeneric(info.GitVersion)
	if err != nil {
		return nil, fmt.Errorf("parse the API server's version: %w", err)
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

// Reconsider calls Options.Outcome again for all resizes that are not Actuated.
func (w *Writer) Reconsider() {
	for _, key := range w.pods.GetStore().ListKeys() {
		w.queue.Add(key)
	}
}
