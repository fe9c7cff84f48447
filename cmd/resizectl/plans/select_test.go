package plans

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

func TestSelect(t *testing.T) {
	t.Run("requests the selected pods", requestsTheSelectedPods)
	t.Run("says where it found nothing", saysWhereItFoundNothing)
	t.Run("fails if a workload has no pods", failsIfAWorkloadHasNoPods)
	t.Run("rejects invalid selections", rejectsInvalidSelections)
	t.Run("completes node types of flags", completesNodeTypesOfFlags)
}

func requestsTheSelectedPods(t *testing.T) {
	server := cmdtest.Answering(cmdtest.EachDecision())
	address := server.Serve(t)
	whatIf := &workloadresizerv1.WhatIf{
		Ratios: []*workloadresizerv1.AssumedRatio{{NodeType: "n4", CpuPerf: new(1.08), MemoryPerf: new(1.0)}, {NodeType: "c3", CpuPerf: new(1.3)}, {NodeType: "t2d", MemoryPerf: new(1.1)}},
	}
	for _, tc := range []struct {
		name  string
		args  []string
		asked proto.Message
	}{
		{"the pods of a workload", []string{"deploy/web", "-n", "shop"}, &workloadresizerv1.PreviewPlansRequest{
			Namespace: "shop", Workload: &workloadresizerv1.Workload{Kind: "Deployment", Name: "web"}}},
		{"a workload in two words", []string{"statefulset", "db"}, &workloadresizerv1.PreviewPlansRequest{
			Namespace: "default", Workload: &workloadresizerv1.Workload{Kind: "StatefulSet", Name: "db"}}},
		{"a pod with its type", []string{"pod/api-0", "-n", "shop"}, &workloadresizerv1.PreviewPodRequest{Namespace: "shop", Pod: "api-0"}},
		{"labels", []string{"-l", "app=web,tier!=cache"}, &workloadresizerv1.PreviewPlansRequest{Namespace: "default", LabelSelector: "app=web,tier!=cache"}},
		{"a node", []string{"-A", "--node", "node-1"}, &workloadresizerv1.PreviewPlansRequest{Node: "node-1"}},
		{"a node type", []string{"-A", "--node-type", "n4"}, &workloadresizerv1.PreviewPlansRequest{NodeType: "n4"}},
		{"a CPU model of a node type", []string{"-A", "--node-type", "e2@Intel-6-79"}, &workloadresizerv1.PreviewPlansRequest{NodeType: "e2@Intel-6-79"}},
		{"a ratio of a CPU model", []string{"--what-if-ratio", "e2@Intel-6-79=0.5/1"}, &workloadresizerv1.PreviewPlansRequest{Namespace: "default",
			WhatIf: &workloadresizerv1.WhatIf{Ratios: []*workloadresizerv1.AssumedRatio{{NodeType: "e2@Intel-6-79", CpuPerf: new(0.5), MemoryPerf: new(1.0)}}}}},
		{"other ratios", []string{"--what-if-ratio", "n4=1.08/1.0", "--what-if-ratio", "c3=1.3", "--what-if-ratio", "t2d=/1.1"},
			&workloadresizerv1.PreviewPlansRequest{Namespace: "default", WhatIf: whatIf}},
		{"another node type and baseline", []string{"api-0", "--what-if-node-type", "c3", "--what-if-baseline", "n4"}, &workloadresizerv1.PreviewPodRequest{
			Namespace: "default", Pod: "api-0", WhatIf: &workloadresizerv1.WhatIf{NodeType: "c3", BaselineNodeType: "n4"}}},
		{"another mode", []string{"--what-if-mode", "apply"}, &workloadresizerv1.PreviewPlansRequest{Namespace: "default", WhatIf: &workloadresizerv1.WhatIf{DemandMode: workloadresizerv1.DemandMode_DEMAND_MODE_APPLY}}},
		{"another mode of production", []string{"--what-if-production-mode", "apply"}, &workloadresizerv1.PreviewPlansRequest{Namespace: "default", WhatIf: &workloadresizerv1.WhatIf{ProductionMode: workloadresizerv1.BenchmarkMode_BENCHMARK_MODE_APPLY}}},
		{"other bounds", []string{"--what-if-min-cpu", "50m", "--what-if-max-memory", "0"}, &workloadresizerv1.PreviewPlansRequest{
			Namespace: "default", WhatIf: &workloadresizerv1.WhatIf{Bounds: &workloadresizerv1.Bounds{
				Cpu: &workloadresizerv1.QuantityRange{Min: "50m"}, Memory: &workloadresizerv1.QuantityRange{Max: "0"}}}}},
		{"a dry run of the API server", []string{"-A", "--server-side-preview"}, &workloadresizerv1.PreviewPlansRequest{ServerSide: true}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			code, _, stderr := program.Shell(t.Context(), append([]string{"plan", "--server", address}, tc.args...)...)
			if code == command.ExitError || stderr != "" {
				t.Errorf("exit %d, stderr %q", code, stderr)
			}
			if diff := cmp.Diff(tc.asked, server.LastRequest(), protocmp.Transform()); diff != "" {
				t.Errorf("wrong request (-want +got):\n%s", diff)
			}
		})
	}
}

func saysWhereItFoundNothing(t *testing.T) {
	address := cmdtest.Answering(cmdtest.Plans(&workloadresizerv1.PlanSummary{})).Serve(t)
	code, stdout, stderr := program.Shell(t.Context(), "plan", "deploy/web", "-l", "app=web", "--node", "node-1", "--node-type", "n4", "--server", address)
	if want := "no pods found in namespace default of deployment/web with labels app=web on node node-1 on nodes of type n4\n"; code != command.ExitOK || stderr != want {
		t.Errorf("exit %d, stdout %q, stderr %q; want %q", code, stdout, stderr, want)
	}
}

func failsIfAWorkloadHasNoPods(t *testing.T) {
	address := cmdtest.Answering(cmdtest.Plans(&workloadresizerv1.PlanSummary{})).Serve(t)
	code, _, stderr := program.Shell(t.Context(), "plan", "deploy/web", "-n", "shop", "--server", address)
	if want := "error: no pods found in namespace shop of deployment/web: check the name and the namespace, or whether it is scaled to zero\n"; code != command.ExitError || stderr != want {
		t.Errorf("exit %d, stderr %q; want %q", code, stderr, want)
	}
}

func rejectsInvalidSelections(t *testing.T) {
	const help = "; see \"resizectl plan --help\"\n"
	for _, tc := range []struct {
		name, want string
		args       []string
	}{
		{"a workload of all namespaces", "a deployment is in one namespace: name it with --namespace instead of --all-namespaces", []string{"deploy/web", "-A"}},
		{"an empty selector", "--selector is empty; omit it for all pods", []string{"-l", ""}},
		{"an empty node", "--node is empty; omit it for all pods", []string{"--node", ""}},
		{"an empty node type", "--node-type is empty; omit it for all pods", []string{"--node-type", ""}},
		{"a pod and a selector", "--selector, --node and --node-type cannot be combined with the name of a pod", []string{"web-0", "-l", "app=web"}},
		{"two node types", "--node-type accepts several types only for a manifest (-f); name one", []string{"--node-type", "n4,c3"}},
		{"a dry run of assumed sizes", "--server-side-preview asks about the ratios in effect: it cannot be combined with --what-if flags", []string{"--server-side-preview", "--what-if-ratio", "n4=1.1"}},
		{"a ratio without a value", `--what-if-ratio "n4": must be NODE_TYPE=CPU[/MEMORY], such as n4=1.08 or n4=1.08/1.0`, []string{"--what-if-ratio", "n4"}},
		{"a ratio without a node type", `--what-if-ratio "=1": must be NODE_TYPE=CPU[/MEMORY], such as n4=1.08 or n4=1.08/1.0`, []string{"--what-if-ratio", "=1"}},
		{"a ratio that is not a number", `--what-if-ratio "n4=fast": a performance must be a finite number above 0, not "fast"`, []string{"--what-if-ratio", "n4=fast"}},
		{"a ratio of 0", `--what-if-ratio "n4=1/0": a performance must be a finite number above 0, not "0"`, []string{"--what-if-ratio", "n4=1/0"}},
		{"an infinite ratio", `--what-if-ratio "n4=Inf": a performance must be a finite number above 0, not "Inf"`, []string{"--what-if-ratio", "n4=Inf"}},
		{"a bound that would take hours to read", `--what-if-min-cpu "1e-2147483647" is not a quantity, such as 50m or 64Mi`, []string{"--what-if-min-cpu", "1e-2147483647"}},
		{"a bound that is not a quantity", `--what-if-max-cpu "much" is not a quantity, such as 50m or 64Mi`, []string{"--what-if-max-cpu", "much"}},
		{"a configuration without a manifest", "--config requires a manifest: set it with -f FILE", []string{"--config", "config.yaml"}},
		{"a manifest and a pod", "name pods or a manifest (-f), not both", []string{"-f", "deploy.yaml", "web-0"}},
		{"a manifest and all namespaces", "--all-namespaces is for pods in the cluster, and cannot be combined with -f", []string{"-f", "deploy.yaml", "-A"}},
		{"kinds for a server", "--workload-kinds requires --config: a server plans the kinds of its own --workload-kinds", []string{"-f", "deploy.yaml", "--workload-kinds", "rollouts.argoproj.io"}},
		{"a kind instead of a resource", "--workload-kinds \"Rollout\" is not the lowercase plural of a kind, followed by its API group, such as rollouts.argoproj.io", []string{"-f", "deploy.yaml", "--config", "config.yaml", "--workload-kinds", "Rollout"}},
		{"a manifest and a node", "--node is for pods in the cluster, and cannot be combined with -f", []string{"-f", "deploy.yaml", "--node", "node-1"}},
		{"a manifest and an empty configuration", "--config is empty; omit it to use a server", []string{"-f", "deploy.yaml", "--config", ""}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			code, stdout, stderr := program.Shell(t.Context(), append([]string{"plan", "--server", "127.0.0.1:1"}, tc.args...)...)
			if want := "error: " + tc.want + help; code != command.ExitError || stdout != "" || stderr != want {
				t.Errorf("exit %d, stdout %q, stderr\n%swant\n%s", code, stdout, stderr, want)
			}
		})
	}
}

// Users make decisions based on the totals.
func TestPlanTotals(t *testing.T) {
	summary := &workloadresizerv1.PlanSummary{
		Pods: 4, Resize: 1, Aligned: 1, Skip: 2, RequestDelta: map[string]string{"cpu": "-210m", "memory": "2Gi"},
		Codes: map[string]int64{"NotOwned": 1, "InvalidAnnotation": 1, "AlreadyAligned": 3},
	}
	address := cmdtest.Answering(cmdtest.Plans(summary, cmdtest.Aligned(), cmdtest.Bare(), cmdtest.Web(), cmdtest.Unsteady())).Serve(t)
	for name, args := range map[string][]string{
		"plans-totals.table": nil,
		"plans-totals.color": {"--color", "always"},
		"plans-totals.wide":  {"-o", "wide"},
		"plans-totals.json":  {"-o", "json"},
		"plans-totals.yaml":  {"-o", "yaml"},
	} {
		t.Run(name, func(t *testing.T) {
			code, stdout, stderr := program.Shell(t.Context(), append([]string{"plan", "-A", "--server", address}, args...)...)
			if code != command.ExitDifferences || stderr != "" {
				t.Errorf("exit %d, stderr %q", code, stderr)
			}
			cmdtest.Golden(t, name, stdout)
		})
	}
	code, stdout, _ := program.Shell(t.Context(), "plan", "web-6d4cf56db6-x2x7p", "--color=always", "--server", address)
	if code != command.ExitDifferences || !strings.Contains(stdout, "\x1b[32m1 → 800m\x1b[0m") {
		t.Errorf("exit %d, one pod is not colored:\n%s", code, stdout)
	}
}

func completesNodeTypesOfFlags(t *testing.T) {
	address := cmdtest.Answering(cmdtest.Table(cmdtest.Overridden())).Serve(t)
	for _, tc := range []struct{ name, flag, typed, want string }{
		{"a single node type", "--what-if-node-type", "", "c3\t1.3/1 from configmap\nn2d\t1/1 from configmap\nn4\t1.08/1 from override\n:4\n"},
		{"the next of several", "--node-type", "n4,", "n4,c3\t1.3/1 from configmap\nn4,n2d\t1/1 from configmap\n:4\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if _, stdout, _ := program.Shell(t.Context(), "__complete", "plan", "--server", address, tc.flag, tc.typed); stdout != tc.want {
				t.Errorf("completed as %q, want %q", stdout, tc.want)
			}
		})
	}
}
