package e2e

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/deploy"
	"github.com/workload-resizer/workload-resizer/ratios/nodetype"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
	"github.com/workload-resizer/workload-resizer/test/statuswriter"
)

// plane is a control plane whose nodes exist only as objects, with ratios for n2d, the
// baseline, and n4.
type plane struct {
	*cluster
	nodes map[string]*corev1.Node
}

func newPlane(t *testing.T) *plane {
	t.Helper()
	p := &plane{newCluster(localcluster.ForTest(t, "")), map[string]*corev1.Node{}}
	p.apply(t, append(deploy.Base(), []byte(planeConfig))...)
	for _, nodeType := range []string{"n2d", "n4", "x9"} {
		most := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100000"), corev1.ResourceMemory: resource.MustParse("100Ti"), corev1.ResourcePods: resource.MustParse("10000")}
		node, err := p.client.CoreV1().Nodes().Create(t.Context(), &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: nodeType, Labels: map[string]string{nodetype.LabelGCPMachineFamily: nodeType}},
			Status:     corev1.NodeStatus{Allocatable: most, Capacity: most},
		}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		p.nodes[nodeType] = node
	}
	statuswriter.Start(t, p.Config(), statuswriter.Options{})
	localcluster.Eventually(t, "pods to be created, for which the namespace needs a ServiceAccount", func() error {
		_, err := p.client.CoreV1().ServiceAccounts(metav1.NamespaceDefault).Get(t.Context(), "default", metav1.GetOptions{})
		return err
	})
	return p
}

const planeConfig = `
apiVersion: v1
kind: ConfigMap
metadata: {name: workload-resizer-config, namespace: workload-resizer-system}
data:
  config.yaml: |
    baselineNodeType: n2d
    nodeTypes:
      n2d: {cpuPerf: 1, memPerf: 1}
      n4: {cpuPerf: 1.25, memPerf: 1}
    guard: {maxUnproven: 100%}
    pace: {freedPerHour: 0}
`

// ownedByConfigMaps lets the server resize the pods that plane creates. Their controller is a
// ConfigMap, because any real object will do that no other controller acts on.
var ownedByConfigMaps = []string{"--owner-kinds", "ConfigMap"}

// create creates a pod that requests one core and 1 GiB on the node of this type.
func (p *plane) create(ctx context.Context, name, nodeType string) error {
	controller, no, node := true, false, p.nodes[nodeType]
	configMaps := p.client.CoreV1().ConfigMaps(metav1.NamespaceDefault)
	owner, err := configMaps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: node.Name}}, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		owner, err = configMaps.Get(ctx, node.Name, metav1.GetOptions{})
	}
	if err != nil {
		return err
	}
	_, err = p.client.CoreV1().Pods(metav1.NamespaceDefault).Create(ctx, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name:            name,
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID, Controller: &controller}},
		},
		Spec: corev1.PodSpec{
			NodeName: node.Name, AutomountServiceAccountToken: &no,
			Containers: []corev1.Container{{Name: "app", Image: "none", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
				corev1.ResourceCPU: resource.MustParse("1"), corev1.ResourceMemory: resource.MustParse("1Gi"),
			}}}},
		},
	}, metav1.CreateOptions{})
	return err
}

// journal keeps the log of a server.
type journal struct {
	mu   sync.Mutex
	text strings.Builder
}

// Write implements io.Writer.
func (j *journal) Write(b []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(b)
}

// lines returns the lines that contain a string.
func (j *journal) lines(with string) []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	var found []string
	for line := range strings.Lines(j.text.String()) {
		if strings.Contains(line, with) {
			found = append(found, line)
		}
	}
	return found
}

// TestPlaneCreation sizes pods at their creation. It needs no kubelets, so that it can run with the control planes of other
// versions.
func TestPlaneCreation(t *testing.T) {
	t.Parallel()
	p := newPlane(t)
	p.apply(t, []byte(createdNamespace))
	address := p.webhook(t)
	p.asksFor(t, "ConfigMap")
	s := localcluster.ServerForTest(t, localcluster.ServerOptions{Kubeconfig: p.serviceAccount(t), Args: append([]string{
		"--size-at-creation", "--webhook-bind-address=" + address, "--tls-self-signed", "--tls-dns-names=localhost"}, ownedByConfigMaps...)})
	ctx, cancel := context.WithTimeout(t.Context(), localcluster.Patience)
	defer cancel()
	if err := s.WaitReady(ctx); err != nil {
		t.Fatal(err)
	}
	n := 0
	cpu := func() string {
		t.Helper()
		pod, err := p.client.CoreV1().Pods(metav1.NamespaceDefault).Get(t.Context(), fmt.Sprint("web-", n), metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return text(pod.Spec.Containers[0].Resources.Requests, corev1.ResourceCPU) + " of " + pod.Annotations[contract.OriginalPrefix+"cpu.app"]
	}
	localcluster.Eventually(t, "a pod that is sized at its creation", func() error {
		n++
		if err := p.create(t.Context(), fmt.Sprint("web-", n), "n4"); err != nil {
			return err
		}
		pod, err := p.client.CoreV1().Pods(metav1.NamespaceDefault).Get(t.Context(), fmt.Sprint("web-", n), metav1.GetOptions{})
		if err != nil {
			return err
		}
		if pod.Annotations[contract.CreatedSizes] == "" {
			return errors.New("it is not")
		}
		return nil
	})
	if got := cpu(); got != "800m of 1" {
		t.Errorf("it requests %s", got)
	}
	p.apply(t, []byte(strings.Replace(planeConfig, "cpuPerf: 1.25", "cpuPerf: 1.6", 1)))
	localcluster.Eventually(t, "it to be resized from what its author wrote", func() error {
		if got := cpu(); got != "625m of 1" {
			return errors.New("it requests " + got)
		}
		return nil
	})
}

// asksFor makes the API server ask about the pods of a controller kind, too, as users must with --owner-kinds.
func (p *plane) asksFor(t *testing.T, kind string) {
	t.Helper()
	configurations := p.client.AdmissionregistrationV1().MutatingWebhookConfigurations()
	configuration, err := configurations.Get(t.Context(), "workload-resizer-size-at-creation", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	condition := &configuration.Webhooks[0].MatchConditions[0].Expression
	*condition = strings.Replace(*condition, `"Job"`, `"Job" || o.kind == "`+kind+`"`, 1)
	if _, err := configurations.Update(t.Context(), configuration, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
}
