package access

import (
	"context"
	"strings"
	"testing"

	"google.golang.org/grpc"

	pb "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// BenchmarkRemembered measures a call whose caller and right are cached, with a token as long
// as those of ServiceAccounts.
func BenchmarkRemembered(b *testing.B) {
	a, _ := asking(&answers{tokens: good, rights: allow})
	info := &grpc.UnaryServerInfo{FullMethod: pb.RatioService_GetRatio_FullMethodName}
	request := &pb.GetRatioRequest{NodeType: "n4"}
	handler := func(context.Context, any) (any, error) { return nil, nil }
	authorize := func(ctx context.Context, request any) (any, error) {
		return a.AuthorizeUnary(ctx, request, info, handler)
	}
	ctx := withToken(b.Context(), strings.Repeat("x", 1100))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := a.AuthenticateUnary(ctx, request, info, authorize); err != nil {
			b.Fatal(err)
		}
	}
}
