package client

import (
	"context"

	"github.com/google/uuid"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// fillIn sets the fields of requests that callers need not think of, unless they have set them:
// the request_id, so that the call can be retried, and the author.
func (o *options) fillIn(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	if m, ok := req.(proto.Message); ok {
		m = filled(m, "request_id", uuid.NewString)
		if o.anonymous() {
			m = filled(m, "author", func() string { return o.author })
		}
		req = m
	}
	return invoke(ctx, method, req, reply, cc, opts...)
}

// anonymous reports whether the connection sends no credentials, so that the server cannot know
// the caller. A server that does refuses to be told the author.
func (o *options) anonymous() bool { return o.token == nil && o.tls.certificate == nil }

// filled returns a request with a value for a field; the request itself if the field is set or
// does not exist.
func filled(request proto.Message, name protoreflect.Name, value func() string) proto.Message {
	field := request.ProtoReflect().Descriptor().Fields().ByName(name)
	if field == nil || request.ProtoReflect().Has(field) {
		return request
	}
	request = proto.Clone(request)
	request.ProtoReflect().Set(field, protoreflect.ValueOfString(value()))
	return request
}
