package evict

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/deploy"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// On the nodes, pods need 1.25 times what their authors wrote. The first node has room for a pod of web as its author wrote it,
// but not for more, since filler takes the rest.
const manifests = `
apiVersion: v1
kind: ConfigMap
metadata: {name: workload-resizer-config, namespace: workload-resizer-system}
data:
  config.yaml: |
    baselineNodeType: n4
    nodeTypes:
      n2d: {cpuPerf: 1, memPerf: 1}
      n4: {cpuPerf: 1.25, memPerf: 1}
    pace: {resizesPerSecond: 0, freedPerHour: 0}
    eviction: {enabled: true, after: 1m}
---
apiVersion: v1
kind: Pod
metadata: {name: filler, namespace: default, labels: {app: filler}}
spec:
  nodeName: %s
  terminationGracePeriodSeconds: 0
  containers: [{name: app, image: app, resources: {requests: {cpu: "%dm"}}}]
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web, namespace: default}
spec: {minAvailable: 2, selector: {matchLabels: {app: web}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      terminationGracePeriodSeconds: 0
      containers: [{name: app, image: app, resources: {requests: {cpu: "1", memory: 64Mi}}}]
`

// suite is a cluster with two nodes.
type suite struct {
	*testing.T
	*localcluster.Cluster
	client kubernetes.Interface
}

func (s *suite) server(more ...string) *client.Client {
	s.Helper()
	_, api := s.start(more)
	return api
}

// start starts a server with more flags, which reaches the API server as the options say.
func (s *suite) start(more []string, options ...localcluster.KubeconfigOption) (*localcluster.Server, *client.Client) {
	s.Helper()
	kubeconfig, err := localcluster.ServiceAccountKubeconfig(s.Context(), s.Config(), deploy.Namespace, deploy.ServiceAccount, s.TempDir(), options...)
	if err != nil {
		s.Fatal(err)
	}
	started := localcluster.ServerForTest(s, localcluster.ServerOptions{Kubeconfig: kubeconfig, Args: append([]string{"--evict-pods"}, more...)})
	s.Cleanup(func() {
		if s.Failed() {
			s.Log(started.Log())
		}
	})
	api, err := client.Dial(started.GRPCAddress)
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { _ = api.Close() })
	return started, api
}

// cordon lets the scheduler use a node, or not.
func (s *suite) cordon(node string, is bool) {
	s.Helper()
	if _, err := s.client.CoreV1().Nodes().Patch(s.Context(), node, types.StrategicMergePatchType, fmt.Appendf(nil, `{"spec":{"unschedulable":%t}}`, is), metav1.PatchOptions{}); err != nil {
		s.Fatal(err)
	}
}

// web waits until the Deployment has so many ready pods, and returns them by their nodes.
func (s *suite) web(pods int) map[string]*corev1.Pod {
	s.Helper()
	found := map[string]*corev1.Pod{}
	localcluster.Eventually(s, "the pods of web", func() error {
		clear(found)
		list, err := s.client.CoreV1().Pods("default").List(s.Context(), metav1.ListOptions{LabelSelector: "app=web"})
		if err != nil {
			return err
		}
		ready := 0
		for i := range list.Items {
			p := &list.Items[i]
			for _, c := range p.Status.Conditions {
				if c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue && p.DeletionTimestamp == nil {
					found[p.Spec.NodeName] = p
					ready++
				}
			}
		}
		if ready != pods {
			return fmt.Errorf("%d are ready, want %d", ready, pods)
		}
		return nil
	})
	return found
}

func (s *suite) scale(replicas int) {
	s.Helper()
	if _, err := s.client.AppsV1().Deployments("default").Patch(s.Context(), "web", types.StrategicMergePatchType, fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, replicas), metav1.PatchOptions{}); err != nil {
		s.Fatal(err)
	}
}

// says waits until the explanation of a pod says something about its eviction.
func (s *suite) says(api *client.Client, pod, want string) {
	s.Helper()
	localcluster.Eventually(s, "the explanation of "+pod, func() error {
		explanation, err := api.ExplainPod(s.Context(), &workloadresizerv1.ExplainPodRequest{Namespace: "default", Pod: pod})
		if err != nil {
			return err
		}
		if got := explanation.GetEviction(); !strings.Contains(got, want) {
			return fmt.Errorf("it says %q, want %q", got, want)
		}
		return nil
	})
}

func TestEvictions(t *testing.T) {
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
		return localcluster.Apply(t.Context(), s.Config(), append(rights, fmt.Appendf(nil, manifests, full, has-1100))...)
	})
	s.cordon(other, true)
	s.web(1)
	s.cordon(other, false)
	s.cordon(full, true)
	s.scale(2)
	before := s.web(2)[full]
	s.cordon(full, false)

	dry := s.server("--dry-run")
	s.says(dry, before.Name, "PodDisruptionBudget web allows no disruption")
	s.allow(1)
	s.says(dry, before.Name, "it would be evicted, but the server runs with --dry-run")
	if now := s.web(2)[full]; now == nil || now.UID != before.UID {
		t.Error("a dry run has evicted the pod")
	}
	if stored := s.stored(); stored != "" {
		t.Errorf("a dry run has stored %s", stored)
	}
	s.allow(2)

	api := s.server()
	s.says(api, before.Name, "PodDisruptionBudget web allows no disruption")
	if stored := s.stored(); stored != "" {
		t.Errorf("a decision is stored although the budget allows no disruption: %s", stored)
	}
	s.allow(1)
	localcluster.Eventually(t, "the eviction", func() error {
		events, err := s.client.CoreV1().Events("default").List(t.Context(), metav1.ListOptions{FieldSelector: "reason=Evicted,involvedObject.name=" + before.Name})
		if err != nil {
			return err
		}
		if len(events.Items) == 0 {
			return errors.New("no event says so")
		}
		return nil
	})
	for _, now := range s.web(2) {
		if now.UID == before.UID {
			t.Error("the pod still exists")
		}
	}
	if stored := s.stored(); !strings.Contains(stored, string(before.UID)) {
		t.Errorf("stored %s, want the eviction", stored)
	}
}

// allow sets how many pods the budget keeps available: with 2, it allows no disruption.
func (s *suite) allow(minAvailable int) {
	s.Helper()
	if _, err := s.client.PolicyV1().PodDisruptionBudgets("default").Patch(s.Context(), "web", types.MergePatchType, fmt.Appendf(nil, `{"spec":{"minAvailable":%d}}`, minAvailable), metav1.PatchOptions{}); err != nil {
		s.Fatal(err)
	}
	localcluster.Eventually(s, "the budget to be seen", func() error {
		var b *policyv1.PodDisruptionBudget
		b, err := s.client.PolicyV1().PodDisruptionBudgets("default").Get(s.Context(), "web", metav1.GetOptions{})
		if err == nil && (b.Status.ObservedGeneration < b.Generation || b.Status.DisruptionsAllowed != int32(2-minAvailable)) {
			err = fmt.Errorf("it allows %d disruptions", b.Status.DisruptionsAllowed)
		}
		return err
	})
}

// stored returns which evictions are stored.
func (s *suite) stored() string {
	s.Helper()
	cm, err := s.client.CoreV1().ConfigMaps(deploy.Namespace).Get(s.Context(), "workload-resizer-evictions", metav1.GetOptions{})
	if err != nil {
		s.Fatal(err)
	}
	return cm.Data["evictions.json"]
}
