package nodes

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// plain returns a node of type n4 that has half its cpu and memory requested, as a server without sources of usage describes it.
func plain(name string) *workloadresizerv1.NodeSummary {
	return &workloadresizerv1.NodeSummary{
		Name: name, NodeType: "n4", CpuFactor: new(0.8), MemoryFactor: new(1.0), Pods: 4, Ready: true, CreateTime: timestamppb.New(cmdtest.Since),
		Resources: map[string]*workloadresizerv1.NodeShare{
			"cpu": {Allocatable: "15890m", Requested: "7945m"}, "memory": {Allocatable: "64Gi", Requested: "32Gi"},
		},
	}
}

// all returns nodes that are well, that lack something for what their pods share, of which something is wrong, and without pods.
func all() *workloadresizerv1.ListNodesResponse {
	shared, wrong, unknown, empty := plain("node-1"), plain("node-2"), plain("node-3"), plain("node-4")
	shared.Used = &workloadresizerv1.ResourceAmounts{Cpu: "4", Memory: "20000000000"}
	shared.Resources = map[string]*workloadresizerv1.NodeShare{
		"cpu":    {Allocatable: "16", Requested: "9200m", Steady: "6400m", Rest: "8", Reserve: "2", Share: 0.25},
		"memory": {Allocatable: "64Gi", Requested: "60Gi", Steady: "48Gi", Rest: "24Gi", Reserve: "18Gi", Lacks: "2Gi", Share: 0.75},
	}
	wrong.Ready, wrong.Unschedulable, wrong.Used, wrong.UnknownPods = false, true, &workloadresizerv1.ResourceAmounts{Cpu: "14", Memory: "16Gi"}, 1
	wrong.Overload = "node-2 is overloaded, and has the taint a:PreferNoSchedule,\x1b[31m so new pods start elsewhere if they can"
	unknown.NodeType, unknown.CpuFactor, unknown.MemoryFactor, unknown.Overload = "", nil, nil, wrong.GetOverload()
	unknown.Used, unknown.UnknownPods = &workloadresizerv1.ResourceAmounts{Cpu: "0", Memory: "0"}, 4
	empty.Pods, empty.Used = 0, &workloadresizerv1.ResourceAmounts{Cpu: "0", Memory: "0"}
	empty.Resources = map[string]*workloadresizerv1.NodeShare{"cpu": {Allocatable: "0", Requested: "0", Steady: "0", Rest: "0", Reserve: "0"}, "memory": {Allocatable: "0", Requested: "0", Steady: "0", Rest: "0", Reserve: "0"}}
	return &workloadresizerv1.ListNodesResponse{Nodes: []*workloadresizerv1.NodeSummary{shared, wrong, unknown, empty}}
}

func TestList(t *testing.T) {
	t.Run("prints what was asked for", printsWhatWasAskedFor)
	t.Run("has no columns of what nobody measures", hasNoColumnsOfWhatNobodyMeasures)
	t.Run("asks for the nodes of a type", asksForTheNodesOfAType)
	t.Run("says that nothing was found", saysThatNothingWasFound)
}

func printsWhatWasAskedFor(t *testing.T) {
	address := cmdtest.Answering(cmdtest.Pages(2, all())).Serve(t)
	for _, tc := range []struct {
		golden string
		args   []string
	}{
		{"nodes.table", nil},
		{"nodes.wide", []string{"-o", "wide"}},
		{"nodes.color", []string{"--color", "always"}},
		{"nodes.json", []string{"-o", "json"}},
		{"nodes.yaml", []string{"-o", "yaml"}},
		{"nodes.name", []string{"-o", "name"}},
		{"nodes-sorted.table", []string{"--sort-by", ".resources.cpu.requested"}},
	} {
		t.Run(tc.golden, func(t *testing.T) {
			code, stdout, stderr := program.Shell(t.Context(), append([]string{"nodes", "list", "--server", address}, tc.args...)...)
			if code != command.ExitOK || stderr != "" {
				t.Errorf("exit %d, stderr %q", code, stderr)
			}
			cmdtest.Golden(t, tc.golden, stdout)
		})
	}
}

func hasNoColumnsOfWhatNobodyMeasures(t *testing.T) {
	address := cmdtest.Answering(cmdtest.Returns(&workloadresizerv1.ListNodesResponse{Nodes: []*workloadresizerv1.NodeSummary{plain("a")}})).Serve(t)
	const want = "NAME   STATUS   TYPE   FACTOR   PODS   CPU           MEMORY        AGE\n" +
		"a      Ready    n4     0.8/1    4      50% of 15.9   50% of 64Gi   5h\n"
	if _, stdout, stderr := program.Shell(t.Context(), "nodes", "list", "--server", address); stdout != want || stderr != "" {
		t.Errorf("stdout\n%s\nwant\n%s\nstderr %q", stdout, want, stderr)
	}
}

func asksForTheNodesOfAType(t *testing.T) {
	server := cmdtest.Answering()
	address := server.Serve(t)
	code, stdout, stderr := program.Shell(t.Context(), "nodes", "list", "--node-type", "n4", "--server", address)
	if code != command.ExitOK || stdout != "" || stderr != "no nodes found of type n4\n" {
		t.Errorf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
	}
	if diff := cmp.Diff(proto.Message(&workloadresizerv1.ListNodesRequest{NodeType: "n4"}), server.LastRequest(), protocmp.Transform()); diff != "" {
		t.Errorf("wrong request (-want +got):\n%s", diff)
	}
	if code, stdout, stderr := program.Shell(t.Context(), "nodes", "list", "--node-type", "", "--server", address); code != command.ExitError || stdout != "" || !strings.Contains(stderr, "--node-type is empty") {
		t.Errorf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
	}
}

func saysThatNothingWasFound(t *testing.T) {
	address := cmdtest.Answering().Serve(t)
	if code, stdout, stderr := program.Shell(t.Context(), "nodes", "list", "--server", address); code != command.ExitOK || stdout != "" || stderr != "no nodes found\n" {
		t.Errorf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
	}
}
