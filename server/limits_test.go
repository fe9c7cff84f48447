package server

import (
	"strings"
	"sync/atomic"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"k8s.io/client-go/kubernetes"

	resizer "github.com/workload-resizer/workload-resizer/client"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/estimate"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/judge"
	"github.com/workload-resizer/workload-resizer/server/access"
	"github.com/workload-resizer/workload-resizer/server/limits"
	"github.com/workload-resizer/workload-resizer/server/servertest"
)

// limited starts a server that authenticates every caller as ann, who may do everything.
func limited(t *testing.T, most limits.Limits) (r *running, rightsAsked *atomic.Int32) {
	t.Helper()
	rightsAsked = &atomic.Int32{}
	client := kubernetes.NewForConfigOrDie(reviewer(t, func(path string) {
		if strings.HasSuffix(path, "/subjectaccessreviews") {
			rightsAsked.Add(1)
		}
	}))
	return start(t, setup{server: func(c *Config) {
		c.Limits = most
		c.Benchmarks = &servertest.Measured{Known: &judge.View{
			Settings: servertest.DefaultSettings(), Baseline: "n2d", Estimates: []estimate.Estimate{{NodeType: "n4", Baseline: "n2d", Ratio: 1.1}},
		}}
		c.Access = access.New(access.Config{
			Tokens: client.AuthenticationV1().TokenReviews(), Rights: client.AuthorizationV1().SubjectAccessReviews(), Audiences: []string{audience},
		})
	}}), rightsAsked
}

func TestLimits(t *testing.T) {
	t.Run("calls are counted before rights are checked", callsAreCountedBeforeRightsAreChecked)
}

func callsAreCountedBeforeRightsAreChecked(t *testing.T) {
	r, rightsAsked := limited(t, limits.Limits{CallsPerSecond: 1e-3, CallBurst: 2})
	client, ctx := workloadresizerv1.NewRatioServiceClient(r.conn), bearing(t.Context(), "token")
	if _, err := client.GetRatio(ctx, &workloadresizerv1.GetRatioRequest{NodeType: "n4"}); err != nil {
		t.Fatal(err)
	}
	stream, err := client.WatchRatios(ctx, &workloadresizerv1.WatchRatiosRequest{})
	if err == nil {
		_, err = stream.Recv()
	}
	if err != nil {
		t.Fatal(err)
	}
	asked := rightsAsked.Load()
	_, err = client.ListRatios(ctx, &workloadresizerv1.ListRatiosRequest{})
	servertest.CheckError(t, err, codes.ResourceExhausted, "RATE_LIMITED", "try again in")
	another, err := client.WatchRatios(ctx, &workloadresizerv1.WatchRatiosRequest{})
	if err == nil {
		_, err = another.Recv()
	}
	servertest.CheckError(t, err, codes.ResourceExhausted, "RATE_LIMITED", "try again in")
	if now := rightsAsked.Load(); asked != 2 || now != asked {
		t.Errorf("%d access reviews before the limit, and %d after it", asked, now)
	}
}

func TestWatchesAreCounted(t *testing.T) {
	r, _ := limited(t, limits.Limits{WatchesPerCaller: 1})
	client, ctx := workloadresizerv1.NewRatioServiceClient(r.conn), bearing(t.Context(), "token")
	watch := func() error {
		stream, err := client.WatchRatios(ctx, &workloadresizerv1.WatchRatiosRequest{})
		if err == nil {
			_, err = stream.Recv()
		}
		return err
	}
	if err := watch(); err != nil {
		t.Fatal(err)
	}
	servertest.CheckError(t, watch(), codes.ResourceExhausted, "TOO_MANY_WATCHES", "already has 1 watches")
}

// first receives the first message of a stream.
func first(stream grpc.ServerStreamingClient[workloadresizerv1.PreviewPlansResponse], err error) error {
	if err == nil {
		_, err = stream.Recv()
	}
	return err
}

func TestPreviewsAreCounted(t *testing.T) {
	r, _ := limited(t, limits.Limits{Previews: 1})
	ctx := bearing(t.Context(), "token")
	release, err := r.server.previews.Take(servertest.As(t, "ann"))
	if err != nil {
		t.Fatal(err)
	}
	client := workloadresizerv1.NewPlanServiceClient(r.conn)
	err = first(client.PreviewPlans(ctx, &workloadresizerv1.PreviewPlansRequest{}))
	servertest.CheckError(t, err, codes.ResourceExhausted, "TOO_MANY_PREVIEWS", "are already running")
	_, err = resizer.PreviewManifest(ctx, client, &workloadresizerv1.PreviewManifestRequest{Manifest: "x"})
	servertest.CheckError(t, err, codes.ResourceExhausted, "TOO_MANY_PREVIEWS", "are already running")
	_, err = workloadresizerv1.NewBenchmarkServiceClient(r.conn).GetSuggestion(ctx, &workloadresizerv1.GetSuggestionRequest{NodeType: "n4"})
	servertest.CheckError(t, err, codes.ResourceExhausted, "TOO_MANY_PREVIEWS", "are already running")
	release()
	err = first(client.PreviewPlans(ctx, &workloadresizerv1.PreviewPlansRequest{}))
	servertest.CheckError(t, err, codes.Unavailable, "CACHE_NOT_READY", "")
}
