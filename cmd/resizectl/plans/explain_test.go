package plans

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// explained returns the explanation of a plan of the fixtures, for which other sources contradict the ratio.
func explained(plan *workloadresizerv1.Plan) *workloadresizerv1.Explanation {
	e := cmdtest.Explained(plan)
	if n4 := e.GetRatio(); n4.GetNodeType() == "n4" {
		n4.Provenance = &workloadresizerv1.Provenance{Source: "override", Author: "ann", Reason: "the encoder is slower", UpdateTime: timestamppb.New(cmdtest.Since)}
		n4.ExpireTime = timestamppb.New(cmdtest.Since.Add(24 * time.Hour))
		n4.Candidates = []*workloadresizerv1.RatioCandidate{
			{CpuPerf: 1.25, MemoryPerf: 1, Provenance: n4.GetProvenance()},
			{CpuPerf: 1.08, MemoryPerf: 1, Provenance: &workloadresizerv1.Provenance{Source: "configmap"}},
		}
	}
	return e
}

// previews answers previews of many pods with messages.
func previews(messages func(*workloadresizerv1.PreviewPlansRequest) []*workloadresizerv1.PreviewPlansResponse) cmdtest.Script {
	return cmdtest.OnStream(func(_ context.Context, req *workloadresizerv1.PreviewPlansRequest, send func(*workloadresizerv1.PreviewPlansResponse) error) error {
		for _, message := range messages(req) {
			if err := send(message); err != nil {
				return err
			}
		}
		return nil
	})
}

func hold(kind workloadresizerv1.HoldKind, scope *workloadresizerv1.HoldScope) *workloadresizerv1.Hold {
	return cmdtest.Stored(kind, scope, "moving", nil)
}

func TestExplain(t *testing.T) {
	const pause, restore = workloadresizerv1.HoldKind_HOLD_KIND_PAUSE, workloadresizerv1.HoldKind_HOLD_KIND_RESTORE
	resize := func() (*workloadresizerv1.Explanation, string) {
		return explained(cmdtest.Web()), "web-6d4cf56db6-x2x7p"
	}

	for _, tc := range []struct {
		golden string
		e      func() (e *workloadresizerv1.Explanation, pod string)
		args   []string
	}{
		{"explain-resize.table", resize, nil},
		{"explain-resize.table", resize, []string{"-o", "wide"}},
		{"explain-resize.color", resize, []string{"--color=always"}},
		{"explain-resize.json", resize, []string{"-o", "json"}},
		{"explain-resize.yaml", resize, []string{"-o", "yaml"}},
		{"explain-usage.table", func() (*workloadresizerv1.Explanation, string) {
			s := explained(following())
			sized := cmdtest.Sized("default", "web-6d4cf56db6-x2x7p", workloadresizerv1.ResizeState_RESIZE_STATE_ACTUATED, "")
			sized.Containers[0].Demands = map[string]string{"cpu": "1", "memory": "1Gi"}
			s.Resize = sized
			return s, "web-6d4cf56db6-x2x7p"
		}, nil},
		{"explain-usage-other.table", func() (*workloadresizerv1.Explanation, string) {
			plan := following()
			app := plan.GetContainers()[0]
			app.Current, app.Desired = cmdtest.Resources("1", "2Gi", "2", "4Gi"), cmdtest.Resources("800m", "2Gi", "1600m", "4Gi")
			proxy := plan.GetContainers()[1]
			proxy.Current, proxy.Desired = cmdtest.Resources("60m", "", "", ""), cmdtest.Resources("60m", "", "", "")
			app.GetDemands()["cpu"].Message, app.GetDemands()["memory"].Message = "10 minutes of CPU known, and 24 hours needed (minHistory)", ""
			return explained(plan), "web-6d4cf56db6-x2x7p"
		}, nil},
		{"explain-shared.table", func() (*workloadresizerv1.Explanation, string) {
			plan := following()
			plan.GetContainers()[0].GetDemands()["cpu"].Shared = &workloadresizerv1.SharedDemand{Steady: "600m", Peak: "1400m", Share: 0.25}
			s := explained(plan)
			s.Shares = map[string]*workloadresizerv1.NodeShare{
				"cpu":    {Allocatable: "16", Requested: "9200m", Steady: "6400m", Rest: "8", Reserve: "2", Share: 0.25},
				"memory": {Allocatable: "64Gi", Requested: "60Gi", Steady: "48Gi", Rest: "24Gi", Reserve: "18Gi", Share: 0.75, Lacks: "2Gi"},
			}
			return s, "web-6d4cf56db6-x2x7p"
		}, nil},
		{"explain-would-share.table", func() (*workloadresizerv1.Explanation, string) {
			s := explained(cmdtest.Web())
			s.Shares = map[string]*workloadresizerv1.NodeShare{
				"cpu": {Allocatable: "16", Requested: "9200m", Steady: "6400m", Rest: "8", Reserve: "2", Share: 0.25, Assumed: true},
			}
			return s, "web-6d4cf56db6-x2x7p"
		}, nil},
		{"explain-waiting.table", func() (*workloadresizerv1.Explanation, string) {
			plan := cmdtest.Web()
			plan.Reasons = []*workloadresizerv1.PlanReason{{Code: "WaitingForTurn", Message: "pods that can wait are resized at 20 per second (pace.resizesPerSecond)"}}
			s := explained(plan)
			s.ReplanTime = timestamppb.New(time.Date(2026, 11, 21, 1, 2, 10, 0, time.UTC))
			return s, "web-6d4cf56db6-x2x7p"
		}, nil},
		{"explain-reverted.table", func() (*workloadresizerv1.Explanation, string) {
			plan := cmdtest.Aligned()
			has := cmdtest.Resources("1", "1Gi", "", "1Gi")
			plan.Containers = []*workloadresizerv1.ContainerPlan{{Name: "app", Original: has, Current: has, Desired: has}}
			plan.Reasons = []*workloadresizerv1.PlanReason{{Code: "Reverted", Message: "container app: cpu stays 1 instead of 800m until its desired size changes: failed and restarted 2 times since the resize (0 → 2) (Restarts)"}}
			s := explained(plan)
			s.Resize = cmdtest.Sized("default", "api-0", workloadresizerv1.ResizeState_RESIZE_STATE_ACTUATED, "")
			return s, "api-0"
		}, nil},
		{"explain-aligned.table", func() (*workloadresizerv1.Explanation, string) {
			s := explained(cmdtest.Aligned())
			s.Resize = cmdtest.Sized("default", "api-0", workloadresizerv1.ResizeState_RESIZE_STATE_DEFERRED, "Node didn't have enough resource: memory")
			s.Eviction = "it may be evicted from 2026-11-21T01:12:03Z on, if its node still has no room for it and another node has"
			s.Overload = "node-1 is overloaded, and has the taint workload-resizer.io/overloaded:PreferNoSchedule since 2026-11-21T01:00:03Z, so new pods start elsewhere if they can"
			return s, "api-0"
		}, nil},
		{"explain-aligned.json", func() (*workloadresizerv1.Explanation, string) {
			s := explained(cmdtest.Aligned())
			s.Resize = cmdtest.Sized("default", "api-0", workloadresizerv1.ResizeState_RESIZE_STATE_ACTUATED, "")
			s.Resize.Workload, s.Resize.Containers[0].Actual = nil, nil
			s.Holds = []*workloadresizerv1.Hold{hold(pause, cmdtest.Everything)}
			return s, "api-0"
		}, []string{"-o", "json"}},
		{"explain-skip.table", func() (*workloadresizerv1.Explanation, string) { return explained(cmdtest.Bare()), "bare" }, nil},
		{"explain-unknown.table", func() (*workloadresizerv1.Explanation, string) {
			plan := cmdtest.Bare()
			plan.NodeType, plan.NodeTypeLabel, plan.BaselineNodeType = "t2d", "cloud.google.com/machine-family", "n2d"
			plan.Reasons = []*workloadresizerv1.PlanReason{{Code: "UnknownNodeType", Message: "node node-1 is of type \"t2d\", which has no ratio"}}
			plan.Containers = cmdtest.Aligned().GetContainers()
			return explained(plan), "bare"
		}, nil},
		{"explain-unscheduled.table", func() (*workloadresizerv1.Explanation, string) {
			plan := cmdtest.Bare()
			plan.Node, plan.Reasons = "", []*workloadresizerv1.PlanReason{{Code: "NotScheduled"}}
			return explained(plan), "bare"
		}, nil},
		{"explain-kept.table", func() (*workloadresizerv1.Explanation, string) {
			// A vetoed resource stays, and a container without requests is not sized.
			plan := cmdtest.Aligned()
			kept := cmdtest.Resources("1", "1Gi", "2", "")
			plan.Containers = []*workloadresizerv1.ContainerPlan{
				{Name: "app", Original: kept, Current: kept, Desired: kept},
				{Name: "proxy", Sidecar: true},
			}
			plan.Reasons = []*workloadresizerv1.PlanReason{{Code: "RestartRequired", Message: "container app: cpu stays because its resizePolicy is RestartContainer"}}
			s := explained(plan)
			s.Steps = append([]*workloadresizerv1.SizeStep{cmdtest.Step("app", "cpu", "scale", "800m", "1600m", workloadresizerv1.SizeCause_SIZE_CAUSE_RATIO)}, s.Steps...)
			s.Steps[1].Stage, s.Steps[1].Cause = "fit", workloadresizerv1.SizeCause_SIZE_CAUSE_KEPT
			s.Resize = cmdtest.Sized("default", "api-0", workloadresizerv1.ResizeState_RESIZE_STATE_ACTUATED, "")
			return s, "api-0"
		}, nil},
		{"explain-external.table", func() (*workloadresizerv1.Explanation, string) {
			plan := cmdtest.OnN4("default", "api-0", workloadresizerv1.Decision_DECISION_SKIP)
			has := cmdtest.Resources("400m", "300Mi", "400m", "300Mi")
			plan.Containers = []*workloadresizerv1.ContainerPlan{{Name: "api", Original: cmdtest.Resources("500m", "256Mi", "500m", "256Mi"), Current: has, Desired: has}}
			plan.Reasons = []*workloadresizerv1.PlanReason{{Code: "ExternallyResized", Message: "container api: memory stays as ann set it"}}
			return explained(plan), "api-0"
		}, nil},
		{"explain-part.table", func() (*workloadresizerv1.Explanation, string) {
			// One resource is sized, one is not; the pod has no type that it is sized for.
			plan := cmdtest.OnN4("default", "api-0", workloadresizerv1.Decision_DECISION_SKIP)
			plan.MemoryFactor = new(2.0)
			has := cmdtest.Resources("800m", "2Gi", "1600m", "3Gi")
			plan.Containers = []*workloadresizerv1.ContainerPlan{{Name: "api", Original: cmdtest.Resources("1", "2Gi", "2", "3Gi"), Current: has, Desired: has}}
			plan.Reasons = []*workloadresizerv1.PlanReason{{Code: "LimitRangeViolation", Message: "LimitRange most: container api: maximum memory usage per Container is 3Gi, but limit is 6Gi"}}
			s := explained(plan)
			s.Ratio.MemoryPerf = 0.5
			s.Resize = cmdtest.PartlySized("default", "api-0")
			return s, "api-0"
		}, nil},
		{"explain-failed.table", func() (*workloadresizerv1.Explanation, string) {
			plan := cmdtest.OnN4("default", "api-0", workloadresizerv1.Decision_DECISION_SKIP)
			has := cmdtest.Resources("450m", "64Mi", "", "")
			plan.Containers = []*workloadresizerv1.ContainerPlan{{Name: "api", Original: cmdtest.Resources("500m", "64Mi", "", ""), Current: has, Desired: has}}
			plan.Reasons = []*workloadresizerv1.PlanReason{{Code: "ResizeFailed", Message: "resize: an admission policy or webhook changes it: container api: cpu request is 450m instead of 400m"}}
			return explained(plan), "api-0"
		}, nil},
		{"explain-rule.table", func() (*workloadresizerv1.Explanation, string) {
			plan := cmdtest.Unsteady()
			plan.Rule, plan.BaselineNodeType, plan.CpuFactor = "overrides[0] (critical)", "c3", new(1.04)
			s := explained(plan)
			s.Bounds = &workloadresizerv1.Bounds{Cpu: &workloadresizerv1.QuantityRange{Min: "50m", Max: "800m"}}
			s.Steps[0].Clamped = true
			return s, "cart-0"
		}, nil},
		{"explain-held.table", func() (*workloadresizerv1.Explanation, string) {
			plan := cmdtest.Unsteady()
			plan.Containers[0].Desired = plan.Containers[0].Original
			plan.Reasons = []*workloadresizerv1.PlanReason{{Code: "Restored", Message: "the pod has its originals and keeps them"}}
			s := explained(plan)
			s.Holds = []*workloadresizerv1.Hold{hold(restore, cmdtest.Shop), hold(pause, cmdtest.Cart), hold(pause, cmdtest.Carts), hold(pause, cmdtest.Everything)}
			s.Steps = []*workloadresizerv1.SizeStep{cmdtest.Step("cart", "cpu", "originals", "1", "", workloadresizerv1.SizeCause_SIZE_CAUSE_RESTORE)}
			s.PlanWithoutHolds = cmdtest.Unsteady()
			return s, "cart-0"
		}, []string{"-n", "shop"}},
		{"explain-degraded.table", func() (*workloadresizerv1.Explanation, string) { return degraded(), "api-0" }, nil},
		{"explain-paused.table", func() (*workloadresizerv1.Explanation, string) { return paused(), "api-0" }, nil},
		{"explain-paused.json", func() (*workloadresizerv1.Explanation, string) { return paused(), "api-0" }, []string{"-o", "json"}},
		{"explain-source.table", func() (*workloadresizerv1.Explanation, string) {
			s := explained(cmdtest.Aligned())
			s.Sources = []*workloadresizerv1.RatioSource{
				{Name: "override", Healthy: true},
				{Name: "configmap", Message: "config.yaml: line 3: cpuPerf: must be above 0", LastGoodTime: timestamppb.New(cmdtest.Since)},
			}
			return s, "api-0"
		}, nil},
		{"explain-refused.table", func() (*workloadresizerv1.Explanation, string) { return refusing(), "web-6d4cf56db6-x2x7p" }, nil},
		{"explain-refused.json", func() (*workloadresizerv1.Explanation, string) { return refusing(), "web-6d4cf56db6-x2x7p" }, []string{"-o", "json"}},
	} {
		t.Run(tc.golden, func(t *testing.T) {
			e, pod := tc.e()
			code, stdout, stderr := program.Shell(t.Context(), append([]string{"explain", pod, "--server", cmdtest.Answering(cmdtest.Explains(e)).Serve(t)}, tc.args...)...)
			if code != command.ExitOK || stderr != "" {
				t.Errorf("exit %d, stderr %q", code, stderr)
			}
			cmdtest.Golden(t, tc.golden, stdout)
		})
	}
}

// paused returns a pod that a pause of its namespace covers.
func paused() *workloadresizerv1.Explanation {
	plan := cmdtest.Aligned()
	plan.Decision = workloadresizerv1.Decision_DECISION_SKIP
	plan.Reasons = []*workloadresizerv1.PlanReason{{Code: "Paused", Message: "the pause of namespace default began at 2026-11-21T01:02:03Z: moving"}}
	s := explained(plan)
	s.Holds = []*workloadresizerv1.Hold{hold(workloadresizerv1.HoldKind_HOLD_KIND_PAUSE, cmdtest.NamespaceScope("default"))}
	s.PlanWithoutHolds = cmdtest.Web()
	return s
}

// degraded returns a pod that the breaker of the cluster covers.
func degraded() *workloadresizerv1.Explanation {
	plan := cmdtest.Aligned()
	plan.Decision = workloadresizerv1.Decision_DECISION_SKIP
	plan.Reasons = []*workloadresizerv1.PlanReason{{Code: "Degraded", Message: "the breaker of all pods opened at 2026-11-21T01:02:03Z: moving"}}
	s := explained(plan)
	s.Holds = []*workloadresizerv1.Hold{hold(workloadresizerv1.HoldKind_HOLD_KIND_BREAKER, cmdtest.Everything)}
	s.PlanWithoutHolds = cmdtest.Web()
	return s
}

// refusing returns what a server explains to a caller that may see only the plan.
func refusing() *workloadresizerv1.Explanation {
	e := cmdtest.Explained(cmdtest.Web())
	e.Ratio, e.Baseline, e.Bounds, e.Sources = nil, nil, nil, nil
	e.Unknown = map[string]string{"ratio": "ann may not get ratios", "resize": "ann may not get resizes", "holds": "the holds are not read yet"}
	return e
}

func TestExplainRules(t *testing.T) {
	t.Run("rejects anything but a single pod", rejectsAnythingButASinglePod)
	t.Run("explains one of the pods with labels", explainsOneOfThePodsWithLabels)
}

func rejectsAnythingButASinglePod(t *testing.T) {
	address := cmdtest.Answering(cmdtest.On(func(req *workloadresizerv1.ExplainPodRequest) (*workloadresizerv1.ExplainPodResponse, error) {
		if req.GetWorkload() != nil {
			return nil, cmdtest.WithReason(codes.NotFound, "POD_NOT_FOUND", "no pods found: check the name")
		}
		return nil, status.Error(codes.NotFound, "there is no such pod")
	})).Serve(t)
	for _, tc := range []struct {
		name, want string
		args       []string
	}{
		{"a missing pod", "there is no such pod\n", []string{"gone"}},
		{"a workload without pods", "no pods found: check the name\n", []string{"deploy/gone"}},
		{"an empty name", "the name of the pod in \"\" is empty: name one POD, TYPE/NAME or TYPE NAME; see \"resizectl explain --help\"\n", []string{""}},
		{"an empty namespace", "the namespace is empty; omit --namespace for the default one; see \"resizectl explain --help\"\n", []string{"web", "-n", ""}},
		{"two pods", "\"a\" and \"b\" are two pods: name one of them, or a workload, such as deployment/web" + "; see \"resizectl explain --help\"\n", []string{"a", "b"}},
		{"a missing pod in two words", "there is no such pod\n", []string{"pod", "gone"}},
		{"no name", "name the pod: resizectl explain POD; see \"resizectl explain --help\"\n", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			code, stdout, stderr := program.Shell(t.Context(), append([]string{"explain", "--server", address}, tc.args...)...)
			if code != command.ExitError || stdout != "" || stderr != "error: "+tc.want {
				t.Errorf("exit %d, stdout %q, stderr %q; want %q", code, stdout, stderr, tc.want)
			}
		})
	}
}

// As in "kubectl logs", a workload stands for one of its pods.
func TestExplainWorkload(t *testing.T) {
	address := cmdtest.Answering(cmdtest.EachDecision()).Serve(t)
	code, stdout, stderr := program.Shell(t.Context(), "explain", "shop/deployment/web", "--server", address)
	if code != command.ExitOK || !strings.Contains(stdout, "default/api-0 runs on node-1") || stderr != "note: deployment/web has 4 pods, this is pod/api-0\n" {
		t.Errorf("exit %d, stdout\n%s\nstderr %q", code, stdout, stderr)
	}
}

func explainsOneOfThePodsWithLabels(t *testing.T) {
	e := cmdtest.Explained(cmdtest.Aligned())
	e.Pods = 2
	server := cmdtest.Answering(cmdtest.Explains(e))
	code, stdout, stderr := program.Shell(t.Context(), "explain", "-l", "app=api", "--server", server.Serve(t))
	if code != command.ExitOK || !strings.Contains(stdout, " 1. Node: default/api-0 runs on") || stderr != "note: app=api has 2 pods, this is pod/api-0\n" {
		t.Errorf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
	}
	if diff := cmp.Diff(&workloadresizerv1.ExplainPodRequest{Namespace: "default", LabelSelector: "app=api"}, server.LastRequest(), protocmp.Transform()); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
}
