package server

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	grpcprom "github.com/grpc-ecosystem/go-grpc-middleware/providers/prometheus"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/prometheus/common/expfmt"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// TestCallMetrics compares with the library.
func TestCallMetrics(t *testing.T) {
	ours, library := newCallMetrics(), grpcprom.NewServerMetrics(grpcprom.WithServerHandlingTimeHistogram())
	server := grpc.NewServer()
	workloadresizerv1.RegisterRatioServiceServer(server, workloadresizerv1.UnimplementedRatioServiceServer{})
	ours.initialize(server)
	library.InitializeMetrics(offered{server})
	for _, method := range []string{workloadresizerv1.RatioService_GetRatio_FullMethodName, workloadresizerv1.RatioService_ListRatios_FullMethodName} {
		for _, err := range []error{nil, status.Error(codes.NotFound, ""), errors.New("plain"), context.Canceled, fmt.Errorf("%w", context.DeadlineExceeded), status.Error(codes.Unauthenticated, "")} {
			handler := func(context.Context, any) (any, error) { return nil, err }
			info := &grpc.UnaryServerInfo{FullMethod: method}
			for _, interceptor := range []grpc.UnaryServerInterceptor{ours.unary, library.UnaryServerInterceptor()} {
				if _, got := interceptor(t.Context(), nil, info, handler); !errors.Is(got, err) {
					t.Errorf("returned %v, want %v", got, err)
				}
			}
		}
	}
	for _, name := range []string{"grpc_server_started_total", "grpc_server_handled_total", "grpc_server_msg_received_total", "grpc_server_msg_sent_total"} {
		want := exposed(t, library, name)
		if got := exposed(t, ours, name); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
	const count = "grpc_server_handling_seconds_count"
	if got, want := exposed(t, ours, count), exposed(t, library, count); got != want || want == "" {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// exposed returns the lines of the metrics with a name.
func exposed(t *testing.T, collector prometheus.Collector, name string) string {
	t.Helper()
	content, err := testutil.CollectAndFormat(collector, expfmt.TypeTextPlain, strings.TrimSuffix(name, "_count"))
	if err != nil {
		t.Fatal(err)
	}
	var lines strings.Builder
	for line := range strings.Lines(string(content)) {
		if strings.HasPrefix(line, name+"{") {
			lines.WriteString(line)
		}
	}
	return lines.String()
}
