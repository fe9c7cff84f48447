package access

import (
	"context"

	"google.golang.org/grpc"
)

// AuthenticateUnary identifies the caller, for FromContext.
func (a *Access) AuthenticateUnary(ctx context.Context, request any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	ctx, err := a.known(ctx, info.FullMethod)
	if err != nil {
		return nil, err
	}
	return handler(ctx, request)
}

// AuthenticateStream identifies the caller, for FromContext.
func (a *Access) AuthenticateStream(service any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	ctx, err := a.known(stream.Context(), info.FullMethod)
	if err != nil {
		return err
	}
	return handler(service, &knownStream{stream, ctx})
}

// known returns the context of the call with the identity of its caller, if the method needs
// one.
func (a *Access) known(ctx context.Context, method string) (context.Context, error) {
	if methods[method].Exempt {
		return ctx, nil
	}
	id, err := a.authenticate(ctx)
	if err != nil {
		return nil, err
	}
	record(ctx, id)
	return withIdentity(ctx, id), nil
}

type knownStream struct {
	grpc.ServerStream
	ctx context.Context
}

// Context implements grpc.ServerStream.
func (s *knownStream) Context() context.Context { return s.ctx }

// AuthorizeUnary denies calls that the caller has no right to make. It comes after
// AuthenticateUnary.
func (a *Access) AuthorizeUnary(ctx context.Context, request any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	m, err := find(info.FullMethod)
	if err != nil {
		return nil, err
	}
	if err := a.authorize(ctx, &m, request); err != nil {
		return nil, err
	}
	return handler(ctx, request)
}

// AuthorizeStream denies calls that the caller has no right to make. It comes after
// AuthenticateStream.
func (a *Access) AuthorizeStream(service any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	m, err := find(info.FullMethod)
	if err != nil {
		return err
	}
	s := newAuthorizedStream(stream, a, m)
	if !m.dependent() {
		if err := a.authorize(stream.Context(), &m, nil); err != nil {
			return err
		}
	}
	return handler(service, s)
}
