package deliver

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// usageServer counts the usages that it receives.
type usageServer struct {
	workloadresizerv1.UnimplementedUsageServiceServer
	parts   []int
	largest int
	pods    []string
	// nodes is how many parts have the usage of the node.
	nodes int
	// fail, if set, ends every call immediately.
	fail error
}

func (s *usageServer) ReportUsage(stream grpc.ClientStreamingServer[workloadresizerv1.ReportUsageRequest, workloadresizerv1.ReportUsageResponse]) error {
	if s.fail != nil {
		return s.fail
	}
	for {
		part, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return stream.SendAndClose(&workloadresizerv1.ReportUsageResponse{Accepted: int64(len(s.pods))})
		}
		if err != nil {
			return err
		}
		s.largest = max(s.largest, proto.Size(part))
		s.parts = append(s.parts, len(part.GetUsages()))
		if part.GetNodeUsage() != nil {
			s.nodes++
		}
		for _, u := range part.GetUsages() {
			s.pods = append(s.pods, u.GetPodUid())
		}
	}
}

func dialUsage(t *testing.T, s *usageServer) UsageClient {
	t.Helper()
	conn := dial(t, func(server *grpc.Server) { workloadresizerv1.RegisterUsageServiceServer(server, s) })
	return connection{workloadresizerv1.NewUsageServiceClient(conn), conn.Close}
}

func TestConnection(t *testing.T) {
	t.Run("sends usages in parts and in order", sendsUsagesInPartsAndInOrder)
	t.Run("returns the server's reason", func(t *testing.T) {
		c := dialUsage(t, &usageServer{fail: status.Error(codes.Unavailable, "this replica does not lead")})
		if _, err := c.Report(t.Context(), usagesOf(100_000), nil); status.Code(err) != codes.Unavailable || !strings.Contains(err.Error(), "does not lead") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("keeps parts of the longest usages below the message size limit", keepsPartsOfTheLongestUsagesBelowTheLimit)
}

func usagesOf(n int) []*workloadresizerv1.ContainerUsage {
	usages := make([]*workloadresizerv1.ContainerUsage, n)
	for i := range usages {
		usages[i] = &workloadresizerv1.ContainerUsage{PodUid: fmt.Sprint(i)}
	}
	return usages
}

func sendsUsagesInPartsAndInOrder(t *testing.T) {
	for _, tc := range []struct {
		n    int
		want []int
	}{{0, nil}, {1, []int{1}}, {1000, []int{1000}}, {2001, []int{1000, 1000, 1}}} {
		server := &usageServer{}
		resp, err := dialUsage(t, server).Report(t.Context(), usagesOf(tc.n), &workloadresizerv1.NodeUsage{VcpuLoad: proto.Float64(2)})
		if err != nil || resp.GetAccepted() != int64(tc.n) || !slices.Equal(server.parts, tc.want) || server.nodes != min(1, tc.n) {
			t.Errorf("%d usages: %v, %v; parts %v, %d of them with the node", tc.n, resp, err, server.parts, server.nodes)
		}
		for i, pod := range server.pods {
			if pod != fmt.Sprint(i) {
				t.Fatalf("usage %d is of pod %s", i, pod)
			}
		}
	}
}

// The usages are as long as validation allows.
func keepsPartsOfTheLongestUsagesBelowTheLimit(t *testing.T) {
	long := func(n int) string { return strings.Repeat("x", n) }
	var usages []*workloadresizerv1.ContainerUsage
	for range 1500 {
		usages = append(usages, &workloadresizerv1.ContainerUsage{
			PodUid: long(64), Container: long(63), ContainerId: long(128), EndTime: timestamppb.Now(), MeasureDuration: durationpb.New(time.Minute + 1),
			CpuCores: proto.Float64(math.MaxFloat64), MemoryPeakBytes: proto.Int64(math.MaxInt64), MemoryChargedBytes: proto.Int64(math.MaxInt64),
			Throttled: proto.Float64(0.1), CpuPressure: proto.Float64(0.1), MemoryPressure: proto.Float64(0.1), MemoryLimitEvents: proto.Int64(math.MaxInt64),
		})
	}
	server := &usageServer{}
	if _, err := dialUsage(t, server).Report(t.Context(), usages, &workloadresizerv1.NodeUsage{VcpuLoad: proto.Float64(2), CpuPressure: proto.Float64(0.5)}); err != nil {
		t.Fatal(err)
	}
	if len(server.pods) != len(usages) || server.largest > 64<<10 {
		t.Errorf("%d usages arrived, in parts of up to %d bytes", len(server.pods), server.largest)
	}
}
