package evict

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/workload-resizer/workload-resizer/deploy"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// TestKilledLeader kills the server after the API server has evicted a pod, before it has answered, and before the pod's
// replacement has a node. The next server knows of the eviction, although another pod of the workload still lacks room on the
// same node, and evicts none.
func TestKilledLeader(t *testing.T) {
	cluster := localcluster.ForTestWith(t, localcluster.Options{Nodes: "n2d=2", NodeCPU: 4})
	s := &suite{t, cluster, kubernetes.NewForConfigOrDie(cluster.Config())}
	nodes, err := s.client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	if err != nil || len(nodes.Items) != 2 {
		t.Fatalf("%d nodes, %v", len(nodes.Items), err)
	}
	full, other := nodes.Items[0].Name, nodes.Items[1].Name
	has := nodes.Items[0].Status.Allocatable.Cpu().MilliValue()
	rights := append(deploy.Base(), deploy.EvictPods()...)
	localcluster.Eventually(t, "the manifests to be applied", func() error {
		return localcluster.Apply(t.Context(), s.Config(), append(rights, fmt.Appendf(nil, manifests, full, has-2100))...)
	})
	s.cordon(other, true)
	s.scale(2)
	s.web(2)
	s.cordon(other, false)
	s.cordon(full, true)
	s.scale(3)
	s.web(3)
	s.cordon(full, false)

	asked, goOn := make(chan string), make(chan struct{})
	proxy := localcluster.ProxyForTest(t, s.Config(), func(write localcluster.Write) localcluster.Action {
		if write.Subresource != "eviction" {
			return localcluster.Forward
		}
		asked <- write.Pod
		<-goOn
		return localcluster.ForwardThenHang
	})
	leader, _ := s.start(nil, localcluster.WithServer(proxy.URL, proxy.CA))
	var evicted string
	select {
	case evicted = <-asked:
	case <-time.After(localcluster.Patience):
		t.Fatal("no pod is evicted")
	}
	s.cordon(other, true)
	close(goOn)
	var left *corev1.Pod
	localcluster.Eventually(t, "the eviction", func() error {
		list, err := s.client.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{LabelSelector: "app=web"})
		if err != nil {
			return err
		}
		left = nil
		for i := range list.Items {
			switch p := &list.Items[i]; {
			case p.Name == evicted:
				return fmt.Errorf("%s still exists", evicted)
			case p.Spec.NodeName == full:
				left = p
			}
		}
		if left == nil {
			return fmt.Errorf("no other pod is on %s", full)
		}
		return nil
	})
	if err := leader.Kill(); err != nil {
		t.Fatal(err)
	}

	_, api := s.start(nil)
	s.says(api, left.Name, "another pod of its workload was chosen for the same node and reason already")
	s.cordon(other, false)
	s.web(3)
	now, err := s.client.CoreV1().Pods("default").Get(t.Context(), left.Name, metav1.GetOptions{})
	if err != nil || now.UID != left.UID {
		t.Errorf("%s was evicted, too (%v)", left.Name, err)
	}
	if stored := s.stored(); strings.Count(stored, `"uid"`) != 1 {
		t.Errorf("stored %s, want one eviction", stored)
	}
}
