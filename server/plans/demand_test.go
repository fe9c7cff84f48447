package plans

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/policy/keys"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler"
	"github.com/workload-resizer/workload-resizer/reconciler/demand"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
	"github.com/workload-resizer/workload-resizer/server/access"
	"github.com/workload-resizer/workload-resizer/server/servertest"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
	"github.com/workload-resizer/workload-resizer/usage"
	"github.com/workload-resizer/workload-resizer/usage/history"
)

// idle is a source whose containers use a fifth of a core.
type idle struct{}

func (idle) Name() string { return "idle" }

func (idle) Read(_ context.Context, since, until time.Time, observe func(usage.Sample)) error {
	for at := since.Truncate(time.Minute).Add(time.Minute); !at.After(until); at = at.Add(time.Minute) {
		for _, pod := range [][2]string{{"shop", "web-x"}, {"shop", "web-y"}, {"shop", "bare"}} {
			sample := usage.Sample{Namespace: pod[0], Name: pod[1], Container: "app"}
			sample.At, sample.Length, sample.Resource, sample.Usage = at, time.Minute, history.CPU, 200
			observe(sample)
			sample.Resource, sample.Usage = history.Memory, 100<<20
			observe(sample)
		}
	}
	return nil
}

// measured serves plans of the shop, whose pods are measured, with a demand.
func measured(t *testing.T, of policy.Demand, named ...string) (*servertest.Parts, workloadresizerv1.PlanServiceClient) {
	t.Helper()
	layer := servertest.Layer()
	layer.Settings = keys.Some(policy.Settings{Guard: layer.Settings.Values.Guard, Demand: of}, named...)
	pods, nodes := servertest.ShopPods()
	parts := servertest.Start(t, servertest.Setup{
		Cluster: servertest.Frozen(t, pods, nodes), Ratios: ratios.Update{Layer: layer},
		Loop: func(c *reconciler.Config) {
			c.DryRun = true
			c.Usage = &demand.Usage{Sources: []demand.Source{{Source: idle{}, Interval: 10 * time.Millisecond, Backfill: 30 * time.Minute}}, Interval: 10 * time.Millisecond}
		},
	}).Known(t)
	localcluster.Eventually(t, "a recommendation", func() error {
		if n := parts.Loop.Demands.Table().Len(); n != 1 {
			return fmt.Errorf("there are %d", n)
		}
		return nil
	})
	return parts, serve(t, parts, access.Viewer(servertest.All))
}

// planOf returns the plan of the container of the pod web-y.
func planOf(t *testing.T, client workloadresizerv1.PlanServiceClient, mode workloadresizerv1.DemandMode) *workloadresizerv1.ContainerPlan {
	t.Helper()
	request := &workloadresizerv1.PreviewPodRequest{Namespace: "shop", Pod: "web-y"}
	if mode != 0 {
		request.WhatIf = &workloadresizerv1.WhatIf{DemandMode: mode}
	}
	response, err := client.PreviewPod(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	return response.GetPlan().GetContainers()[0]
}

func TestDemands(t *testing.T) {
	const apply, observe, author = workloadresizerv1.DemandMode_DEMAND_MODE_APPLY, workloadresizerv1.DemandMode_DEMAND_MODE_OBSERVE, workloadresizerv1.DemandMode_DEMAND_MODE_AUTHOR
	const byAuthor, byUsage = workloadresizerv1.DemandSource_DEMAND_SOURCE_AUTHOR, workloadresizerv1.DemandSource_DEMAND_SOURCE_USAGE
	follows := func(t *testing.T, c *workloadresizerv1.ContainerPlan) {
		t.Helper()
		cpu := c.GetDemands()["cpu"]
		needed, err := sizing.ParseCPU(cpu.GetRequest())
		if want := sizing.CPUText((needed*8 + 5) / 10); err != nil || needed > 400 || cpu.GetSource() != byUsage || len(cpu.GetRevision()) != 16 || cpu.GetLower() == "" || cpu.GetUpper() == "" ||
			c.GetDesired().GetRequests()["cpu"] != want || cpu.GetMessage() != "" || c.GetDemands()["memory"].GetSource() != byUsage {
			t.Errorf("%v, want cpu %s", c, want)
		}
	}
	t.Run("are not part of a plan unless the rule applies usage", func(t *testing.T) {
		_, client := measured(t, policy.Demand{From: policy.FromUsage, Mode: policy.Initial}, "demand.minHistory", "demand.minCoverage")
		if c := planOf(t, client, 0); c.GetDemands() != nil || c.GetDesired().GetRequests()["cpu"] != "800m" {
			t.Errorf("%v", c)
		}
		t.Run("or a request assumes that", func(t *testing.T) {
			c := planOf(t, client, apply)
			follows(t, c)
		})
	})
	t.Run("say where they come from, and why they do not count", func(t *testing.T) {
		parts, client := measured(t, policy.Demand{From: policy.FromUsage, Mode: policy.Apply})
		c := planOf(t, client, 0)
		if cpu := c.GetDemands()["cpu"]; cpu.GetSource() != byUsage || cpu.GetMessage() == "" || c.GetDesired().GetRequests()["cpu"] != "800m" {
			t.Errorf("with half an hour of history: %v", c)
		}
		for _, mode := range []workloadresizerv1.DemandMode{observe, author} {
			if c := planOf(t, client, mode); c.GetDemands() != nil || c.GetDesired().GetRequests()["cpu"] != "800m" {
				t.Errorf("in mode %v: %v", mode, c)
			}
		}
		response, err := client.PreviewPod(t.Context(), &workloadresizerv1.PreviewPodRequest{Namespace: "bank", Pod: "db"})
		if err != nil {
			t.Fatal(err)
		}
		if cpu := response.GetPlan().GetContainers()[0].GetDemands()["cpu"]; cpu.GetSource() != byAuthor || cpu.GetRequest() != "1" || cpu.GetMessage() == "" || cpu.GetRevision() != "" {
			t.Errorf("of a pod that is not measured: %v", response)
		}
		impact, err := parts.Loop.Impact(t.Context(), parts.Store.Table().WithDemandMode(policy.Observe))
		if err != nil || impact.Total.ByUsage != 0 {
			t.Errorf("the end of usage concerns %+v, %v", impact, err)
		}
	})
	t.Run("are part of the impact of a mode", func(t *testing.T) {
		parts, _ := measured(t, policy.Demand{From: policy.FromUsage}, "demand.minHistory", "demand.minCoverage")
		impact, err := parts.Loop.Impact(t.Context(), parts.Store.Table().WithDemandMode(policy.Apply))
		if err != nil || impact.Total.Pods != 2 || impact.Total.ByUsage != 2 || impact.Total.CPU > -1000 {
			t.Errorf("%+v, %v", impact, err)
		}
	})
}
