package plans

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"sigs.k8s.io/yaml"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

func TestPlan(t *testing.T) {
	server := cmdtest.Answering(cmdtest.EachDecision())
	address := server.Serve(t)
	ofPod := func(namespace, pod string) proto.Message {
		return &workloadresizerv1.PreviewPodRequest{Namespace: namespace, Pod: pod}
	}
	of := func(namespace string) proto.Message {
		return &workloadresizerv1.PreviewPlansRequest{Namespace: namespace}
	}
	for _, tc := range []struct {
		golden string
		args   []string
		asked  proto.Message
		code   int
	}{
		{"plan-resize.table", []string{"web-6d4cf56db6-x2x7p"}, ofPod("default", "web-6d4cf56db6-x2x7p"), command.ExitDifferences},
		{"plan-resize.wide", []string{"web-6d4cf56db6-x2x7p", "-o", "wide"}, ofPod("default", "web-6d4cf56db6-x2x7p"), command.ExitDifferences},
		{"plan-resize.json", []string{"web-6d4cf56db6-x2x7p", "-o", "json"}, ofPod("default", "web-6d4cf56db6-x2x7p"), command.ExitDifferences},
		{"plan-resize.yaml", []string{"web-6d4cf56db6-x2x7p", "-o", "yaml"}, ofPod("default", "web-6d4cf56db6-x2x7p"), command.ExitDifferences},
		{"plan-aligned.table", []string{"api-0"}, ofPod("default", "api-0"), command.ExitOK},
		{"plan-skip.table", []string{"bare"}, ofPod("default", "bare"), command.ExitOK},
		{"plan-skip.wide", []string{"-n", "shop", "cart-0", "-o", "wide"}, ofPod("shop", "cart-0"), command.ExitOK},
		{"plans.table", nil, of("default"), command.ExitDifferences},
		{"plans.table", []string{"--namespace", "shop"}, of("shop"), command.ExitDifferences},
		{"plans-all.table", []string{"-A"}, of(""), command.ExitDifferences},
		{"plans-all.table", []string{"-A", "-n", "shop"}, of(""), command.ExitDifferences},
		{"plans-all.wide", []string{"-A", "-o", "wide"}, of(""), command.ExitDifferences},
		{"plans.json", []string{"-A", "-o", "json"}, of(""), command.ExitDifferences},
		{"plans.yaml", []string{"-A", "-o", "yaml"}, of(""), command.ExitDifferences},
	} {
		t.Run(strings.Join(append([]string{"plan"}, tc.args...), " "), func(t *testing.T) {
			code, stdout, stderr := program.Shell(t.Context(), append([]string{"plan", "--server", address}, tc.args...)...)
			if code != tc.code || stderr != "" {
				t.Errorf("exit %d, want %d; stderr %q", code, tc.code, stderr)
			}
			if diff := cmp.Diff(tc.asked, server.LastRequest(), protocmp.Transform()); diff != "" {
				t.Errorf("wrong request (-want +got):\n%s", diff)
			}
			cmdtest.Golden(t, tc.golden, stdout)
		})
	}
}

func TestPlanRules(t *testing.T) {
	t.Run("shows where demand comes from if any rule applies usage", showsWhereDemandComesFrom)
	t.Run("shows who is evicted", showsWhoIsEvicted)
	t.Run("reports that no pods were found", reportsThatNoPodsWereFound)
	t.Run("fails if the stream ends early", failsIfTheStreamEndsEarly)
	t.Run("asks the API server on request", asksTheAPIServerOnRequest)
}

// following returns a plan whose sizes follow usage: of one container, as far as usage is known.
func following() *workloadresizerv1.Plan {
	const byAuthor, byUsage = workloadresizerv1.DemandSource_DEMAND_SOURCE_AUTHOR, workloadresizerv1.DemandSource_DEMAND_SOURCE_USAGE
	plan := cmdtest.OnN4("default", "web-6d4cf56db6-x2x7p", workloadresizerv1.Decision_DECISION_RESIZE)
	plan.Rule = "overrides[0] (web)"
	plan.Containers = []*workloadresizerv1.ContainerPlan{
		{
			Name: "app", Original: cmdtest.Resources("1", "1Gi", "2", "2Gi"), Current: cmdtest.Resources("800m", "1Gi", "1600m", "2Gi"), Desired: cmdtest.Resources("384m", "1Gi", "768m", "2Gi"),
			Demands: map[string]*workloadresizerv1.ResourceDemand{
				"cpu":    {Source: byUsage, Request: "480m", Lower: "300m", Upper: "900m", Revision: "00f3a91c5e7d2b46"},
				"memory": {Source: byUsage, Request: "900Mi", Lower: "700Mi", Upper: "3Gi", Revision: "9b1e02d7744ac05f", Message: "3 hours of memory known, and 24 hours needed (minHistory)"},
			},
		},
		{
			Name: "proxy", Original: cmdtest.Resources("100m", "", "", ""), Current: cmdtest.Resources("80m", "", "", ""), Desired: cmdtest.Resources("80m", "", "", ""),
			Demands: map[string]*workloadresizerv1.ResourceDemand{"cpu": {Source: byAuthor, Request: "100m", Message: "it is not known what the container needs"}},
		},
	}
	return plan
}

func showsWhereDemandComesFrom(t *testing.T) {
	summary := &workloadresizerv1.PlanSummary{Pods: 4, Resize: 1, Aligned: 1, Skip: 2}
	server := cmdtest.Answering(cmdtest.Plans(summary, cmdtest.Aligned(), cmdtest.Bare(), following(), cmdtest.Unsteady()))
	address := server.Serve(t)
	for golden, args := range map[string][]string{
		"plans-usage.table": {"-A"}, "plans-usage.wide": {"-A", "-o", "wide"}, "plan-usage.table": {following().GetPod()},
	} {
		code, stdout, stderr := program.Shell(t.Context(), append([]string{"plan", "--server", address}, args...)...)
		if code != command.ExitDifferences || stderr != "" {
			t.Errorf("exit %d, stderr %q", code, stderr)
		}
		cmdtest.Golden(t, golden, stdout)
	}
}

func showsWhoIsEvicted(t *testing.T) {
	stays, moves := cmdtest.Unsteady(), cmdtest.Aligned()
	stays.Eviction = "it is not evicted: PodDisruptionBudget cart allows no disruption; this is checked again at 2026-11-21T01:12:03Z"
	moves.Eviction = "it would be evicted, but the server runs with --dry-run"
	address := cmdtest.Answering(cmdtest.Plans(&workloadresizerv1.PlanSummary{Pods: 3, Aligned: 1, Skip: 2}, moves, cmdtest.Bare(), stays)).Serve(t)
	for golden, args := range map[string][]string{"plans-evicted.table": {"-A"}, "plan-evicted.table": {moves.GetPod()}} {
		code, stdout, stderr := program.Shell(t.Context(), append([]string{"plan", "--server", address}, args...)...)
		if code != command.ExitOK || stderr != "" {
			t.Errorf("exit %d, stderr %q", code, stderr)
		}
		cmdtest.Golden(t, golden, stdout)
	}
}

func reportsThatNoPodsWereFound(t *testing.T) {
	address := cmdtest.Answering(cmdtest.Plans(&workloadresizerv1.PlanSummary{})).Serve(t)
	for _, tc := range []struct {
		golden, stderr string
		args           []string
	}{
		{"plans-none.table", "no pods found in namespace shop\n", []string{"-n", "shop"}},
		{"plans-none.table", "no pods found\n", []string{"-A"}},
		{"plans-none.json", "no pods found\n", []string{"-A", "-o", "json"}},
		{"plans-none.yaml", "no pods found\n", []string{"-A", "-o", "yaml"}},
	} {
		code, stdout, stderr := program.Shell(t.Context(), append([]string{"plan", "--server", address}, tc.args...)...)
		if code != command.ExitOK || stderr != tc.stderr {
			t.Errorf("%q: exit %d, stderr %q; want %q", tc.args, code, stderr, tc.stderr)
		}
		cmdtest.Golden(t, tc.golden, stdout)
	}
}

// Output that is written one plan at a time must still be one document, and the same one in
// both formats.
// TestPlanDocumentsAreSorted checks that documents, too, which are printed as they arrive, have the order of --sort-by.
func TestPlanDocumentsAreSorted(t *testing.T) {
	address := cmdtest.Answering(cmdtest.EachDecision()).Serve(t)
	for _, output := range []string{"json", "yaml"} {
		code, stdout, stderr := program.Shell(t.Context(), "plan", "-A", "-o", output, "--sort-by", ".containers[0].desired.requests.cpu", "--server", address)
		var document struct{ Plans []struct{ Pod string } }
		if err := yaml.Unmarshal([]byte(stdout), &document); err != nil || code != command.ExitDifferences {
			t.Fatalf("-o %s: exit %d, %v, stderr %q", output, code, err, stderr)
		}
		var pods []string
		for _, plan := range document.Plans {
			pods = append(pods, plan.Pod)
		}
		if diff := cmp.Diff([]string{"bare", "api-0", "web-6d4cf56db6-x2x7p", "cart-0"}, pods); diff != "" {
			t.Errorf("-o %s: wrong order (-want +got):\n%s", output, diff)
		}
	}
}

func TestPlanDocumentsParse(t *testing.T) {
	address := cmdtest.Answering(cmdtest.EachDecision()).Serve(t)
	var fromJSON, fromYAML any
	_, stdout, _ := program.Shell(t.Context(), "plan", "-A", "-o", "json", "--server", address)
	if err := json.Unmarshal([]byte(stdout), &fromJSON); err != nil {
		t.Fatal(err)
	}
	_, stdout, _ = program.Shell(t.Context(), "plan", "-A", "-o", "yaml", "--server", address)
	if err := yaml.Unmarshal([]byte(stdout), &fromYAML); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(fromJSON, fromYAML); diff != "" {
		t.Errorf("the YAML differs (-json +yaml):\n%s", diff)
	}
}

// A script must not accept half an answer as a whole one.
func failsIfTheStreamEndsEarly(t *testing.T) {
	for _, tc := range []struct {
		name   string
		err    error
		plans  []*workloadresizerv1.Plan
		stderr string
	}{
		{"without a summary", nil, []*workloadresizerv1.Plan{cmdtest.Bare()},
			"ended early, after 1 pod, so it is not complete: the stream ended without its summary; run the command again\n"},
		{"with an error", cmdtest.WithReason(codes.Unavailable, "CACHE_NOT_READY", "the server is shutting down"), []*workloadresizerv1.Plan{cmdtest.Bare(), cmdtest.Aligned()},
			"ended early, after 2 pods, so it is not complete: the server is shutting down; run the command again\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			server := cmdtest.Answering(cmdtest.OnStream(func(_ context.Context, _ *workloadresizerv1.PreviewPlansRequest, send func(*workloadresizerv1.PreviewPlansResponse) error) error {
				for _, plan := range tc.plans {
					if err := send(cmdtest.PlanMessage(plan)); err != nil {
						return err
					}
				}
				return tc.err
			}))
			address := server.Serve(t)
			for _, output := range print.Formats {
				code, stdout, stderr := program.Shell(t.Context(), "plan", "-A", "-o", output, "--server", address)
				if want := "error: the answer from " + address + " " + tc.stderr; code != command.ExitError || stderr != want {
					t.Errorf("-o %s: exit %d, stderr %q; want %q", output, code, stderr, want)
				}
				switch output {
				case "json":
					if json.Valid([]byte(stdout)) || !strings.Contains(stdout, `"bare"`) {
						t.Errorf("-o json: want the pods so far, and an incomplete document:\n%s", stdout)
					}
				case "yaml":
					if strings.Contains(stdout, "summary:") || !strings.Contains(stdout, "pod: bare") {
						t.Errorf("-o yaml: want the pods so far, and no summary:\n%s", stdout)
					}
				default:
					if stdout != "" {
						t.Errorf("-o %s: want no table, got\n%s", output, stdout)
					}
				}
			}
		})
	}
}

func asksTheAPIServerOnRequest(t *testing.T) {
	server := cmdtest.Answering(cmdtest.EachDecision())
	address := server.Serve(t)
	for _, args := range [][]string{{"plan", "api-0"}, {"plan", "-A"}} {
		for _, serverSide := range []bool{true, false} {
			if serverSide {
				args = append(args, "--server-side-preview")
			} else {
				args = args[:2]
			}
			program.Shell(t.Context(), append(args, "--server", address)...)
			if got := server.LastRequest().(interface{ GetServerSide() bool }).GetServerSide(); got != serverSide {
				t.Errorf("%q requests %v", args, got)
			}
		}
	}
}
