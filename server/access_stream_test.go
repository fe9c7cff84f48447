package server

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/server/access"
	"github.com/workload-resizer/workload-resizer/server/servertest"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

func (g *guarded) testWatchEnds(t *testing.T) {
	g.account(t, "watcher")
	revoke := g.grant(t, serviceAccount("watcher"), "workload-resizer-viewer", "")
	client, token := workloadresizerv1.NewRatioServiceClient(g.dial(t)), g.token(t, "watcher", audience)
	var stream grpc.ServerStreamingClient[workloadresizerv1.WatchRatiosResponse]
	g.awaitGrant(t, "the watch to begin", func() error {
		var err error
		if stream, err = client.WatchRatios(bearing(t.Context(), token), &workloadresizerv1.WatchRatiosRequest{}); err == nil {
			_, err = stream.Recv()
		}
		return err
	})
	ended := make(chan error, 1)
	go func() {
		for {
			if _, err := stream.Recv(); err != nil {
				ended <- err
				return
			}
		}
	}()
	revoke()
	localcluster.Eventually(t, "the watch to end", func() error {
		g.clock.SetTime(g.clock.Now().Add(11 * time.Second)) // Allowed rights are cached.
		select {
		case err := <-ended:
			servertest.CheckError(t, err, codes.PermissionDenied, "NOT_AUTHORIZED", "cannot watch ratios.workload-resizer.io in all namespaces")
			return nil
		default:
			return errors.New("the watch continues")
		}
	})
}

func (g *guarded) testStillAllowed(t *testing.T) {
	g.account(t, "guard")
	g.namespace(t, "yellow")
	revoke := g.grant(t, serviceAccount("guard"), "workload-resizer-viewer", "yellow")
	ctx := peer.NewContext(t.Context(), &peer.Peer{Addr: g.server.config.GRPC.Addr()})
	ctx = metadata.NewIncomingContext(ctx, metadata.Pairs("authorization", "Bearer "+g.token(t, "guard", audience)))
	info := &grpc.StreamServerInfo{FullMethod: workloadresizerv1.ResizeService_WatchResizes_FullMethodName}
	handle := func(_ any, s grpc.ServerStream) error {
		if err := s.RecvMsg(&workloadresizerv1.WatchResizesRequest{Namespace: "yellow"}); err != nil {
			return err
		}
		if err := access.StillAllowed(s.Context()); err != nil {
			t.Errorf("at first: %v", err)
		}
		revoke()
		localcluster.Eventually(t, "the right to be revoked", func() error {
			g.clock.SetTime(g.clock.Now().Add(11 * time.Second)) // Allowed rights are cached.
			err := access.StillAllowed(s.Context())
			if err == nil {
				return errors.New("the right still exists")
			}
			servertest.CheckError(t, err, codes.PermissionDenied, "NOT_AUTHORIZED", `in namespace "yellow"`)
			return nil
		})
		return nil
	}
	g.awaitGrant(t, "the role", func() error {
		err := g.access.AuthenticateStream(nil, &servertest.Arrived{Ctx: ctx}, info, func(service any, s grpc.ServerStream) error {
			return g.access.AuthorizeStream(service, s, info, handle)
		})
		if err != nil {
			return fmt.Errorf("begin the stream: %w", err)
		}
		return nil
	})
}
