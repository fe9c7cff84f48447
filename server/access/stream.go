package access

import (
	"context"

	"google.golang.org/grpc"
)

// authorizedStream hands on only requests that the caller may make, and keeps
// what it takes to ask again whether it may.
type authorizedStream struct {
	grpc.ServerStream
	ctx    context.Context
	access *Access
	method Method
	// request is the last one, if the method depends on it.
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

// StillAllowed asks again who makes the call of a stream's context, and whether
// they may make its last request, as if the call began now. It is for calls that
// go on for long, and for the goroutine that receives their requests. Its errors
// are gRPC status errors, those that the call could have begun with. A context of
// no stream that an Access let in has nothing to be asked again.
func StillAllowed(ctx context.Context) error {
	s, ok := ctx.Value(streamKey{}).(*authorizedStream)
	if !ok || s.method.Exempt || identityOf(ctx).Local {
		return nil
	}
	id, err := s.access.authenticate(ctx)
	if err != nil {
		return err
	}
	// The call acts as who made it to its end, so a user whose groups are others
	// now has to make a new one.
	if id.hash != identityOf(ctx).hash {
		return invalid("what the cluster knows of you has changed since this call began: call again")
	}
	return s.access.authorize(ctx, &s.method, s.request)
}
