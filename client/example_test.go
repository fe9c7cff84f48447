package client_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"net"

	"google.golang.org/grpc"

	"github.com/workload-resizer/workload-resizer/client"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// List the pods that would be resized. This example's server has two pods; yours is
// "workload-resizer serve", or the server in your cluster (DialCluster).
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

// Make the ratio of n4 a tenth higher than it is in the table. If another caller changes it
// at the same time, the client reads and changes it again.
func ExampleClient_UpdateOverrideFunc() {
	address, stop := serveTwoPods()
	defer stop()
	c, err := client.Dial(address)
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = c.Close() }()

	response, err := c.UpdateOverrideFunc(context.Background(), "n4", func(ratio *workloadresizerv1.Ratio) error {
		ratio.CpuPerf *= 1.1
		return nil
	}, client.Because("measured again"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s: %.3f\n", response.GetOverride().GetNodeType(), response.GetOverride().GetCpuPerf())
	// Output:
	// n4: 1.375
}

// Follow the ratios, through restarts of the server, until n4 is known.
func ExampleClient_WatchRatios() {
	address, stop := serveTwoPods()
	defer stop()
	c, err := client.Dial(address)
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = c.Close() }()

	known := map[string]float64{}
	for event, err := range c.WatchRatios(context.Background()) {
		if err != nil {
			log.Fatal(err)
		}
		switch {
		case event.Reset:
			clear(known)
		case event.Type == workloadresizerv1.WatchEventType_WATCH_EVENT_TYPE_DELETED:
			delete(known, event.Object.GetNodeType())
		case event.Object != nil:
			known[event.Object.GetNodeType()] = event.Object.GetCpuPerf()
		}
		if cpu, ok := known["n4"]; ok {
			fmt.Println("n4:", cpu)
			break
		}
	}
	// Output:
	// n4: 1.25
}

// Authenticate in a pod as its ServiceAccount. The token is projected for the audience
// "workload-resizer.io", and read again as the kubelet renews it.
func ExampleDial_inPod() {
	c, err := client.Dial("workload-resizer.workload-resizer-system.svc:443",
		client.WithCAFile("/var/run/workload-resizer/ca.crt"),
		client.WithTokenFile("/var/run/workload-resizer/token"))
	if errors.Is(err, fs.ErrNotExist) {
		fmt.Println("this is not a pod with such a volume")
		return
	}
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	// Output:
	// this is not a pod with such a volume
}

type fewRatios struct {
	workloadresizerv1.UnimplementedRatioServiceServer
	workloadresizerv1.UnimplementedOverrideServiceServer
}

func n4() *workloadresizerv1.Ratio {
	return &workloadresizerv1.Ratio{NodeType: "n4", CpuPerf: 1.25, MemoryPerf: 1, Etag: "1"}
}

func (fewRatios) GetRatio(context.Context, *workloadresizerv1.GetRatioRequest) (*workloadresizerv1.GetRatioResponse, error) {
	return &workloadresizerv1.GetRatioResponse{Ratio: n4()}, nil
}

func (fewRatios) UpdateOverride(_ context.Context, req *workloadresizerv1.UpdateOverrideRequest) (*workloadresizerv1.UpdateOverrideResponse, error) {
	return &workloadresizerv1.UpdateOverrideResponse{Override: req.GetOverride()}, nil
}

func (fewRatios) WatchRatios(_ *workloadresizerv1.WatchRatiosRequest, stream grpc.ServerStreamingServer[workloadresizerv1.WatchRatiosResponse]) error {
	return stream.Send(&workloadresizerv1.WatchRatiosResponse{
		Type: workloadresizerv1.WatchEventType_WATCH_EVENT_TYPE_ADDED, Ratio: n4(), ResumeToken: "1",
	})
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
	workloadresizerv1.RegisterRatioServiceServer(server, fewRatios{})
	workloadresizerv1.RegisterOverrideServiceServer(server, fewRatios{})
	go func() {
		if err := server.Serve(listener); err != nil {
			log.Print(err)
		}
	}()
	return listener.Addr().String(), server.Stop
}
