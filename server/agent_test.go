package server

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios/nodetype"
	"github.com/workload-resizer/workload-resizer/server/servertest"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// podToken creates a pod on a node, and returns a token as a kubelet would request it for the
// pod.
func (a *authority) podToken(t *testing.T, account, name, node string) string {
	t.Helper()
	pod, err := a.client.CoreV1().Pods("default").Create(t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       corev1.PodSpec{NodeName: node, ServiceAccountName: account, Containers: []corev1.Container{{Name: "agent", Image: "agent"}}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
		Audiences: []string{audience}, BoundObjectRef: &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID},
	}}
	request, err = a.client.CoreV1().ServiceAccounts("default").CreateToken(t.Context(), account, request, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return request.Status.Token
}

func TestAgent(t *testing.T) {
	t.Run("a token that is bound to a node can send only samples of that node", aTokenThatIsBoundToANodeCanSendOnlySamplesOfThatNode)
}

func aTokenThatIsBoundToANodeCanSendOnlySamplesOfThatNode(t *testing.T) {
	g, m := unserved(t), servertest.NewMeasured()
	servertest.ConfigMap(t, g.client, servertest.HoldsName)
	nodes := map[string]string{"mine": "n4", "other": "n2d"}
	for name, family := range nodes {
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{nodetype.LabelGCPMachineFamily: family}}}
		if _, err := g.client.CoreV1().Nodes().Create(t.Context(), node, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	for _, account := range []string{"agent", "importer"} {
		g.account(t, account)
		g.grant(t, serviceAccount(account), "workload-resizer-agent", "")
	}
	g.serve(t, g.cluster.Config(), func(c *Config) { c.Benchmarks = m })
	g.Known(t)
	bound, free := g.podToken(t, "agent", "agent-x", "mine"), g.token(t, "importer", audience)

	review, err := g.client.AuthenticationV1().TokenReviews().Create(t.Context(), &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: bound, Audiences: []string{audience}}}, metav1.CreateOptions{})
	if err != nil || !cmp.Equal(review.Status.User.Extra["authentication.kubernetes.io/node-name"], authenticationv1.ExtraValue{"mine"}) {
		t.Fatalf("attributes of the token: %v, %v", review.Status.User.Extra, err)
	}

	client := workloadresizerv1.NewBenchmarkServiceClient(g.dial(t))
	of := func(id, node string) *workloadresizerv1.BenchmarkSample {
		s := servertest.Sampled(id, time.Hour)
		s.Benchmark = "bench-node:json"
		if s.Source = "importer-feed"; node != "" {
			s.NodeType, s.Node = "", node
		}
		return s
	}
	both := []*workloadresizerv1.BenchmarkSample{of("a", "mine"), of("b", "other"), of("c", ""), of("d", "gone")}
	g.awaitGrant(t, "the role", func() error {
		_, err := servertest.Ingest(bearing(t.Context(), bound), client, true)
		return err
	})
	response, err := servertest.Ingest(bearing(t.Context(), bound), client, false, both)
	if err != nil || response.GetStored() != 1 || response.GetRejected() != 3 {
		t.Fatalf("samples of the agent: %v, %v", response, err)
	}
	for i, node := range []string{"other", "", "gone"} {
		e := response.GetErrors()[i]
		want := fmt.Sprintf(`must be "mine", the node that your token is bound to, not %q`, node)
		if e.GetIndex() != int64(i+1) || e.GetCode() != workloadresizerv1.SampleErrorCode_SAMPLE_ERROR_CODE_NODE_NOT_YOURS || e.GetField() != "node" || e.GetMessage() != want {
			t.Errorf("sample of node %q: %v", node, e)
		}
	}
	if kept := m.Kept["n4 mine/a"]; kept.Source != "agent" || kept.Machine != "mine" {
		t.Errorf("kept %v", kept)
	}

	response, err = servertest.Ingest(bearing(t.Context(), free), client, false, both[1:])
	if err != nil || response.GetStored() != 2 || response.GetErrors()[0].GetCode() != workloadresizerv1.SampleErrorCode_SAMPLE_ERROR_CODE_NODE_UNKNOWN {
		t.Errorf("samples of a caller that is bound to no node: %v, %v", response, err)
	}
	if kept := m.Kept["n2d b"]; kept.Source != "importer-feed" || kept.Machine != "other" {
		t.Errorf("kept %v", kept)
	}

	_, err = client.ListBenchmarks(bearing(t.Context(), bound), &workloadresizerv1.ListBenchmarksRequest{})
	if got := refusal(err); got != "PermissionDenied NOT_AUTHORIZED" {
		t.Errorf("an agent that reads got %q", got)
	}
	if err := g.client.CoreV1().Pods("default").Delete(t.Context(), "agent-x", metav1.DeleteOptions{GracePeriodSeconds: new(int64)}); err != nil {
		t.Fatal(err)
	}
	localcluster.Eventually(t, "the token to expire with its pod", func() error {
		g.clock.SetTime(g.clock.Now().Add(11 * time.Second)) // The API server caches tokens, too.
		if _, err := servertest.Ingest(bearing(t.Context(), bound), client, true); refusal(err) != "Unauthenticated CREDENTIALS_INVALID" {
			return fmt.Errorf("got %w", err)
		}
		return nil
	})
}
