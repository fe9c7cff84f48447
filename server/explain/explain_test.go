package explain

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/policy/keys"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler"
	"github.com/workload-resizer/workload-resizer/reconciler/clustertest"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/demand"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
	"github.com/workload-resizer/workload-resizer/server/access"
	rpcerror "github.com/workload-resizer/workload-resizer/server/errors"
	ratioservice "github.com/workload-resizer/workload-resizer/server/ratios"
	"github.com/workload-resizer/workload-resizer/server/servertest"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
	"github.com/workload-resizer/workload-resizer/usage"
	"github.com/workload-resizer/workload-resizer/usage/history"
	"github.com/workload-resizer/workload-resizer/usage/push"
)

// may lets callers have all rights but those on some resources.
type may []string

func (m may) Require(_ context.Context, right access.Right, _ string) error {
	if slices.Contains(m, right.Resource) {
		return rpcerror.New(rpcerror.NotAuthorized, "you cannot "+right.String())
	}
	return nil
}

// explains starts an ExplainService for the namespaces shop and bank, with some holds.
func explains(t *testing.T, viewer access.Viewer, rights access.Rights, holds ...hold.Hold) workloadresizerv1.ExplainServiceClient {
	t.Helper()
	pods, nodes := servertest.ShopPods()
	for i := range nodes {
		nodes[i].Spec.Taints = []corev1.Taint{{Key: "busy", Value: contract.OverloadMark, Effect: corev1.TaintEffectNoSchedule}}
	}
	p := servertest.Start(t, servertest.Setup{Cluster: servertest.Frozen(t, pods, nodes), Loop: func(c *reconciler.Config) {
		servertest.DryRun(c)
		c.Holds = clustertest.Holding(holds...)
	}}).Known(t)
	service := New(Config{Reconciler: p.Loop, Ratios: ratioservice.New(ratioservice.Config{Store: p.Store, Viewer: viewer}), Viewer: viewer, Rights: rights})
	return workloadresizerv1.NewExplainServiceClient(servertest.Connect(t, service))
}

func explain(t *testing.T, client workloadresizerv1.ExplainServiceClient, request *workloadresizerv1.ExplainPodRequest) *workloadresizerv1.Explanation {
	t.Helper()
	response, err := client.ExplainPod(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	return response.GetExplanation()
}

func TestExplainPod(t *testing.T) {
	webY := &workloadresizerv1.ExplainPodRequest{Namespace: "shop", Pod: "web-y"}
	t.Run("returns the plan, its steps, and the ratios that apply", func(t *testing.T) {
		e := explain(t, explains(t, servertest.All, may{}), webY)
		if e.GetPods() != 1 || e.GetPlan().GetDecision() != workloadresizerv1.Decision_DECISION_RESIZE || e.GetPlan().GetContainers()[0].GetDesired().GetRequests()["cpu"] != "800m" {
			t.Errorf("got %v", e.GetPlan())
		}
		var steps []string
		for _, s := range e.GetSteps() {
			steps = append(steps, strings.Join([]string{s.GetStage(), s.GetContainer(), s.GetResource(), s.GetRequest(), s.GetLimit(), s.GetCause().String()}, " "))
		}
		if want := []string{"scale app cpu 800m 1600m SIZE_CAUSE_RATIO", "scale app memory 1Gi 1Gi SIZE_CAUSE_RATIO"}; !slices.Equal(steps, want) {
			t.Errorf("got the steps %q, want %q", steps, want)
		}
		if e.GetRatio().GetCpuPerf() != 1.25 || e.GetRatio().GetCandidates()[0].GetProvenance().GetAuthor() != "kubectl" || !e.GetBaseline().GetBaseline() ||
			e.GetBounds().GetCpu().GetMax() != "16" || !e.GetSources()[0].GetHealthy() {
			t.Errorf("got %v, %v, %v, %v", e.GetRatio(), e.GetBaseline(), e.GetBounds(), e.GetSources())
		}
		if want := e.GetPlan().GetNode() + " is overloaded, and has the taint busy:NoSchedule, so new pods start elsewhere if they can"; e.GetOverload() != want {
			t.Errorf("got %q, want %q", e.GetOverload(), want)
		}
		if e.GetResize() != nil || e.GetFreeze() != nil || len(e.GetHolds())+len(e.GetUnknown())+len(e.GetRemedies()) > 0 || e.GetPlanWithoutHolds() != nil {
			t.Errorf("got %v", e)
		}
	})
	t.Run("names the top owner, if there is one", func(t *testing.T) {
		client := explains(t, servertest.All, may{})
		if w := explain(t, client, webY).GetWorkload(); w.GetKind() != "Deployment" || w.GetName() != "web" {
			t.Errorf("got the workload %v", w)
		}
		if e := explain(t, client, &workloadresizerv1.ExplainPodRequest{Namespace: "shop", Pod: "bare"}); e.GetPlan().GetPod() != "bare" || e.Workload != nil {
			t.Errorf("got the workload %v of a pod without owners", e.GetWorkload())
		}
	})
	t.Run("explains the first pod of a workload, or with labels", func(t *testing.T) {
		client := explains(t, servertest.All, may{})
		for _, request := range []*workloadresizerv1.ExplainPodRequest{
			{Namespace: "shop", Workload: &workloadresizerv1.Workload{Kind: "ReplicaSet", Name: "web-1"}}, {Namespace: "shop", LabelSelector: "app=web"},
		} {
			if e := explain(t, client, request); e.GetPods() != 2 || e.GetPlan().GetPod() != "web-x" {
				t.Errorf("%v: got %s of %d pods", request, e.GetPlan().GetPod(), e.GetPods())
			}
		}
	})
	t.Run("returns the holds by precedence, and what to do", func(t *testing.T) {
		client := explains(t, servertest.All, may{}, hold.Hold{Kind: hold.Pause, Scope: hold.Scope{}}, hold.Hold{Kind: hold.Pause, Scope: hold.Scope{Namespace: "bank"}},
			hold.Hold{Kind: hold.Pause, Scope: hold.Scope{Namespace: "shop", Workload: workload.Workload{Kind: "ReplicaSet", Name: "web-1"}}, Author: "ann"})
		e := explain(t, client, webY)
		if len(e.GetHolds()) != 2 || e.GetHolds()[0].GetAuthor() != "ann" || e.GetHolds()[0].GetScope().GetWorkload().GetName() != "web-1" {
			t.Errorf("got the holds %v", e.GetHolds())
		}
		if e.GetPlan().GetReasons()[0].GetCode() != "Paused" || e.GetPlanWithoutHolds().GetDecision() != workloadresizerv1.Decision_DECISION_RESIZE {
			t.Errorf("got %v, and without holds %v", e.GetPlan(), e.GetPlanWithoutHolds())
		}
		if r := e.GetRemedies(); len(r) != 1 || r[0].GetCode() != "Paused" || !slices.Equal(r[0].GetCommand(), []string{"resizectl", "resume", "ReplicaSet/web-1", "-n", "shop"}) ||
			!strings.Contains(r[0].GetMessage(), "`resizectl resume ReplicaSet/web-1 -n shop`") {
			t.Errorf("got the remedies %v", r)
		}
	})
	t.Run("leaves out what the caller may not see", func(t *testing.T) {
		client := explains(t, servertest.Only("shop"), may{"ratios", "holds"}, hold.Hold{Kind: hold.Pause, Scope: hold.Scope{}})
		e := explain(t, client, webY)
		if e.GetRatio() != nil || e.GetBaseline() != nil || e.GetBounds() != nil || len(e.GetSources())+len(e.GetHolds()) > 0 {
			t.Errorf("got %v", e)
		}
		for _, part := range []string{"ratio", "baseline", "bounds", "sources", "holds", "freeze"} {
			if e.GetUnknown()[part] == "" {
				t.Errorf("it does not say why %s is missing: %v", part, e.GetUnknown())
			}
		}
		_, err := client.ExplainPod(t.Context(), &workloadresizerv1.ExplainPodRequest{Namespace: "bank", Pod: "db"})
		servertest.CheckError(t, err, codes.PermissionDenied, "NAMESPACE_NOT_VISIBLE", "bank")
	})
	t.Run("needs one subject, which exists", func(t *testing.T) {
		client := explains(t, servertest.All, may{})
		for _, tc := range []struct {
			request         *workloadresizerv1.ExplainPodRequest
			code            codes.Code
			reason, message string
		}{
			{&workloadresizerv1.ExplainPodRequest{Namespace: "shop"}, codes.InvalidArgument, "INVALID_ARGUMENT", "exactly one of"},
			{&workloadresizerv1.ExplainPodRequest{Namespace: "shop", Pod: "web-y", LabelSelector: "app=web"}, codes.InvalidArgument, "INVALID_ARGUMENT", "exactly one of"},
			{&workloadresizerv1.ExplainPodRequest{Namespace: "shop", LabelSelector: " "}, codes.InvalidArgument, "INVALID_ARGUMENT", "exactly one of"},
			{&workloadresizerv1.ExplainPodRequest{Namespace: "shop", LabelSelector: "a b"}, codes.InvalidArgument, "INVALID_ARGUMENT", "selector"},
			{&workloadresizerv1.ExplainPodRequest{Namespace: "shop", Pod: "gone"}, codes.NotFound, "POD_NOT_FOUND", `"gone"`},
			{&workloadresizerv1.ExplainPodRequest{Namespace: "shop", LabelSelector: "app=gone"}, codes.NotFound, "POD_NOT_FOUND", "app=gone"},
			{&workloadresizerv1.ExplainPodRequest{Namespace: "shop", Workload: &workloadresizerv1.Workload{Kind: "Deployment", Name: "gone"}}, codes.NotFound, "POD_NOT_FOUND", "scaled to zero"},
		} {
			_, err := client.ExplainPod(t.Context(), tc.request)
			servertest.CheckError(t, err, tc.code, tc.reason, tc.message)
		}
	})
}

func TestExplainPodSharing(t *testing.T) {
	for _, mode := range []string{policy.Observe, policy.Apply} {
		pods, nodes := servertest.ShopPods()
		source, soon := push.New(), 10*time.Millisecond
		layer := servertest.Layer()
		layer.Settings = keys.Some(policy.Settings{Demand: policy.Demand{From: policy.FromUsage, Mode: mode, Policy: policy.SharedPolicy}})
		p := servertest.Start(t, servertest.Setup{Cluster: servertest.Frozen(t, pods, nodes), Ratios: ratios.Update{Layer: layer}, Loop: func(c *reconciler.Config) {
			servertest.DryRun(c)
			c.Usage = &demand.Usage{Sources: []demand.Source{{Source: source, Interval: soon}}, Interval: soon}
		}}).Known(t)
		var samples []usage.Sample
		for _, name := range []string{"web-x", "web-y", "db"} {
			for minute := range 20 {
				s := usage.Sample{Namespace: "shop", Name: name, Container: "app"}
				if name == "db" {
					s.Namespace = "bank"
				}
				s.At, s.Length, s.Resource, s.Usage = time.Now().Add(time.Duration(minute-20)*time.Minute), time.Minute, history.CPU, 200
				if minute == 7 {
					s.Usage = 1000
				}
				samples = append(samples, s)
			}
		}
		if err := source.Push("test", samples); err != nil {
			t.Fatal(err)
		}
		localcluster.Eventually(t, "what the pods on a node share, or would share", func() error {
			if of := p.Loop.Demands.WouldShare("b"); of == nil || of.Rests[0] == 0 {
				return fmt.Errorf("they share %+v", of)
			}
			if of := p.Loop.Demands.Neighbors().Of("b"); mode == policy.Apply && (of == nil || of.Rests[0] == 0) {
				return fmt.Errorf("they share %+v", of)
			}
			return nil
		})
		service := New(Config{Reconciler: p.Loop, Ratios: ratioservice.New(ratioservice.Config{Store: p.Store, Viewer: servertest.All}), Viewer: servertest.All, Rights: may{}})
		client := workloadresizerv1.NewExplainServiceClient(servertest.Connect(t, service))
		e := explain(t, client, &workloadresizerv1.ExplainPodRequest{Namespace: "shop", Pod: "web-y"})
		cpu := e.GetShares()["cpu"]
		if cpu.GetAssumed() != (mode == policy.Observe) || cpu.GetAllocatable() != "3" || cpu.GetRequested() != "3" || cpu.GetSteady() == "" || cpu.GetReserve() == cpu.GetRest() || cpu.GetShare() <= 0.5 || cpu.GetShare() >= 1 || e.GetShares()["memory"] != nil {
			t.Errorf("%s: %v", mode, e.GetShares())
		}
		if shared := e.GetPlan().GetContainers()[0].GetDemands()["cpu"].GetShared(); (shared != nil) != (mode == policy.Apply) {
			t.Errorf("%s: %v", mode, shared)
		}
		// The pod without an owner is not sized, so it shares nothing.
		if bare := explain(t, client, &workloadresizerv1.ExplainPodRequest{Namespace: "shop", Pod: "bare"}); len(bare.GetShares()) != 0 {
			t.Errorf("%s: %v", mode, bare.GetShares())
		}
	}
}
