package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// deployment returns a Deployment of one Guaranteed pod on a node of type n4.
func deployment(namespace, name string) []byte {
	return fmt.Appendf(nil, `
apiVersion: v1
kind: Namespace
metadata: { name: %[1]s }
---
apiVersion: apps/v1
kind: Deployment
metadata: { name: %[2]s, namespace: %[1]s }
spec:
  selector: { matchLabels: { app: %[2]s } }
  template:
    metadata: { labels: { app: %[2]s } }
    spec:
      nodeSelector: { cloud.google.com/machine-family: n4 }
      containers:
        - name: app
          image: registry.k8s.io/pause:3.10
          resources:
            requests: { cpu: 100m, memory: 64Mi }
            limits: { cpu: 100m, memory: 64Mi }
`, namespace, name)
}

// killedBetweenWrites kills the server around each of the three writes to a pod: before
// the API server receives the write, and after the API server has executed it but before
// the server gets the response. The next server must bring the pod to the same state.
func (c *cluster) killedBetweenWrites(t *testing.T) {
	for n := 1; n <= 3; n++ {
		for _, action := range []localcluster.Action{localcluster.CutBefore, localcluster.ForwardThenHang} {
			t.Run(fmt.Sprintf("write %d, %s", n, action), func(t *testing.T) { c.killedAt(t, n, action) })
		}
	}
}

func (c *cluster) killedAt(t *testing.T, n int, action localcluster.Action) {
	namespace := fmt.Sprintf("kill-%d-%d", n, action)
	var mu sync.Mutex
	var writes []string
	reached := make(chan struct{})
	proxy := localcluster.ProxyForTest(t, c.Config(), func(w localcluster.Write) localcluster.Action {
		if w.Namespace != namespace {
			return localcluster.Forward
		}
		mu.Lock()
		defer mu.Unlock()
		writes = append(writes, w.Subresource)
		if len(writes) == n {
			close(reached)
		}
		if len(writes) >= n {
			return action // No write gets through after that.
		}
		return localcluster.Forward
	})
	s := c.serve(t, c.serviceAccount(t, localcluster.WithServer(proxy.URL, proxy.CA)))
	awaitReadyz(t, s, http.StatusOK, "ok")
	c.apply(t, deployment(namespace, "app"))
	select {
	case <-reached:
	case <-time.After(localcluster.Patience):
		t.Fatalf("write %d was not sent; there were %q", n, writes)
	}
	if action == localcluster.ForwardThenHang {
		// The API server executes the write while the server waits.
		c.awaitWritten(t, namespace, n)
	}
	if err := s.Kill(); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	if want := []string{"", "resize", ""}[:n]; !cmp.Equal(writes[:n], want) {
		t.Errorf("subresources written: %q, want %q", writes, want)
	}
	mu.Unlock()
	p := c.pods(t, namespace)[0]
	landed := n
	if action == localcluster.CutBefore {
		landed--
	}
	if got := progress(&p); got != landed {
		t.Fatalf("%d writes were executed, want %d: %v, %v", got, landed, p.Annotations, p.Spec.Containers[0].Resources)
	}

	again := c.serveReady(t)
	c.awaitSettled(t, again, namespace)
	c.awaitActuated(t, namespace)
	p = c.pods(t, namespace)[0]
	if got, want := texts(p.Spec.Containers[0].Resources), [4]string{"80m", "80m", "64Mi", "64Mi"}; got != want {
		t.Errorf("resources %v, want %v", got, want)
	}
	got := ours(p.Annotations)
	delete(got, "workload-resizer.io/applied-at")
	want := map[string]string{
		"workload-resizer.io/original-cpu.app": "100m", "workload-resizer.io/original-cpu-limit.app": "100m",
		"workload-resizer.io/original-memory.app": "64Mi", "workload-resizer.io/original-memory-limit.app": "64Mi",
		"workload-resizer.io/applied-instance-type": "n4", "workload-resizer.io/applied-sizes": "app 0 cpu 100m/100m>80m/80m memory 64Mi/64Mi",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("annotations: %s", diff)
	}
	if p.Status.QOSClass != corev1.PodQOSGuaranteed || p.Status.ContainerStatuses[0].RestartCount != 0 {
		t.Errorf("the pod is %s, restarted %d times", p.Status.QOSClass, p.Status.ContainerStatuses[0].RestartCount)
	}
	if landed < 3 {
		c.awaitEvent(t, namespace, p.UID, "Resized", "app: cpu 100m → 80m")
	}
	if err := again.Stop(); err != nil {
		t.Errorf("stop: %v", err)
	}
}

// progress returns how many writes a pod shows: originals, resize, applied.
func progress(p *corev1.Pod) int {
	switch {
	case p.Annotations["workload-resizer.io/applied-instance-type"] != "":
		return 3
	case text(p.Spec.Containers[0].Resources.Requests, corev1.ResourceCPU) == "80m":
		return 2
	case p.Annotations["workload-resizer.io/original-cpu.app"] != "":
		return 1
	}
	return 0
}

func (c *cluster) awaitWritten(t *testing.T, namespace string, n int) {
	t.Helper()
	localcluster.Eventually(t, fmt.Sprintf("write %d to be executed", n), func() error {
		if got := progress(&c.pods(t, namespace)[0]); got != n {
			return fmt.Errorf("%d were executed", got)
		}
		return nil
	})
}

// goneFor is how long the API server is down: longer than a Lease lasts.
const goneFor = lease + 5*time.Second

// TestOutage has a cluster of its own, because it mostly waits.
func TestOutage(t *testing.T) {
	t.Parallel()
	t.Run("the server survives an outage of the API server", apiServerGone)
}

// apiServerGone calls a server that authenticates callers by itself. The Deployment's
// servers need the API server for that.
func apiServerGone(t *testing.T) {
	t.Parallel()
	c := newCluster(localcluster.ForTest(t, "n4=1"))
	c.install(t)
	c.apply(t, promptConfig(), deployment("before-outage", "app"))
	c.awaitRunning(t, "before-outage", 1)
	before := c.pods(t, "before-outage")[0].Name
	s := c.servePlain(t)
	c.awaitSettled(t, s, "before-outage")
	if err := c.Stop(t.Context(), "kube-apiserver"); err != nil {
		t.Fatal(err)
	}
	gone := time.After(goneFor)
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for away := true; away; {
		select {
		case <-gone:
			away = false
		case <-s.Done():
			t.Fatal("the server ended")
		case <-tick.C:
			// It still answers from its caches.
			if _, err := s.api.PreviewPod(t.Context(), "before-outage", before); err != nil {
				t.Errorf("preview while the API server is gone: %v", err)
			}
			if code, body := get(t, "http://"+s.HTTPAddress+"/livez"); code != http.StatusOK {
				t.Errorf("/livez is %d %q", code, body)
			}
		}
	}
	if err := c.Start(t.Context(), "kube-apiserver"); err != nil {
		t.Fatal(err)
	}
	c.apply(t, deployment("after-outage", "app"))
	// A new ratio is also seen after the outage.
	c.apply(t, []byte(strings.Replace(string(promptConfig()), "cpuPerf: 1.25", "cpuPerf: 1.6", 1)))
	localcluster.Eventually(t, "the new pod to be resized by the new ratio", func() error {
		pods := c.pods(t, "after-outage")
		if len(pods) != 1 || text(pods[0].Spec.Containers[0].Resources.Requests, corev1.ResourceCPU) != "63m" {
			return fmt.Errorf("pods %v", pods)
		}
		return nil
	})
	c.apply(t, promptConfig())
	localcluster.Eventually(t, "the old ratio to take effect again", func() error {
		if got := text(c.pods(t, "after-outage")[0].Spec.Containers[0].Resources.Requests, corev1.ResourceCPU); got != "80m" {
			return fmt.Errorf("it has %s", got)
		}
		return nil
	})
	c.awaitSettled(t, s, "")
	if err := s.Stop(); err != nil {
		t.Errorf("stop: %v", err)
	}
}
