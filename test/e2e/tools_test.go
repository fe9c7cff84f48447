package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

func get(t *testing.T, url string) (int, string) {
	t.Helper()
	response, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

func (c *cluster) grpcurl(t *testing.T) {
	s := c.servePlain(t)
	c.awaitSettled(t, s, ns)
	call := func(args ...string) string {
		t.Helper()
		code, out, errOut := run(t, "grpcurl", append([]string{"-plaintext"}, args...)...)
		if code != 0 {
			t.Fatalf("grpcurl %q exits with %d: %s", args, code, errOut)
		}
		return out
	}
	services := strings.Fields(call(s.GRPCAddress, "list"))
	for _, want := range []string{"workloadresizer.v1.RatioService", "workloadresizer.v1.PlanService", "grpc.health.v1.Health"} {
		if !slices.Contains(services, want) {
			t.Errorf("services %q lack %s", services, want)
		}
	}
	if got := call(s.GRPCAddress, "describe", "workloadresizer.v1.PlanService"); !strings.Contains(got, "rpc PreviewPod") {
		t.Errorf("described as %s", got)
	}
	localcluster.Eventually(t, "health to be SERVING", func() error {
		if got := call(s.GRPCAddress, "grpc.health.v1.Health/Check"); !strings.Contains(got, `"SERVING"`) {
			return fmt.Errorf("it is %s", got)
		}
		return nil
	})

	var ratio struct{ Ratio struct{ CPUFactor float64 } }
	decode(t, call("-d", `{"node_type": "n4"}`, s.GRPCAddress, "workloadresizer.v1.RatioService/GetRatio"), &ratio)
	if ratio.Ratio.CPUFactor != 0.8 {
		t.Errorf("GetRatio: %+v", ratio)
	}
	var ratios struct{ Ratios []struct{ NodeType string } }
	decode(t, call(s.GRPCAddress, "workloadresizer.v1.RatioService/ListRatios"), &ratios)
	if len(ratios.Ratios) != 3 {
		t.Errorf("ListRatios: %+v", ratios)
	}
	var preview struct {
		Plan struct{ Pod, Decision string }
	}
	decode(t, call("-d", `{"namespace": "samples", "pod": "db-0"}`, s.GRPCAddress, "workloadresizer.v1.PlanService/PreviewPod"), &preview)
	if preview.Plan.Pod != "db-0" || preview.Plan.Decision == "" {
		t.Errorf("PreviewPod: %+v", preview)
	}
	stream := json.NewDecoder(strings.NewReader(call("-d", `{"namespace": "samples"}`, s.GRPCAddress, "workloadresizer.v1.PlanService/PreviewPlans")))
	plans, summaries := 0, 0
	for {
		var message struct{ Plan, Summary map[string]any }
		if err := stream.Decode(&message); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if message.Plan != nil {
			plans++
		}
		if message.Summary != nil {
			summaries++
		}
	}
	if plans != samplePods || summaries != 1 {
		t.Errorf("PreviewPlans sent %d plans and %d summaries", plans, summaries)
	}
	code, _, errOut := run(t, "grpcurl", "-plaintext", "-d", `{"namespace": "samples", "pod": "nobody"}`, s.GRPCAddress, "workloadresizer.v1.PlanService/PreviewPod")
	if code == 0 || !strings.Contains(errOut, "NotFound") || !strings.Contains(errOut, "POD_NOT_FOUND") {
		t.Errorf("a pod that does not exist: exit code %d, %s", code, errOut)
	}
}

func decode(t *testing.T, text string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
}

func (c *cluster) resizectl(t *testing.T) {
	s := c.serveReady(t)
	c.awaitSettled(t, s, "") // "plan -A" is one of the commands.
	byOS := c.serveReady(t, "--dry-run", "--node-type-label", "kubernetes.io/os")
	byPool := c.serveReady(t, "--dry-run", "--node-type-label", "example.com/pool")
	for _, tc := range []struct {
		name   string
		server *server
		args   []string
		code   int
		want   []string
	}{
		{"ratios", s, []string{"ratios", "list"}, 0, []string{"n2d (baseline)", "n4", "0.8", "c3", "0.7692", "configmap"}},
		{"nothing to do", s, []string{"plan", "-n", ns}, 0, []string{"db-0", "postgres", "AlreadyAligned", "0 to resize"}},
		{"a skipped pod", s, []string{"plan", "-n", ns, "bare"}, 0, []string{"samples/bare is skipped: NotOwned: the pod has no controller"}},
		{"every namespace", s, []string{"plan", "-A"}, 0, []string{"NAMESPACE", "samples", "0 to resize"}},
		{"json", s, []string{"plan", "-n", ns, "-o", "json", "db-0"}, 0, []string{`"pod": "db-0"`, `"decision": "DECISION_`}},
		{"yaml", s, []string{"ratios", "list", "-o", "yaml"}, 0, []string{"baselineNodeType: n2d"}},
		{"another label", byOS, []string{"plan", "-n", ns, "db-0"}, 0, []string{"UnknownNodeType", `has type "linux" (label kubernetes.io/os)`}},
		{"a label that the nodes lack", byPool, []string{"plan", "-n", ns, "db-0"}, 0, []string{"NodeTypeUnlabelled", "does not have the label example.com/pool"}},
		{"a pod that does not exist", s, []string{"plan", "-n", ns, "nobody"}, 2, []string{`error: there is no pod "nobody" in namespace "samples"`}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			code, out, errOut := run(t, "resizectl", append(slices.Clone(tc.server.connection), tc.args...)...)
			if code != tc.code {
				t.Errorf("exit code %d, want %d", code, tc.code)
			}
			for _, want := range tc.want {
				if !strings.Contains(out+errOut, want) {
					t.Errorf("the output does not contain %q:\n%s%s", want, out, errOut)
				}
			}
		})
	}
	t.Run("differences give exit code 1", func(t *testing.T) {
		if err := s.Stop(); err != nil {
			t.Fatal(err)
		}
		c.apply(t, deployment("differences", "app"))
		c.awaitRunning(t, "differences", 1)
		other := c.serveReady(t, "--dry-run")
		code, out, errOut := run(t, "resizectl", append(slices.Clone(other.connection), "plan", "-n", "differences")...)
		if code != 1 || !strings.Contains(out, "100m → 80m") || !strings.Contains(out, "1 to resize") {
			t.Errorf("exit code %d:\n%s%s", code, out, errOut)
		}
	})
}
