package client_test

import (
	"context"
	"fmt"
	"log"
	"net"

	"google.golang.org/grpc"

	"github.com/workload-resizer/workload-resizer/client"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// A program that lists what would be resized. The server here is one of two
// pods; yours is "workload-resizer serve" or a port-forward to it.
func Example() {
	address, stop := serveTwoPods()
	defer stop()

	c, err := client.Dial(address)
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = c.Close() }()

	stream := c.PreviewPlans(context.Background(), "default")
	for plan, err := range stream.All() {
		if err != nil {
			log.Fatal(err)
		}
		if plan.GetDecision() != workloadresizerv1.Decision_DECISION_RESIZE {
			continue
		}
		for _, container := range plan.GetContainers() {
			fmt.Printf("%s/%s: cpu %s → %s\n", plan.GetPod(), container.GetName(),
				container.GetCurrent().GetRequests()["cpu"], container.GetDesired().GetRequests()["cpu"])
		}
	}
	fmt.Printf("%d of %d pods would be resized\n", stream.Summary().GetResize(), stream.Summary().GetPods())
	// Output:
	// web/app: cpu 1 → 800m
	// 1 of 2 pods would be resized
}

type twoPods struct {
	workloadresizerv1.UnimplementedPlanServiceServer
}

func (twoPods) PreviewPlans(_ *workloadresizerv1.PreviewPlansRequest, stream grpc.ServerStreamingServer[workloadresizerv1.PreviewPlansResponse]) error {
	cpu := func(quantity string) *workloadresizerv1.Resources {
		return &workloadresizerv1.Resources{Requests: map[string]string{"cpu": quantity}}
	}
	for _, plan := range []*workloadresizerv1.Plan{
		{Pod: "cache", Decision: workloadresizerv1.Decision_DECISION_ALIGNED},
		{Pod: "web", Decision: workloadresizerv1.Decision_DECISION_RESIZE, Containers: []*workloadresizerv1.ContainerPlan{
			{Name: "app", Current: cpu("1"), Desired: cpu("800m")},
		}},
	} {
		message := &workloadresizerv1.PreviewPlansResponse{Result: &workloadresizerv1.PreviewPlansResponse_Plan{Plan: plan}}
		if err := stream.Send(message); err != nil {
			return err
		}
	}
	return stream.Send(&workloadresizerv1.PreviewPlansResponse{Result: &workloadresizerv1.PreviewPlansResponse_Summary{
		Summary: &workloadresizerv1.PlanSummary{Pods: 2, Resize: 1, Aligned: 1},
	}})
}

func serveTwoPods() (address string, stop func()) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	server := grpc.NewServer()
	workloadresizerv1.RegisterPlanServiceServer(server, twoPods{})
	go func() {
		if err := server.Serve(listener); err != nil {
			log.Print(err)
		}
	}()
	return listener.Addr().String(), server.Stop
}
