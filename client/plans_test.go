package client

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/testing/protocmp"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

type planSender = grpc.ServerStreamingServer[workloadresizerv1.PreviewPlansResponse]

func planOf(pod string) *workloadresizerv1.PreviewPlansResponse {
	return &workloadresizerv1.PreviewPlansResponse{Result: &workloadresizerv1.PreviewPlansResponse_Plan{
		Plan: &workloadresizerv1.Plan{Namespace: "default", Pod: pod},
	}}
}

func summaryOf(pods int64) *workloadresizerv1.PreviewPlansResponse {
	return &workloadresizerv1.PreviewPlansResponse{Result: &workloadresizerv1.PreviewPlansResponse_Summary{
		Summary: &workloadresizerv1.PlanSummary{Pods: pods, Aligned: pods},
	}}
}

// sending returns a server that sends these messages and ends with err.
func sending(err error, messages ...*workloadresizerv1.PreviewPlansResponse) planServer {
	return planServer{plans: func(_ *workloadresizerv1.PreviewPlansRequest, stream planSender) error {
		for _, m := range messages {
			if err := stream.Send(m); err != nil {
				return err
			}
		}
		return err
	}}
}

// drain reads the stream to its end and returns the error that ended it.
func drain(stream *PlanStream) error {
	for _, err := range stream.All() {
		if err != nil {
			return err
		}
	}
	return nil
}

func TestPreviewPod(t *testing.T) {
	var asked *workloadresizerv1.PreviewPodRequest
	c := dial(t, ratioServer{}, planServer{pod: func(_ context.Context, req *workloadresizerv1.PreviewPodRequest) (*workloadresizerv1.PreviewPodResponse, error) {
		asked = req
		return &workloadresizerv1.PreviewPodResponse{Plan: planOf("web").GetPlan()}, nil
	}})
	got, err := c.PreviewPod(t.Context(), "default", "web")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&workloadresizerv1.PreviewPodRequest{Namespace: "default", Pod: "web"}, asked, protocmp.Transform()); diff != "" {
		t.Errorf("wrong request (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(planOf("web").GetPlan(), got, protocmp.Transform()); diff != "" {
		t.Errorf("wrong plan (-want +got):\n%s", diff)
	}
	if _, err := c.PreviewPod(t.Context(), "default", "web", AsRestored()); err != nil || !asked.GetRestore() || asked.GetServerSide() {
		t.Errorf("as restored: request %v, %v", asked, err)
	}
}

func TestPlans(t *testing.T) {
	t.Run("applies the options of PreviewPlans", appliesTheOptionsOfPreviewPlans)
	t.Run("does not change the request of PreviewSelected", doesNotChangeTheRequestOfPreviewSelected)
	t.Run("ends the call with the loop", endsTheCallWithTheLoop)
}

func appliesTheOptionsOfPreviewPlans(t *testing.T) {
	whatIf := &workloadresizerv1.WhatIf{NodeType: "c3"}
	var asked *workloadresizerv1.PreviewPlansRequest
	c := dial(t, ratioServer{}, planServer{plans: func(req *workloadresizerv1.PreviewPlansRequest, stream planSender) error {
		asked = req
		progress := &workloadresizerv1.PreviewPlansResponse{Result: &workloadresizerv1.PreviewPlansResponse_Progress{Progress: &workloadresizerv1.PlanProgress{Done: 1, Total: 2}}}
		return errors.Join(stream.Send(progress), stream.Send(summaryOf(0)))
	}})
	var done, total int64
	stream := c.PreviewPlans(t.Context(), "shop", AsRestored(), ServerSide(), Assuming(whatIf), OfWorkload(&workloadresizerv1.Workload{Kind: "Deployment", Name: "web"}),
		WithLabels("app=web"), OnNode("n4-0"), OnNodeType("n4"), OnProgress(func(d, t int64) { done, total = d, t }))
	if err := drain(stream); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&workloadresizerv1.PreviewPlansRequest{
		Namespace: "shop", Restore: true, ServerSide: true, WhatIf: whatIf, Workload: &workloadresizerv1.Workload{Kind: "Deployment", Name: "web"},
		LabelSelector: "app=web", Node: "n4-0", NodeType: "n4",
	}, asked, protocmp.Transform()); diff != "" {
		t.Errorf("wrong request (-want +got):\n%s", diff)
	}
	if done != 1 || total != 2 {
		t.Errorf("progress %d of %d, want 1 of 2", done, total)
	}
}

func doesNotChangeTheRequestOfPreviewSelected(t *testing.T) {
	c := dial(t, ratioServer{}, planServer{plans: func(req *workloadresizerv1.PreviewPlansRequest, stream planSender) error {
		if req.GetPod() != "web" || req.GetNode() != "n4-0" {
			t.Errorf("wrong request: %v", req)
		}
		return stream.Send(summaryOf(0))
	}})
	request := &workloadresizerv1.PreviewPlansRequest{Pod: "web"}
	if err := drain(c.PreviewSelected(t.Context(), request, OnNode("n4-0"))); err != nil || request.GetNode() != "" {
		t.Errorf("%v, the request is %v now", err, request)
	}
}

func TestPreviewManifest(t *testing.T) {
	var asked *workloadresizerv1.PreviewManifestRequest
	c := dial(t, ratioServer{}, planServer{manifest: func(req *workloadresizerv1.PreviewManifestRequest) (*workloadresizerv1.PreviewManifestResponse, error) {
		asked = req
		return &workloadresizerv1.PreviewManifestResponse{Ignored: []string{"Service web"}}, nil
	}})
	whatIf := &workloadresizerv1.WhatIf{BaselineNodeType: "c3"}
	manifest := "kind: Service # " + strings.Repeat("äöü€", 100_000)
	got, err := c.PreviewManifest(t.Context(), manifest, ForNodeTypes("n4", "c3"), Assuming(whatIf))
	if err != nil || len(got.GetIgnored()) != 1 {
		t.Errorf("got %v, %v", got, err)
	}
	if diff := cmp.Diff(&workloadresizerv1.PreviewManifestRequest{Manifest: manifest, NodeTypes: []string{"n4", "c3"}, WhatIf: whatIf}, asked, protocmp.Transform()); diff != "" {
		t.Errorf("wrong request (-want +got):\n%s", diff)
	}
}

func TestPreviewPlans(t *testing.T) {
	lost := status.Error(codes.Unavailable, "shutting down")
	for _, tc := range []struct {
		name    string
		server  planServer
		want    []string
		broken  bool
		cause   error
		summary int64
	}{
		{"yields plans, then their summary", sending(nil, planOf("a"), planOf("b"), summaryOf(2)), []string{"a", "b"}, false, nil, 2},
		{"returns only a summary without pods", sending(nil, summaryOf(0)), nil, false, nil, 0},
		{"ignores messages of a newer server", sending(nil, planOf("a"), &workloadresizerv1.PreviewPlansResponse{}, summaryOf(1)), []string{"a"}, false, nil, 1},
		{"is broken without the summary", sending(nil, planOf("a")), []string{"a"}, true, ErrNoSummary, -1},
		{"is broken without any message", sending(nil), nil, true, ErrNoSummary, -1},
		{"is broken by an error after a plan", sending(lost, planOf("a")), []string{"a"}, true, lost, -1},
		{"is broken by an error after the summary", sending(lost, planOf("a"), summaryOf(1)), []string{"a"}, true, lost, -1},
		{"returns an error before any plan as it is", sending(status.Error(codes.InvalidArgument, "no")), nil, false, status.Error(codes.InvalidArgument, "no"), -1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			stream := dial(t, ratioServer{}, tc.server).PreviewPlans(t.Context(), "")
			var got []string
			var err error
			for plan, e := range stream.All() {
				if err = e; err == nil {
					got = append(got, plan.GetPod())
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("wrong plans (-want +got):\n%s", diff)
			}
			var broken *BrokenStreamError
			if errors.As(err, &broken) != tc.broken || tc.broken && broken.Received != len(tc.want) {
				t.Errorf("%v: ended early after %d plans: %v, want %v", err, len(tc.want), !tc.broken, tc.broken)
			}
			if status.Code(err) != status.Code(tc.cause) || errors.Is(err, ErrNoSummary) != errors.Is(tc.cause, ErrNoSummary) {
				t.Errorf("ended with %v, want %v", err, tc.cause)
			}
			if (stream.Summary() != nil) != (tc.summary >= 0) || stream.Summary().GetPods() != max(0, tc.summary) {
				t.Errorf("summary %v, want %d pods", stream.Summary(), tc.summary)
			}
		})
	}
}

func endsTheCallWithTheLoop(t *testing.T) {
	ended := make(chan struct{})
	c := dial(t, ratioServer{}, planServer{plans: func(req *workloadresizerv1.PreviewPlansRequest, stream planSender) error {
		defer close(ended)
		if req.GetNamespace() != "default" {
			t.Errorf("wrong namespace %q", req.GetNamespace())
		}
		if err := stream.Send(planOf("a")); err != nil {
			return err
		}
		<-stream.Context().Done()
		return nil
	}})
	for plan, err := range c.PreviewPlans(t.Context(), "default").All() {
		if err != nil || plan.GetPod() != "a" {
			t.Errorf("got %v, %v", plan, err)
		}
		break
	}
	<-ended
}
