package server

import (
	"context"
	"strings"
	"testing"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"
	"k8s.io/client-go/kubernetes"

	"github.com/workload-resizer/workload-resizer/server/access"
	"github.com/workload-resizer/workload-resizer/server/servertest"
)

// formerMethods are the methods of the old API that have other names now. It is maintained
// separately from the table of the server.
var formerMethods = map[string]string{
	"RatioService.UpdateRatio":       "OverrideService.UpdateOverride",
	"RatioService.BatchUpdateRatios": "OverrideService.BatchUpdateOverrides",
	"RatioService.DeleteRatio":       "OverrideService.DeleteOverride",
	"RatioService.ListRatioChanges":  "OverrideService.ListOverrideChanges",
	"RatioService.RollbackRatios":    "OverrideService.RollbackOverrides",
	"ResizeService.Restore":          "HoldService.Restore",
	"ResizeService.GetStatus":        "StatusService.GetStatus",
	"PauseService.Pause":             "HoldService.Pause",
	"PauseService.Resume":            "HoldService.Resume",
	"PauseService.ListHolds":         "HoldService.ListHolds",
	"PauseService.Freeze":            "HoldService.Freeze",
	"PauseService.Unfreeze":          "HoldService.Unfreeze",
	"PauseService.GetFreeze":         "HoldService.GetFreeze",
}

func TestMoved(t *testing.T) {
	refused := func(t *testing.T, ctx context.Context, conn *grpc.ClientConn) {
		t.Helper()
		for was, is := range formerMethods {
			err := call(ctx, conn, "/workloadresizer.v1."+strings.Replace(was, ".", "/", 1), false)
			servertest.CheckError(t, err, codes.Unimplemented, "METHOD_MOVED", was+" is now "+is+"; generate your client again from the current API")
			for _, detail := range status.Convert(err).Details() {
				if info, ok := detail.(*errdetails.ErrorInfo); ok && info.GetMetadata()["method"] != is {
					t.Errorf("%s: the metadata is %v", was, info.GetMetadata())
				}
			}
		}
	}
	local := start(t, setup{})
	t.Run("a local caller learns the new name", func(t *testing.T) { refused(t, t.Context(), local.conn) })
	reviews := kubernetes.NewForConfigOrDie(reviewer(t, func(path string) { t.Errorf("asked %s", path) }))
	remote := start(t, setup{server: func(c *Config) {
		c.Access = access.New(access.Config{
			Tokens: reviews.AuthenticationV1().TokenReviews(), Rights: reviews.AuthorizationV1().SubjectAccessReviews(), Audiences: []string{audience},
		})
	}})
	t.Run("a caller without credentials does, too", func(t *testing.T) { refused(t, t.Context(), remote.conn) })
	t.Run("credentials are not reviewed for it", func(t *testing.T) { refused(t, bearing(t.Context(), "token"), remote.conn) })
	t.Run("a client that sends no request does, too", func(t *testing.T) {
		stream, err := local.conn.NewStream(t.Context(), &grpc.StreamDesc{ClientStreams: true}, "/workloadresizer.v1.PauseService/Pause")
		if err == nil {
			err = stream.RecvMsg(&emptypb.Empty{})
		}
		servertest.CheckError(t, err, codes.Unimplemented, "METHOD_MOVED", "HoldService.Pause")
	})
	t.Run("a method that never existed has no new name", func(t *testing.T) {
		for _, method := range []string{"/workloadresizer.v1.PauseService/Stop", "/workloadresizer.v1.RatioService/Stop"} {
			if err := call(t.Context(), local.conn, method, false); status.Code(err) != codes.Unimplemented || servertest.ReasonOf(err) != "" {
				t.Errorf("%s: %v", method, err)
			}
		}
	})
	t.Run("the new names exist, and the old ones are not offered", func(t *testing.T) {
		offered := everyMethod()
		for was, is := range formerMethods {
			if _, ok := offered["/workloadresizer.v1."+strings.Replace(is, ".", "/", 1)]; !ok {
				t.Errorf("%s does not exist", is)
			}
			if _, ok := offered["/workloadresizer.v1."+strings.Replace(was, ".", "/", 1)]; ok {
				t.Errorf("%s is offered", was)
			}
		}
		if len(moved) != len(formerMethods) {
			t.Errorf("the server has %d methods that have moved, this test has %d", len(moved), len(formerMethods))
		}
	})
}
