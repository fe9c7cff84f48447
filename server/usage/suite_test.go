package usage

import (
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"
	corev1 "k8s.io/api/core/v1"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler"
	"github.com/workload-resizer/workload-resizer/reconciler/demand"
	"github.com/workload-resizer/workload-resizer/server/access"
	"github.com/workload-resizer/workload-resizer/server/servertest"
	"github.com/workload-resizer/workload-resizer/server/streams"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
	"github.com/workload-resizer/workload-resizer/usage/push"
)

// soon is how often a test collects and publishes.
const soon = 10 * time.Millisecond

// fixture is a UsageService on the pods of servertest.ShopPods.
type fixture struct {
	*testing.T
	service *Service
	client  workloadresizerv1.UsageServiceClient
	parts   *servertest.Parts
}

func newFixture(t *testing.T, viewer access.Viewer, layer *ratios.Layer, changes ...func(*corev1.Pod)) *fixture {
	t.Helper()
	pods, nodes := servertest.ShopPods()
	for i := range pods {
		for _, change := range changes {
			change(&pods[i])
		}
	}
	source := push.New()
	parts := servertest.Start(t, servertest.Setup{
		Cluster: servertest.Frozen(t, pods, nodes), Ratios: ratios.Update{Layer: layer},
		Loop: func(c *reconciler.Config) {
			c.DryRun = true
			c.Usage = &demand.Usage{Sources: []demand.Source{{Source: source, Interval: soon}}, Interval: soon}
		},
	}).Known(t)
	f := &fixture{T: t, parts: parts}
	f.service = New(Config{Demands: parts.Loop.Demands, Push: source, Ratios: parts.Store, Viewer: viewer, Watches: streams.NewWatches()})
	servertest.Run(t, running(f.service))
	f.client = workloadresizerv1.NewUsageServiceClient(servertest.Connect(t, f.service))
	return f
}

// used is what a container used in the last minute, with the given number of cores and Mi.
func used(pod string, cores float64, mebibytes int64) *workloadresizerv1.ContainerUsage {
	bytes := mebibytes << 20
	return &workloadresizerv1.ContainerUsage{
		PodUid: pod, Container: "app", EndTime: timestamppb.Now(), MeasureDuration: durationpb.New(time.Minute), CpuCores: &cores, MemoryPeakBytes: &bytes,
	}
}

// report sends usages, and returns the response.
func (f *fixture) report(usages ...*workloadresizerv1.ContainerUsage) *workloadresizerv1.ReportUsageResponse {
	f.Helper()
	stream, err := f.client.ReportUsage(f.Context())
	if err != nil {
		f.Fatal(err)
	}
	if err := stream.Send(&workloadresizerv1.ReportUsageRequest{Usages: usages}); err != nil {
		f.Fatal(err)
	}
	response, err := stream.CloseAndRecv()
	if err != nil {
		f.Fatal(err)
	}
	return response
}

// known reports what all pods used, and waits until that is recommended.
func (f *fixture) known() {
	f.Helper()
	f.report(used("shopweb-x", 1, 300), used("shopweb-y", 0.8, 300), used("bankdb", 0.8, 100))
	localcluster.Eventually(f, "recommendations", func() error {
		if n := f.parts.Loop.Demands.Table().Len(); n != 2 {
			return errCount(n)
		}
		return nil
	})
}
