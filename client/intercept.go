package client

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// withDefaultTimeout gives a unary call a deadline if its context has none. A stream gets
// none, because its duration depends on the size of the cluster.
func withDefaultTimeout(timeout time.Duration) grpc.UnaryClientInterceptor {
	return func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
		if _, has := ctx.Deadline(); !has && timeout > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, timeout)
			defer cancel()
		}
		return invoke(ctx, method, req, reply, cc, opts...)
	}
}

// checkMethod refuses a method that is none of these.
func checkMethod(names []string, method string) error {
	if slices.Contains(names, method) {
		return nil
	}
	return status.Errorf(codes.PermissionDenied, "this program does not call %s", method)
}

func onlyUnary(names []string) grpc.UnaryClientInterceptor {
	return func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
		if err := checkMethod(names, method); err != nil {
			return err
		}
		return invoke(ctx, method, req, reply, cc, opts...)
	}
}

func onlyStreams(names []string) grpc.StreamClientInterceptor {
	return func(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, stream grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
		if err := checkMethod(names, method); err != nil {
			return nil, err
		}
		return stream(ctx, desc, cc, method, opts...)
	}
}

// plain returns the status that err wraps. After the last attempt, gRPC wraps the server's
// status in "max retries exhausted: …", which would hide the server's message from the
// user. If the server cannot authenticate the caller, plain adds what to do.
func (o *options) plain(err error) error {
	var wrapped interface{ GRPCStatus() *status.Status }
	if !errors.As(err, &wrapped) {
		return err
	}
	s := wrapped.GRPCStatus()
	if s.Code() == codes.Unauthenticated && o.unauthenticated != "" {
		p := s.Proto()
		p.Message += "\n" + o.unauthenticated
		s = status.FromProto(p)
	}
	return s.Err()
}

func (o *options) plainUnaryErrors(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	return o.plain(invoke(ctx, method, req, reply, cc, opts...))
}

func (o *options) plainStreamErrors(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, stream grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	s, err := stream(ctx, desc, cc, method, opts...)
	if err != nil {
		return nil, o.plain(err)
	}
	return plainStream{s, o}, nil
}

type plainStream struct {
	grpc.ClientStream
	options *options
}

func (s plainStream) RecvMsg(m any) error { return s.options.plain(s.ClientStream.RecvMsg(m)) }

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

// answers is the key of how many bytes the answers in a context may still have.
type answers struct{}

// LimitAnswers returns a context in which all answers of unary calls together may take so many bytes of memory, roughly. After that, calls
// fail with RESOURCE_EXHAUSTED. It is for programs that keep whole lists of a server that they do not trust.
func LimitAnswers(ctx context.Context, bytes int64) context.Context {
	left := &atomic.Int64{}
	left.Store(bytes)
	return context.WithValue(ctx, answers{}, left)
}

func limitUnary(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	if err := invoke(ctx, method, req, reply, cc, opts...); err != nil {
		return err
	}
	left, limited := ctx.Value(answers{}).(*atomic.Int64)
	answer, known := reply.(proto.Message)
	if limited && known && left.Add(-weight(answer)) < 0 {
		return status.Error(codes.ResourceExhausted, "the server's answers are larger than this program keeps")
	}
	return nil
}

// messageBytes is how many bytes of memory a message takes next to those of its fields, roughly: one without fields has two bytes on the wire.
const messageBytes = 128

// weight returns how many bytes of memory a message takes, roughly.
func weight(m proto.Message) int64 {
	return int64(proto.Size(m)) + messageBytes*messages(m.ProtoReflect())
}

// messages returns how many messages there are in a message, with itself.
func messages(m protoreflect.Message) int64 {
	count := int64(1)
	m.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		switch {
		case field.IsMap():
			count += int64(value.Map().Len()) // An entry is a message, too.
			if field.MapValue().Message() != nil {
				value.Map().Range(func(_ protoreflect.MapKey, one protoreflect.Value) bool {
					count += messages(one.Message())
					return true
				})
			}
		case field.Message() == nil && field.IsList():
			count += int64(value.List().Len()) / 8 // A string has 16 bytes next to its text.
		case field.Message() == nil:
		case field.IsList():
			for i := range value.List().Len() {
				count += messages(value.List().Get(i).Message())
			}
		default:
			count += messages(value.Message())
		}
		return true
	})
	return count
}
