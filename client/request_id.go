package client

import (
	"context"

	"github.com/google/uuid"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// withRequestID gives each request that can have a request_id one, unless the caller has set it,
// so that the call can be retried.
func withRequestID(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	if m, ok := req.(proto.Message); ok {
		if field := requestID(m.ProtoReflect().Descriptor()); field != nil && !m.ProtoReflect().Has(field) {
			m = proto.Clone(m)
			m.ProtoReflect().Set(field, protoreflect.ValueOfString(uuid.NewString()))
			req = m
		}
	}
	return invoke(ctx, method, req, reply, cc, opts...)
}

// requestID returns the field request_id of a message; nil if it has none.
func requestID(of protoreflect.MessageDescriptor) protoreflect.FieldDescriptor {
	return of.Fields().ByName("request_id")
}
