package cmdtest

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

// Fake is a server with every method that the descriptors of the API have. It answers each method by
// the script of a test, and remembers its requests. A method without a script returns an empty message;
// if it is a stream, it is not implemented.
type Fake struct {
	// Err, if set, ends the calls of methods without a script, and Hang makes them wait until the
	// caller goes away.
	Err  error
	Hang bool
	// Asked, if set, is called when a request has arrived.
	Asked func()

	mu       sync.Mutex
	scripts  Script
	requests []proto.Message
}

// Answering returns a server with scripts. Of two scripts of a method, it follows the last one.
func Answering(scripts ...Script) *Fake {
	f := &Fake{}
	f.Follow(scripts...)
	return f
}

// Follow makes later calls follow these scripts instead of earlier ones of the same methods.
func (f *Fake) Follow(scripts ...Script) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.scripts = Scripts(append([]Script{f.scripts}, scripts...)...)
}

// Serve starts the server on this machine and returns its address.
func (f *Fake) Serve(t *testing.T, opts ...grpc.ServerOption) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer(append(opts, grpc.UnknownServiceHandler(f.handle))...)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	t.Cleanup(func() {
		server.Stop()
		// A test that never calls may end before the server has started.
		if err := <-served; err != nil && !errors.Is(err, grpc.ErrServerStopped) {
			t.Error(err)
		}
	})
	return listener.Addr().String()
}

// Nobody returns an address where no server answers.
func Nobody(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	return address
}

// Requests returns the requests that arrived, in order, without their request_id, which is random. The
// parts of a stream of requests are one request.
func (f *Fake) Requests() []proto.Message {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.requests)
}

// LastRequest returns the last request that arrived; nil if none did.
func (f *Fake) LastRequest() proto.Message {
	all := f.Requests()
	if len(all) == 0 {
		return nil
	}
	return all[len(all)-1]
}

// Written returns the requests to change something, including those that only validate.
func (f *Fake) Written() []proto.Message {
	return slices.DeleteFunc(f.Requests(), func(req proto.Message) bool {
		return req.ProtoReflect().Descriptor().Fields().ByName("validate_only") == nil
	})
}

// handle serves a call of any method.
func (f *Fake) handle(_ any, stream grpc.ServerStream) error {
	path, _ := grpc.MethodFromServerStream(stream)
	name := strings.ReplaceAll(strings.TrimPrefix(path, "/"), "/", ".")
	found, err := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName(name))
	method, ok := found.(protoreflect.MethodDescriptor)
	if err != nil || !ok {
		return status.Errorf(codes.Unimplemented, "the API has no method %s", path)
	}
	req, err := receive(stream, method)
	if err != nil {
		return err
	}
	send := func(resp proto.Message) error { return stream.SendMsg(resp) }
	script := f.note(method, req)
	switch {
	case script != nil:
		return script(stream.Context(), req, send)
	case f.Hang:
		return gone(stream.Context())
	case f.Err != nil:
		return f.Err
	case method.IsStreamingServer():
		return status.Errorf(codes.Unimplemented, "the test has no script of %s", path)
	}
	return send(empty(method.Output()))
}

// note remembers a request, and returns the script of its method.
func (f *Fake) note(method protoreflect.MethodDescriptor, req proto.Message) answer {
	if field := method.Input().Fields().ByName("request_id"); field != nil {
		req = proto.Clone(req)
		req.ProtoReflect().Clear(field)
	}
	f.mu.Lock()
	f.requests = append(f.requests, req)
	f.mu.Unlock()
	if f.Asked != nil {
		f.Asked()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.scripts[method.FullName()]
}

// receive reads a request, whose parts continue the texts and lists of earlier parts.
func receive(stream grpc.ServerStream, method protoreflect.MethodDescriptor) (proto.Message, error) {
	whole := empty(method.Input())
	for {
		message := empty(method.Input())
		if err := stream.RecvMsg(message); errors.Is(err, io.EOF) {
			return whole, nil
		} else if err != nil {
			return nil, err
		}
		part := message.ProtoReflect()
		part.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
			if field.Kind() == protoreflect.StringKind && !field.IsList() {
				part.Set(field, protoreflect.ValueOfString(whole.ProtoReflect().Get(field).String()+value.String()))
			}
			return true
		})
		proto.Merge(whole, message)
	}
}

// empty returns a message without content.
func empty(of protoreflect.MessageDescriptor) proto.Message {
	found, err := protoregistry.GlobalTypes.FindMessageByName(of.FullName())
	if err != nil {
		panic(err) // The Go code of the API registers its messages.
	}
	return found.New().Interface()
}

// gone waits until the caller goes away.
func gone(ctx context.Context) error {
	<-ctx.Done()
	return status.FromContextError(ctx.Err()).Err()
}
