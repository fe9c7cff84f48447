package e2e

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// killedWhileRestoring kills the server in the middle of the restore of a namespace. The
// next server completes the restore, and knows whether it is an emergency.
func (c *cluster) killedWhileRestoring(t *testing.T) {
	for _, tc := range []struct {
		n         int64
		action    localcluster.Action
		emergency bool
	}{
		{2, localcluster.CutBefore, false},       // At most one pod has its sizes.
		{3, localcluster.CutBefore, true},        // The same, but all workers write.
		{4, localcluster.ForwardThenHang, false}, // Some pods are done, some half done.
	} {
		t.Run(fmt.Sprintf("write %d, %s", tc.n, tc.action), func(t *testing.T) { c.killedInRestore(t, tc.n, tc.action, tc.emergency) })
	}
}

func (c *cluster) killedInRestore(t *testing.T, n int64, action localcluster.Action, emergency bool) {
	namespace := fmt.Sprintf("restore-killed-%d", n)
	var restoring atomic.Bool
	var writes atomic.Int64
	reached := make(chan struct{})
	proxy := localcluster.ProxyForTest(t, c.Config(), func(w localcluster.Write) localcluster.Action {
		if w.Namespace != namespace || !restoring.Load() {
			return localcluster.Forward
		}
		switch write := writes.Add(1); {
		case write < n:
			return localcluster.Forward
		case write == n:
			close(reached)
		}
		return action // No write gets through after that.
	})
	s := c.serve(t, c.serviceAccount(t, localcluster.WithServer(proxy.URL, proxy.CA)))
	awaitReadyz(t, s, http.StatusOK, "ok")
	c.namespace(t, namespace)
	c.deploy(t, namespace, web, api)
	c.awaitSized(t, s, namespace, "80m")

	restoring.Store(true)
	s.resizectl(t, 0, "restore", "-n", namespace, "--wait=false", fmt.Sprintf("--emergency=%t", emergency))
	select {
	case <-reached:
	case <-time.After(localcluster.Patience):
		t.Fatalf("write %d was not sent, %d were", n, writes.Load())
	}
	if err := s.Kill(); err != nil {
		t.Fatal(err)
	}
	left := 0
	for _, p := range c.pods(t, namespace) {
		if ours(p.Annotations) != nil {
			left++
		}
	}
	if left == 0 {
		t.Fatal("all pods were restored before the kill")
	}

	again := c.serveReady(t)
	if wants(t, again.resizectl(t, 0, "holds"), namespace); emergency {
		wants(t, again.resizectl(t, 0, "holds"), "emergency restore")
	}
	localcluster.Eventually(t, "the restore to be completed", func() error {
		for _, p := range c.pods(t, namespace) {
			if got := ours(p.Annotations); got != nil {
				return fmt.Errorf("pod %s has %v", p.Name, got)
			}
		}
		return nil
	})
	c.checkAllRestored(t, namespace)
	again.resizectl(t, 0, "resume", "-n", namespace)
}
