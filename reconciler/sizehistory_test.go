package reconciler

import (
	"context"
	"slices"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// sizeHistory records every size that the pods with a ratio have had.
type sizeHistory struct {
	mu  sync.Mutex
	had map[string][]string
}

// followSizes watches all pods directly on the API server.
func followSizes(t *testing.T, client kubernetes.Interface) *sizeHistory {
	t.Helper()
	h := &sizeHistory{had: map[string][]string{}}
	pods := informers.NewSharedInformerFactory(client, 0).Core().V1().Pods().Informer()
	see := func(obj any) {
		h.mu.Lock()
		defer h.mu.Unlock()
		name, cpu := obj.(*corev1.Pod).Name, cpuOf(obj)
		if name == strange {
			return
		}
		if had := h.had[name]; len(had) == 0 || had[len(had)-1] != cpu {
			h.had[name] = append(had, cpu)
		}
	}
	if _, err := pods.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: see, UpdateFunc: func(_, obj any) { see(obj) }}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	go pods.RunWithContext(ctx)
	return h
}

func cpuOf(obj any) string {
	return obj.(*corev1.Pod).Spec.Containers[0].Resources.Requests.Cpu().String()
}

// check checks that each pod has had exactly these sizes in this order.
func (h *sizeHistory) check(t *testing.T, want []string) {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.had) != replicaPods {
		t.Errorf("%d pods seen, want %d", len(h.had), replicaPods)
	}
	for name, had := range h.had {
		if !slices.Equal(had, want) {
			t.Errorf("%s had the sizes %v, want %v", name, had, want)
		}
	}
}
