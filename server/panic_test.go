package server

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler"
	"github.com/workload-resizer/workload-resizer/server/access"
	"github.com/workload-resizer/workload-resizer/server/limits"
	"github.com/workload-resizer/workload-resizer/server/servertest"
	"github.com/workload-resizer/workload-resizer/server/streams"
)

// panicking is a service with a bug.
type panicking struct {
	workloadresizerv1.UnimplementedPlanServiceServer
	workloadresizerv1.UnimplementedResizeServiceServer
}

func (panicking) PreviewPod(context.Context, *workloadresizerv1.PreviewPodRequest) (*workloadresizerv1.PreviewPodResponse, error) {
	panic("secret state")
}

func (panicking) PreviewPlans(*workloadresizerv1.PreviewPlansRequest, grpc.ServerStreamingServer[workloadresizerv1.PreviewPlansResponse]) error {
	panic("secret state")
}

func (panicking) WatchResizes(_ *workloadresizerv1.WatchResizesRequest, stream grpc.ServerStreamingServer[workloadresizerv1.WatchResizesResponse]) error {
	call := &streams.Call{SendWithin: time.Minute}
	return call.Run(stream.Context(), func(context.Context) error { return call.Send(func() error { panic("secret state") }) })
}

func TestPanic(t *testing.T) {
	t.Run("a panic is counted and reveals no internals", aPanicIsCountedAndRevealsNoInternals)
	t.Run("a panic during authentication fails the call", aPanicDuringAuthenticationFailsTheCall)
}

func aPanicIsCountedAndRevealsNoInternals(t *testing.T) {
	metrics := newCallMetrics()
	g := newGuards(&Config{Reconciler: new(reconciler.Reconciler), Access: access.New(access.Config{Local: true}), Limits: limits.Default})
	server := grpc.NewServer(grpc.UnaryInterceptor(g.unary(metrics)), grpc.ChainStreamInterceptor(g.stream(metrics)...))
	workloadresizerv1.RegisterPlanServiceServer(server, panicking{})
	workloadresizerv1.RegisterResizeServiceServer(server, panicking{})
	metrics.initialize(server)
	conn := servertest.Dial(t, servertest.Serve(t, server))

	client := workloadresizerv1.NewPlanServiceClient(conn)
	_, err := client.PreviewPod(t.Context(), &workloadresizerv1.PreviewPodRequest{Namespace: "shop", Pod: "web"})
	checkPanic(t, err)
	stream, err := client.PreviewPlans(t.Context(), &workloadresizerv1.PreviewPlansRequest{})
	if err == nil {
		_, err = stream.Recv()
	}
	checkPanic(t, err)
	watch, err := workloadresizerv1.NewResizeServiceClient(conn).WatchResizes(t.Context(), &workloadresizerv1.WatchResizesRequest{})
	if err == nil {
		_, err = watch.Recv()
	}
	checkPanic(t, err)
	if got := testutil.ToFloat64(g.panics); got != 3 {
		t.Errorf("%v panics were counted", got)
	}
}

// brokenReviews has a bug, too.
type brokenReviews struct{}

func (brokenReviews) Create(context.Context, *authenticationv1.TokenReview, metav1.CreateOptions) (*authenticationv1.TokenReview, error) {
	panic("secret state")
}

func aPanicDuringAuthenticationFailsTheCall(t *testing.T) {
	metrics := newCallMetrics()
	identity := access.New(access.Config{Tokens: brokenReviews{}, Audiences: []string{audience}})
	g := newGuards(&Config{Access: identity, Limits: limits.Default})
	server := grpc.NewServer(grpc.UnaryInterceptor(g.unary(metrics)))
	workloadresizerv1.RegisterPlanServiceServer(server, panicking{})
	metrics.initialize(server)
	client := workloadresizerv1.NewPlanServiceClient(servertest.Dial(t, servertest.Serve(t, server)))
	_, err := client.PreviewPod(bearing(t.Context(), "x"), &workloadresizerv1.PreviewPodRequest{Namespace: "shop", Pod: "web"})
	checkPanic(t, err)
	if got := testutil.ToFloat64(g.panics); got != 1 {
		t.Errorf("%v panics were counted", got)
	}
}

func checkPanic(t *testing.T, err error) {
	t.Helper()
	servertest.CheckError(t, err, codes.Internal, "INTERNAL", "see the log of the server")
	if strings.Contains(status.Convert(err).String(), "secret") {
		t.Errorf("the caller got %v", err)
	}
}
