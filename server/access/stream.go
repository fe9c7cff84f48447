package access

import (
	"context"

	"google.golang.org/grpc"
)

// authorizedStream passes on only requests that the caller may make, and keeps what is needed
// to check the caller again.
type authorizedStream struct {
	grpc.ServerStream
	ctx    context.Context
	access *Access
	method Method
	// request is the last request, if the rights depend on it.
	request any
}

type streamKey struct{}

func newAuthorizedStream(stream grpc.ServerStream, a *Access, m Method) *authorizedStream {
	s := &authorizedStream{ServerStream: stream, access: a, method: m}
	s.ctx = context.WithValue(stream.Context(), streamKey{}, s)
	return s
}

// Context implements grpc.ServerStream.
func (s *authorizedStream) Context() context.Context { return s.ctx }

// RecvMsg implements grpc.ServerStream.
func (s *authorizedStream) RecvMsg(message any) error {
	if err := s.ServerStream.RecvMsg(message); err != nil {
		return err
	}
	if !s.method.dependent() {
		return nil
	}
	s.request = message
	return s.access.authorize(s.ctx, &s.method, message)
}

// StillAllowed identifies the caller of a stream's context again, and checks whether it may
// make its last request, as if the call began now. It is for long calls, and for the
// goroutine that receives their requests. Its errors are the gRPC status errors that the call
// could have begun with. For a context without an authorized stream, there is nothing to
// check.
func StillAllowed(ctx context.Context) error {
	s, ok := ctx.Value(streamKey{}).(*authorizedStream)
	if !ok || s.method.Exempt || identityOf(ctx).Local {
		return nil
	}
	id, err := s.access.authenticate(ctx)
	if err != nil {
		return err
	}
	// A call keeps the identity that it began with, so a user whose groups have changed must
	// make a new call.
	if id.hash != identityOf(ctx).hash {
		return invalid("your identity in the cluster has changed since this call began: call again")
	}
	return s.access.authorize(ctx, &s.method, s.request)
}
