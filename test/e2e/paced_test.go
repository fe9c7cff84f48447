package e2e

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// pacedRules are rules for two kinds of pods, whose sizes become wrong by different
// amounts.
const pacedRules = `
podLabels:
  example.com/wrong:
    little: { nodeTypes: { n4: { cpuPerf: %s, memPerf: 1.0 } } }
    much: { nodeTypes: { n4: { cpuPerf: %s, memPerf: 1.0 } } }
`

// paced returns a configuration with a number of resizes per second.
func paced(rate int, config []byte) []byte {
	return bytes.Replace(config, []byte("    pace: {"), fmt.Appendf(nil, "    pace: { resizesPerSecond: %d,", rate), 1)
}

// pacedRealignment changes the desired sizes of eight pods that have been sized. They
// are resized again at the configured rate, the most wrong pods first.
func (c *cluster) pacedRealignment(t *testing.T) {
	// At this rate, the first turn is given after a second: all pods wait by then.
	const namespace, each, rate = "paced", 4, 1
	c.configure(t, withRules(fmt.Sprintf(pacedRules, "1.25", "1.25")))
	quick := c.serveReady(t)
	c.namespace(t, namespace)
	kinds := []string{"little", "much"}
	for _, kind := range kinds {
		c.deploy(t, namespace, app{name: kind, nodeType: "n4", replicas: each, requests: small, labels: map[string]string{"example.com/wrong": kind}})
	}
	for _, kind := range kinds {
		c.awaitCPU(t, namespace, kind, "80m")
	}
	c.awaitSettled(t, quick, "") // No other pod may wait for its turn.
	if err := quick.Stop(); err != nil {
		t.Fatal(err)
	}

	c.configure(t, paced(rate, withRules(fmt.Sprintf(pacedRules, "1.25", "1.25"))))
	resized := &resizes{namespace: namespace}
	proxy := localcluster.ProxyForTest(t, c.Config(), resized.see)
	s := c.serve(t, c.serviceAccount(t, localcluster.WithServer(proxy.URL, proxy.CA)))
	awaitReadyz(t, s, http.StatusOK, "ok")
	begin := time.Now()
	c.reconfigure(t, s, paced(rate, withRules(fmt.Sprintf(pacedRules, "1.3", "2.0"))))
	localcluster.Eventually(t, "pods to wait for their turn", func() error {
		if waiting := s.metric(t, "workload_resizer_realign_backlog"); waiting == 0 {
			return fmt.Errorf("none is waiting")
		}
		return nil
	})
	c.awaitCPU(t, namespace, "much", "50m")
	c.awaitCPU(t, namespace, "little", "77m")
	if took, least := time.Since(begin), 2*each*time.Second/rate; took < least {
		t.Errorf("%d pods took %s at %d per second, want at least %s", 2*each, took, rate, least)
	}
	// The last resize may be seen before the server has its response.
	localcluster.Eventually(t, "no pod to wait", func() error {
		if waiting := s.metric(t, "workload_resizer_realign_backlog"); waiting != 0 {
			return fmt.Errorf("%v are waiting", waiting)
		}
		return nil
	})
	order := resized.seen()
	if len(order) != 2*each {
		t.Fatalf("%d resizes, want one per pod: %q", len(order), order)
	}
	for i, pod := range order {
		if kind := kinds[1-i/each]; !strings.HasPrefix(pod, kind+"-") {
			t.Errorf("resize %d is of %s, want a pod that is %s wrong: %q", i, pod, kind, order)
		}
	}
}

// resizes records the resized pods in a namespace, in order.
type resizes struct {
	namespace string
	mu        sync.Mutex
	pods      []string
}

func (r *resizes) see(w localcluster.Write) localcluster.Action {
	if w.Namespace == r.namespace && w.Subresource == "resize" {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.pods = append(r.pods, w.Pod)
	}
	return localcluster.Forward
}

func (r *resizes) seen() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.pods)
}

// defaultConfig has ratios and no other settings.
const defaultConfig = `
apiVersion: v1
kind: ConfigMap
metadata: {name: workload-resizer-config, namespace: workload-resizer-system}
data:
  config.yaml: |
    baselineNodeType: n2d
    nodeTypes:
      n2d: {cpuPerf: 1, memPerf: 1}
      n4: {cpuPerf: 1.25, memPerf: 1}
`

// TestDefaults checks what users see who set nothing but ratios.
func TestDefaults(t *testing.T) {
	t.Parallel()
	c := newCluster(localcluster.ForTest(t, "n4=2"))
	c.install(t)
	c.apply(t, []byte(defaultConfig))
	t.Run("new pods of a workload do not wait for canaries", c.newPodsDoNotWait)
}

// newPodsDoNotWait deploys pods while a server runs, as with the published controller.
func (c *cluster) newPodsDoNotWait(t *testing.T) {
	const namespace = "defaults"
	c.namespace(t, namespace)
	s := c.serveReady(t)
	c.deploy(t, namespace, app{name: "web", nodeType: "n4", replicas: 20, requests: small})
	localcluster.Eventually(t, "all new pods to be sized", func() error {
		for name, plan := range s.plans(t, namespace) {
			for _, reason := range plan.GetReasons() {
				if reason.GetCode() == "WaitingForProof" {
					t.Fatalf("pod %s waits: %v", name, plan)
				}
			}
		}
		for _, p := range c.of(t, namespace, "web") {
			if err := hasCPU(&p, "80m"); err != nil {
				return fmt.Errorf("20 pods must be sized: %w", err)
			}
		}
		return nil
	})
	c.awaitActuated(t, namespace)
}
